//! The components, the services that they use, and the loop that handles their events.

use std::collections::VecDeque;
use std::sync::Weak;

use readyok_client::SearchResult;

use super::analyses::Analyses;
use super::engines::{Engines, Probes};
use super::games::Games;
use super::hints::{Hints, RetryAttempts};
use super::jobs::Jobs;
use super::library::SaveQueue;
use super::processes::Processes;
use super::reports::Reports;
use super::training::ExerciseSearches;
use super::{App, AppState};
use crate::engine::EngineEvent;
use crate::hub::{Hub, TabId};
use crate::time::{Moment, now};
use crate::wire::{EngineId, ErrorInfo, GameId, ProcessId, Purpose, SearchInfo};

/// Maximum number of events after one change. A larger number is a loop between components.
const MAX_EVENTS: usize = 10_000;

/// The components that own the state, from the lowest layer to the highest.
pub(crate) struct Components<'a> {
    pub(super) engines: &'a mut Engines,
    pub(super) probes: &'a mut Probes,
    pub(super) games: &'a mut Games,
    pub(super) hints: &'a mut Hints,
    pub(super) analyses: &'a mut Analyses,
    pub(super) reports: &'a mut Reports,
    pub(super) retries: &'a mut RetryAttempts,
    pub(super) exercises: &'a mut ExerciseSearches,
    pub(super) jobs: &'a mut Jobs,
}

impl AppState {
    pub(super) fn split(&mut self) -> (Components<'_>, Context<'_>) {
        let Self {
            hub,
            saves,
            processes,
            engines,
            probes,
            games,
            hints,
            analyses,
            reports,
            retries,
            exercises,
            jobs,
            events,
            app,
            last_search,
            closing,
            acting,
            ..
        } = self;
        let components = Components {
            engines,
            probes,
            games,
            hints,
            analyses,
            reports,
            retries,
            exercises,
            jobs,
        };
        let (closing, tab, now) = (*closing, *acting, now());
        let cx = Context { hub, saves, processes, events, app, last_search, closing, tab, now };
        (components, cx)
    }

    pub(crate) fn on_engine_event(&mut self, process: ProcessId, event: EngineEvent) {
        let (components, mut cx) = self.split();
        components.engines.on_process_event(&mut cx, process, event);
        self.run_events();
    }

    /// Handles events until the queue is empty. Each change of the state ends with this.
    pub(super) fn run_events(&mut self) {
        for _ in 0..MAX_EVENTS {
            let Some(event) = self.events.pop_front() else { return };
            self.handle(event);
        }
        debug_assert!(self.events.is_empty(), "components notify each other without end");
    }

    fn handle(&mut self, event: AppEvent) {
        let (components, mut cx) = self.split();
        let (games, engines, cx) = (components.games, components.engines, &mut cx);
        match event {
            AppEvent::CursorMoved(game) => {
                components.analyses.follow_cursor(games, engines, cx, game);
            }
            AppEvent::EngineRemoved(engine) => components.analyses.remove_engine(cx, engine),
            AppEvent::ProcessExited => {
                components.probes.start_next(engines, cx);
                cx.processes.prune(cx.hub);
            }
            AppEvent::ReportFinished(game) => {
                components.jobs.on_report_finished(components.reports, cx, game);
                if games.remove_background(cx, game) {
                    components.reports.remove(cx, game);
                }
                components.reports.start_next(games, engines, cx);
            }
            AppEvent::ReportQueueEmpty => {
                if components.jobs.enqueue_next(components.reports, games, engines, cx) {
                    components.reports.start_next(games, engines, cx);
                }
            }
            AppEvent::Search(process, purpose, event) => match purpose {
                Purpose::Play { game } => {
                    games.on_player_event(engines, cx, (process, game), event);
                }
                Purpose::Hint { game } => {
                    components.hints.on_event(games, engines, cx, (process, game), event);
                }
                Purpose::Analyse { game } => {
                    components.analyses.on_event(games, engines, cx, (process, game), event);
                }
                Purpose::Report { game } => {
                    components.reports.on_event(games, engines, cx, (process, game), event);
                }
                Purpose::Learn { .. } => components.retries.on_event(games, cx, process, event),
                Purpose::Exercise { .. } => components.exercises.on_event(cx, process, event),
                Purpose::Inspect => Probes::on_event(cx, process, &event),
                Purpose::Console => engines.on_console_event(cx, process, &event),
            },
        }
    }
}

/// Services of the lower layers, borrowed apart from the component that is called.
pub(crate) struct Context<'a> {
    pub(super) hub: &'a mut Hub,
    pub(super) saves: &'a mut SaveQueue,
    pub(super) processes: &'a mut Processes,
    /// Calls go down only; components notify those of the same or a higher layer by events.
    pub(super) events: &'a mut VecDeque<AppEvent>,
    pub(super) app: &'a Weak<App>,
    pub(super) last_search: &'a mut SearchId,
    /// The server shuts down; no process is started.
    pub(super) closing: bool,
    /// The tab whose command is carried out.
    pub(super) tab: Option<TabId>,
    pub(super) now: Moment,
}

impl Context<'_> {
    pub(super) fn next_search_id(&mut self) -> SearchId {
        *self.last_search += 1;
        *self.last_search
    }
}

/// Identifies a search. Unique within one run of the server.
pub(crate) type SearchId = u64;

/// Notifies components of the same or a higher layer.
#[derive(Debug)]
pub(super) enum AppEvent {
    /// From games to analyses.
    CursorMoved(GameId),
    /// From engines to analyses.
    EngineRemoved(EngineId),
    /// From processes to the owner of the purpose.
    Search(ProcessId, Purpose, SearchEvent),
    /// From processes to engines: another one can be probed.
    ProcessExited,
    /// From reports to jobs and games: a report is finished, stopped or failed.
    ReportFinished(GameId),
    /// From reports to jobs: no report is queued.
    ReportQueueEmpty,
}

/// An event of an engine process for the component that started it.
#[derive(Debug)]
pub(super) enum SearchEvent {
    /// The handshake is complete.
    Ready,
    Started(SearchId),
    Info(SearchId, Box<SearchInfo>),
    Finished(SearchId, Box<SearchResult>, Box<SearchInfo>),
    /// The search could not be started or has failed; the engine continues to run.
    Rejected(SearchId, ErrorInfo),
    Exited {
        failure: Option<ErrorInfo>,
        /// The user has requested another process in its place.
        restart: bool,
    },
}
