//! The state of the server behind one lock, and everything that changes it: commands of tabs, events of
//! engines, clocks.
//!
//! ```text
//!  tab ── Command ──> router ──> feature ── Tasks ──> processes of engines ─┐
//!  clocks ── tick ─────────────>  │  <── TaskEvent ────────────────────────┘
//!                                 ├─ Delta ─────> Hub ──> tabs
//!                                 └─ save ──────> Writer ──> Store
//! ```
//! Features are `impl` blocks of [`AppState`] and [`App`], each in a file of its own. A feature uses those of its own
//! and of lower layers, which a test of imports and calls checks:
//!
//! | layer | modules |
//! |--:|---|
//! | 0 | `saving`, `long_searches`: the queue of the writer, answers that wait for it, searches that can be cancelled |
//! | 1 | `engines`, `checks`, `discovery`, `searches`, `settings`, `online`: registered engines, their processes, searches with a caller, permitted services |
//! | 2 | `games`, `players`: changes of open games, and the engines that play them |
//! | 3 | `analyses`, `hints`, `reports`, `training`: searches of positions |
//! | 4 | `open_games`, `library`, `collections`, `references`, `repertoires`, `jobs`, `matches`, `studies`, `training_sets`: the games as a whole |
//! | 5 | `processes`, `router`: events of processes and commands of tabs, for all features |
//!
//! There is no I/O under the lock: only the thread of the [`Writer`] uses the [`Store`], and a command is answered
//! when its changes are written.

mod analyses;
mod checks;
mod collections;
mod discovery;
mod drafts;
mod engines;
pub(crate) mod games;
mod hints;
mod jobs;
mod library;
mod long_searches;
mod matches;
mod online;
mod open_games;
mod players;
mod processes;
mod references;
mod repertoires;
mod reports;
mod router;
mod saving;
mod searches;
mod settings;
mod studies;
#[cfg(test)]
mod tests;
mod training;
mod training_sets;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use readyok_client::{EngineProgram, Guard};
use readyok_library::{Hold, Library};
use readyok_protocol::Language;
use readyok_protocol::translation::Translation;
use tokio::sync::Notify;

use crate::data_dir;
use crate::engine::{Registry, start};
use crate::game::{GameSession, Tree};
use crate::http::export::Exports;
use crate::hub::{Hub, TabId};
use crate::matches::{MatchListener, MatchView, Matches, Program};
use crate::online::lookups::Lookups;
use crate::online::{OnlineSetup, Token};
use crate::search::{EngineProcess, Tasks};
use crate::store::{LIBRARY, Store, StoreError, Writer};
use crate::time::now;
use crate::wire::{
    Answer, ApiError, DamagedFile, EngineId, ErrorSubject, GameId, GameState, GamesState, JobId,
    MatchId, ProcessId, Settings, ToTab, Topic, TopicState, Variant,
};

use analyses::Panel;
use checks::Checks;
use discovery::Discovery;
use jobs::Job;
use long_searches::LongSearches;
use references::OpenReferences;
use reports::Report;
use saving::{SaveQueue, restored};

pub(crate) use jobs::Upload;
pub(crate) use saving::Reply;
pub(crate) use training_sets::ExerciseFile;

/// The settings of the program that runs the server.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// The data directory.
    pub data: PathBuf,
    /// Narikin.
    pub built_in: EngineProgram,
    /// The translation file of Narikin.
    pub translation: Vec<u8>,
    /// Ends the engines with this program.
    pub guard: Option<Guard>,
    /// Prefixes of the names of the checks that the conformance checker runs; empty for all checks.
    pub checks: Vec<String>,
    /// How online services are reached.
    pub online: OnlineSetup,
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
    lookups: Lookups,
    pub(crate) exports: Exports,
    pub(crate) long_searches: LongSearches,
    /// Locked while open games are written to the library.
    writing_open: tokio::sync::Mutex<()>,
    /// Deadlines of clocks may have changed.
    pub(crate) clocks: Notify,
    /// The last tab was closed, or work has finished.
    pub(crate) idle: Notify,
}

/// Everything that tabs see. Changes go through [`App::update`].
pub(crate) struct AppState {
    pub(crate) hub: Hub,
    saves: SaveQueue,
    tasks: Tasks,
    registry: Registry,
    checks: Checks,
    discovery: Discovery,
    /// Engines that wait for a probe, with the variant to probe them for.
    probes: VecDeque<(EngineId, Option<Variant>)>,
    sessions: BTreeMap<GameId, GameSession>,
    /// Sessions that were opened by a job, not by the user. They are not listed.
    background: BTreeMap<GameId, Hold>,
    /// Boards that give way to a new one if they are untouched drafts.
    replaced_drafts: BTreeSet<GameId>,
    /// The engines that analyze, by game.
    analyses: BTreeMap<GameId, BTreeMap<EngineId, Panel>>,
    reports: BTreeMap<GameId, Report>,
    jobs: BTreeMap<JobId, Job>,
    matches: matches::Shared,
    settings: Settings,
    lichess_token: Option<Token>,
    program: Arc<ServerSettings>,
    app: Weak<App>,
    /// The server shuts down; no process is started.
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
        let lichess_token = store.lichess_token()?;
        let mut sessions = BTreeMap::new();
        let mut reports = BTreeMap::new();
        for (id, stored, report) in store.open_games() {
            reports.extend(report.map(|report| (id, Report::restored(report))));
            sessions.insert(id, restored(store.library(), id, stored));
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
                tasks: Tasks::new(launcher(app.clone())),
                registry,
                checks: Checks::default(),
                discovery: Discovery::default(),
                probes: VecDeque::new(),
                sessions,
                background: BTreeMap::new(),
                replaced_drafts: BTreeSet::new(),
                analyses: BTreeMap::new(),
                reports,
                jobs,
                matches,
                settings,
                lichess_token,
                program: Arc::clone(&setup),
                app: app.clone(),
                closing: false,
                acting: None,
            }),
            damaged: OnceLock::new(),
            references: OpenReferences::default(),
            lookups: Lookups::default(),
            exports: Exports::default(),
            long_searches: LongSearches::default(),
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

    /// Changes the state, and publishes the changes of processes.
    pub(crate) fn update<R>(&self, change: impl FnOnce(&mut AppState) -> R) -> R {
        let mut state = self.state();
        let result = change(&mut state);
        state.publish_processes();
        result
    }

    /// Changes the state. The answer is sent after the changes are written.
    pub(super) fn change(
        &self,
        change: impl FnOnce(&mut AppState) -> Result<Answer, ApiError>,
    ) -> Reply {
        self.change_for(None, change)
    }

    /// Carries out a command of a tab.
    pub(super) fn change_for(
        &self,
        tab: Option<TabId>,
        change: impl FnOnce(&mut AppState) -> Result<Answer, ApiError>,
    ) -> Reply {
        let (answer, is_queued) = self.update(|state| {
            let before = state.saves.queued;
            state.acting = tab;
            let answer = change(state);
            state.acting = None;
            (answer, state.saves.queued != before)
        });
        if is_queued { Reply::Written(answer, self.writer.barrier()) } else { Reply::Done(answer) }
    }

    pub(crate) fn log_text(&self, id: ProcessId, language: Language) -> Option<String> {
        self.state().tasks.get(id).map(|process| process.log_text(language))
    }

    pub(crate) fn engines_toml(&self) -> Result<String, toml::ser::Error> {
        self.state().registry.to_toml()
    }

    /// Writes what is queued, and closes the library.
    pub(crate) async fn close_library(&self) {
        self.writer.close().await;
    }
}

/// Starts processes that report their events to the app.
fn launcher(app: Weak<App>) -> crate::search::Launch {
    Box::new(move |process, how| {
        let app = app.clone();
        let report = move |process, event| {
            if let Some(app) = app.upgrade() {
                app.update(|state| state.on_process_event(process, event));
                app.clocks.notify_one();
                app.idle.notify_one();
            }
        };
        start(process, how, Arc::new(report))
    })
}

impl AppState {
    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Publishes new lines of logs, and the progress of conformance checks.
    pub(crate) fn publish_progress(&mut self) {
        self.refresh_all_approvals();
        self.publish_logs();
        self.publish_checks();
    }

    /// Pauses games and stops analysis as set by the user.
    pub(crate) fn on_last_tab_closed(&mut self) {
        if self.settings.on_close.pause_games {
            self.pause_all();
        }
        if self.settings.on_close.stop_analysis {
            self.end_all_analyses();
        }
    }

    /// Whether the server exits when there is no tab.
    pub(crate) fn may_exit(&self) -> bool {
        self.settings.on_close.quit
            && !self.sessions.values().any(GameSession::is_running)
            && self.analyses.is_empty()
            && !self.plays_a_match()
            && !self.jobs.values().any(Job::is_running)
    }

    /// Interrupts and saves the games, and sends `quit` to all engines.
    pub(crate) fn shut_down(&mut self) {
        self.closing = true;
        self.cancel_search();
        self.interrupt_all();
        self.checks.cancel_all();
        self.tasks.end_all();
    }

    pub(crate) fn have_engines_exited(&self) -> bool {
        self.tasks.have_all_exited()
    }

    pub(crate) fn kill_engines(&mut self) {
        self.tasks.kill_all();
    }
}

/// A snapshot of a topic whose message is completed without the lock.
pub(crate) struct TopicSnapshot {
    topic: Topic,
    number: u64,
    content: Content,
}

enum Content {
    State(TopicState),
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
                TopicState::Game(game)
            }
            Content::Match(view) => match view.read() {
                Ok(state) => TopicState::Match(Box::new(state)),
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
            self.tasks.get_mut(process).map(EngineProcess::follow_log);
        }
        if let Topic::Game(id) = topic
            && let Some(session) = self.sessions.get_mut(&id)
        {
            session.join(tab);
        }
        if !self.hub.subscribe(tab, topic) {
            return Err(ApiError::too_many(ErrorSubject::Topic));
        }
        Ok(Answer::Done)
    }

    /// Removes a tab whose connection is closed.
    pub(crate) fn leave(&mut self, tab: TabId) {
        self.hub.leave(tab);
        self.sessions.values_mut().for_each(|session| session.leave(tab));
        self.drop_replaced_drafts();
    }

    fn has_topic(&self, topic: Topic) -> bool {
        match topic {
            Topic::Games | Topic::Engines | Topic::Jobs | Topic::Settings | Topic::Matches => true,
            Topic::Game(id) | Topic::Analysis(id) | Topic::Report(id) => {
                self.sessions.contains_key(&id)
            }
            Topic::Log(id) => self.tasks.get(id).is_some(),
            Topic::Match(id) => self.has_match(id),
        }
    }

    /// A snapshot of a topic for a tab; none if there is no such topic.
    pub(crate) fn snapshot(&self, tab: TabId, topic: Topic) -> Option<TopicSnapshot> {
        let state = match topic {
            Topic::Games => TopicState::Games(GamesState { games: self.game_lines() }),
            Topic::Engines => TopicState::Engines(self.engines_state()),
            Topic::Jobs => TopicState::Jobs(self.jobs_state()),
            Topic::Settings => TopicState::Settings(self.settings.clone()),
            Topic::Game(id) => {
                let session = self.sessions.get(&id)?;
                let state = Box::new(session.state(Some(tab), now()));
                return Some(self.numbered(topic, Content::Game(state, session.tree().clone())));
            }
            Topic::Analysis(id) => {
                self.sessions.get(&id)?;
                TopicState::Analysis(self.analysis_state(id))
            }
            Topic::Log(id) => TopicState::Log(self.tasks.get(id)?.log_state()),
            Topic::Report(id) => {
                self.sessions.get(&id)?;
                TopicState::Report(Box::new(self.report_state(id)))
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
