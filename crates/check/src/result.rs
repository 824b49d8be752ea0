//! Results of checks and runs.

use std::fmt;
use std::time::{Duration, Instant};

use readyok_protocol::{Dialect, Party};

use crate::clock::now;
use crate::excerpt::{Excerpt, Input};
use crate::message::{Message, message};
use crate::spec::{Check, Profile, Severity};
use crate::timeouts::Timeouts;

/// The result of a check.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// The rule is satisfied.
    Pass,
    /// The rule is violated, with the observation.
    Fail(Message),
    /// The check does not apply, with the reason.
    Skip(Message),
    /// The check has no verdict, with the reason.
    Inconclusive(Message),
}

/// The reason why a test ends early.
#[derive(Debug)]
pub(crate) enum Stop {
    Fail(Message),
    Skip(Message),
    Inconclusive(Message),
}

/// Result of an interactive test. `Ok` is a pass.
pub(crate) type TestResult = Result<(), Stop>;

/// Result of a passive test: the number of relevant entries, or the index of a violation with its message.
pub(crate) type Observation = Result<usize, (usize, Message)>;

impl Stop {
    /// A position of a test is invalid.
    pub(crate) fn invalid_position(error: &dyn std::error::Error) -> Self {
        Self::Inconclusive(message!("check.bad-position", english_position = error.to_string()))
    }
}

impl From<Stop> for Verdict {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Fail(text) => Self::Fail(text),
            Stop::Skip(text) => Self::Skip(text),
            Stop::Inconclusive(text) => Self::Inconclusive(text),
        }
    }
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Report {
    /// The name of the engine, or the command of the client.
    pub name: String,
    /// The checked side.
    pub side: Party,
    /// The protocol.
    pub dialect: Dialect,
    /// The requested edition.
    pub profile: Option<Profile>,
    /// The seed of random choices.
    pub seed: u64,
    /// The timeouts.
    pub timeouts: Timeouts,
    /// One result for each selected check of the protocol, in the order of the list.
    pub results: Vec<CheckResult>,
    /// Duration.
    pub took: Duration,
}

/// The result of a check.
#[derive(Clone, Debug)]
pub struct CheckResult {
    /// The check.
    pub check: &'static Check,
    /// The severity in this run.
    pub severity: Severity,
    /// The verdict.
    pub verdict: Verdict,
    /// A measurement.
    pub remark: Option<String>,
    /// The shortest transcript that reproduces a failure: milliseconds since the start of the engine, `>` for its
    /// input and `<` for its output.
    pub transcript: Option<String>,
    /// The engine's input in that transcript.
    pub input: Option<Input>,
    /// Duration.
    pub took: Duration,
}

/// The engine or client cannot be checked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TargetError(Message);

impl TargetError {
    pub(crate) fn new(why: Message) -> Self {
        Self(why)
    }

    /// The cause.
    pub fn message(&self) -> &Message {
        &self.0
    }
}

impl Verdict {
    /// The name in reports.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail(_) => "fail",
            Self::Skip(_) => "skip",
            Self::Inconclusive(_) => "inconclusive",
        }
    }

    /// The message of the verdict. A pass has no message.
    pub fn message(&self) -> Option<&Message> {
        match self {
            Self::Pass => None,
            Self::Fail(message) | Self::Skip(message) | Self::Inconclusive(message) => {
                Some(message)
            }
        }
    }

    /// The message in English. Empty for a pass.
    pub fn text(&self) -> String {
        self.message().map(Message::to_string).unwrap_or_default()
    }
}

impl CheckResult {
    /// The result of a check that started at `begin`.
    pub(crate) fn new(
        check: &'static Check,
        severity: Severity,
        verdict: Verdict,
        excerpt: Option<Excerpt>,
        begin: Instant,
    ) -> Self {
        let (transcript, input) = excerpt.map(|it| (it.transcript, it.input)).unzip();
        let took = now().saturating_duration_since(begin);
        Self { check, severity, verdict, remark: None, transcript, input: input.flatten(), took }
    }
}

impl Report {
    /// Whether every must was checked and is satisfied.
    pub fn conforms(&self) -> bool {
        self.exit_status() == 0
    }

    /// 0 if the engine conforms, 1 if it violates a must, 2 if a must could not be checked.
    pub fn exit_status(&self) -> u8 {
        let musts = || self.results.iter().filter(|it| it.severity == Severity::Must);
        if musts().any(|it| matches!(it.verdict, Verdict::Fail(_))) {
            1
        } else {
            u8::from(musts().any(|it| matches!(it.verdict, Verdict::Inconclusive(_)))) * 2
        }
    }

    /// The checks that failed.
    pub fn failures(&self) -> impl Iterator<Item = &CheckResult> {
        self.results.iter().filter(|it| matches!(it.verdict, Verdict::Fail(_)))
    }
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for TargetError {}

/// Verdict counts of a severity.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
    pub(crate) inconclusive: usize,
}

impl Report {
    /// Counts the results of a severity.
    pub(crate) fn tally(&self, severity: Severity) -> Tally {
        let mut tally = Tally::default();
        for result in self.results.iter().filter(|it| it.severity == severity) {
            *match result.verdict {
                Verdict::Pass => &mut tally.passed,
                Verdict::Fail(_) => &mut tally.failed,
                Verdict::Skip(_) => &mut tally.skipped,
                Verdict::Inconclusive(_) => &mut tally.inconclusive,
            } += 1;
        }
        tally
    }

    /// A one-line summary.
    pub(crate) fn summary(&self) -> &'static str {
        match self.exit_status() {
            0 => "conforms",
            1 => "breaks a must",
            _ => "could not be judged in full",
        }
    }
}
