//! Ending a game from another thread.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use readyok_client::Stopper;

/// Ends the games that were given it, from any thread. A clone is the same handle. Once it was
/// used, games that are given it end before they begin.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    asked: AtomicBool,
    last: AtomicU64,
    /// How to wake who waits for the engines.
    stoppers: Mutex<BTreeMap<u64, Stopper>>,
}

impl Cancel {
    /// Ends the games. They are [`Aborted`](readyok_rules::Termination::Aborted).
    pub fn cancel(&self) {
        self.0.asked.store(true, Ordering::SeqCst);
        for stopper in self.stoppers().values() {
            stopper.cancel_game();
        }
    }

    /// Whether games are to end.
    pub fn is_cancelled(&self) -> bool {
        self.0.asked.load(Ordering::SeqCst)
    }

    /// Lets the handle wake who waits for an engine, as long as the result lives.
    pub(super) fn watch(&self, stopper: Stopper) -> Watched {
        let number = self.0.last.fetch_add(1, Ordering::Relaxed);
        self.stoppers().insert(number, stopper);
        Watched { cancel: self.clone(), number }
    }

    fn stoppers(&self) -> MutexGuard<'_, BTreeMap<u64, Stopper>> {
        // Nothing in there can be half done.
        self.0.stoppers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
pub(super) struct Watched {
    cancel: Cancel,
    number: u64,
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.cancel.stoppers().remove(&self.number);
    }
}
