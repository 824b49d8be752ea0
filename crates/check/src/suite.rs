//! Settings and progress of a run.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{fmt, thread};

use readyok_protocol::{Dialect, Party};

use crate::cancellation::Cancellation;
use crate::capabilities::{Feature, Probe};
use crate::context::{Effort, EngineInfo, Test, TestCase, TestContext, handshake};
use crate::message::{Message, message};
use crate::replay::Replays;
use crate::session::EngineSession;
use crate::spec::{
    Check, CheckResult, Level, Observation, Profile, Report, Severity, Stop, TargetError, Verdict,
};
use crate::target::{Launch, Target};
use crate::timeouts::{Timeouts, now};
use crate::transcript::Transcript;
use crate::{causes, checks};

/// Selection and settings of the checks of a run.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) dialect: Option<Dialect>,
    pub(crate) only: Vec<String>,
    pub(crate) skip: Vec<String>,
    pub(crate) jobs: Option<usize>,
    pub(crate) timeout_scale: f64,
    pub(crate) timeouts: Option<Timeouts>,
    pub(crate) start_timeout: Option<Duration>,
    pub(crate) seed: u64,
    pub(crate) max_time: Option<Duration>,
    pub(crate) watcher: Watcher,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            dialect: None,
            only: Vec::new(),
            skip: Vec::new(),
            jobs: None,
            timeout_scale: 1.0,
            timeouts: None,
            start_timeout: None,
            seed: 1,
            max_time: None,
            watcher: Watcher::default(),
        }
    }
}

impl Settings {
    /// The timeouts of a run that starts now, by default for the current system load.
    pub(crate) fn timeouts(&self, begin: Instant) -> Timeouts {
        let timeouts = self.timeouts.unwrap_or_else(|| Timeouts::calibrated(self.timeout_scale));
        let timeouts = timeouts.with_deadline(self.max_time.map(|time| begin + time));
        self.start_timeout.map_or(timeouts, |timeout| timeouts.with_start(timeout))
    }

    /// Verifies that each prefix selects a check.
    pub(crate) fn validate(
        &self,
        checks: impl Iterator<Item = &'static Check>,
    ) -> Result<(), TargetError> {
        let ids: Vec<&str> = checks.map(|check| check.id).collect();
        let unused = |prefix: &&String| !ids.iter().any(|id| id.starts_with(prefix.as_str()));
        if let Some(prefix) = self.only.iter().chain(&self.skip).find(unused) {
            return Err(TargetError::new(message!("selection.unknown", prefix)));
        }
        if ids.iter().any(|id| self.selects(id)) {
            return Ok(());
        }
        Err(TargetError::new(message!("selection.empty")))
    }

    /// The selected checks with their severities.
    pub(crate) fn selected(
        &self,
        cases: impl Iterator<Item = &'static TestCase>,
        severity: impl Fn(&Check) -> Option<Severity>,
    ) -> Vec<(&'static TestCase, Severity)> {
        let selected = cases.filter(|case| self.selects(case.check.id));
        selected.filter_map(|case| Some((case, severity(&case.check)?))).collect()
    }

    /// Whether a check is selected by the prefixes of its id.
    pub(crate) fn selects(&self, id: &str) -> bool {
        let starts = |list: &[String]| list.iter().any(|start| id.starts_with(start.as_str()));
        (self.only.is_empty() || starts(&self.only)) && !starts(&self.skip)
    }
}

/// Defines the setters that both suites share.
macro_rules! setters {
    () => {
        /// Runs only checks whose ids start with a prefix.
        #[must_use]
        pub fn only(mut self, prefixes: impl IntoIterator<Item = impl Into<String>>) -> Self {
            self.settings.only.extend(prefixes.into_iter().map(Into::into));
            self
        }

        /// Skips checks whose ids start with a prefix.
        #[must_use]
        pub fn skip(mut self, prefixes: impl IntoIterator<Item = impl Into<String>>) -> Self {
            self.settings.skip.extend(prefixes.into_iter().map(Into::into));
            self
        }

        /// Sets the number of parallel checks; by default one per CPU core.
        #[must_use]
        pub fn jobs(mut self, jobs: usize) -> Self {
            self.settings.jobs = Some(jobs.max(1));
            self
        }

        /// Multiplies all timeouts by a factor.
        #[must_use]
        pub fn timeout_scale(mut self, factor: f64) -> Self {
            let factor = if factor.is_finite() { factor.clamp(0.01, 1000.0) } else { 1.0 };
            self.settings.timeout_scale = factor;
            self
        }

        /// Sets fixed timeouts, independent of the system load.
        #[must_use]
        pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
            self.settings.timeouts = Some(timeouts);
            self
        }

        /// Sets the seed of random moves, positions and commands.
        #[must_use]
        pub fn seed(mut self, seed: u64) -> Self {
            self.settings.seed = seed;
            self
        }

        /// Ends the run after this time. Checks that have not ended have no verdict.
        #[must_use]
        pub fn max_time(mut self, time: Duration) -> Self {
            self.settings.max_time = Some(time);
            self
        }

        /// Calls `notify` at the start and after each check, from any thread.
        #[must_use]
        pub fn on_progress(
            mut self,
            notify: impl Fn($crate::Progress<'_>) + Send + Sync + 'static,
        ) -> Self {
            self.settings.watcher = $crate::suite::Watcher::new(notify);
            self
        }
    };
}

pub(crate) use setters;

/// Progress of a run.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// The engine has completed its handshake, or the client has started its engine.
    Started {
        /// The name of the engine, or the command of the client.
        name: &'a str,
        /// The protocol.
        dialect: Dialect,
        /// Number of checks.
        total: usize,
    },
    /// A check has ended.
    Checked {
        /// Number of completed checks.
        done: usize,
        /// Number of checks.
        total: usize,
        /// The last result.
        last: &'a CheckResult,
    },
}

type Notify = dyn Fn(Progress<'_>) + Send + Sync;

/// The progress callback.
#[derive(Clone, Default)]
pub(crate) struct Watcher(Option<Arc<Notify>>);

/// Counts completed checks, and reports them.
pub(crate) struct Count<'a> {
    watcher: &'a Watcher,
    done: AtomicUsize,
    total: usize,
}

impl Watcher {
    pub(crate) fn new(notify: impl Fn(Progress<'_>) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(notify)))
    }

    /// Reports the start of a run.
    pub(crate) fn start(&self, name: &str, dialect: Dialect, total: usize) -> Count<'_> {
        if let Self(Some(notify)) = self {
            notify(Progress::Started { name, dialect, total });
        }
        Count { watcher: self, done: AtomicUsize::new(0), total }
    }
}

impl Count<'_> {
    pub(crate) fn report(&self, last: &CheckResult) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if let Watcher(Some(notify)) = self.watcher {
            notify(Progress::Checked { done, total: self.total, last });
        }
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Watcher").field(&self.0.is_some()).finish()
    }
}

/// Maximum number of lines that a passive check evaluates.
const MAX_JUDGED: usize = 200_000;

/// Number of games of the soak checks.
const GAMES: usize = 200;

/// Settings of a run.
///
/// ```no_run
/// use readyok_check::{Target, Suite};
///
/// let report = Suite::new(Target::program("./my-engine", [""; 0])).run()?;
/// assert!(report.conforms(), "{report}");
/// # Ok::<(), readyok_check::TargetError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Suite {
    target: Target,
    settings: Settings,
    profile: Option<Profile>,
    level: Level,
    searches: Option<usize>,
    lines: Option<usize>,
    games: Option<usize>,
}

/// A completed interactive check.
pub(crate) struct Completed {
    pub(crate) result: CheckResult,
    pub(crate) transcripts: Vec<Transcript>,
}

impl Suite {
    /// All checks, with detection of the protocol.
    pub fn new(target: Target) -> Self {
        Self {
            target,
            settings: Settings::default(),
            profile: None,
            level: Level::default(),
            searches: None,
            lines: None,
            games: None,
        }
    }

    /// Sets the protocol. By default UCI is tried before USI.
    #[must_use]
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.settings.dialect = Some(dialect);
        self
    }

    /// Sets the edition and its protocol. By default a must is a rule of all editions of UCI, or of deployed USI.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = Some(profile);
        self.settings.dialect = Some(profile.dialect());
        self
    }

    /// Sets the extent of the run; by default all checks except long ones.
    #[must_use]
    pub fn level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// Sets the number of searches with random commands.
    #[must_use]
    pub fn random_searches(mut self, count: usize) -> Self {
        self.searches = Some(count);
        self
    }

    /// Sets the number of random lines.
    #[must_use]
    pub fn random_lines(mut self, count: usize) -> Self {
        self.lines = Some(count);
        self
    }

    /// Sets the number of games of each soak check; by default 200.
    #[must_use]
    pub fn soak_games(mut self, games: usize) -> Self {
        self.games = Some(games);
        self
    }

    fn effort(&self) -> Effort {
        let (searches, lines) = match self.level {
            Level::Quick => (50, 20),
            Level::Full | Level::Soak => (500, 200),
        };
        Effort {
            searches: self.searches.unwrap_or(searches),
            lines: self.lines.unwrap_or(lines),
            soak: (self.level == Level::Soak).then(|| self.games.unwrap_or(GAMES)),
        }
    }

    /// Whether the level includes a check. An explicit selection has precedence.
    fn includes(&self, check: &Check, severity: Severity) -> bool {
        self.level != Level::Quick
            || !self.settings.only.is_empty()
            || severity == Severity::Must && checks::is_quick(check.id)
    }

    /// Sets the timeout of the handshake and of `isready`, independent of other timeouts.
    #[must_use]
    pub fn start_timeout(mut self, timeout: Duration) -> Self {
        self.settings.start_timeout = Some(timeout);
        self
    }

    setters!();

    /// Ends the run early when it is canceled.
    #[must_use]
    pub fn canceled_by(mut self, cancellation: &Cancellation) -> Self {
        self.target.cancellation = Some(cancellation.clone());
        self
    }

    /// Runs the checks.
    ///
    /// # Errors
    /// The engine cannot be started or does not complete the handshake, a prefix selects no check, or the run was
    /// canceled.
    pub fn run(&self) -> Result<Report, TargetError> {
        let report = self.run_to_end();
        if self.target.is_canceled() {
            return Err(TargetError::new(message!("run.canceled")));
        }
        report
    }

    fn run_to_end(&self) -> Result<Report, TargetError> {
        let begin = now();
        self.settings.validate(checks::all())?;
        let is_quick = self.level == Level::Quick && self.settings.timeouts.is_none();
        let timeouts = self.settings.timeouts(begin).with_quick(is_quick);
        let (dialect, mut engine_info, ping, session) = self.connect(timeouts)?;
        let timeouts = timeouts.with_ping(ping);
        let severity = |check: &Check| check.severity_in(dialect, self.profile);
        let mut chosen = self.settings.selected(checks::test_cases(), severity);
        chosen.retain(|(case, severity)| self.includes(&case.check, *severity));
        if chosen.is_empty() {
            let protocol = dialect.handshake();
            return Err(TargetError::new(message!("selection.other-protocol", protocol)));
        }
        let name = engine_info.names.first().cloned();
        let name = name.unwrap_or_else(|| self.target.name().to_owned());
        let done = self.settings.watcher.start(&name, dialect, chosen.len());
        engine_info.capabilities =
            Probe::new(&self.target, dialect, timeouts, session).run(&engine_info);
        let timeouts = timeouts.with_search(engine_info.capabilities.search);
        let completed = self.run_interactive(&chosen, &engine_info, dialect, timeouts, &done);
        let transcripts: Vec<Transcript> =
            completed.iter().flat_map(|completed| completed.transcripts.clone()).collect();
        let mut results: Vec<CheckResult> =
            completed.iter().map(|completed| completed.result.clone()).collect();
        for (case, severity) in &chosen {
            if !matches!(case.test, Test::Interactive(_)) {
                let result = observe(case, *severity, &transcripts, Party::Engine);
                done.report(&result);
                results.push(result);
            }
        }
        results.retain(|result| chosen.iter().any(|(case, _)| case.check.id == result.check.id));
        results.sort_by_key(|result| {
            chosen.iter().position(|(case, _)| case.check.id == result.check.id)
        });
        let repeated = timeouts.for_confirmation();
        let context = |case| self.context(case, &engine_info, dialect, repeated);
        let needs_new_game = engine_info.capabilities.needs_new_game;
        let replays = Replays::new(&context, self.sessions(), &results, needs_new_game);
        let is_complete = replays.explain(&mut results, &completed);
        causes::follow(&mut results);
        Ok(Report {
            is_complete,
            name,
            side: Party::Engine,
            dialect,
            profile: self.profile,
            level: self.level,
            seed: self.settings.seed,
            timeouts,
            results,
            took: now().saturating_duration_since(begin),
        })
    }

    /// Detects the protocol, the identity and the response time of the engine.
    fn connect(
        &self,
        timeouts: Timeouts,
    ) -> Result<(Dialect, EngineInfo, Duration, EngineSession), TargetError> {
        let dialects =
            self.settings.dialect.map_or_else(|| Dialect::ALL.to_vec(), |dialect| vec![dialect]);
        let (mut why, mut error_output) = (None::<Message>, Vec::new());
        for dialect in dialects {
            let record = Rc::new(RefCell::new(Transcript::new(dialect, true)));
            let launch = Launch { check: "handshake", undrained_stderr: false };
            let started = now();
            let mut session = EngineSession::start(&self.target, launch, dialect, timeouts, record)
                .map_err(TargetError::from)?;
            match handshake(&mut session, dialect) {
                Ok(mut engine_info) => {
                    engine_info.startup = now().saturating_duration_since(started);
                    // The first `isready` may load files.
                    let first = session.ready();
                    engine_info.is_ready = first.is_ok();
                    let ping = first.and_then(|_| session.ready()).unwrap_or_default();
                    return Ok((dialect, engine_info, ping, session));
                }
                Err(failure) => {
                    let lines = session.error_output();
                    if !lines.is_empty() {
                        error_output = lines;
                    }
                    let (name, hello) = (self.target.name(), dialect.handshake());
                    let failure =
                        message!("engine.no-handshake", name, command = hello, cause = failure);
                    why = Some(match why {
                        Some(first) => message!("engine.both", first, second = failure),
                        None => failure,
                    });
                }
            }
        }
        let why = why.unwrap_or_else(|| message!("engine.no-protocol"));
        Err(TargetError::new(why).with_error_output(error_output))
    }

    /// Number of parallel sessions; a remote engine has one.
    fn sessions(&self) -> Option<usize> {
        self.settings.jobs.or_else(|| self.target.is_remote().then_some(1))
    }

    /// The context of a check.
    fn context<'a>(
        &'a self,
        case: &'static TestCase,
        engine_info: &'a EngineInfo,
        dialect: Dialect,
        timeouts: Timeouts,
    ) -> TestContext<'a> {
        let (seed, effort) = (self.settings.seed, self.effort());
        let id = case.check.id;
        TestContext::new(&self.target, engine_info, dialect, timeouts, seed, effort, id)
    }

    /// Runs the interactive checks, musts first, and sessions for the passive ones.
    fn run_interactive(
        &self,
        chosen: &[(&'static TestCase, Severity)],
        engine_info: &EngineInfo,
        dialect: Dialect,
        timeouts: Timeouts,
        done: &Count<'_>,
    ) -> Vec<Completed> {
        let (mut work, passive): (Vec<_>, Vec<_>) =
            chosen.iter().copied().partition(|(case, _)| matches!(case.test, Test::Interactive(_)));
        let observed = passive.iter().flat_map(|(case, _)| checks::providers(case.check.id));
        for provider in observed {
            let is_new = !work.iter().any(|(case, _)| case.check.id == provider.check.id);
            if is_new && provider.check.is_for(dialect) {
                work.push((provider, provider.check.severity));
            }
        }
        // Long checks come first, so that no CPU is idle at the end.
        let is_long = |id| engine_info.capabilities.fails(id) || checks::LONGEST.contains(&id);
        work.sort_by_key(|(case, severity)| (*severity, !is_long(case.check.id)));
        let jobs = self.sessions();
        let run = |case: &'static TestCase, severity| {
            run_interactive(case, severity, self.context(case, engine_info, dialect, timeouts))
        };
        let is_chosen = |case: &TestCase| {
            chosen.iter().any(|(chosen_case, _)| chosen_case.check.id == case.check.id)
        };
        let mut completed = in_parallel(jobs, &work, |(case, severity)| {
            let completed = run(case, *severity);
            if is_chosen(case) && !completed.result.loaded {
                done.report(&completed.result);
            }
            completed
        });
        // Times are measured again without other sessions.
        for completed in completed.iter_mut().filter(|completed| completed.result.loaded) {
            let id = completed.result.check.id;
            if let Some((case, severity)) = work.iter().find(|(case, _)| case.check.id == id) {
                *completed = run(case, *severity);
                done.report(&completed.result);
            }
        }
        completed
    }
}

/// Runs `run` for all items in parallel, by default on every CPU core. Results are unordered.
pub(crate) fn in_parallel<W: Sync, R: Send>(
    jobs: Option<usize>,
    work: &[W],
    run: impl Fn(&W) -> R + Sync,
) -> Vec<R> {
    let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let jobs = jobs.unwrap_or(cores).min(work.len());
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some(piece) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = run(piece);
                    done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(result);
                }
            });
        }
    });
    done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}

pub(crate) fn run_interactive(
    case: &'static TestCase,
    severity: Severity,
    context: TestContext<'_>,
) -> Completed {
    let begin = now();
    let missing = case.check.needs.iter().find(|need| !context.has(**need));
    let expired = context.timeouts.deadline().is_some_and(|deadline| deadline <= begin)
        || context.target.is_canceled();
    let run = match (missing, case.test) {
        (Some(need), _) => Err(Stop::Skip(message!("check.requires", need = Message::from(*need)))),
        (None, Test::Interactive(_)) if expired => Err(Stop::out_of_time()),
        (None, Test::Interactive(run)) => run(&context),
        (None, Test::Passive(_) | Test::Rule(_) | Test::Mock(_)) => Ok(()),
    };
    let capabilities = &context.engine_info.capabilities;
    let (transcripts, remark) = context.finish();
    let stop = run.err().map(|stop| {
        let unanswered = matches!(stop, Stop::NoReply(_) | Stop::Incomplete(_));
        let missing = match stop {
            Stop::NoReply(_) | Stop::Incomplete(_) | Stop::Fail(_) | Stop::Inconclusive(_) => {
                transcripts
                    .last()
                    .and_then(|transcript| capabilities.missing_in(transcript, unanswered))
            }
            _ => None,
        };
        // Another check covers the missing feature.
        missing.filter(|check| *check != case.check.id).map_or(stop, Stop::Depends)
    });
    let loaded = matches!(stop, Some(Stop::Loaded(_)));
    let cause = match stop {
        Some(Stop::Depends(check)) => Some(check),
        Some(Stop::Slow) => Some(Feature::check_of_depth()),
        _ => None,
    };
    let cause = cause.filter(|cause| *cause != case.check.id);
    let verdict = stop.map_or(Verdict::Pass, Verdict::from);
    let excerpt = match &verdict {
        Verdict::Fail(_) => transcripts.last().map(|transcript| transcript.excerpt(None)),
        Verdict::Pass | Verdict::Skip(_) | Verdict::Inconclusive(_) => None,
    };
    let result = CheckResult::new(&case.check, severity, verdict, excerpt, begin);
    Completed { result: CheckResult { cause, loaded, remark, ..result }, transcripts }
}

/// Evaluates a passive check in all transcripts in which the other side conforms.
pub(crate) fn observe(
    case: &'static TestCase,
    severity: Severity,
    transcripts: &[Transcript],
    side: Party,
) -> CheckResult {
    let begin = now();
    let mut seen = 0;
    let mut breach = None;
    for transcript in transcripts.iter().filter(|transcript| transcript.conforming) {
        match judge_transcript(case.test, transcript, side) {
            Ok(count) => seen += count,
            Err((at, finding)) => {
                // Shows the entries before a violation of a client, which are its cause.
                let excerpt = match side {
                    Party::Engine => transcript.excerpt(Some(at)),
                    Party::Client => transcript.around(at),
                };
                breach = Some((finding, excerpt));
                break;
            }
        }
        if MAX_JUDGED < seen {
            break;
        }
    }
    let (verdict, excerpt) = match breach {
        Some((finding, excerpt)) => (Verdict::Fail(finding), Some(excerpt)),
        None if seen == 0 => (Verdict::Skip(no_such_line(side)), None),
        None => (Verdict::Pass, None),
    };
    let result = CheckResult::new(&case.check, severity, verdict, excerpt, begin);
    CheckResult { observed: Some(seen), ..result }
}

/// The verdict without relevant entries.
fn no_such_line(side: Party) -> Message {
    match side {
        Party::Engine => message!("engine.no-such-line"),
        Party::Client => message!("client.no-such-line"),
    }
}

pub(crate) fn judge_transcript(test: Test, transcript: &Transcript, side: Party) -> Observation {
    match test {
        Test::Interactive(_) | Test::Mock(_) => Ok(0),
        Test::Passive(judge) => judge(transcript),
        Test::Rule(rule) => transcript.observe(rule, side),
    }
}

impl From<Stop> for TargetError {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Fail(why)
            | Stop::NoReply(why)
            | Stop::Skip(why)
            | Stop::Inconclusive(why)
            | Stop::Incomplete(why)
            | Stop::Loaded(why) => Self::new(why),
            Stop::Slow => Self::new(message!("search.slow")),
            Stop::Depends(check) => Self::new(message!("check.depends", check)),
        }
    }
}
