//! What threads share, tried with [loom] in every order that the memory model allows, up to a
//! number of changes between threads.
//!
//! The hash table is Narikin's own file and the signals are those of the runtime of engines, compiled
//! with loom's atomics instead of the processor's.

/// What the files are compiled with here.
mod sync {
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
}

mod score {
    pub(crate) type Value = i32;
}

mod platform {
    use std::mem::MaybeUninit;

    pub(crate) fn large_pages<T>(_memory: &mut [MaybeUninit<T>]) {}
    pub(crate) fn prefetch<T>(_place: &T) {}
}

/// What the signals carry.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Budget {
    pub(crate) from: Duration,
    pub(crate) soft: Option<Duration>,
    pub(crate) hard: Option<Duration>,
    pub(crate) overhead: Duration,
}

#[path = "../../crates/engine/src/signals.rs"]
mod signals;
#[path = "../../crates/narikin/src/search/tt.rs"]
#[expect(dead_code, reason = "the search uses the rest of it")]
mod tt;

use std::time::Duration;

use loom::model::Builder;
use loom::sync::Arc;
use loom::thread;
use signals::Signals;
use tt::{Bound, TranspositionTable, TtData};

/// So often another thread goes on where one could have gone on by itself. Each further one makes
/// the model several times as large.
const CHANGES: usize = 3;

/// An entry that says by itself which key it belongs to.
fn entry_for(key: u64) -> TtData {
    let [low, high, ..] = key.wrapping_mul(0x9E37).to_le_bytes();
    TtData {
        mv: u16::from_le_bytes([low, high]),
        value: i16::from_le_bytes([high, low]),
        eval: i16::from_le_bytes([low, low]),
        depth: high,
        bound: Some(Bound::Exact),
        tt_pv: false,
    }
}

/// Two threads write different positions into one entry, and a third reads both.
///
/// # Panics
/// Half of one entry was taken for a half of the other.
pub fn entries_are_never_mixed() {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(CHANGES);
    builder.check(|| {
        let table = Arc::new(TranspositionTable::new(0).expect("a bucket"));
        let writers = [1, 2].map(|key| {
            let table = table.clone();
            thread::spawn(move || table.put(key, entry_for(key)))
        });
        let read = || {
            for key in [1, 2] {
                if let Some(data) = table.get(key) {
                    assert_eq!(data, entry_for(key));
                }
            }
        };
        read();
        for writer in writers {
            writer.join().expect("no panic");
        }
        read();
    });
}

/// A search ponders with two threads while the reader tells it of a ponder hit, and then to stop.
///
/// # Panics
/// A thread saw a part of the clock that came with the ponder hit without the rest of it.
pub fn a_ponder_hit_comes_with_its_clock() {
    let clock = Budget {
        from: Duration::from_secs(1),
        soft: Some(Duration::from_secs(2)),
        hard: Some(Duration::from_secs(3)),
        overhead: Duration::from_secs(4),
    };
    loom::model(move || {
        let signals = Arc::new(Signals::new(None));
        let look = move |signals: &Signals| {
            let seen = signals.budget();
            assert!(seen == Budget::default() || seen == clock, "{seen:?}");
            if !signals.pondering() {
                assert_eq!(signals.budget(), clock);
            }
        };
        let searchers = [(); 2].map(|()| {
            let signals = signals.clone();
            thread::spawn(move || {
                look(&signals);
                signals.stopped()
            })
        });
        signals.ponder_hit(clock);
        signals.stop();
        for searcher in searchers {
            searcher.join().expect("no panic");
        }
        assert!(signals.stopped() && !signals.pondering());
    });
}
