//! Matches and tournaments of engines, played by the arena.
//!
//! ```text
//!  MatchPlan ── plan_of ──> arena plan ──> run: a thread of its own, with its engines
//!                                            │ events, pairs
//!                                            v
//!                                          LiveMatch ── MatchDelta, at most 5 a second ──> listener
//! ```
//! Each match has two files in the directory: `7.match`, the arena's result file, from which the match is resumed,
//! and `7.json`, the plan of the page and the status. A match that was stopped, or that ran when the server
//! ended, can be resumed.

mod live;
mod plan;
mod results;

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{fs, thread};

use readyok_arena::durable::{self, FileAccess};
use readyok_arena::event::{Event, Rating};
use readyok_arena::game::{GameSettings, PlayerOptions};
use readyok_arena::listener::Listener;
use readyok_arena::match_state::MatchState;
use readyok_arena::openings::Skipped;
use readyok_arena::pairing::PairResult;
use readyok_arena::plan::{EngineId, EnginePlan, Plan};
use readyok_arena::queue::{MatchSpec, Stop};
use readyok_arena::runner::{EnginePlayer, Match, MatchError, Settings, StopHandle};
use readyok_arena::schedule::Schedule;
use readyok_arena::stats::Verdict;
use readyok_arena::store::{Reader, Store, StoreError};
use readyok_client::{Guard, Timeouts};
use serde::{Deserialize, Serialize};

use crate::errors::{io_error, match_error, schedule_error, store_error};
use crate::time::instant;
use crate::wire::{
    self, ApiError, ErrorCode, ErrorInfo, ErrorSubject, MatchDelta, MatchId, MatchLine,
    MatchLogEntry, MatchPlan, MatchStatus,
};

use live::{bounds_of, finished};

pub use live::{Finished, LiveMatch, queue_games, queue_log};
pub use plan::{changed_plan, form_of, plan_of};
pub use results::{MatchFile, Results};

/// Maximum size of the file with the status of a match, in bytes.
const MAX_STATUS_FILE: u64 = 64 << 20;
/// Maximum number of matches.
const MAX_MATCHES: usize = 10_000;
/// Maximum time for engines to exit at shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(30);

/// The program that plays matches.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Ends the engines with this program.
    pub guard: Option<Guard>,
}

/// All matches, running or stored. Dropping it aborts the running ones and ends their engines.
pub struct Matches {
    directory: PathBuf,
    program: Program,
    listener: MatchListener,
    /// Held while files are read or written. The server's state never waits for it.
    changes: Mutex<()>,
    /// The match that was read last and does not run.
    recent: Mutex<Option<Arc<wire::MatchState>>>,
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    matches: BTreeMap<MatchId, ListedMatch>,
    /// No match is started.
    closed: bool,
}

impl Entries {
    fn get(&self, id: MatchId) -> Result<&ListedMatch, ApiError> {
        self.matches.get(&id).ok_or_else(|| no_match(id))
    }
}

impl std::fmt::Debug for Matches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Matches").field("directory", &self.directory).finish_non_exhaustive()
    }
}

struct ListedMatch {
    kept: StoredMatch,
    /// Set since its start or resumption by this program.
    running: Option<MatchThread>,
}

/// The plan and status of a match, as stored next to its results.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct StoredMatch {
    #[serde(rename = "asked")]
    requested: MatchPlan,
    status: MatchStatus,
    played: u32,
    total: Option<u32>,
    note: Option<ErrorInfo>,
    #[serde(default)]
    elo: Option<Rating>,
    #[serde(default)]
    verdict: Option<Verdict>,
    /// What cannot be found out of the results again.
    #[serde(default)]
    log: Vec<MatchLogEntry>,
}

impl StoredMatch {
    /// A match without results.
    fn new(requested: MatchPlan, total: Option<u32>) -> Self {
        Self {
            requested,
            status: MatchStatus::Paused,
            played: 0,
            total,
            note: None,
            elo: None,
            verdict: None,
            log: Vec::new(),
        }
    }
}

fn storage(error: &io::Error) -> ApiError {
    ApiError::storage(io_error(error))
}

fn bad_store(error: &StoreError) -> ApiError {
    ApiError::storage(store_error(error))
}

impl Matches {
    /// Opens the matches of a directory, which is created if it is missing. Other files are ignored.
    ///
    /// # Errors
    /// The directory cannot be used.
    pub fn open(directory: &Path, program: Program, listener: MatchListener) -> io::Result<Self> {
        fs::create_dir_all(directory)?;
        let mut matches = BTreeMap::new();
        for item in directory.read_dir()? {
            let path = item?.path();
            let id =
                path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse().ok());
            let is_ours = path.extension().is_some_and(|extension| extension == "json");
            if let Some(id) = id.filter(|_| is_ours)
                && let Some(kept) = read_kept(&path)
            {
                matches.insert(id, ListedMatch { kept, running: None });
            }
        }
        let entries = Mutex::new(Entries { matches, closed: false });
        Ok(Self {
            directory: directory.to_owned(),
            program,
            listener,
            changes: Mutex::new(()),
            recent: Mutex::default(),
            entries,
        })
    }

    /// Starts a match. `engines` are the registered ones, in the order of the plan.
    ///
    /// # Errors
    /// The plan is invalid, or its files cannot be written.
    pub fn start(&self, requested: MatchPlan, engines: &[EnginePlan]) -> Result<MatchId, ApiError> {
        let _changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        if MAX_MATCHES <= self.entries().matches.len() {
            return Err(ApiError::too_many(ErrorSubject::Match));
        }
        let (plan, _) = plan_of(&requested, engines)?;
        let total = total(&plan)?;
        let id = self.next_id();
        let kept = StoredMatch::new(requested, total);
        write_kept(&self.path(id, "json"), &kept).map_err(|error| storage(&error))?;
        let store =
            Store::create(&self.path(id, "match"), &plan).map_err(|error| bad_store(&error))?;
        // The page shows the number of games.
        let state = MatchState::new(&plan, 0);
        let origin = Results::at(self.path(id, "match")).origin()?;
        let live = LiveMatch::new(id, kept.requested.clone(), &state, kept.total);
        self.run(id, kept, store, live.with_origin(&origin, Vec::new()))?;
        Ok(id)
    }

    /// The number of the next match.
    pub fn next_id(&self) -> MatchId {
        self.entries().matches.keys().next_back().map_or(1, |last| last.saturating_add(1))
    }

    /// The stored results of a match.
    ///
    /// # Errors
    /// The match does not exist.
    pub fn results(&self, id: MatchId) -> Result<Results, ApiError> {
        self.entries().get(id)?;
        Ok(Results::at(self.path(id, "match")))
    }

    /// The plan of a match.
    ///
    /// # Errors
    /// The match does not exist.
    pub fn requested(&self, id: MatchId) -> Result<MatchPlan, ApiError> {
        Ok(self.entries().get(id)?.kept.requested.clone())
    }

    /// Resumes a match after its last result. `engines` are the current settings of its engines, in the
    /// order of the plan: the values of their environments are not stored with the results.
    ///
    /// # Errors
    /// The match does not exist, runs or is finished, its results cannot be read, or a value differs from the one
    /// at its start.
    pub fn resume(&self, id: MatchId, engines: &[EnginePlan]) -> Result<(), ApiError> {
        let _changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut kept = {
            let entries = self.entries();
            let entry = entries.get(id)?;
            if entry.is_running() {
                return Err(ApiError::conflict(ErrorCode::MatchRunning));
            }
            if entry.status() == MatchStatus::Over {
                return Err(ApiError::conflict(ErrorCode::MatchFinished));
            }
            entry.kept.clone()
        };
        kept.note = None;
        let path = self.path(id, "match");
        let reader = Reader::open(&path).map_err(|error| bad_store(&error))?;
        let mut state = MatchState::new(reader.plan(), 0);
        let live = LiveMatch::new(id, kept.requested.clone(), &state, kept.total);
        let mut live = live.with_origin(&reader.origin(), kept.log.clone());
        drop(reader);
        let restore = |pair| {
            state.add(&pair);
            live.list(&pair);
        };
        let (mut store, _) = Store::resume(&path, restore).map_err(|error| bad_store(&error))?;
        live.sort_log();
        live.show(&state);
        for (number, engine) in (0..).zip(engines) {
            store.set_values(EngineId(number), &engine.env).map_err(|error| bad_store(&error))?;
        }
        self.run(id, kept, store, live)
    }

    fn run(
        &self,
        id: MatchId,
        kept: StoredMatch,
        store: Store,
        mut live: LiveMatch,
    ) -> Result<(), ApiError> {
        let game = kept.requested.variant;
        // All of it is in the snapshot.
        drop(live.take_delta());
        live.set_status(MatchStatus::Running);
        let slots = usize::try_from(kept.requested.concurrency).unwrap_or(1);
        let (path, at_end) = (self.path(id, "json"), kept.clone());
        let keep = move |live: &LiveMatch| {
            let kept = StoredMatch {
                status: live.status(),
                played: live.games(),
                note: live.note().cloned(),
                elo: live.elo(),
                verdict: live.verdict(),
                log: live.stored_log(),
                ..at_end
            };
            // Where it stood can be found out of its results again.
            let _ = write_kept(&path, &kept);
        };
        let (program, listener) = (self.program.clone(), Arc::clone(&self.listener));
        let mut running = start(id, live, store, slots, program, listener, keep)
            .map_err(|error| ApiError::storage(match_error(game, &error)))?;
        let mut entries = self.entries();
        if entries.closed {
            drop(entries);
            running.stop(false);
            running.wait(SHUTDOWN_TIMEOUT);
            return Err(ApiError::conflict(ErrorCode::ShuttingDown));
        }
        entries.matches.insert(id, ListedMatch { kept, running: Some(running) });
        Ok(())
    }

    /// Stops a match, after the games in progress or immediately. [`MatchEvent::Ended`] reports its end.
    ///
    /// # Errors
    /// The match does not exist or does not run.
    pub fn stop(&self, id: MatchId, finish: bool) -> Result<(), ApiError> {
        let mut entries = self.entries();
        let entry = entries.matches.get_mut(&id).ok_or_else(|| no_match(id))?;
        match entry.running.as_mut().filter(|running| !running.is_over()) {
            Some(running) => {
                running.stop(finish);
                Ok(())
            }
            None => Err(ApiError::conflict(ErrorCode::MatchNotRunning)),
        }
    }

    /// Deletes a match with its results.
    ///
    /// # Errors
    /// The match does not exist or runs, or its files cannot be deleted.
    pub fn delete(&self, id: MatchId) -> Result<(), ApiError> {
        let _changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        if self.entries().get(id)?.is_running() {
            return Err(ApiError::conflict(ErrorCode::MatchRunning));
        }
        for ending in ["match", "json"] {
            match fs::remove_file(self.path(id, ending)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(storage(&error));
                }
                Ok(()) | Err(_) => (),
            }
        }
        self.entries().matches.remove(&id);
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.take_if(|state| state.id == id);
        Ok(())
    }

    /// All matches, the latest first.
    pub fn lines(&self) -> Vec<MatchLine> {
        let line = |(id, entry): (&MatchId, &ListedMatch)| match &entry.running {
            Some(running) => lock(&running.live).line(),
            None => MatchLine {
                id: *id,
                name: entry.kept.requested.name.clone(),
                variant: entry.kept.requested.variant,
                status: entry.kept.status,
                played: entry.kept.played,
                total: entry.kept.total,
                engines: entry.kept.requested.engines.len(),
                bounds: bounds_of(&entry.kept.requested),
                elo: entry.kept.elo,
                verdict: entry.kept.verdict,
            },
        };
        self.entries().matches.iter().rev().map(line).collect()
    }

    /// The state of a match, which is read from its results if it does not run.
    ///
    /// # Errors
    /// It does not exist.
    pub fn view(&self, id: MatchId) -> Result<MatchView, ApiError> {
        let entries = self.entries();
        let entry = entries.get(id)?;
        Ok(MatchView(match &entry.running {
            Some(running) => View::Current(Box::new(lock(&running.live).state())),
            None => View::Stored(id, self.path(id, "match"), Box::new(entry.kept.clone())),
        }))
    }

    /// The state of a match, for requests that are repeated: that of a match that does not run is read once.
    ///
    /// # Errors
    /// The match does not exist, or its results cannot be read.
    pub fn state(&self, id: MatchId) -> Result<Arc<wire::MatchState>, ApiError> {
        let view = self.view(id)?;
        // Other requests wait for the first one.
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let is_stored = view.reads_file();
        if let Some(state) = recent.as_ref().filter(|state| state.id == id) {
            if is_stored {
                return Ok(Arc::clone(state));
            }
            *recent = None;
        }
        if !is_stored {
            drop(recent);
            return view.read().map(Arc::new);
        }
        let state = Arc::new(view.read()?);
        *recent = Some(Arc::clone(&state));
        Ok(state)
    }

    /// Whether the match exists.
    pub fn has(&self, id: MatchId) -> bool {
        self.entries().matches.contains_key(&id)
    }

    /// Whether a match runs.
    pub fn is_busy(&self) -> bool {
        self.entries().matches.values().any(ListedMatch::is_running)
    }

    /// Aborts all matches and waits for the exit of their engines, for half a minute. They can be resumed later.
    pub fn end_all(&self) {
        let mut threads: Vec<MatchThread> = {
            let mut entries = self.entries();
            entries.closed = true;
            entries.matches.values_mut().filter_map(|entry| entry.running.take()).collect()
        };
        for thread in &mut threads {
            thread.stop(false);
        }
        for thread in threads {
            thread.wait(SHUTDOWN_TIMEOUT);
        }
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path(&self, id: MatchId, ending: &str) -> PathBuf {
        self.directory.join(format!("{id}.{ending}"))
    }
}

impl ListedMatch {
    fn is_running(&self) -> bool {
        self.running.as_ref().is_some_and(|running| !running.is_over())
    }

    fn status(&self) -> MatchStatus {
        match &self.running {
            Some(running) => lock(&running.live).status(),
            None => self.kept.status,
        }
    }
}

/// The state of a match, or the file with it.
#[derive(Debug)]
pub struct MatchView(View);

#[derive(Debug)]
enum View {
    Current(Box<wire::MatchState>),
    Stored(MatchId, PathBuf, Box<StoredMatch>),
}

impl MatchView {
    /// Whether [`Self::read`] reads a file.
    pub fn reads_file(&self) -> bool {
        matches!(self.0, View::Stored(..))
    }

    /// The state.
    ///
    /// # Errors
    /// The results cannot be read.
    pub fn read(self) -> Result<wire::MatchState, ApiError> {
        let (id, path, kept) = match self.0 {
            View::Current(state) => return Ok(*state),
            View::Stored(id, path, kept) => (id, path, kept),
        };
        let reader = Reader::open(&path).map_err(|error| bad_store(&error))?;
        let mut state = MatchState::new(reader.plan(), 0);
        let live = LiveMatch::new(id, kept.requested, &state, kept.total);
        let mut live = live.with_origin(&reader.origin(), kept.log);
        for pair in reader {
            let pair = pair.map_err(|error| bad_store(&error))?;
            state.add(&pair);
            live.list(&pair);
        }
        live.sort_log();
        live.show(&state);
        live.set_status(kept.status);
        if let Some(note) = kept.note {
            live.set_note(note);
        }
        // The state contains all changes.
        drop(live.take_delta());
        Ok(live.state())
    }
}

impl Drop for Matches {
    fn drop(&mut self) {
        self.end_all();
    }
}

fn no_match(id: MatchId) -> ApiError {
    ApiError::not_found(ErrorSubject::Match, id)
}

/// The number of games of a plan; none if it depends on results.
fn total(plan: &Plan) -> Result<Option<u32>, ApiError> {
    let schedule = Schedule::open(plan)
        .map_err(|error| ApiError::storage(schedule_error(plan.game, &error)))?;
    let games = schedule.total().saturating_mul(2);
    let is_known = !matches!(plan.format, readyok_arena::plan::Format::Knockout { .. });
    Ok(u32::try_from(games).ok().filter(|_| is_known))
}

fn read_kept(path: &Path) -> Option<StoredMatch> {
    let mut text = String::new();
    fs::File::open(path).ok()?.take(MAX_STATUS_FILE).read_to_string(&mut text).ok()?;
    let kept: StoredMatch = serde_json::from_str(&text).ok()?;
    // A match whose thread has not reported its end can be resumed.
    let status = match kept.status {
        MatchStatus::Running | MatchStatus::Finishing => MatchStatus::Paused,
        ended => ended,
    };
    Some(StoredMatch { status, ..kept })
}

/// Replaces the file atomically.
fn write_kept(path: &Path, kept: &StoredMatch) -> io::Result<()> {
    durable::replace(path, &serde_json::to_vec(kept)?, FileAccess::Owner)
}

/// Minimum interval between updates of the page.
const MIN_INTERVAL: Duration = Duration::from_millis(200);

/// An event of a match.
#[derive(Debug)]
pub enum MatchEvent {
    /// Something has changed.
    Changed(MatchId, Changes),
    /// A game is finished and stored.
    Game(MatchId, Box<Finished>),
    /// The thread and the engines have ended.
    Ended(MatchId),
}

/// The pending changes of a match.
#[derive(Clone, Debug)]
pub struct Changes(Arc<Mutex<LiveMatch>>);

impl Changes {
    /// Takes the changes, with the status of the match. None if nothing has changed.
    pub fn take(&self) -> Option<(MatchDelta, MatchLine)> {
        let mut live = lock(&self.0);
        let delta = live.take_delta()?;
        Some((delta, live.line()))
    }
}

/// Receives events from the threads of matches.
pub type MatchListener = Arc<dyn Fn(MatchEvent) + Send + Sync>;

/// A running match.
#[derive(Debug)]
struct MatchThread {
    live: Arc<Mutex<LiveMatch>>,
    stop: StopHandle,
    /// Disconnected when the thread ends.
    ended: mpsc::Receiver<()>,
    interrupts: u32,
}

fn lock(live: &Mutex<LiveMatch>) -> MutexGuard<'_, LiveMatch> {
    live.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MatchThread {
    /// Stops the match, after the games in progress or immediately.
    fn stop(&mut self, finish: bool) {
        let wanted = if finish { 1 } else { 2 };
        while self.interrupts < wanted {
            self.stop.interrupt();
            self.interrupts += 1;
        }
    }

    fn is_over(&self) -> bool {
        !matches!(self.ended.try_recv(), Err(mpsc::TryRecvError::Empty))
    }

    /// Waits for the thread. Returns whether it has ended.
    fn wait(&self, timeout: Duration) -> bool {
        !matches!(self.ended.recv_timeout(timeout), Err(RecvTimeoutError::Timeout))
    }
}

/// Shows the match, in the thread of its coordinator. Each message to the publisher is a change; a stored pair has games
/// for the library.
struct Show {
    live: Arc<Mutex<LiveMatch>>,
    changes: Sender<Option<Box<PairResult>>>,
}

impl Show {
    fn changed(&self, pair: Option<Box<PairResult>>) {
        // Fails if the publisher has ended.
        let _ = self.changes.send(pair);
    }
}

impl Listener for Show {
    fn on_event(&mut self, event: &Event, _: &MatchState) {
        lock(&self.live).on_event(event);
        self.changed(None);
    }

    fn on_pair(&mut self, pair: &PairResult, state: &MatchState) {
        lock(&self.live).on_pair(pair, state);
        self.changed(Some(Box::new(pair.clone())));
    }

    fn on_skipped_openings(&mut self, skipped: &Arc<Skipped>, _: &MatchState) {
        lock(&self.live).on_skipped(skipped);
        self.changed(None);
    }
}

/// Plays a match in its own thread. `keep` is called there before the end is reported.
fn start(
    id: MatchId,
    live: LiveMatch,
    store: Store,
    slots: usize,
    program: Program,
    listener: MatchListener,
    keep: impl FnOnce(&LiveMatch) + Send + 'static,
) -> Result<MatchThread, MatchError> {
    let plan = store.plan().clone();
    let plan_game = plan.game;
    let settings =
        Settings { on_interrupt: Stop::Finish, report_moves: true, ..Settings::default() };
    let mut game = Match::new(store, settings)?;
    let live = Arc::new(Mutex::new(live));
    let (sender, changes) = mpsc::channel();
    game.listen(Show { live: Arc::clone(&live), changes: sender });
    let stop = game.stop_handle();
    let (end, ended) = mpsc::channel();
    let running = MatchThread { live: Arc::clone(&live), stop, ended, interrupts: 0 };
    let play = move || {
        let setting = GameSettings::new(plan_game);
        let make = |spec: &MatchSpec| {
            let player = EnginePlayer::new(&spec.plan, setting.clone(), Timeouts::default());
            let options = PlayerOptions { guard: program.guard.clone(), ..Default::default() };
            player.report_moves(spec.report_moves).with_options(options)
        };
        game.play_here(slots, None, make)
    };
    let name = format!("match {id}");
    let thread =
        thread::Builder::new().name(name.clone()).spawn(play).map_err(MatchError::Threads)?;
    let publisher = move || {
        let publish = || {
            if lock(&live).has_changes() {
                listener(MatchEvent::Changed(id, Changes(Arc::clone(&live))));
            }
        };
        let mut last = instant();
        loop {
            let due = lock(&live).has_changes().then(|| last + MIN_INTERVAL);
            let change = match due {
                // Also if changes arrive without a pause, as with very short games.
                Some(due) if due <= instant() => Err(RecvTimeoutError::Timeout),
                Some(due) => changes.recv_timeout(due.saturating_duration_since(instant())),
                None => changes.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match change {
                Ok(None) => (),
                Ok(Some(pair)) => {
                    for game in finished(&plan, &pair) {
                        listener(MatchEvent::Game(id, Box::new(game)));
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    publish();
                    last = instant();
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        match thread.join() {
            Ok(Ok(_)) => lock(&live).over(),
            Ok(Err(error)) => lock(&live).failed(match_error(plan_game, &error)),
            Err(_) => lock(&live).failed(ErrorCode::MatchFailed.into()),
        }
        keep(&lock(&live));
        // After this report, the match can be resumed or deleted.
        drop(end);
        publish();
        listener(MatchEvent::Ended(id));
    };
    thread::Builder::new()
        .name(format!("{name}, published"))
        .spawn(publisher)
        .map_err(MatchError::Threads)?;
    Ok(running)
}
