//! The state of the whole app behind one lock, and everything that happens to it: commands of tabs,
//! news of engines, clocks.
//!
//! ```text
//!  tab ── Command ──> AppState ── EngineCommand ──> Process ─┐
//!  clocks ── tick ──>   │  <────── EngineEvent ──────────┘
//!                       └─ Delta ──> Hub ──> tabs        every change of a game ──> Writer ──> Store
//! ```
//! Nothing waits while it holds the lock, and nothing but the thread of the [`Writer`] uses the [`Store`]. A
//! command is answered when the library has what it has changed.

mod analyses;
mod checks;
mod commands;
mod engines;
pub(crate) mod failures;
mod games;
mod jobs;
mod library;
mod matches;
mod rematch;
mod reports;
mod retry;
mod saving;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use readyok_arena::runner::Suspensions;
use readyok_client::{Dialect, Guard};
use readyok_protocol::translation::Translation;
use tokio::sync::Notify;

use crate::data_dir;
use crate::engine::{EngineCommand, Log, Process, Registry, Reporter};
use crate::game::{GameSession, SearchRequest, Tree};
use crate::hub::{Hub, TabId};
use crate::matches::{Matches, Program, Tell};
use crate::store::{Store, StoreError, Writer};
use crate::time::{Moment, now};
use crate::wire::{
    ApiError, Approval, CheckRun, Command, Delta, EngineId, GameId, GamesState, JobId, LogDelta,
    LogState, MatchId, ProcessId, ProcessState, Purpose, ReportOn, Settings, Side, State, Strength,
    ToTab, Topic, Variant,
};

use analyses::Panel;
use jobs::Job;
pub(crate) use jobs::StoredJob;
pub(crate) use library::{Batch, row_of};
use reports::Report;
pub(crate) use reports::StoredReport;
use retry::RetryAttempt;
pub(crate) use retry::Verdict;
pub(crate) use saving::Reply;
use saving::SaveQueue;

/// So many processes that have ended are remembered, for their logs.
const MOST_ENDED: usize = 16;

/// What the app needs to know of the program around it.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The folder for the library and everything else that is kept.
    pub data: PathBuf,
    /// The program that is Narikin, with its arguments.
    pub built_in: (PathBuf, Vec<String>),
    /// The translation file of Narikin.
    pub translation: Vec<u8>,
    /// Sees to it that no engine outlives this program.
    pub guard: Option<Guard>,
    /// How often this program was stopped and went on: matches play pairings again that were on.
    pub suspensions: Suspensions,
    /// Engines are put through those checks whose names start so; through all if nothing is said.
    pub checks: Vec<String>,
}

/// The app.
pub(crate) struct App {
    state: Mutex<AppState>,
    /// The library. The state queues its own changes by itself.
    pub(crate) writer: Writer,
    matches: matches::Shared,
    /// The clocks have to be looked at anew.
    pub(crate) clocks: Notify,
    /// The last tab has gone, or work has ended.
    pub(crate) idle: Notify,
}

/// Everything that is true now.
pub(crate) struct AppState {
    pub(crate) hub: Hub,
    saves: SaveQueue,
    app: Weak<App>,
    setup: Setup,
    rooms: BTreeMap<GameId, GameSession>,
    /// Those of the rooms that nobody has opened: a job looks at them.
    guests: BTreeSet<GameId>,
    registry: Registry,
    processes: BTreeMap<ProcessId, EngineProcess>,
    seats: BTreeMap<(GameId, Side), ProcessId>,
    lanes: BTreeMap<GameId, BTreeMap<EngineId, Panel>>,
    reports: BTreeMap<GameId, Report>,
    jobs: BTreeMap<JobId, Job>,
    trials: BTreeMap<ProcessId, RetryAttempt>,
    /// Engines of which nothing is known and that were not asked yet, and about which game to ask them.
    unasked: VecDeque<(EngineId, Option<Variant>)>,
    matches: matches::Shared,
    /// The last line of each log that was passed on.
    told: BTreeMap<ProcessId, u64>,
    settings: Settings,
    last_process: ProcessId,
    last_search_id: u64,
    reporter: Reporter,
    checked: Checked,
    /// The server ends: nothing new is started.
    closing: bool,
}

/// Who is told what came of a run of the conformance checker.
type Checked = Arc<dyn Fn(EngineId, CheckRun) + Send + Sync>;

/// A process with what is known of it.
struct EngineProcess {
    /// None when it has ended.
    handle: Option<Process>,
    log: Arc<Mutex<Log>>,
    state: ProcessState,
    /// What it speaks, once it has greeted.
    dialect: Option<Dialect>,
    /// What the game wants of it and cannot be said yet.
    pending: Vec<SearchRequest>,
    /// The side that it plays, and the search it is at.
    side: Option<Side>,
    hint: Option<(u64, crate::wire::NodeId)>,
    /// How strongly it is to play, while nobody knows how that is said to it.
    strength: Option<Strength>,
    /// What it has said of its registration and its copy protection, as far as that was looked at.
    approvals: (Option<Approval>, Option<Approval>),
    /// Another process takes its place when it has left.
    restart: bool,
}

impl App {
    /// Opens the library and goes on where it was left.
    pub(crate) fn open(setup: Setup) -> Result<Arc<Self>, StoreError> {
        let data = setup.data.clone();
        let store = Store::open(&data)?;
        let translation = Translation::read(&setup.translation).unwrap_or_default();
        let registry = Registry::new(translation, store.engines()?, store.last_engine()?);
        let settings = store.settings()?;
        let mut rooms = BTreeMap::new();
        let mut reports = BTreeMap::new();
        for (id, changed, kept) in store.open_games()? {
            if let Some(room) = GameSession::restore(id, kept, changed) {
                rooms.insert(id, room);
                // One that cannot be read is made again.
                let report = store.report(id).ok().flatten();
                reports.extend(report.map(|report| (id, Report::restored(report))));
            }
        }
        let jobs = store.jobs()?.into_iter();
        let jobs = jobs.map(|(id, kept, games)| (id, Job::restored(kept, games))).collect();
        let folder = data_dir::matches_in(&setup.data);
        let matches = matches::Shared::default();
        let (writer, queue) = Writer::new();
        let app = Arc::new_cyclic(|app: &Weak<Self>| {
            let (app, for_checks, for_world) = (app.clone(), app.clone(), app.clone());
            let checked: Checked = Arc::new(move |engine, run| {
                if let Some(app) = for_checks.upgrade() {
                    app.state().set_check(engine, run);
                }
            });
            let reporter: Reporter = Arc::new(move |process, news| {
                if let Some(app) = app.upgrade() {
                    app.state().news(process, news, now());
                    app.clocks.notify_one();
                    app.idle.notify_one();
                }
            });
            Self {
                matches: Arc::clone(&matches),
                writer: writer.clone(),
                state: Mutex::new(AppState {
                    matches,
                    hub: Hub::default(),
                    saves: SaveQueue::new(writer),
                    app: for_world,
                    setup,
                    rooms,
                    guests: BTreeSet::new(),
                    registry,
                    processes: BTreeMap::new(),
                    seats: BTreeMap::new(),
                    lanes: BTreeMap::new(),
                    reports,
                    jobs,
                    trials: BTreeMap::new(),
                    unasked: VecDeque::new(),
                    told: BTreeMap::new(),
                    settings,
                    last_process: 0,
                    last_search_id: 0,
                    reporter,
                    checked,
                    closing: false,
                }),
                clocks: Notify::new(),
                idle: Notify::new(),
            }
        });
        let Setup { guard, suspensions, .. } = app.state().setup.clone();
        let program = Program { guard, suspensions };
        let listener = Arc::downgrade(&app);
        let tell: Tell = Arc::new(move |news| {
            if let Some(app) = listener.upgrade() {
                app.match_event(news);
            }
        });
        let opened = Matches::open(&folder, program, tell);
        let matches = opened.map_err(|error| StoreError::File(folder, error))?;
        // Whoever comes next has the number of one that has lost its files.
        store.forget_matches(matches.next_id()..=MatchId::MAX)?;
        app.set_matches(matches);
        let started = queue.start(store, Arc::downgrade(&app));
        started.map_err(|error| StoreError::File(data, error))?;
        Ok(app)
    }

    /// The state. Whoever holds it waits for nothing.
    pub(crate) fn state(&self) -> MutexGuard<'_, AppState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Carries out a command of a tab.
    pub(crate) async fn command(self: &Arc<Self>, tab: TabId, command: Command) -> Reply {
        let reply = match command {
            Command::NewGame { game } => self.new_game(&game).await.unwrap_or_else(refused),
            Command::Rematch { game } => self.rematch(game).await.unwrap_or_else(refused),
            Command::OpenGame { game } => self.open_game(game).await.into(),
            Command::CloseGame { game } => self.close_game(game).await.into(),
            Command::DeleteGame { game } => self.delete_game(game).await.unwrap_or_else(refused),
            Command::StartMatch { plan } => self.start_match(*plan).into(),
            Command::StopMatch { id, finish } => {
                self.change_match(id, |it| it.stop(id, finish)).into()
            }
            Command::ResumeMatch { id } => self.resume_match(id).into(),
            Command::OpenMatchGame { id, number } => self.open_match_game(id, number).await.into(),
            Command::DeleteMatch { id } => self.delete_match(id).await.into(),
            Command::ImportFolder { path } => self.start_folder(path.into(), None).await.into(),
            Command::StartReport { on: ReportOn::Folder { path }, settings } => {
                self.start_folder(path.into(), Some(settings)).await.into()
            }
            Command::StartReport { on: ReportOn::Games { games }, settings } => {
                self.start_report(games, settings).await.into()
            }
            Command::ResumeJob { id } => self.resume_job(id),
            Command::DeleteJob { id } => self.delete_job(id).await.into(),
            Command::RemoveEngine { engine } => self.remove_engine(engine).await.into(),
            Command::SetSettings { settings } => self.set_settings(settings).await.into(),
            other => self.change(|state| state.command(tab, other, now())),
        };
        self.clocks.notify_one();
        self.idle.notify_one();
        reply
    }

    /// Writes all that is queued, and closes the library.
    pub(crate) async fn close_library(&self) {
        self.writer.close().await;
    }
}

fn refused(error: ApiError) -> Reply {
    Err(error).into()
}

/// A snapshot of a topic, but for what can be made without the lock of the state.
pub(crate) struct TopicSnapshot {
    topic: Topic,
    number: u64,
    state: State,
    /// The nodes of a game.
    tree: Option<Tree>,
}

impl TopicSnapshot {
    /// The message. A large tree takes time: not with the lock.
    pub(crate) fn finish(self) -> ToTab {
        let Self { topic, number, mut state, tree } = self;
        if let (State::Game(game), Some(tree)) = (&mut state, tree) {
            game.nodes = tree.wire_all();
        }
        ToTab::Snapshot { topic, number, state: Box::new(state) }
    }
}

impl AppState {
    /// A snapshot of a topic; none if there is no such topic.
    pub(crate) fn snapshot(&self, topic: Topic) -> Option<TopicSnapshot> {
        let at = now();
        let mut tree = None;
        let state = match topic {
            Topic::Games => {
                let shown = self.rooms.iter().filter(|(id, _)| !self.guests.contains(id));
                let mut games: Vec<_> = shown.map(|(_, room)| room.line()).collect();
                games.sort_by_key(|line| std::cmp::Reverse((line.changed, line.id)));
                State::Games(GamesState { games })
            }
            Topic::Engines => State::Engines(self.engines_state()),
            Topic::Jobs => State::Jobs(self.jobs_state()),
            Topic::Settings => State::Settings(self.settings.clone()),
            Topic::Game(id) => {
                let room = self.rooms.get(&id)?;
                tree = Some(room.tree().clone());
                State::Game(Box::new(room.state(at)))
            }
            Topic::Analysis(id) => {
                self.rooms.get(&id)?;
                State::Analysis(self.analysis_state(id))
            }
            Topic::Log(id) => State::Log(self.log_state(id)?),
            Topic::Report(id) => {
                self.rooms.get(&id)?;
                State::Report(self.report_state(id))
            }
            Topic::Matches => self.matches_state(),
            Topic::Match(id) => self.match_state(id)?,
        };
        let number = self.hub.number(topic);
        Some(TopicSnapshot { topic, number, state, tree })
    }

    fn has_topic(&self, topic: Topic) -> bool {
        match topic {
            Topic::Games | Topic::Engines | Topic::Jobs | Topic::Settings | Topic::Matches => true,
            Topic::Game(id) | Topic::Analysis(id) | Topic::Report(id) => {
                self.rooms.contains_key(&id)
            }
            Topic::Log(id) => self.processes.contains_key(&id),
            Topic::Match(id) => self.has_match(id),
        }
    }

    fn log_state(&self, id: ProcessId) -> Option<LogState> {
        let log = self.processes.get(&id)?.log.lock().unwrap_or_else(PoisonError::into_inner);
        // What is passed on next follows what was passed on last, for those who listen already.
        let upto = self.told.get(&id).copied().unwrap_or_else(|| log.total());
        let tail = log.after(0);
        let lines = tail.lines.into_iter().filter(|line| line.number <= upto).collect();
        Some(LogState { process: id, lines, total: upto })
    }

    /// Passes on what logs have heard since the last time.
    pub(crate) fn pass_logs_on(&mut self) {
        let alive = self.processes.iter().filter(|(_, running)| running.handle.is_some());
        for id in alive.map(|(id, _)| *id).collect::<Vec<_>>() {
            self.note_approvals(id);
        }
        let wanted: Vec<ProcessId> = self
            .hub
            .wanted()
            .filter_map(|topic| match topic {
                Topic::Log(id) => Some(id),
                _ => None,
            })
            .collect();
        self.told.retain(|id, _| wanted.contains(id));
        for id in wanted {
            let Some(running) = self.processes.get(&id) else { continue };
            let log = running.log.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(told) = self.told.get(&id).copied() else {
                self.told.insert(id, log.total());
                continue;
            };
            if told == log.total() {
                continue;
            }
            let tail = log.after(told);
            drop(log);
            self.told.insert(id, tail.total);
            let delta = LogDelta { lines: tail.lines, skipped: tail.skipped, total: tail.total };
            self.hub.publish(Topic::Log(id), Delta::Log(delta));
        }
    }

    /// A tab wants a topic.
    fn subscribe(&mut self, tab: TabId, topic: Topic) -> bool {
        if let Topic::Log(id) = topic
            && let Some(running) = self.processes.get(&id)
            && !self.told.contains_key(&id)
        {
            let total = running.log.lock().unwrap_or_else(PoisonError::into_inner).total();
            self.told.insert(id, total);
        }
        self.hub.subscribe(tab, topic)
    }

    /// When the next flag falls.
    pub(crate) fn due(&self) -> Option<Moment> {
        self.rooms.values().filter_map(GameSession::due).min()
    }

    /// Looks at the clocks.
    pub(crate) fn tick(&mut self, at: Moment) {
        let due: Vec<GameId> = self
            .rooms
            .values()
            .filter(|room| room.due().is_some_and(|due| due <= at))
            .map(GameSession::id)
            .collect();
        for id in due {
            let effects = self.rooms.get_mut(&id).map(|room| room.tick(at)).unwrap_or_default();
            self.settle(id, effects, at);
        }
    }

    /// Tells of all clocks that run.
    pub(crate) fn tell_clocks(&mut self, at: Moment) {
        for id in self.rooms.keys().copied().collect::<Vec<_>>() {
            if let Some(room) = self.rooms.get_mut(&id) {
                room.tell_clocks();
            }
            self.settle(id, Vec::new(), at);
        }
    }

    /// The server ends: games are interrupted and kept, engines are asked to leave.
    pub(crate) fn close(&mut self) {
        self.closing = true;
        let at = now();
        for id in self.rooms.keys().copied().collect::<Vec<_>>() {
            let effects =
                self.rooms.get_mut(&id).map(|room| room.interrupt(at)).unwrap_or_default();
            self.settle(id, effects, at);
        }
        for running in self.processes.values() {
            if let Some(handle) = &running.handle {
                handle.send(EngineCommand::Quit);
            }
        }
    }

    /// Whether no engine runs any more.
    pub(crate) fn is_quiet(&self) -> bool {
        self.processes.values().all(|running| running.handle.as_ref().is_none_or(Process::is_over))
    }

    /// Kills what still runs.
    pub(crate) fn kill_all(&mut self) {
        for running in self.processes.values_mut() {
            running.handle = None;
        }
    }

    /// What becomes of work when the last tab has gone.
    pub(crate) fn last_tab_has_gone(&mut self) {
        let at = now();
        let choice = self.settings.on_close;
        for id in self.rooms.keys().copied().collect::<Vec<_>>() {
            if choice.pause_games && self.rooms.get(&id).is_some_and(GameSession::is_going) {
                let paused = self.rooms.get_mut(&id).and_then(|room| room.pause(at).ok());
                self.settle(id, paused.unwrap_or_default(), at);
            }
            if choice.stop_analysis {
                self.end_lanes(id);
            }
        }
    }

    /// Whether the server is to end when nobody looks at it.
    pub(crate) fn may_end(&self) -> bool {
        self.settings.on_close.quit
            && !self.rooms.values().any(GameSession::is_going)
            && self.lanes.is_empty()
            && !self.plays_a_match()
            && !self.has_work()
    }
}

fn is_for(state: &ProcessState, game: GameId) -> bool {
    match state.use_for {
        Purpose::Play { game: it }
        | Purpose::Analyse { game: it }
        | Purpose::Hint { game: it }
        | Purpose::Report { game: it }
        | Purpose::Learn { game: it } => it == game,
        Purpose::Inspect | Purpose::Console => false,
    }
}
