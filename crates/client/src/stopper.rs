//! Stopping a search from another thread.

use std::sync::Arc;

use crate::driver::Driver;
use crate::inbox::Inbox;

/// Stops whatever search of an engine runs, from any thread: the call that waits for the search
/// then returns with its result. Does nothing if none runs.
#[derive(Clone, Debug)]
pub struct Stopper(Arc<Inbox>);

impl Stopper {
    pub(crate) fn new(driver: &Driver) -> Self {
        Self(Arc::clone(&driver.link().inbox))
    }

    /// Stops the search.
    pub fn stop(&self) {
        self.0.ask_to_stop();
    }
}
