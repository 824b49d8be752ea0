//! Runs a match with its results file, game records, report and queue.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use readyok_arena::build::Builder;
use readyok_arena::durable::{self, FileAccess};
use readyok_arena::export::{Export, Form};
use readyok_arena::game::{GameSettings, LineObserver, PlayerOptions, StderrObserver, Tablebases};
use readyok_arena::listener::{JsonLines, Listener};
use readyok_arena::plan::{EngineId, Plan};
use readyok_arena::queue::MatchSpec;
use readyok_arena::report::Report;
use readyok_arena::runner::{Cpus, EnginePlayer, Match, Settings, StopHandle, Summary, threads_of};
use readyok_arena::store::{IndexSet, Reader, Store, StoreDefect, StoreError};
use readyok_client::{Guard, Timeouts};
use readyok_rules::{Game, Syzygy};

use super::files::{AnyError, event_file, file_error};
use crate::exit::stop_match;
use crate::terminal::printable;

/// The configuration of a run.
#[derive(Debug)]
pub struct Run<Q> {
    /// The results file.
    pub results: Results,
    /// Settings of the coordinator.
    pub settings: Settings,
    /// Number of game pairs to play in parallel; 0 is as many as fit the CPUs.
    pub slots: usize,
    /// CPUs to pin engines to: none, or a list; an empty list means all available CPUs.
    pub pin: Option<Vec<usize>>,
    /// Game records to write.
    pub exports: Vec<Export>,
    /// The file for events as JSON lines.
    pub events: Option<PathBuf>,
    /// The file for the report at the end.
    pub report: Option<PathBuf>,
    /// The queue that distributes the match; none plays it in this process.
    pub queue: Option<Q>,
    /// Terminates the engines if this process is killed.
    pub guard: Guard,
    /// Builds engines from Git repositories.
    pub builder: Builder,
    /// Settings that are not part of the plan.
    pub play_options: PlayOptions,
}

/// The results file of a run.
#[derive(Clone, Debug)]
pub enum Results {
    /// A new file.
    New(Name, Box<Plan>),
    /// The file of a match to resume.
    Resume(PathBuf, Extension, Changes),
    /// A match of a queue that is taken over: a new file, or that of an earlier takeover.
    TakeOver {
        /// The file.
        path: PathBuf,
        /// The specification in the queue.
        spec: Box<MatchSpec>,
        /// The opening file on this host.
        openings: Option<PathBuf>,
    },
}

/// The name of a new results file.
#[derive(Clone, Debug)]
pub enum Name {
    /// A name given by the user.
    Given(PathBuf),
    /// A default name. A number is appended if the file exists.
    Default(PathBuf),
}

/// Changes to the plan of a resumed match.
#[derive(Clone, Debug)]
pub enum Extension {
    /// The stored plan.
    None,
    /// The stored plan with this number of rounds.
    Rounds(u32),
    /// A plan that may only differ in the number of rounds.
    Plan(Box<Plan>),
}

/// The handling of a resumed match whose engines or openings have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changes {
    /// The match is not resumed.
    Reject,
    /// The match is resumed, and the change is recorded in the file.
    Ignore,
}

/// A match that has started or resumed.
#[derive(Clone, Copy, Debug)]
pub struct StartedMatch<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Total number of game pairs.
    pub pairings: u64,
    /// Stops the match.
    pub stop: &'a StopHandle,
    /// The path of the results file.
    pub results: &'a Path,
}

/// A queue that distributes a match to workers.
pub trait Coordinate {
    /// Checks the connection before a results file is created.
    ///
    /// # Errors
    /// The queue cannot be reached.
    fn reach(&self) -> Result<(), AnyError>;

    /// Distributes the game pairs of a match until it ends. For a resumed match, `stored` are the
    /// stored pairs; the queue may hold further results. `guard` terminates the engines that measure the speed.
    ///
    /// # Errors
    /// The queue cannot be reached, or the match cannot be played.
    fn coordinate(
        &self,
        game: Match,
        stored: Option<&IndexSet>,
        guard: &Guard,
    ) -> Result<Summary, AnyError>;
}

/// The queue type of runs without a queue.
#[derive(Clone, Copy, Debug)]
pub enum NoQueue {}

impl Coordinate for NoQueue {
    fn reach(&self) -> Result<(), AnyError> {
        match *self {}
    }

    fn coordinate(&self, _: Match, _: Option<&IndexSet>, _: &Guard) -> Result<Summary, AnyError> {
        match *self {}
    }
}

/// Settings of a run that are not part of the plan.
#[derive(Clone)]
pub struct PlayOptions {
    /// Default timeouts of the engines.
    pub timeouts: Timeouts,
    /// Defaults of the game settings; the plan overrides them.
    pub setting: GameSettings,
    /// Pause between two games of a worker.
    pub pause: Duration,
    /// Receives every line of engine input and output.
    pub line_observer: Option<LineObserver>,
    /// Receives every line of the standard error of the engines.
    pub stderr_observer: Option<StderrObserver>,
}

impl Default for PlayOptions {
    fn default() -> Self {
        Self {
            timeouts: Timeouts::default(),
            setting: GameSettings::new(Game::Chess),
            pause: Duration::ZERO,
            line_observer: None,
            stderr_observer: None,
        }
    }
}

impl fmt::Debug for PlayOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlayOptions").field("timeouts", &self.timeouts).finish_non_exhaustive()
    }
}

/// Number of game pairs that are played in parallel, and the CPUs they need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    /// Number of parallel game pairs.
    pub count: usize,
    /// Number of CPUs that each of them uses.
    pub each: usize,
    /// Number of available CPUs.
    pub cpus: usize,
}

impl Slots {
    /// `wanted` parallel game pairs with `each` CPUs; for 0 as many as fit `cpus` CPUs.
    pub fn new(wanted: usize, each: usize, cpus: usize) -> Self {
        let each = each.max(1);
        let count = if wanted == 0 { cpus / each } else { wanted };
        Self { count: count.max(1), each, cpus }
    }

    /// A warning if the slots use more CPUs than available.
    pub fn overload_warning(&self) -> Option<String> {
        let Self { count, each, cpus } = *self;
        let used = count.saturating_mul(each);
        (cpus < used).then(|| {
            format!(
                "warning: {} in parallel use {used} CPU cores (including threads and pondering), \
                 but only {cpus} are available: engines may exceed their time",
                super::count_of(count, "game pair")
            )
        })
    }
}

/// Number of CPUs that are available to this process.
pub(super) fn available_cpus() -> usize {
    available_parallelism().map_or(1, usize::from)
}

impl<Q: Coordinate> Run<Q> {
    /// Plays the match with the listeners that `listen` creates.
    ///
    /// # Errors
    /// The match cannot be played, or a file cannot be read or written.
    pub fn play(
        self,
        listen: impl FnOnce(StartedMatch<'_>) -> Vec<Box<dyn Listener>>,
    ) -> Result<Summary, AnyError> {
        self.check_directories()?;
        self.queue.as_ref().map_or(Ok(()), Coordinate::reach)?;
        let is_resumed = !matches!(self.results, Results::New(..));
        let openings = match &self.results {
            Results::TakeOver { openings, .. } => openings.clone(),
            Results::New(..) | Results::Resume(..) => None,
        };
        let (store, truncated) = self.results.open(&self.exports)?;
        let (path, plan) = (store.path().to_owned(), store.plan().clone());
        let has_results = !store.stored().is_empty();
        // The queue of a resumed match may hold results even if none are stored.
        let stored = is_resumed.then(|| store.stored().clone());
        let mut game = Match::with_openings(store, self.settings, openings)?;
        let total = game.total();
        let stop = game.stop_handle();
        let started = StartedMatch { plan: &plan, pairings: total, stop: &stop, results: &path };
        for listener in listen(started) {
            game.listen(listener);
        }
        if let Some(events) = &self.events {
            game.listen(JsonLines::new(event_file(events, has_results)?));
        }
        for export in self.exports {
            game.export(export);
        }
        stop_match(stop)?;
        if truncated > 0 {
            writeln!(
                io::stderr(),
                "readyok: removed a partial last record ({truncated} bytes) from the results file"
            )?;
        }
        let summary = if let Some(queue) = self.queue {
            queue.coordinate(game, stored.as_ref(), &self.guard)?
        } else {
            let (slots, cpus) = match &self.pin {
                Some(list) => {
                    let list = Some(list.as_slice()).filter(|list| !list.is_empty());
                    let slots = Slots::new(self.slots, threads_of(&plan), Cpus::count(list)?);
                    (slots, Some(Cpus::share(slots.count, slots.each, list)?))
                }
                None => (Slots::new(self.slots, threads_of(&plan), available_cpus()), None),
            };
            if let Some(warning) = slots.overload_warning() {
                writeln!(io::stderr(), "readyok: {warning}")?;
            }
            let PlayOptions { timeouts, setting: defaults, pause, line_observer, stderr_observer } =
                &self.play_options;
            let setting =
                GameSettings { tablebases: setting(&plan)?.tablebases, ..defaults.clone() };
            let options = PlayerOptions {
                guard: Some(self.guard.clone()),
                line_observer: line_observer.clone(),
                stderr_observer: stderr_observer.clone(),
                texts: None,
            };
            let built = build(&plan, &self.builder)?;
            game.play_here(slots.count, cpus.as_ref(), |spec| {
                let spec = with_programs(spec, &built);
                player(&spec, &setting, *timeouts, options.clone()).pausing(*pause)
            })?
        };
        if let Some(report) = &self.report {
            write_report(&path, report)?;
        }
        Ok(summary)
    }
}

impl<Q> Run<Q> {
    /// Checks that the directories of all output files exist, before a results file is created.
    fn check_directories(&self) -> Result<(), AnyError> {
        let files = self.exports.iter().filter(|export| export.form != Form::Kif);
        let files = files.map(|export| &export.path).chain(&self.events).chain(&self.report);
        for file in files.filter(|file| file.as_os_str() != "-") {
            let directory = file.parent().filter(|path| !path.as_os_str().is_empty());
            if let Some(directory) = directory.filter(|path| !path.is_dir()) {
                let why = format!("no directory `{}`", directory.display());
                return Err(file_error(file, &io::Error::new(io::ErrorKind::NotFound, why)));
            }
        }
        Ok(())
    }
}

impl Results {
    /// Opens the file. Returns also the number of bytes of a partial last record that was removed.
    fn open(self, exports: &[Export]) -> Result<(Store, u64), AnyError> {
        match self {
            Self::New(name, plan) => {
                Match::check(&plan, exports)?;
                // Fails early if tablebases are missing.
                setting(&plan)?;
                Ok((name.create(&plan)?, 0))
            }
            Self::Resume(path, extension, changes) => {
                let (mut store, truncated) = Store::resume(&path, |_| ())?;
                match extension {
                    Extension::None => {}
                    Extension::Rounds(rounds) => store.accept_rounds(rounds)?,
                    Extension::Plan(plan) => store.accept(&plan)?,
                }
                match changes {
                    Changes::Reject => store.check_files()?,
                    Changes::Ignore => store.accept_files()?,
                }
                Ok((store, truncated))
            }
            Self::TakeOver { path, spec, openings } => {
                match Store::adopt(&path, &spec, openings.as_deref()) {
                    Err(StoreError { defect: StoreDefect::ResultsExist, .. }) => {
                        let (mut store, truncated) = Store::resume(&path, |_| ())?;
                        store.accept(&spec.plan)?;
                        Ok((store, truncated))
                    }
                    adopted => Ok((adopted?, 0)),
                }
            }
        }
    }
}

impl Name {
    fn create(self, plan: &Plan) -> Result<Store, StoreError> {
        /// Maximum number of matches that start in one directory within a second.
        const MAX_NUMBER: u32 = 1000;

        let path = match self {
            Self::Given(path) => return Store::create(&path, plan),
            Self::Default(path) => path,
        };
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let extension = path.extension().unwrap_or_default().to_string_lossy().into_owned();
        let mut created = Store::create(&path, plan);
        for number in 2..MAX_NUMBER {
            if !matches!(created, Err(StoreError { defect: StoreDefect::ResultsExist, .. })) {
                break;
            }
            let name = format!("{stem}-{number}.{extension}");
            created = Store::create(&path.with_file_name(name), plan);
        }
        created
    }
}

/// The game settings of a plan, including its tablebases, which are opened once.
pub(super) fn setting(plan: &Plan) -> io::Result<GameSettings> {
    let tablebases = match &plan.adjudication.tablebases {
        Some(tables) => Some(Arc::new(Syzygy::open(&tables.paths)?) as Arc<dyn Tablebases>),
        None => None,
    };
    Ok(GameSettings { tablebases, ..GameSettings::new(plan.game) })
}

/// Builds the engines of a plan that have a source.
fn build(plan: &Plan, builder: &Builder) -> Result<BTreeMap<EngineId, PathBuf>, AnyError> {
    if plan.engines.iter().any(|engine| engine.source.is_some()) {
        writeln!(io::stderr(), "readyok: {}", builder.limits_text())?;
    }
    builder.programs(plan, &|| false).map_err(|(id, failure)| {
        for line in failure.output.lines() {
            // Standard error may be closed.
            let _ = writeln!(io::stderr(), "  {}", printable(line));
        }
        format!("engine `{}`: {failure}", plan.engine_name(id)).into()
    })
}

/// The specification with the built programs.
fn with_programs(spec: &MatchSpec, built: &BTreeMap<EngineId, PathBuf>) -> MatchSpec {
    let mut spec = spec.clone();
    for (id, engine) in (0..).map(EngineId).zip(&mut spec.plan.engines) {
        if let Some(path) = built.get(&id) {
            engine.command = path.to_string_lossy().into_owned();
        }
    }
    spec
}

/// A player for the jobs of a match.
pub(super) fn player(
    spec: &MatchSpec,
    setting: &GameSettings,
    timeouts: Timeouts,
    options: PlayerOptions,
) -> EnginePlayer {
    let player = EnginePlayer::new(&spec.plan, setting.clone(), timeouts);
    player.report_moves(spec.report_moves).with_options(options)
}

/// Writes the report of a match from its results file.
///
/// # Errors
/// The results cannot be read, or the report cannot be written.
pub fn write_report(results: &Path, report: &Path) -> Result<(), AnyError> {
    let mut reader = Reader::open(results)?;
    let mut page = Report::new(reader.plan());
    for pair in reader.by_ref() {
        page.add(&pair?);
    }
    let page = page.with_origin(reader.origin());
    // Readers of an existing report never see a partial one.
    durable::replace(report, page.html().as_bytes(), FileAccess::Default)
        .map_err(|error| file_error(report, &error))
}

/// Reads a plan from a TOML file.
///
/// # Errors
/// The file cannot be read or is not a valid plan.
pub fn read_plan(path: &Path) -> Result<Plan, AnyError> {
    let text = fs::read_to_string(path)?;
    let mut plan = Plan::from_toml(&text)?;
    let directory = path.parent().unwrap_or_else(|| Path::new(""));
    for engine in &mut plan.engines {
        engine.read_options_file(directory)?;
    }
    Ok(plan)
}
