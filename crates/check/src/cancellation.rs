//! The early end of a run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Ends a run early: waits end, and the engines with them. Clones share the state.
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// Ends the run.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether the run was canceled.
    pub fn is_canceled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
