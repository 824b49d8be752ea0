//! How components are borrowed next to each other, and the services that all of them use.

use std::collections::VecDeque;
use std::sync::Weak;

use super::analyses::Analyses;
use super::engines::Engines;
use super::events::AppEvent;
use super::games::Games;
use super::jobs::Jobs;
use super::processes::Processes;
use super::reports::Reports;
use super::retry::RetryAttempts;
use super::saving::SaveQueue;
use super::{App, AppState};
use crate::hub::Hub;
use crate::time::{Moment, now};

/// Identifies a search. Unique within one run of the server.
pub(crate) type SearchId = u64;

/// Services of the lower layers, borrowed apart from the component that is called.
pub(crate) struct Context<'a> {
    pub(super) hub: &'a mut Hub,
    pub(super) saves: &'a mut SaveQueue,
    pub(super) processes: &'a mut Processes,
    /// Calls go down only; components notify those of the same or a higher layer by events.
    pub(super) events: &'a mut VecDeque<AppEvent>,
    pub(super) app: &'a Weak<App>,
    last_search: &'a mut SearchId,
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

/// The components that own the state, from the lowest layer to the highest.
pub(crate) struct Components<'a> {
    pub(super) engines: &'a mut Engines,
    pub(super) games: &'a mut Games,
    pub(super) analyses: &'a mut Analyses,
    pub(super) reports: &'a mut Reports,
    pub(super) retries: &'a mut RetryAttempts,
    pub(super) jobs: &'a mut Jobs,
}

impl AppState {
    pub(super) fn split(&mut self) -> (Components<'_>, Context<'_>) {
        let Self {
            hub,
            saves,
            processes,
            engines,
            games,
            analyses,
            reports,
            retries,
            jobs,
            events,
            app,
            last_search,
            closing,
            ..
        } = self;
        let components = Components { engines, games, analyses, reports, retries, jobs };
        let (closing, now) = (*closing, now());
        (components, Context { hub, saves, processes, events, app, last_search, closing, now })
    }
}
