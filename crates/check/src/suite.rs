//! Settings and progress of a run.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{fmt, thread};

use readyok_protocol::{Dialect, Party};

use crate::context::{Effort, EngineInfo, Test, TestCase, TestContext, handshake};
use crate::message::{Message, message};
use crate::session::{EngineSession, WaitError};
use crate::spec::{
    Check, CheckResult, Observation, Profile, Report, Severity, Stop, TargetError, Verdict,
};
use crate::target::{Launch, Target};
use crate::timeouts::{Timeouts, now};
use crate::transcript::Transcript;
use crate::{checks, format};

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
            watcher: Watcher::default(),
        }
    }
}

impl Settings {
    /// The timeouts, by default for the current system load.
    pub(crate) fn timeouts(&self) -> Timeouts {
        let timeouts = self.timeouts.unwrap_or_else(|| Timeouts::calibrated(self.timeout_scale));
        self.start_timeout.map_or(timeouts, |timeout| timeouts.with_start(timeout))
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
        let starts = |list: &[String]| list.iter().any(|it| id.starts_with(it.as_str()));
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

        /// Calls `notify` after each check, from any thread, except for passive checks.
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
pub struct Progress<'a> {
    /// Number of completed checks, without passive ones.
    pub done: usize,
    /// Total number of checks.
    pub total: usize,
    /// The last result.
    pub last: &'a CheckResult,
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

    pub(crate) fn count(&self, total: usize) -> Count<'_> {
        Count { watcher: self, done: AtomicUsize::new(0), total }
    }
}

impl Count<'_> {
    pub(crate) fn report(&self, last: &CheckResult) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if let Watcher(Some(notify)) = self.watcher {
            notify(Progress { done, total: self.total, last });
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

/// The default settings.
const EFFORT: Effort = Effort { searches: 500, lines: 200, soak: None };

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
    effort: Effort,
}

/// A completed interactive check.
struct Completed {
    result: CheckResult,
    transcripts: Vec<Transcript>,
}

impl Suite {
    /// All checks, with detection of the protocol.
    pub fn new(target: Target) -> Self {
        Self { target, settings: Settings::default(), profile: None, effort: EFFORT }
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

    /// Sets the number of searches with random commands; by default 500.
    #[must_use]
    pub fn random_searches(mut self, count: usize) -> Self {
        self.effort.searches = count;
        self
    }

    /// Sets the number of random lines; by default 200.
    #[must_use]
    pub fn random_lines(mut self, count: usize) -> Self {
        self.effort.lines = count;
        self
    }

    /// Enables the soak checks with this number of games: whether memory, threads and open files grow.
    /// They take minutes with a slow engine.
    #[must_use]
    pub fn soak(mut self, games: usize) -> Self {
        self.effort.soak = Some(games);
        self
    }

    /// Sets the timeout of the handshake and of `isready`, independent of other timeouts.
    #[must_use]
    pub fn start_timeout(mut self, timeout: Duration) -> Self {
        self.settings.start_timeout = Some(timeout);
        self
    }

    setters!();

    /// Runs the checks.
    ///
    /// # Errors
    /// The engine cannot be started, or does not complete the handshake.
    pub fn run(&self) -> Result<Report, TargetError> {
        let begin = now();
        let timeouts = self.settings.timeouts();
        let (dialect, engine_info, ping) = self.connect(timeouts)?;
        let timeouts = timeouts.with_ping(ping);
        let severity = |check: &Check| check.severity_in(dialect, self.profile);
        let chosen = self.settings.selected(checks::test_cases(), severity);
        let completed = self.run_interactive(&chosen, &engine_info, dialect, timeouts);
        let transcripts: Vec<Transcript> =
            completed.iter().flat_map(|it| it.transcripts.clone()).collect();
        let mut results: Vec<CheckResult> = completed.into_iter().map(|it| it.result).collect();
        for (case, severity) in &chosen {
            if !matches!(case.test, Test::Interactive(_)) {
                results.push(observe(case, *severity, &transcripts, Party::Engine));
            }
        }
        results.retain(|it| chosen.iter().any(|(case, _)| case.check.id == it.check.id));
        results.sort_by_key(|it| chosen.iter().position(|(case, _)| case.check.id == it.check.id));
        Ok(Report {
            name: engine_info
                .names
                .first()
                .map_or_else(|| self.target.name(), String::as_str)
                .to_owned(),
            side: Party::Engine,
            dialect,
            profile: self.profile,
            seed: self.settings.seed,
            timeouts,
            results,
            took: now().saturating_duration_since(begin),
        })
    }

    /// Detects the protocol, the identity and the response time of the engine.
    fn connect(&self, timeouts: Timeouts) -> Result<(Dialect, EngineInfo, Duration), TargetError> {
        let dialects =
            self.settings.dialect.map_or_else(|| Dialect::ALL.to_vec(), |dialect| vec![dialect]);
        let mut why: Option<Message> = None;
        for dialect in dialects {
            let record = Rc::new(RefCell::new(Transcript::new(dialect, true)));
            let launch = Launch { check: "handshake", undrained_stderr: false };
            let mut transcript =
                EngineSession::start(&self.target, launch, dialect, timeouts, record)
                    .map_err(TargetError::from)?;
            match handshake(&mut transcript, dialect) {
                Ok(mut engine_info) => {
                    // The first `isready` may load files.
                    let first = transcript.ready();
                    let ping = first.and_then(|_| transcript.ready()).unwrap_or_default();
                    let found = transcript.search("position startpos", "go depth 1");
                    engine_info.ends_at_depth = matches!(found, Err(WaitError::Ended(_)));
                    return Ok((dialect, engine_info, ping));
                }
                Err(failure) => {
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
        Err(TargetError::new(why.unwrap_or_else(|| message!("engine.no-protocol"))))
    }

    /// Runs the interactive checks, and at least one session for the passive ones.
    fn run_interactive(
        &self,
        chosen: &[(&'static TestCase, Severity)],
        engine_info: &EngineInfo,
        dialect: Dialect,
        timeouts: Timeouts,
    ) -> Vec<Completed> {
        let mut work: Vec<(&'static TestCase, Severity)> = chosen
            .iter()
            .filter(|(case, _)| matches!(case.test, Test::Interactive(_)))
            .copied()
            .collect();
        let listens = chosen.iter().any(|(case, _)| !matches!(case.test, Test::Interactive(_)));
        let sample = checks::sample();
        if listens && !work.iter().any(|(case, _)| case.check.id == sample.check.id) {
            work.push((sample, sample.check.severity));
        }
        let done = self.settings.watcher.count(work.len());
        let jobs = self.settings.jobs.or_else(|| self.target.is_remote().then_some(1));
        in_parallel(jobs, &work, |(case, severity)| {
            let (seed, effort) = (self.settings.seed, self.effort);
            let context = TestContext::new(
                &self.target,
                engine_info,
                dialect,
                timeouts,
                seed,
                effort,
                case.check.id,
            );
            let completed = run_interactive(case, *severity, context);
            done.report(&completed.result);
            completed
        })
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

/// Whether a check is about the limits of `go`, and not only uses a search.
fn is_about(check: &Check, go: &str) -> bool {
    let limits = ["depth", "nodes", "movetime", "searchmoves", "ponder", "mate"];
    let plain = !go.split_ascii_whitespace().any(|keyword| limits.contains(&keyword));
    let areas = [
        "limits.",
        "search.depth",
        "search.nodes",
        "search.movetime",
        "search.any-order",
        "search.searchmoves",
        "search.mate",
        "search.ponder",
        "usi.ponder",
        "usi.game-over",
    ];
    plain || areas.iter().any(|area| check.id.starts_with(area))
}

fn run_interactive(
    case: &'static TestCase,
    severity: Severity,
    context: TestContext<'_>,
) -> Completed {
    let begin = now();
    let missing = case.check.needs.iter().find(|need| !context.has(**need));
    let ends_at_depth = context.engine_info.ends_at_depth;
    let mut verdict = match (missing, case.test) {
        (Some(need), _) => Verdict::Skip(message!("check.requires", need = Message::from(*need))),
        (None, Test::Interactive(run)) => {
            run(&context).map_or_else(Verdict::from, |()| Verdict::Pass)
        }
        (None, Test::Passive(_) | Test::Ordering(_) | Test::Syntax { .. } | Test::Mock(_)) => {
            Verdict::Pass
        }
    };
    let (transcripts, remark) = context.finish();
    if ends_at_depth
        && matches!(verdict, Verdict::Fail(_))
        && let Some(go) = transcripts.last().and_then(Transcript::last_go)
        && !is_about(&case.check, &go)
    {
        verdict = Verdict::Inconclusive(message!("engine.exits-at-go", go));
    }
    let excerpt = match &verdict {
        Verdict::Fail(_) => transcripts.last().map(|transcript| transcript.excerpt(None)),
        Verdict::Pass | Verdict::Skip(_) | Verdict::Inconclusive(_) => None,
    };
    let result = CheckResult::new(&case.check, severity, verdict, excerpt, begin);
    Completed { result: CheckResult { remark, ..result }, transcripts }
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
    CheckResult::new(&case.check, severity, verdict, excerpt, begin)
}

/// The verdict without relevant entries.
fn no_such_line(side: Party) -> Message {
    match side {
        Party::Engine => message!("engine.no-such-line"),
        Party::Client => message!("client.no-such-line"),
    }
}

fn judge_transcript(test: Test, transcript: &Transcript, side: Party) -> Observation {
    match test {
        Test::Interactive(_) | Test::Mock(_) => Ok(0),
        Test::Passive(judge) => judge(transcript),
        Test::Ordering(rule) => {
            let broken = |violation: &readyok_protocol::Violation| violation.rule == rule;
            match transcript.entries.iter().position(|it| it.violation.as_ref().is_some_and(broken))
            {
                Some(at) => {
                    let reported = transcript.entries.get(at).map_or("", |it| &it.text);
                    let reported = format::start(reported);
                    Err((at, message!("line.violation", line = reported, rule)))
                }
                None => Ok(transcript.entries.iter().filter(|it| it.side == side).count()),
            }
        }
        Test::Syntax { keyword, notes } => {
            let mut seen = 0;
            for (at, entry) in transcript.entries.iter().enumerate() {
                let is_one = entry.side == side
                    && entry.text.split_ascii_whitespace().next() == Some(keyword);
                if !is_one {
                    continue;
                }
                seen += 1;
                if let Some(note) = entry.notes.iter().find(|note| notes.contains(note)) {
                    return Err((
                        at,
                        message!("line.diagnostic", note, clause = Message::clause(*note)),
                    ));
                }
            }
            Ok(seen)
        }
    }
}

impl From<Stop> for TargetError {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Fail(why) | Stop::Skip(why) | Stop::Inconclusive(why) => Self::new(why),
        }
    }
}
