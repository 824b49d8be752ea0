//! The services that all components use.

use std::collections::VecDeque;
use std::sync::Weak;

use super::App;
use super::events::{AppEvent, SearchId};
use super::processes::Processes;
use super::saving::SaveQueue;
use crate::hub::Hub;
use crate::time::Moment;

/// Services of the lower layers, borrowed apart from the component that is called.
pub(crate) struct Context<'a> {
    pub(super) hub: &'a mut Hub,
    pub(super) saves: &'a mut SaveQueue,
    pub(super) processes: &'a mut Processes,
    /// Calls go down only; components notify those of the same or a higher layer by events.
    pub(super) events: &'a mut VecDeque<AppEvent>,
    pub(super) app: &'a Weak<App>,
    pub(super) last_search: &'a mut SearchId,
    /// The server shuts down: nothing is started.
    pub(super) closing: bool,
    pub(super) now: Moment,
}

impl Context<'_> {
    pub(super) fn next_search_id(&mut self) -> SearchId {
        *self.last_search += 1;
        *self.last_search
    }
}
