//! Lock-free code, checked with [loom] in every order that the memory model allows, up to a number of preemptions.
//!
//! The transposition table of Narikin and the signals of the engine runtime are compiled with the atomics of loom instead
//! of those of the CPU.

/// Replaces the module `sync` of the checked crates.
mod sync {
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
}

mod score {
    pub(crate) type Value = i32;
}

mod platform {
    use std::mem::MaybeUninit;

    pub(crate) fn large_pages<T>(_memory: &mut [MaybeUninit<T>]) {}
    pub(crate) fn prefetch<T>(_target: &T) {}
}

/// The budget in the signals.
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

/// Maximum number of preemptions. Each further one multiplies the size of the model.
const MAX_PREEMPTIONS: usize = 3;

/// An entry that is derived from its key.
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

/// Two threads write different positions to one bucket while a third thread reads both.
///
/// # Panics
/// A read returns a mixture of two entries.
pub fn entries_are_never_mixed() {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(MAX_PREEMPTIONS);
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

/// Two threads ponder while a third thread signals a ponder hit and then a stop.
///
/// # Panics
/// A thread observes the ponder hit without its complete clock.
pub fn ponder_hit_publishes_its_clock() {
    let clock = Budget {
        from: Duration::from_secs(1),
        soft: Some(Duration::from_secs(2)),
        hard: Some(Duration::from_secs(3)),
        overhead: Duration::from_secs(4),
    };
    loom::model(move || {
        let signals = Arc::new(Signals::new(None));
        let check = move |signals: &Signals| {
            let seen = signals.budget();
            assert!(seen == Budget::default() || seen == clock, "{seen:?}");
            if !signals.pondering() {
                assert_eq!(signals.budget(), clock);
            }
        };
        let searchers = [(); 2].map(|()| {
            let signals = signals.clone();
            thread::spawn(move || {
                check(&signals);
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
