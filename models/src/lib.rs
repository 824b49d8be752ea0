//! What threads share, tried with [loom] in every order that the memory model allows, up to a
//! number of changes between threads.
//!
//! The hash table is Narikin's own file, compiled with loom's atomics instead of the processor's.

/// What the table is compiled with here.
mod sync {
    pub(crate) use loom::sync::atomic::{AtomicU8, AtomicU64, Ordering};
}

mod score {
    pub(crate) type Value = i32;
}

mod hints {
    use std::mem::MaybeUninit;

    pub(crate) fn large_pages<T>(_memory: &mut [MaybeUninit<T>]) {}
    pub(crate) fn prefetch<T>(_place: &T) {}
}

#[path = "../../crates/narikin/src/table.rs"]
#[expect(dead_code, reason = "the search uses the rest of it")]
mod table;

use loom::model::Builder;
use loom::sync::Arc;
use loom::thread;
use table::{Bound, Known, Table};

/// So often another thread goes on where one could have gone on by itself. Each further one makes
/// the model several times as large.
const CHANGES: usize = 3;

/// An entry that says by itself which key it belongs to.
fn entry_for(key: u64) -> Known {
    let [low, high, ..] = key.wrapping_mul(0x9E37).to_le_bytes();
    Known {
        mv: u16::from_le_bytes([low, high]),
        value: i16::from_le_bytes([high, low]),
        eval: i16::from_le_bytes([low, low]),
        depth: high,
        bound: Some(Bound::Exact),
        was_pv: false,
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
        let table = Arc::new(Table::new(0).expect("a bucket"));
        let writers = [1, 2].map(|key| {
            let table = table.clone();
            thread::spawn(move || table.put(key, entry_for(key)))
        });
        let read = || {
            for key in [1, 2] {
                if let Some(known) = table.get(key) {
                    assert_eq!(known, entry_for(key));
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
