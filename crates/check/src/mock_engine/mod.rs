//! Checks of clients, GUIs or match runners, with a mock engine.
//!
//! ```text
//!  ClientSuite ──starts──> client ──starts──> this executable again, as a relay
//!       ^                                              │
//!       └──────────── one TCP connection ──────────────┘
//! ```
//! The client starts a relay that forwards its bytes. The mock engine behind it, [`script`], runs in
//! the checking process, so that all events have the same clock.

mod checks;
mod conduct;
mod run;
mod script;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use readyok_client::{Exit, Guard};
use readyok_protocol::{Command, Dialect, Party, Rule};

pub use crate::mock_engine::run::serve_as_mock_engine;
pub(crate) use crate::mock_engine::script::Probe;

use crate::causes;
use crate::context::{Test, TestCase};
use crate::delay::DelayMeter;
use crate::message::{Message, message};
use crate::mock_engine::run::{End, RunOptions, RunResult, run};
use crate::mock_engine::script::Expect;
use crate::spec::{Check, CheckResult, Level, Report, Severity, TargetError, Verdict};
use crate::suite::{Settings, in_parallel, observe, setters};
use crate::timeouts::{Timeouts, now};
use crate::transcript::{Transcript, TranscriptEntry};

/// All checks of clients, by area.
pub fn all() -> impl Iterator<Item = &'static Check> {
    checks::test_cases().map(|case| &case.check)
}

/// Placeholder of the engine in the client's command.
const ENGINE: &str = "{engine}";

/// A client without activity for this time is considered hung.
const IDLE_TIMEOUT: Duration = Duration::from_secs(12);

/// Idle timeout of a client that waits for its user.
const USER: Duration = Duration::from_secs(3);

/// Maximum duration of the first run.
const LIMIT: Duration = Duration::from_mins(1);

/// Settings of a run of the checks on a client.
///
/// The client is started repeatedly by a command in which `{engine}` is the executable of its engine. This executable gets
/// no arguments and must first call [`serve_as_mock_engine`].
///
/// ```no_run
/// use readyok_check::ClientSuite;
///
/// let report = ClientSuite::new(["my-gui", "--engine", "{engine}"], "/usr/bin/readyok").run()?;
/// assert!(report.conforms(), "{report}");
/// # Ok::<(), readyok_check::TargetError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ClientSuite {
    command: Vec<OsString>,
    mock_engine: PathBuf,
    guard: Option<Guard>,
    settings: Settings,
    idle_timeout: Duration,
}

impl ClientSuite {
    /// All checks of a client with this command line. `mock_engine` is the executable of its engine.
    pub fn new(
        command: impl IntoIterator<Item = impl Into<OsString>>,
        mock_engine: impl Into<PathBuf>,
    ) -> Self {
        Self {
            command: command.into_iter().map(Into::into).collect(),
            mock_engine: mock_engine.into(),
            guard: None,
            settings: Settings::default(),
            idle_timeout: IDLE_TIMEOUT,
        }
    }

    /// Kills clients if this process is killed.
    #[must_use]
    pub fn guarded(mut self, guard: &Guard) -> Self {
        self.guard = Some(guard.clone());
        self
    }

    /// Restricts the protocol. By default the engine uses the protocol of the handshake.
    #[must_use]
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.settings.dialect = Some(dialect);
        self
    }

    /// Sets the time without activity after which a client is considered idle, by default 12 s. It must exceed the
    /// timeouts of the client.
    #[must_use]
    pub fn idle_timeout(mut self, idle_timeout: Duration) -> Self {
        self.idle_timeout = idle_timeout;
        self
    }

    setters!();

    /// Runs the checks.
    ///
    /// # Errors
    /// The client cannot be started, or starts no engine.
    pub fn run(&self) -> Result<Report, TargetError> {
        let begin = now();
        self.settings.validate(all())?;
        let timeouts = self.settings.timeouts(begin);
        let command = self.command_line()?;
        let idle_timeout = self.idle_timeout.mul_f64(timeouts.scale());
        let limit = LIMIT.mul_f64(timeouts.scale());
        let deadline = timeouts.deadline();
        let usual = RunOptions {
            command: &command,
            guard: self.guard.as_ref(),
            dialect: self.settings.dialect,
            probe: None,
            seed: self.settings.seed,
            idle_timeout,
            start: idle_timeout,
            limit: within(limit, deadline),
        };
        let reference = run(&usual).map_err(|error| self.cannot_run(&error))?;
        let Some(first) = reference.transcripts.first() else {
            return Err(self.no_engine(&reference));
        };
        let dialect = first.dialect;
        let severity = |check: &Check| check.severity_in(dialect, None);
        let checks = self.settings.selected(checks::test_cases(), severity);
        let probes: Vec<_> = checks
            .iter()
            .filter_map(|(case, severity)| match case.test {
                Test::Mock(probe) => Some((*case, *severity, probe)),
                Test::Interactive(_) | Test::Passive(_) | Test::Rule(_) => None,
            })
            .collect();
        let user = USER.mul_f64(timeouts.scale().max(1.0));
        let waits = if matches!(reference.end, End::Exited(_)) { idle_timeout } else { user };
        let command_text: Vec<_> =
            self.command.iter().map(|argument| argument.to_string_lossy()).collect();
        let name = command_text.join(" ");
        let done = self.settings.watcher.start(&name, dialect, checks.len());
        let completed = in_parallel(self.settings.jobs, &probes, |(case, severity, probe)| {
            let options = RunOptions {
                probe: Some(*probe),
                idle_timeout: waits.min(idle_timeout),
                limit: within((reference.took * 3 + idle_timeout * 2).min(limit * 2), deadline),
                ..usual.clone()
            };
            let completed = run_mock_check(case, *severity, *probe, &options, &reference, deadline);
            done.report(&completed.0);
            completed
        });
        let (mut results, transcripts): (Vec<_>, Vec<_>) = completed.into_iter().unzip();
        let mut transcripts: Vec<Transcript> = transcripts.into_iter().flatten().collect();
        // The run with a conforming engine is the reference.
        transcripts.splice(0..0, reference.transcripts.iter().cloned());
        for (case, severity) in &checks {
            if !matches!(case.test, Test::Mock(_)) {
                let result = observe(case, *severity, &transcripts, Party::Client);
                done.report(&result);
                results.push(result);
            }
        }
        results.sort_by_key(|result| {
            checks.iter().position(|(case, _)| case.check.id == result.check.id)
        });
        causes::follow(&mut results);
        Ok(Report {
            name,
            side: Party::Client,
            dialect,
            profile: None,
            level: Level::Full,
            seed: self.settings.seed,
            timeouts,
            results,
            took: now().saturating_duration_since(begin),
            is_complete: true,
        })
    }

    /// The command line with the mock engine in place of `{engine}`.
    fn command_line(&self) -> Result<Vec<OsString>, TargetError> {
        let mut found = false;
        let mock_engine = self.mock_engine.to_string_lossy();
        let command = self.command.iter().map(|token| match token.to_str() {
            Some(text) if text.contains(ENGINE) => {
                found = true;
                text.replace(ENGINE, &mock_engine).into()
            }
            _ => token.clone(),
        });
        let command = command.collect();
        let missing = || TargetError::new(message!("client.no-placeholder", placeholder = ENGINE));
        if found { Ok(command) } else { Err(missing()) }
    }

    fn cannot_run(&self, error: &io::Error) -> TargetError {
        let program =
            self.command.first().map(|program| program.to_string_lossy()).unwrap_or_default();
        TargetError::new(message!("client.cannot-run", program, error = error.to_string()))
    }

    fn no_engine(&self, result: &RunResult) -> TargetError {
        let program =
            self.command.first().map(|program| program.to_string_lossy()).unwrap_or_default();
        let end = end_message(result, self.idle_timeout);
        TargetError::new(message!("client.no-engine", program, end))
    }
}

/// The part of a duration before the end of all runs.
fn within(time: Duration, deadline: Option<Instant>) -> Duration {
    deadline.map_or(time, |deadline| time.min(deadline.saturating_duration_since(now())))
}

/// On Windows, the job of the client also contains its engines, which the system ends together with the client, and an
/// engine cannot close its output.
const NEED_UNIX: [&str; 2] = ["gui.quit.ignored", "gui.search.closes-output"];

/// Runs the client with an engine that has the tested behavior.
fn run_mock_check(
    case: &'static TestCase,
    severity: Severity,
    probe: Probe,
    options: &RunOptions<'_>,
    reference: &RunResult,
    deadline: Option<Instant>,
) -> (CheckResult, Vec<Transcript>) {
    let begin = now();
    let is_over = || deadline.is_some_and(|deadline| deadline <= now());
    let out_of_time = || Verdict::Inconclusive(message!("run.out-of-time"));
    if cfg!(not(unix)) && NEED_UNIX.contains(&case.check.id) {
        let verdict = Verdict::Skip(message!("run.other-system"));
        return (CheckResult::new(&case.check, severity, verdict, None, begin), Vec::new());
    }
    let mut loaded = false;
    let meter = DelayMeter::start();
    let result = (!is_over()).then(|| run(options));
    let delay = meter.finish();
    let (verdict, remark, excerpt, transcripts) = match result {
        None => (out_of_time(), None, None, Vec::new()),
        Some(Err(error)) => {
            let why = message!("client.cannot-start", error = error.to_string());
            (Verdict::Inconclusive(why), None, None, Vec::new())
        }
        Some(Ok(result)) => {
            let verdict = match judge(probe, options.idle_timeout, reference, &result, delay) {
                // The run was shorter than it had to be.
                Verdict::Fail(_) if is_over() => out_of_time(),
                verdict => verdict,
            };
            loaded =
                matches!(verdict, Verdict::Inconclusive(_)) && is_slowed(reference, &result, delay);
            let excerpt = match (&verdict, result.mark) {
                (Verdict::Fail(_), Some((transcript, at))) => {
                    result.transcripts.get(transcript).map(|transcript| transcript.around(at))
                }
                _ => None,
            };
            let remark = match (&verdict, probe.expect) {
                (Verdict::Pass, Expect::Copes) => {
                    Some(describe_survival(&result, reference, options))
                }
                _ => None,
            };
            (verdict, remark, excerpt, result.transcripts)
        }
    };
    let result = CheckResult::new(&case.check, severity, verdict, excerpt, begin);
    (CheckResult { loaded, remark, ..result }, transcripts)
}

/// The part of a run for which the host may delay timed games.
const SMALL_PART: u32 = 20;

/// Time in which a command and a reply may cross.
const CROSSING: Duration = Duration::from_millis(250);

fn judge(
    probe: Probe,
    idle_timeout: Duration,
    reference: &RunResult,
    result: &RunResult,
    delay: Duration,
) -> Verdict {
    let Some((transcript, at)) = result.mark else {
        return Verdict::Skip(message!("client.not-reached"));
    };
    if result.orphaned {
        return Verdict::Fail(message!("client.orphaned-engine"));
    }
    let end = || end_message(result, idle_timeout);
    let after = commands_after(result, transcript, at);
    match (reference.end, result.end, probe.expect) {
        (_, End::Exited(status), _) if Exit::from(status).is_crash() => {
            return Verdict::Fail(end());
        }
        (End::Exited(usual), End::Exited(status), Expect::Works) if usual != status => {
            return Verdict::Fail(message!("client.other-exit", end = end(), usual));
        }
        (End::Exited(_), End::Exited(_), Expect::Works)
            if searches(result) < searches(reference).div_ceil(2) =>
        {
            let (count, usual) = (searches(result), searches(reference));
            // A game on the clock is shorter on a busy host: the engine loses on time.
            if is_slowed(reference, result, delay) {
                return Verdict::Inconclusive(message!("client.loaded", count, usual));
            }
            return Verdict::Fail(message!("client.fewer-searches", count, usual));
        }
        (End::Exited(_), End::Idle | End::TimeLimit, _)
        | (End::Idle | End::TimeLimit, End::Exited(_), Expect::Works) => {
            return Verdict::Fail(end());
        }
        (End::Idle | End::TimeLimit, End::Idle | End::TimeLimit, _) => {
            let same = reference.transcripts.get(transcript).is_some_and(|usual| {
                let count = |transcript: &Transcript| count_commands(transcript, 0);
                result
                    .transcripts
                    .get(transcript)
                    .is_some_and(|transcript| count(usual) <= count(transcript))
            });
            let continued =
                same || 0 < after || reference.transcripts.len() < result.transcripts.len();
            if !continued {
                let why = message!("client.silent");
                return Verdict::Inconclusive(why);
            }
        }
        (End::Exited(_) | End::Idle | End::TimeLimit, End::Exited(_), _) => (),
    }
    // A nonconforming engine does not excuse violations of the client.
    let broken = |transcript: &Transcript, from: usize| {
        let entries = transcript.entries.get(from..).unwrap_or_default();
        let begin = entries.first().map(|entry| entry.at).unwrap_or_default();
        // Commands sent before the behavior do not count.
        let crossed = |entry: &TranscriptEntry| {
            let rule = entry.violation.as_ref().map(|violation| violation.rule);
            rule == Some(Rule::PonderHitWithoutPonder) && entry.at < begin + CROSSING
        };
        let mut rules = entries
            .iter()
            .filter(|entry| !crossed(entry))
            .filter_map(|entry| entry.violation.as_ref());
        rules.find(|violation| violation.by == Party::Client).map(|violation| violation.rule)
    };
    let new = result
        .transcripts
        .get(transcript)
        .filter(|transcript| !transcript.conforming)
        .and_then(|transcript| broken(transcript, at));
    let new = new.filter(|rule| {
        !reference.transcripts.iter().any(|transcript| broken(transcript, 0) == Some(*rule))
    });
    if let Some(rule) = new {
        return Verdict::Fail(message!("client.later-violation", rule));
    }
    let invalid_position =
        |transcript: &Transcript| transcript.first_violation(Rule::IllegalPosition);
    match result.transcripts.get(transcript).and_then(invalid_position) {
        Some(found)
            if at <= found
                && !reference
                    .transcripts
                    .iter()
                    .any(|transcript| invalid_position(transcript).is_some()) =>
        {
            Verdict::Fail(message!("client.later-illegal"))
        }
        _ => Verdict::Pass,
    }
}

/// Describes the end of a client that passed.
fn describe_survival(
    result: &RunResult,
    reference: &RunResult,
    options: &RunOptions<'_>,
) -> String {
    let again = match result.transcripts.len().saturating_sub(reference.transcripts.len()) {
        0 => String::new(),
        1 => ", after it had started the engine again".into(),
        count => format!(", after it had started the engine {count} times again"),
    };
    let output = last_output(result).map(|line| format!(": {line}")).unwrap_or_default();
    format!("{}{again}{output}", describe_end(result.end, options.idle_timeout))
}

fn describe_end(end: End, idle_timeout: Duration) -> Message {
    match end {
        End::Exited(status) => message!("client.exited", status),
        End::Idle => {
            let seconds = format!("{:.1}", idle_timeout.as_secs_f64());
            message!("client.idle", seconds)
        }
        End::TimeLimit => message!("client.time-limit"),
    }
}

/// Describes the end of a run, with the last output.
fn end_message(result: &RunResult, idle_timeout: Duration) -> Message {
    let end = describe_end(result.end, idle_timeout);
    match last_output(result) {
        Some(line) => message!("client.last-output", end, line),
        None => end,
    }
}

/// Maximum number of quoted characters of the client's last line.
const MAX_OUTPUT: usize = 160;

fn last_output(result: &RunResult) -> Option<String> {
    let output: String = result.last_output.chars().take(MAX_OUTPUT).collect();
    (!output.is_empty()).then(|| format!("`{output}`"))
}

/// Whether the host may be the cause of fewer searches.
fn is_slowed(reference: &RunResult, result: &RunResult, delay: Duration) -> bool {
    is_timed(reference) && result.took / SMALL_PART < delay
}

/// Whether a search has a time limit, so that the number of searches depends on the speed of the host.
fn is_timed(result: &RunResult) -> bool {
    let is_timed = |transcript: &Transcript| {
        let mut searches =
            transcript.commands().map(|line| Command::read(line, transcript.dialect));
        searches.any(|command| {
            matches!(command.value, Command::Go(go) if !go.clocks.is_empty() || go.move_time.is_some())
        })
    };
    result.transcripts.iter().any(is_timed)
}

/// The number of searches.
fn searches(result: &RunResult) -> usize {
    let is_go = |text: &str| text.split_ascii_whitespace().next() == Some("go");
    let entries = result.transcripts.iter().flat_map(|transcript| &transcript.entries);
    entries.filter(|entry| entry.side == Party::Client && is_go(&entry.text)).count()
}

fn commands_after(result: &RunResult, transcript: usize, at: usize) -> usize {
    result.transcripts.get(transcript).map_or(0, |transcript| count_commands(transcript, at))
}

fn count_commands(transcript: &Transcript, from: usize) -> usize {
    let entries = transcript.entries.get(from..).unwrap_or_default();
    entries.iter().filter(|entry| entry.side == Party::Client).count()
}
