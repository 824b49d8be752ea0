//! Ctrl-C: the first one stops what runs, the next one ends the program.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use readyok_client::Stopper;

/// The interrupts that this process has got.
#[derive(Clone, Debug, Default)]
pub struct Interrupts(Arc<State>);

#[derive(Debug, Default)]
struct State {
    count: AtomicU32,
    stopper: OnceLock<Stopper>,
}

impl Interrupts {
    /// How many there were.
    pub fn count(&self) -> u32 {
        self.0.count.load(Ordering::Acquire)
    }

    /// Has the next interrupt stop a search. One that came before stops it now.
    pub fn stop_with(&self, stopper: Stopper) {
        if self.0.stopper.set(stopper).is_ok() && 0 < self.count() {
            self.stop();
        }
    }

    /// Takes note of an interrupt.
    pub fn interrupt(&self) {
        self.0.count.fetch_add(1, Ordering::AcqRel);
        self.stop();
    }

    fn stop(&self) {
        if let Some(stopper) = self.0.stopper.get() {
            stopper.stop();
        }
    }
}
