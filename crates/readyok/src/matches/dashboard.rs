//! The dashboard of a match queue, and coordinators of the matches that its users start.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use readyok_arena::event::End;
use readyok_arena::plan::{OpeningSource, Plan, SprtPlan};
use readyok_arena::queue::MatchSpec;
use readyok_arena::queue::nats::{
    Access, AccessError, Admin, Connection, CoordinatorSettings, NatsDispatcher, QueuedMatch,
};
use readyok_arena::queue::status::Phase;
use readyok_arena::runner::{Match, Settings};
use readyok_arena::stats::Model;
use readyok_arena::store::{ContentHash, Store, StoreDefect, StoreError};
use readyok_server::QueueDashboard;
use readyok_server::wire::{QueueAction, QueueClone, QueueLine, QueueMatch, QueueOverview};

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
    fn overview(&self, search: &str, writable: bool) -> Result<QueueOverview, String> {
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
        Ok(QueueOverview { server, open, finished, workers, writable })
    }

    fn details(&self, id: &str, writable: bool) -> Result<Option<QueueMatch>, String> {
        let found = self.shared.matches()?.into_iter().find(|found| found.id == id);
        Ok(found.map(|found| details(found, writable)))
    }

    fn start(&self, text: &str, openings: Option<&str>) -> Result<String, String> {
        let openings = openings.map(|name| self.shared.openings_file(name)).transpose()?;
        if let Some(path) = openings.as_deref().filter(|path| !path.is_file()) {
            return Err(format!("{} does not exist", path.display()));
        }
        let (plan, priority) = (self.shared.read_test)(text, openings.as_deref())?;
        let id = self.shared.start_new(&plan, priority).map_err(|error| error.to_string())?;
        *self.shared.cache() = None;
        Ok(id)
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
        let mut file = tempfile::NamedTempFile::new_in(&directory).map_err(text)?;
        let size = std::io::copy(&mut content.take(MAX_OPENINGS + 1), &mut file).map_err(text)?;
        if MAX_OPENINGS < size {
            return Err(format!("{name} is larger than 1 GiB"));
        }
        // A match that is resumed needs the same openings.
        let Err(failure) = file.persist_noclobber(&path) else { return Ok(()) };
        let content = |path: &Path| ContentHash::of_file(path).map_err(text);
        match failure.error.kind() {
            ErrorKind::AlreadyExists if content(&path)? == content(failure.file.path())? => Ok(()),
            ErrorKind::AlreadyExists => Err(format!("another file {name} exists already")),
            _ => Err(failure.error.to_string()),
        }
    }

    fn act(&self, id: &str, action: QueueAction) -> Result<String, String> {
        let shared = &self.shared;
        let admin = shared.admin();
        let found = admin.find(id).map_err(text)?;
        let next = match action {
            QueueAction::Clone(changes) => shared.start_clone(&found, &changes).map_err(text)?,
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
                    QueueAction::Exclude { worker } => {
                        control.excluded.insert(worker.clone());
                    }
                    QueueAction::Include { worker } => {
                        control.excluded.remove(worker);
                    }
                    QueueAction::Clone(_)
                    | QueueAction::Start
                    | QueueAction::Stop
                    | QueueAction::Remove => {}
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
        self.start(spec, Start::Local, priority)
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

    /// Starts a copy of a match with other settings.
    fn start_clone(
        self: &Arc<Self>,
        found: &QueuedMatch,
        changes: &QueueClone,
    ) -> Result<String, AnyError> {
        let mut spec = self.admin().spec(found)?;
        // Another seed makes it another match, with other openings.
        let seed = new_seed();
        change(&mut spec.plan, changes, seed)?;
        if let Some(sealed) = &mut spec.sealed {
            change(sealed, changes, seed)?;
        }
        spec.plan_hash = ContentHash::of_plan(spec.sealed.as_deref().unwrap_or(&spec.plan));
        let openings = self.admin().openings(&spec, &self.directory.join("openings"))?;
        Match::check(&with_openings(&spec.plan, openings.as_deref()), &[])?;
        let priority = changes.priority.unwrap_or(found.control.priority);
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

fn change(plan: &mut Plan, changes: &QueueClone, seed: u64) -> Result<(), AnyError> {
    plan.seed = seed;
    if let Some(name) = &changes.name {
        plan.event.clone_from(name);
    }
    if let Some(rounds) = changes.rounds {
        plan.rounds = rounds;
    }
    if let Some([elo0, elo1]) = changes.sprt {
        let (alpha, beta, model) = (0.05, 0.05, Model::default());
        let before = plan.sprt.unwrap_or(SprtPlan { model, elo0, elo1, alpha, beta });
        plan.sprt = Some(SprtPlan { elo0, elo1, ..before });
    }
    if let Some(tc) = &changes.tc {
        let tc = tc.parse()?;
        for engine in &mut plan.engines {
            engine.limits.tc = Some(tc);
        }
    }
    let options: &[BTreeMap<String, String>] = &changes.options;
    for (engine, options) in plan.engines.iter_mut().zip(options) {
        engine.options.clone_from(options);
    }
    plan.check()?;
    Ok(())
}

/// A seed that no other match of this server has.
fn new_seed() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // Seeds in JSON are exact up to 2^53.
    u64::try_from(since.as_millis()).unwrap_or_default() & ((1 << 53) - 1)
}

fn is_found(found: &QueuedMatch, search: &str) -> bool {
    let engines = found.plan.engines.iter().map(|engine| engine.name.as_str());
    let mut texts = [found.name.as_str(), found.id.as_str()].into_iter().chain(engines);
    search.is_empty() || texts.any(|text| text.to_lowercase().contains(search))
}

fn line(found: QueuedMatch) -> QueueLine {
    let QueuedMatch { id, name, phase, control, status, .. } = found;
    let flagged = status.workers.iter().filter(|row| !row.flags.is_empty()).count();
    let score = status.score_of_two().copied();
    let (llr, priority) = (status.test.map(|test| test.llr), control.priority);
    let (pairs, total, elo) = (status.pairs, status.total, status.elo);
    QueueLine { id, name, phase, priority, pairs, total, score, elo, llr, flagged }
}

fn details(found: QueuedMatch, writable: bool) -> QueueMatch {
    let settings = settings_of(&found);
    let QueuedMatch { id, name, phase, plan, control, coordinator, status, .. } = found;
    let engines = plan.engines.into_iter().map(|engine| engine.name).collect();
    QueueMatch { id, name, phase, control, coordinator, engines, settings, status, writable }
}

/// The settings that a copy of a match can change.
fn settings_of(found: &QueuedMatch) -> QueueClone {
    let engines = &found.plan.engines;
    let mut controls = engines.iter().map(|engine| engine.limits.tc);
    let first = controls.next().flatten();
    QueueClone {
        name: Some(found.name.clone()),
        rounds: Some(found.plan.rounds),
        tc: first.filter(|_| controls.all(|tc| tc == first)).map(|tc| tc.to_string()),
        sprt: found.plan.sprt.map(|sprt| [sprt.elo0, sprt.elo1]),
        priority: Some(found.control.priority),
        options: engines.iter().map(|engine| engine.options.clone()).collect(),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn text(error: impl ToString) -> String {
    error.to_string()
}
