//! The state of the server behind one lock, and everything that changes it: commands of tabs, events of
//! engines, clocks.
//!
//! ```text
//!  tab ── Command ──> router ──> component ── EngineCommand ──> Process ─┐
//!  clocks ── tick ──────────────>   │  <───────── EngineEvent ───────────┘
//!                                   ├─ AppEvent ──> components of the same or a higher layer
//!                                   ├─ Delta ─────> Hub ──> tabs
//!                                   └─ save ──────> Writer ──> Store
//! ```
//! | layer | component | owns |
//! |--:|---|---|
//! | 0 | [`Hub`], [`SaveQueue`] | subscriptions; games that wait to be saved |
//! | 1 | [`Processes`], [`Engines`], [`Probes`] | engine processes and their logs; registered engines |
//! | 2 | [`Games`] | sessions of open games, their engines |
//! | 3 | [`Hints`], [`Analyses`], [`Reports`], [`RetryAttempts`] | searches of games |
//! | 3 | [`ExerciseSearches`] | searches of exercises |
//! | 4 | [`Jobs`] | work on many games |
//! | – | [`Matches`] | matches, with a lock and threads of their own |
//!
//! Calls go down; up and sideways go [events](components::AppEvent). There is no I/O under the lock: only the thread of the
//! [`Writer`] uses the [`Store`], and a command is answered when its changes are written.

mod analyses;
mod checks;
mod collections;
mod components;
mod discovery;
mod engines;
pub(crate) mod games;
mod hints;
mod jobs;
mod library;
mod matches;
mod processes;
mod references;
mod reports;
mod router;
mod training;

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use readyok_client::Guard;
use readyok_library::Library;
use readyok_protocol::Language;
use readyok_protocol::translation::Translation;
use tokio::sync::Notify;

use crate::data_dir;
use crate::engine::{Registry, Reporter};
use crate::game::Tree;
use crate::hub::{Hub, TabId};
use crate::matches::{MatchListener, MatchView, Matches, Program};
use crate::store::{LIBRARY, Store, StoreError, Writer, Written};
use crate::time::{Moment, now};
use crate::wire::{
    Answer, ApiError, DamagedFile, ErrorSubject, GameState, GamesState, MatchId, ProcessId,
    Settings, State, ToTab, Topic,
};

use analyses::Analyses;
use checks::CheckReporter;
use components::{AppEvent, Components, Context, SearchId};
use engines::{Engines, Probes};
use games::Games;
use hints::{Hints, RetryAttempts};
use jobs::{Job, Jobs};
use library::{SaveQueue, library_error};
use processes::{EngineProcess, Processes};
use references::OpenReferences;
use reports::Reports;
use training::ExerciseSearches;

pub(crate) use library::Reply;

/// The settings of the program that runs the server.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// The data directory.
    pub data: PathBuf,
    /// The program and the arguments of Narikin.
    pub built_in: (PathBuf, Vec<String>),
    /// The translation file of Narikin.
    pub translation: Vec<u8>,
    /// Ends the engines with this program.
    pub guard: Option<Guard>,
    /// Prefixes of the names of the checks that the conformance checker runs; empty for all checks.
    pub checks: Vec<String>,
}

/// The server's state, and the parts that need no lock.
pub(crate) struct App {
    state: Mutex<AppState>,
    pub(crate) writer: Writer,
    /// The games, until the writer is closed.
    library: Weak<Library>,
    matches: matches::Shared,
    /// Files that were damaged at the start.
    damaged: OnceLock<Vec<DamagedFile>>,
    references: OpenReferences,
    /// Locked while open games are written to the library.
    writing_open: tokio::sync::Mutex<()>,
    /// Deadlines of clocks may have changed.
    pub(crate) clocks: Notify,
    /// The last tab was closed, or work has finished.
    pub(crate) idle: Notify,
}

/// All components. Changes go through [`App::update`].
pub(crate) struct AppState {
    pub(crate) hub: Hub,
    saves: SaveQueue,
    processes: Processes,
    engines: Engines,
    probes: Probes,
    games: Games,
    hints: Hints,
    analyses: Analyses,
    reports: Reports,
    retries: RetryAttempts,
    exercises: ExerciseSearches,
    jobs: Jobs,
    matches: matches::Shared,
    settings: Settings,
    events: VecDeque<AppEvent>,
    app: Weak<App>,
    last_search: SearchId,
    closing: bool,
    /// The tab whose command is carried out.
    acting: Option<TabId>,
}

impl App {
    /// Opens the library and restores the open games.
    pub(crate) fn open(setup: ServerSettings) -> Result<Arc<Self>, StoreError> {
        let data = setup.data.clone();
        let setup = Arc::new(setup);
        let mut store = Store::open(&data)?;
        let translation = Translation::read(&setup.translation).unwrap_or_default();
        let registry = Registry::new(translation, store.engines()?, store.last_engine()?);
        let settings = store.settings()?;
        let mut sessions = BTreeMap::new();
        let mut reports = Reports::default();
        for (id, stored, report) in store.open_games() {
            reports.restore(id, report);
            sessions.insert(id, library::restored(store.library(), id, stored));
        }
        let jobs = store.jobs()?.into_iter();
        let jobs = jobs.map(|(id, stored, games)| (id, Job::restored(stored, games))).collect();
        let matches = matches::Shared::default();
        store.library().preload();
        let library = Arc::downgrade(store.library());
        let (writer, queue) = Writer::new();
        let app = Arc::new_cyclic(|app: &Weak<Self>| Self {
            library,
            matches: Arc::clone(&matches),
            writer: writer.clone(),
            state: Mutex::new(AppState {
                hub: Hub::default(),
                saves: SaveQueue::new(writer),
                processes: Processes::new(Arc::clone(&setup), engine_reporter(app.clone())),
                engines: Engines::new(registry, check_reporter(app.clone()), Arc::clone(&setup)),
                probes: Probes::default(),
                games: Games::new(sessions),
                hints: Hints::default(),
                analyses: Analyses::default(),
                reports,
                retries: RetryAttempts::default(),
                exercises: ExerciseSearches::default(),
                jobs: Jobs::new(jobs),
                matches,
                settings,
                events: VecDeque::new(),
                app: app.clone(),
                last_search: 0,
                closing: false,
                acting: None,
            }),
            damaged: OnceLock::new(),
            references: OpenReferences::default(),
            writing_open: tokio::sync::Mutex::default(),
            clocks: Notify::new(),
            idle: Notify::new(),
        });
        app.open_matches(&setup, &mut store)?;
        // It is set once.
        let _ = app.damaged.set(store.damaged().to_vec());
        let started = queue.start(store, Arc::downgrade(&app));
        started.map_err(|error| StoreError::File(data, error))?;
        Ok(app)
    }

    fn open_matches(
        self: &Arc<Self>,
        setup: &ServerSettings,
        store: &mut Store,
    ) -> Result<(), StoreError> {
        let program = Program { guard: setup.guard.clone() };
        let listener = Arc::downgrade(self);
        let listener: MatchListener = Arc::new(move |event| {
            if let Some(app) = listener.upgrade() {
                app.on_match_event(event);
            }
        });
        let directory = data_dir::matches_in(&setup.data);
        let opened = Matches::open(&directory, program, listener);
        let matches = opened.map_err(|error| StoreError::File(directory, error))?;
        // The next match gets the number of one that has lost its files.
        let forgotten = store.forget_matches(matches.next_id()..=MatchId::MAX);
        store.tolerate(forgotten, &setup.data.join(LIBRARY))?;
        self.set_matches(matches);
        Ok(())
    }

    /// Files that were moved because they are damaged, or are damaged in part.
    pub(crate) fn damaged(&self) -> &[DamagedFile] {
        self.damaged.get().map_or(&[], Vec::as_slice)
    }

    /// Locks the state. Nothing may block under the lock.
    pub(crate) fn state(&self) -> MutexGuard<'_, AppState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and handles the events that follow.
    fn update<R>(&self, change: impl FnOnce(&mut Components<'_>, &mut Context<'_>) -> R) -> R {
        self.state().update(change)
    }

    pub(crate) fn log_text(&self, id: ProcessId, language: Language) -> Option<String> {
        self.state().processes.get(id).map(|process| process.log_text(language))
    }

    pub(crate) fn engines_toml(&self) -> Result<String, toml::ser::Error> {
        self.state().engines.registry().to_toml()
    }

    /// Writes what is queued, and closes the library.
    pub(crate) async fn close_library(&self) {
        self.writer.close().await;
    }
}

fn engine_reporter(app: Weak<App>) -> Reporter {
    Arc::new(move |process, event| {
        if let Some(app) = app.upgrade() {
            app.state().on_engine_event(process, event);
            app.clocks.notify_one();
            app.idle.notify_one();
        }
    })
}

fn check_reporter(app: Weak<App>) -> CheckReporter {
    Arc::new(move |engine, event| {
        if let Some(app) = app.upgrade() {
            app.update(|components, cx| components.engines.on_check_event(cx, engine, event));
        }
    })
}

impl AppState {
    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    fn update<R>(&mut self, change: impl FnOnce(&mut Components<'_>, &mut Context<'_>) -> R) -> R {
        let (mut components, mut cx) = self.split();
        let result = change(&mut components, &mut cx);
        self.run_events();
        result
    }

    /// Probes the engines whose options are unknown.
    pub(crate) fn probe_engines(&mut self) {
        self.update(|components, cx| components.probes.start(components.engines, cx));
    }

    /// The moment of the next flag fall.
    pub(crate) fn next_deadline(&self) -> Option<Moment> {
        self.games.next_deadline()
    }

    pub(crate) fn on_tick(&mut self) {
        self.update(|components, cx| components.games.on_tick(components.engines, cx));
    }

    /// Publishes all clocks that run.
    pub(crate) fn publish_clocks(&mut self) {
        self.update(|components, cx| components.games.publish_clocks(cx));
    }

    /// Publishes new lines of logs, and the progress of conformance checks.
    pub(crate) fn publish_progress(&mut self) {
        self.update(|components, cx| {
            components.engines.refresh_all_approvals(cx);
            cx.processes.publish_logs(cx.hub);
            components.engines.publish_checks(cx.hub, cx.now);
        });
    }

    /// Pauses games and stops analysis as set by the user.
    pub(crate) fn on_last_tab_closed(&mut self) {
        let choice = self.settings.on_close;
        self.update(|components, cx| {
            if choice.pause_games {
                components.games.pause_all(components.engines, cx);
            }
            if choice.stop_analysis {
                components.analyses.remove_all(cx);
            }
        });
    }

    /// Whether the server exits when there is no tab.
    pub(crate) fn may_exit(&self) -> bool {
        self.settings.on_close.quit
            && !self.games.is_any_running()
            && self.analyses.is_empty()
            && !self.plays_a_match()
            && !self.jobs.is_busy()
    }

    /// Interrupts and saves the games, and sends `quit` to all engines.
    pub(crate) fn shut_down(&mut self) {
        self.closing = true;
        self.update(|components, cx| {
            components.games.interrupt_all(components.engines, cx);
            components.engines.cancel_checks();
            cx.processes.quit_all();
        });
    }

    pub(crate) fn have_engines_exited(&self) -> bool {
        self.processes.have_all_exited()
    }

    pub(crate) fn kill_engines(&mut self) {
        self.processes.kill_all();
    }
}

/// Waits until something is written.
async fn written<T>(result: Written<Result<T, StoreError>>) -> Result<T, ApiError> {
    result.await.unwrap_or(Err(StoreError::Closed)).map_err(storage)
}

#[expect(clippy::needless_pass_by_value, reason = "it maps errors")]
pub(crate) fn storage(error: StoreError) -> ApiError {
    ApiError::storage(library_error(&error))
}

/// A snapshot of a topic whose message is completed without the lock.
pub(crate) struct TopicSnapshot {
    topic: Topic,
    number: u64,
    content: Content,
}

enum Content {
    State(State),
    /// The nodes of the game are those of the tree.
    Game(Box<GameState>, Tree),
    Match(MatchView),
}

impl TopicSnapshot {
    /// Whether [`Self::finish`] reads a file.
    pub(crate) fn reads_file(&self) -> bool {
        matches!(&self.content, Content::Match(view) if view.reads_file())
    }

    /// The message. It must be made without the lock: a large tree or a file takes time.
    pub(crate) fn finish(self) -> ToTab {
        let Self { topic, number, content } = self;
        let state = match content {
            Content::State(state) => state,
            Content::Game(mut game, tree) => {
                game.nodes = tree.wire_all();
                State::Game(game)
            }
            Content::Match(view) => match view.read() {
                Ok(state) => State::Match(Box::new(state)),
                Err(_) => return ToTab::Closed { topic },
            },
        };
        ToTab::Snapshot { topic, number, state: Box::new(state) }
    }
}

impl AppState {
    fn subscribe(&mut self, tab: TabId, topic: Topic) -> Result<Answer, ApiError> {
        if !self.has_topic(topic) {
            return Err(ApiError::not_found(ErrorSubject::Topic, topic));
        }
        if let Topic::Log(process) = topic {
            self.processes.get_mut(process).map(EngineProcess::follow_log);
        }
        if let Topic::Game(id) = topic {
            self.games.join(id, tab);
        }
        if !self.hub.subscribe(tab, topic) {
            return Err(ApiError::too_many(ErrorSubject::Topic));
        }
        Ok(Answer::Done)
    }

    /// Removes a tab whose connection is closed.
    pub(crate) fn leave(&mut self, tab: TabId) {
        self.hub.leave(tab);
        self.games.leave(tab);
    }

    fn has_topic(&self, topic: Topic) -> bool {
        match topic {
            Topic::Games | Topic::Engines | Topic::Jobs | Topic::Settings | Topic::Matches => true,
            Topic::Game(id) | Topic::Analysis(id) | Topic::Report(id) => self.games.contains(id),
            Topic::Log(id) => self.processes.get(id).is_some(),
            Topic::Match(id) => self.has_match(id),
        }
    }

    /// A snapshot of a topic for a tab; none if there is no such topic.
    pub(crate) fn snapshot(&self, tab: TabId, topic: Topic) -> Option<TopicSnapshot> {
        let state = match topic {
            Topic::Games => State::Games(GamesState { games: self.games.summaries() }),
            Topic::Engines => State::Engines(self.engines.state(&self.processes)),
            Topic::Jobs => State::Jobs(self.jobs.state()),
            Topic::Settings => State::Settings(self.settings.clone()),
            Topic::Game(id) => {
                let session = self.games.get(id)?;
                let (state, tree) =
                    (Box::new(session.state(Some(tab), now())), session.tree().clone());
                return Some(self.numbered(topic, Content::Game(state, tree)));
            }
            Topic::Analysis(id) => {
                self.games.get(id)?;
                State::Analysis(self.analyses.state(id))
            }
            Topic::Log(id) => State::Log(self.processes.get(id)?.log_state()),
            Topic::Report(id) => {
                self.games.get(id)?;
                State::Report(Box::new(self.reports.state(&self.games, id)))
            }
            Topic::Matches => self.matches_state(),
            Topic::Match(id) => {
                let view = self.matches.get()?.view(id).ok()?;
                return Some(self.numbered(topic, Content::Match(view)));
            }
        };
        Some(self.numbered(topic, Content::State(state)))
    }

    fn numbered(&self, topic: Topic, content: Content) -> TopicSnapshot {
        TopicSnapshot { topic, number: self.hub.number(topic), content }
    }
}
