//! Ctrl-C: the first one stops the search that runs, the next one ends the program. Without a search
//! the first one does.

use std::process;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use readyok_client::Stopper;

use crate::exit::Code;

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

    /// Has the next interrupt stop a search. Before this an interrupt ends the program.
    pub fn stop_with(&self, stopper: Stopper) {
        // There is one search.
        let _ = self.0.stopper.set(stopper);
    }

    /// Takes note of an interrupt. Whoever waits for an engine can wait for minutes, and looks at
    /// nothing: then the program ends here, and the engine's guard ends the engine.
    pub fn interrupt(&self) {
        self.0.count.fetch_add(1, Ordering::AcqRel);
        match self.0.stopper.get() {
            Some(stopper) => stopper.stop(),
            None => process::exit(Code::Interrupted.number().into()),
        }
    }
}
