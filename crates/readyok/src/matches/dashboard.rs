//! The dashboard of a match queue, and coordinators of the matches that its users start.

use std::collections::BTreeSet;
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf, is_separator};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use readyok_arena::conditions::MatchSource;
use readyok_arena::durable::{FileAccess, NewFile};
use readyok_arena::event::End;
use readyok_arena::plan::{EnginePlan, OpeningSource, Plan};
use readyok_arena::queue::nats::{
    Access, AccessError, Admin, Connection, CoordinatorSettings, NatsDispatcher, QueuedMatch,
};
use readyok_arena::queue::status::{Phase, WorkerStatus};
use readyok_arena::queue::{MatchSpec, Speed, needs_speed};
use readyok_arena::runner::{Match, Settings};
use readyok_arena::store::{ContentHash, Store, StoreDefect, StoreError};
use readyok_server::matches::{Results, queue_games, queue_log};
use readyok_server::wire::{QueueAction, QueueLine, QueueMatch};
use readyok_server::{Listing, QueueDashboard};

use super::files::AnyError;
use super::run::setting;
use crate::clock::now;

/// The age at which an overview is read again. All visitors share it.
const MAX_AGE: Duration = Duration::from_secs(1);

/// Maximum number of finished matches in an overview.
const MAX_FINISHED: usize = 100;

/// The dashboard of a queue.
#[derive(Debug)]
pub struct Dashboard {
    shared: Arc<Shared>,
}

/// Maximum size of a file of openings in bytes: that of files on a queue.
const MAX_OPENINGS: u64 = 1 << 30;

/// Maximum length of the name of a file of openings in bytes.
const MAX_NAME: usize = 200;

/// Reads a plan and a priority from a `readyok match` command or a TOML file. The path is that of the openings.
pub type ReadTest = fn(&str, Option<&Path>) -> Result<(Plan, i32), String>;

#[derive(Debug)]
struct Shared {
    connection: Connection,
    server: String,
    /// Directory of results files and openings.
    directory: PathBuf,
    read_test: ReadTest,
    matches: Mutex<Option<(Instant, Vec<QueuedMatch>)>>,
    /// The matches that this process coordinates.
    coordinated: Mutex<BTreeSet<String>>,
}

impl Dashboard {
    /// Connects to a queue, and continues the matches of the previous run. Results files are in the directory.
    ///
    /// # Errors
    /// The queue cannot be used.
    pub fn open(
        access: &Access,
        directory: PathBuf,
        read_test: ReadTest,
    ) -> Result<Self, AccessError> {
        let connection = Connection::open(access)?;
        // Otherwise workers are shown after the first match only, which reports what is wrong with the server.
        let _ = Admin::new(&connection).show_workers();
        let server = access.address();
        let (matches, coordinated) = (Mutex::default(), Mutex::default());
        let shared =
            Arc::new(Shared { connection, server, directory, read_test, matches, coordinated });
        let resumed = Arc::clone(&shared);
        thread::spawn(move || resumed.continue_matches());
        Ok(Self { shared })
    }
}

impl QueueDashboard for Dashboard {
    fn overview(&self, search: &str) -> Result<Listing, String> {
        let workers = self.shared.admin().workers().map_err(text)?;
        let search = search.to_lowercase();
        let (mut open, mut finished) = (Vec::new(), Vec::new());
        for found in self.shared.matches()? {
            if found.phase != Phase::Finished {
                open.push(line(found));
            } else if finished.len() < MAX_FINISHED && is_found(&found, &search) {
                finished.push(line(found));
            }
        }
        let server = self.shared.server.clone();
        Ok(Listing { server, open, finished, workers })
    }

    fn details(&self, id: &str, writable: bool) -> Result<Option<QueueMatch>, String> {
        let Some(found) = self.shared.find(id)? else { return Ok(None) };
        let has_results = self.shared.results_of(&found.id).is_file();
        // Without the workers the details are still useful.
        let workers = self.shared.admin().workers().unwrap_or_default();
        Ok(Some(details(found, &workers, has_results, writable)))
    }

    fn results(&self, id: &str) -> Result<Option<(Results, String)>, String> {
        let found = self.shared.find(id)?;
        let found = found.map(|found| (self.shared.results_of(&found.id), found.name));
        let has_file = found.filter(|(path, _)| path.is_file());
        Ok(has_file.map(|(path, name)| (Results::at(path), name)))
    }

    fn plan(&self, id: &str) -> Result<Option<(Plan, i32)>, String> {
        Ok(self.shared.find(id)?.map(|found| (found.plan, found.control.priority)))
    }

    fn read(&self, text: &str, openings: Option<&str>) -> Result<(Plan, i32), String> {
        let openings = openings.map(|name| self.openings_path(name)).transpose()?;
        (self.shared.read_test)(text, openings.as_deref())
    }

    fn start(&self, plan: &Plan, priority: i32) -> Result<String, String> {
        let id = self.shared.start_new(plan, priority).map_err(text)?;
        *self.shared.cache() = None;
        Ok(id)
    }

    fn start_copy(
        &self,
        id: &str,
        priority: i32,
        change: &dyn Fn(&Plan) -> Plan,
    ) -> Result<String, String> {
        let found = self.shared.admin().find(id).map_err(text)?;
        let id = self.shared.start_copy(&found, priority, change).map_err(text)?;
        *self.shared.cache() = None;
        Ok(id)
    }

    fn openings_path(&self, name: &str) -> Result<PathBuf, String> {
        let path = self.shared.openings_file(name)?;
        if path.is_file() { Ok(path) } else { Err(format!("{} does not exist", path.display())) }
    }

    fn openings(&self) -> Result<Vec<String>, String> {
        let entries = match fs::read_dir(self.shared.books()) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(text)?,
        };
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
        names.sort_unstable();
        Ok(names)
    }

    fn add_openings(&self, name: &str, content: &mut dyn Read) -> Result<(), String> {
        let path = self.shared.openings_file(name)?;
        let directory = self.shared.books();
        fs::create_dir_all(&directory).map_err(text)?;
        let mut file = NewFile::create(&path, FileAccess::Owner).map_err(text)?;
        let size = std::io::copy(&mut content.take(MAX_OPENINGS + 1), &mut file).map_err(text)?;
        if MAX_OPENINGS < size {
            return Err(format!("{name} is larger than 1 GiB"));
        }
        // A match that is resumed needs the same openings.
        let content = |path: &Path| ContentHash::of_file(path).map_err(text);
        if path.exists() && content(&path)? == content(file.path())? {
            return Ok(());
        }
        file.persist_new().map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => format!("another file {name} exists already"),
            _ => format!("`{}`: {error}", path.display()),
        })
    }

    fn act(&self, id: &str, action: QueueAction) -> Result<String, String> {
        let shared = &self.shared;
        let admin = shared.admin();
        let found = admin.find(id).map_err(text)?;
        let next = match action {
            QueueAction::Start => {
                let spec = admin.spec(&found).map_err(text)?;
                shared.start(spec, Start::TakeOver, 0).map_err(text)?
            }
            QueueAction::Stop => admin.stop(&found).map(|()| found.id.clone()).map_err(text)?,
            QueueAction::Remove => admin.remove(&found).map(|()| found.id.clone()).map_err(text)?,
            change => {
                let changed = admin.set(&found, |control| match &change {
                    QueueAction::Pause => control.paused = true,
                    QueueAction::Resume => control.paused = false,
                    QueueAction::Priority { priority } => control.priority = *priority,
                    QueueAction::Limit { max_workers, max_threads } => {
                        (control.max_workers, control.max_threads) = (*max_workers, *max_threads);
                    }
                    QueueAction::Exclude { worker } => {
                        control.excluded.insert(worker.clone());
                    }
                    QueueAction::Include { worker } => {
                        control.excluded.remove(worker);
                    }
                    QueueAction::Start | QueueAction::Stop | QueueAction::Remove => {}
                });
                changed.map(|_| found.id.clone()).map_err(text)?
            }
        };
        *shared.cache() = None;
        Ok(next)
    }
}

/// How a coordinator starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    New,
    /// As new, with the openings of this host.
    Local,
    /// The results on the server are used.
    TakeOver,
}

impl Shared {
    fn admin(&self) -> Admin {
        Admin::new(&self.connection)
    }

    /// The directory of uploaded openings.
    fn books(&self) -> PathBuf {
        self.directory.join("books")
    }

    /// The path of an uploaded file of openings.
    fn openings_file(&self, name: &str) -> Result<PathBuf, String> {
        let is_valid = |letter: char| !letter.is_control() && !"/\\:*?\"<>|".contains(letter);
        if name.is_empty()
            || MAX_NAME < name.len()
            || name.starts_with('.')
            || !name.chars().all(is_valid)
        {
            return Err(format!("`{}` is not a file name", name.escape_debug()));
        }
        Ok(self.books().join(name))
    }

    fn cache(&self) -> MutexGuard<'_, Option<(Instant, Vec<QueuedMatch>)>> {
        self.matches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn matches(&self) -> Result<Vec<QueuedMatch>, String> {
        let mut cache = self.cache();
        if let Some((at, matches)) = &*cache
            && at.elapsed() < MAX_AGE
        {
            return Ok(matches.clone());
        }
        let matches = self.admin().matches().map_err(text)?;
        *cache = Some((now(), matches.clone()));
        Ok(matches)
    }

    fn find(&self, id: &str) -> Result<Option<QueuedMatch>, String> {
        Ok(self.matches()?.into_iter().find(|found| found.id == id))
    }

    /// Takes over the matches of the previous run of this server.
    fn continue_matches(self: &Arc<Self>) {
        let Ok(open) = self.admin().open_matches() else { return };
        for found in open {
            if found.phase == Phase::Orphaned
                && self.results_of(&found.id).is_file()
                && let Ok(spec) = self.admin().spec(&found)
            {
                // It remains without a coordinator, as the dashboard shows.
                let _ = self.start(spec, Start::TakeOver, found.control.priority);
            }
        }
    }

    fn results_of(&self, id: &str) -> PathBuf {
        self.directory.join(format!("match-{id}.jsonl"))
    }

    /// Coordinates a match in a thread. Returns its identifier.
    fn start(
        self: &Arc<Self>,
        spec: MatchSpec,
        start: Start,
        priority: i32,
    ) -> Result<String, AnyError> {
        let id: String = spec.plan_hash.to_string().chars().take(32).collect();
        if !self.coordinated().insert(id.clone()) {
            return Err("this server coordinates the match already: an equal plan and seed is the same match".into());
        }
        let prepared = self.prepare(&id, spec, start, priority);
        let (game, dispatcher) = prepared.inspect_err(|_| {
            self.coordinated().remove(&id);
        })?;
        let (this, started) = (Arc::clone(self), id.clone());
        thread::spawn(move || {
            let mut dispatcher = dispatcher;
            let end = game.coordinate(&mut dispatcher);
            match end {
                Ok(summary) if summary.end != End::Interrupted => {
                    // Otherwise the match remains in the queue.
                    let _ = dispatcher.finish(&summary.end);
                }
                Ok(_) => {}
                Err(error) => {
                    let _ = dispatcher.finish(&End::Error { text: error.to_string() });
                }
            }
            this.coordinated().remove(&started);
            *this.cache() = None;
        });
        Ok(id)
    }

    /// Starts a match with the programs and openings of this host.
    fn start_new(self: &Arc<Self>, plan: &Plan, priority: i32) -> Result<String, AnyError> {
        Match::check(plan, &[])?;
        fs::create_dir_all(&self.directory)?;
        // The results file determines the identifier and hides values of environment variables.
        let draft = tempfile::tempdir_in(&self.directory)?;
        let store = Store::create(&draft.path().join("match.jsonl"), plan)?;
        let spec = Match::new(store, Settings::default())?.spec().clone().with_contents()?;
        // This server starts no engine of a test.
        let speed = needs_speed(&spec.plan).then(Speed::of_host);
        self.start(MatchSpec { speed, ..spec }, Start::Local, priority)
    }

    fn prepare(
        &self,
        id: &str,
        spec: MatchSpec,
        start: Start,
        priority: i32,
    ) -> Result<(Match, NatsDispatcher), AnyError> {
        fs::create_dir_all(&self.directory)?;
        let openings = match start {
            Start::Local => None,
            Start::New | Start::TakeOver => {
                self.admin().openings(&spec, &self.directory.join("openings"))?
            }
        };
        let path = self.results_of(id);
        let plan = &spec.plan;
        let store = match Store::adopt(&path, &spec, openings.as_deref()) {
            Err(StoreError { defect: StoreDefect::ResultsExist, .. }) => {
                let (mut store, _) = Store::resume(&path, |_| ())?;
                store.accept(plan)?;
                store
            }
            adopted => adopted?,
        };
        let stored = (start == Start::TakeOver).then(|| store.stored().clone());
        let game = Match::with_openings(store, Settings::default(), openings)?;
        let tablebases = setting(plan).ok().and_then(|setting| setting.tablebases);
        let settings =
            CoordinatorSettings { priority, tablebases, ..CoordinatorSettings::default() };
        let reports = game.reports();
        let dispatcher =
            NatsDispatcher::open(&self.connection, spec, stored.as_ref(), settings, reports)?;
        Ok((game, dispatcher))
    }

    /// Starts a copy of a match with a changed plan.
    fn start_copy(
        self: &Arc<Self>,
        found: &QueuedMatch,
        priority: i32,
        change: &dyn Fn(&Plan) -> Plan,
    ) -> Result<String, AnyError> {
        let mut spec = self.admin().spec(found)?;
        let changed = change(&spec.plan);
        if !has_same_files(&spec.plan, &changed) {
            return self.start_new(&changed, priority);
        }
        spec.plan = changed;
        if let Some(sealed) = &mut spec.sealed {
            **sealed = change(sealed);
        }
        spec.plan_hash = ContentHash::of_plan(spec.sealed.as_deref().unwrap_or(&spec.plan));
        let openings = self.admin().openings(&spec, &self.directory.join("openings"))?;
        Match::check(&with_openings(&spec.plan, openings.as_deref()), &[])?;
        self.start(spec, Start::New, priority)
    }

    fn coordinated(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.coordinated.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The plan with another path of its opening file.
fn with_openings(plan: &Plan, openings: Option<&Path>) -> Plan {
    let mut plan = plan.clone();
    if let (OpeningSource::File { path, .. }, Some(openings)) =
        (&mut plan.openings.source, openings)
    {
        *path = openings.to_string_lossy().into_owned();
    }
    plan
}

/// Whether two plans name the same programs, files and openings, which the queue has for the first one.
fn has_same_files(one: &Plan, other: &Plan) -> bool {
    let files = |plan: &Plan| {
        let engine = |engine: &EnginePlan| {
            // A path has a separator; other values need no file.
            let paths = engine.options.values().filter(|value| value.contains(is_separator));
            let paths: BTreeSet<String> = paths.cloned().collect();
            (engine.command.clone(), engine.args.clone(), engine.dir.clone(), paths)
        };
        plan.engines.iter().map(engine).collect::<Vec<_>>()
    };
    files(one) == files(other) && one.openings.source == other.openings.source
}

fn is_found(found: &QueuedMatch, search: &str) -> bool {
    let engines = found.plan.engines.iter().map(|engine| engine.name.as_str());
    let mut texts = [found.name.as_str(), found.id.as_str()].into_iter().chain(engines);
    search.is_empty() || texts.any(|text| text.to_lowercase().contains(search))
}

fn line(found: QueuedMatch) -> QueueLine {
    let QueuedMatch { id, name, phase, plan, conditions, control, status, .. } = found;
    QueueLine {
        id,
        name,
        phase,
        priority: control.priority,
        games: status.games,
        total: status.total.saturating_mul(u64::from(conditions.games_per_pair)),
        score: status.score_of_two().copied(),
        elo: status.elo,
        llr: status.test.map(|test| test.llr),
        variant: plan.game,
        engines: plan.engines.len(),
        bounds: plan.sprt.map(|sprt| [sprt.elo0, sprt.elo1]),
        verdict: status.test.map(|test| test.verdict),
        tunes: plan.tune.is_some(),
        updated_ms: status.updated_ms,
        flagged: status.workers.iter().filter(|row| !row.flags.is_empty()).count(),
    }
}

fn details(
    found: QueuedMatch,
    workers: &[WorkerStatus],
    has_results: bool,
    writable: bool,
) -> QueueMatch {
    let QueuedMatch { id, name, phase, mut conditions, control, coordinator, mut status, .. } =
        found;
    let takes_part = |worker: &&WorkerStatus| {
        worker.playing.iter().any(|pair| pair.id == id)
            || status.workers.iter().any(|row| row.worker.0 == worker.name)
    };
    let cores = workers.iter().filter(takes_part).map(|worker| worker.cores).sum();
    conditions.source = Some(MatchSource::Farm { workers: status.workers.len(), cores });
    let games = queue_games(std::mem::take(&mut status.games_played));
    let log = queue_log(std::mem::take(&mut status.log));
    // The log has them with their times.
    (status.warnings, status.quarantine) = (Vec::new(), Vec::new());
    QueueMatch {
        id,
        name,
        phase,
        control,
        coordinator,
        conditions,
        status,
        games,
        log,
        has_results,
        writable,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn text(error: impl ToString) -> String {
    error.to_string()
}
