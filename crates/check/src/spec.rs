//! Declarations of checks: id, rule, clauses, severity, advice; and their results.

use std::borrow::Cow;
use std::fmt;
use std::time::{Duration, Instant};

pub use readyok_protocol::Severity;
use readyok_protocol::{Dialect, Language, Party, Rule};

use crate::message::{self, Message, message};
use crate::timeouts::{Timeouts, now};
use crate::transcript::{Excerpt, Input};

/// A rule of the protocols with its test.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// The id: area, dot, name.
    pub id: &'static str,
    /// The rule in one line of English.
    pub rule: &'static str,
    /// The sources.
    pub clauses: &'static [Clause],
    /// The severity.
    pub severity: Severity,
    /// The protocol editions with this rule.
    pub profiles: &'static [Profile],
    /// The requirements of the check.
    pub needs: &'static [Need],
    /// Advice after a failure.
    pub advice: &'static str,
    /// Whether it only observes the sessions of other checks.
    pub passive: bool,
    /// The rule of the protocol that it observes.
    pub(crate) order: Option<Rule>,
}

/// Declares a check that observes a rule of the protocol, or tests it.
macro_rules! rule {
    ($rule:ident, $profiles:expr, $needs:expr, $advice:literal $(,)?) => {
        rule!(
            $rule,
            $profiles,
            $needs,
            $advice,
            $crate::context::Test::Rule(readyok_protocol::Rule::$rule)
        )
    };
    ($rule:ident, $profiles:expr, $needs:expr, $advice:literal, $test:expr $(,)?) => {
        $crate::context::TestCase {
            check: $crate::spec::Check {
                id: readyok_protocol::Rule::$rule.id(),
                rule: readyok_protocol::Rule::$rule.text(),
                clauses: &[$crate::spec::Clause {
                    source: readyok_protocol::Rule::$rule.clause(),
                    text: readyok_protocol::Rule::$rule.text(),
                }],
                severity: readyok_protocol::Rule::$rule.severity(),
                profiles: $profiles,
                needs: $needs,
                advice: $advice,
                passive: $test.is_passive(),
                order: Some(readyok_protocol::Rule::$rule),
            },
            test: $test,
        }
    };
}
pub(crate) use rule;

/// The source of a rule.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Clause {
    /// The document and the section.
    pub source: &'static str,
    /// A paraphrase of the text.
    pub text: &'static str,
}

/// An edition of a protocol.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Profile {
    /// UCI of April 2006.
    #[cfg_attr(feature = "cli", value(name = "uci-2006"))]
    Uci2006,
    /// UCI as described today.
    UciModern,
    /// The first draft of USI.
    ///
    /// It is of 2007.
    #[cfg_attr(feature = "cli", value(name = "usi-draft1"))]
    UsiDraft1,
    /// USI as used by shogi programs today.
    UsiDeployed,
}

/// The extent of a run.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Level {
    /// The musts that matter in play.
    Quick,
    /// All checks except soak checks.
    #[default]
    Full,
    /// Also games for hundreds of moves: memory, threads and open files must not grow.
    Soak,
}

impl Level {
    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Full => "full",
            Self::Soak => "soak",
        }
    }
}

/// A requirement of a check.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Need {
    /// A separate process.
    Process,
    /// This option, by its UCI name.
    Option(&'static str),
    /// An option of this type that does not use memory.
    Any(&'static str),
    /// The ability to ponder: in UCI the option `Ponder`, in USI the option or a sent ponder move.
    Ponder,
}

impl Profile {
    /// All editions.
    pub const ALL: &'static [Self] =
        &[Self::Uci2006, Self::UciModern, Self::UsiDraft1, Self::UsiDeployed];
    /// Both editions of UCI.
    pub const UCI: &'static [Self] = &[Self::Uci2006, Self::UciModern];
    /// Both editions of USI.
    pub const USI: &'static [Self] = &[Self::UsiDraft1, Self::UsiDeployed];
    /// All editions except the modern description of UCI.
    pub const OLDER: &'static [Self] = &[Self::Uci2006, Self::UsiDraft1, Self::UsiDeployed];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uci2006 => "uci-2006",
            Self::UciModern => "uci-modern",
            Self::UsiDraft1 => "usi-draft1",
            Self::UsiDeployed => "usi-deployed",
        }
    }

    /// The protocol.
    pub const fn dialect(self) -> Dialect {
        match self {
            Self::Uci2006 | Self::UciModern => Dialect::Uci,
            Self::UsiDraft1 | Self::UsiDeployed => Dialect::Usi,
        }
    }
}

impl Clause {
    /// The documents of a protocol in the source. `None` if the clause is from the other protocol only.
    pub fn source_for(&self, dialect: Dialect) -> Option<String> {
        let (own, other) = match dialect {
            Dialect::Uci => ("UCI 2006", ["USI draft 1", "USI as deployed"].as_slice()),
            Dialect::Usi => ("USI draft 1", ["UCI 2006", "The UCI Protocol"].as_slice()),
        };
        if let Some(section) = self.source.strip_prefix("UCI 2006 and USI draft 1 §5.3, ") {
            let section = section.split(" and ").map(|token| match (dialect, token) {
                (Dialect::Usi, "uci") | (Dialect::Uci, "usi") => "",
                _ => token,
            });
            let section: Vec<&str> = section.filter(|part| !part.is_empty()).collect();
            return Some(format!("{own}, {}", section.join(" and ")));
        }
        let parts = self
            .source
            .split("; ")
            .filter(|part| !other.iter().any(|document| part.starts_with(document)));
        let parts: Vec<&str> = parts.collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// The document and the section in a language. Documents keep their own names.
    pub fn source_in(&self, language: Language) -> Cow<'static, str> {
        message::source(self.source, language)
    }
}

impl Check {
    /// The area: the first part of the id.
    pub fn area(&self) -> &'static str {
        let own = self.id.strip_prefix("gui.").unwrap_or(self.id);
        own.split('.').next().unwrap_or_default()
    }

    /// The clauses of the protocol in use, or all of them without one: source and text.
    pub fn clauses_for(&self, dialect: Dialect) -> Vec<(String, &'static str)> {
        let own = self
            .clauses
            .iter()
            .filter_map(|clause| Some((clause.source_for(dialect)?, clause.text)));
        let own: Vec<_> = own.collect();
        if own.is_empty() {
            return self
                .clauses
                .iter()
                .map(|clause| (clause.source.to_owned(), clause.text))
                .collect();
        }
        own
    }

    /// The rule in one line, in a language.
    pub fn rule_in(&self, language: Language) -> &'static str {
        match (language, self.order) {
            (Language::English, _) => self.rule,
            (Language::Japanese, Some(rule)) => rule.text_in(language),
            (Language::Japanese, None) => message::japanese_rule(self.id).unwrap_or(self.rule),
        }
    }

    /// Whether the rule applies to this protocol.
    pub fn is_for(&self, dialect: Dialect) -> bool {
        self.profiles.iter().any(|profile| profile.dialect() == dialect)
    }

    /// The severity of the rule in an edition, or `None` if it does not apply. Without an edition, a must needs all
    /// editions of UCI, or the deployed edition of USI.
    pub fn severity_in(&self, dialect: Dialect, profile: Option<Profile>) -> Option<Severity> {
        let has = |profile| self.profiles.contains(&profile);
        match (profile, dialect) {
            (Some(profile), _) => has(profile).then_some(self.severity),
            (None, Dialect::Uci) if has(Profile::Uci2006) && has(Profile::UciModern) => {
                Some(self.severity)
            }
            (None, Dialect::Usi) if has(Profile::UsiDeployed) => Some(self.severity),
            (None, dialect) => self.is_for(dialect).then(|| self.severity.max(Severity::Should)),
        }
    }
}

impl From<Need> for Message {
    fn from(need: Need) -> Self {
        match need {
            Need::Process => message!("need.process"),
            Need::Option(name) => message!("need.option", name),
            Need::Any(kind) => message!("need.option-type", kind),
            Need::Ponder => message!("need.ponder"),
        }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Message::from(*self).fmt(f)
    }
}

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
    /// The engine did not reply.
    NoReply(Message),
    Skip(Message),
    Inconclusive(Message),
    /// The host was too busy for a measurement.
    Loaded(Message),
    /// A precondition did not get a reply, which another check covers.
    Incomplete(Message),
    /// The requested search takes too long.
    Slow,
    /// A feature is missing, which this check covers.
    Depends(&'static str),
}

/// Result of an interactive test. `Ok` is a pass.
pub(crate) type TestResult = Result<(), Stop>;

/// Result of a passive test: the number of relevant entries, or the index of a violation with its message.
pub(crate) type Observation = Result<usize, (usize, Message)>;

impl Stop {
    /// The time limit of the run has expired.
    pub(crate) fn out_of_time() -> Self {
        Self::Inconclusive(message!("run.out-of-time"))
    }

    /// A position of a test is invalid.
    pub(crate) fn invalid_position(error: &dyn std::error::Error) -> Self {
        Self::Inconclusive(message!("check.bad-position", english_position = error.to_string()))
    }
}

impl From<Stop> for Verdict {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Fail(text) | Stop::NoReply(text) => Self::Fail(text),
            Stop::Skip(text) => Self::Skip(text),
            Stop::Inconclusive(text) | Stop::Loaded(text) | Stop::Incomplete(text) => {
                Self::Inconclusive(text)
            }
            Stop::Slow => Self::Inconclusive(message!("search.slow")),
            Stop::Depends(check) => Self::Inconclusive(message!("check.depends", check)),
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
    /// The extent of the run.
    pub level: Level,
    /// One result for each selected check of the protocol, in the order of the list.
    pub results: Vec<CheckResult>,
    /// Duration.
    pub took: Duration,
    /// Whether all failures were repeated to find their causes.
    pub(crate) is_complete: bool,
}

/// The difference between a dialogue that fails and one that works.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Repair {
    /// The name of the change in JSON.
    pub key: &'static str,
    /// The cause of the failure.
    pub cause: Message,
    /// The dialogue that works, in the form of [`CheckResult::transcript`].
    pub transcript: Option<String>,
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
    /// The check whose violation is the cause of this verdict.
    pub cause: Option<&'static str>,
    /// The change that repairs a failure.
    pub repair: Option<Repair>,
    /// The host was too busy for a verdict.
    pub loaded: bool,
    /// The number of relevant lines, for a check that only observes.
    pub observed: Option<usize>,
    /// A measurement.
    pub remark: Option<String>,
    /// The shortest transcript that reproduces a failure: milliseconds since the start of the engine, `>` for its
    /// input, `<` for its output, and `!` for the last error output of an engine that has exited.
    pub transcript: Option<String>,
    /// The engine's input in that transcript.
    pub input: Option<Input>,
    /// Duration.
    pub took: Duration,
}

/// The engine or client cannot be checked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TargetError {
    why: Message,
    error_output: Vec<String>,
}

impl TargetError {
    pub(crate) fn new(why: Message) -> Self {
        Self { why, error_output: Vec::new() }
    }

    pub(crate) fn with_error_output(self, error_output: Vec<String>) -> Self {
        Self { error_output, ..self }
    }

    /// The cause.
    pub fn message(&self) -> &Message {
        &self.why
    }

    /// The last lines that an engine has written to its error output before it exited, without control characters.
    pub fn error_output(&self) -> &[String] {
        &self.error_output
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
        let (transcript, input) =
            excerpt.map(|excerpt| (excerpt.transcript, excerpt.input)).unzip();
        let took = now().saturating_duration_since(begin);
        Self {
            check,
            severity,
            verdict,
            cause: None,
            repair: None,
            loaded: false,
            observed: None,
            remark: None,
            transcript,
            input: input.flatten(),
            took,
        }
    }
}

impl Report {
    /// Whether every must was checked and is satisfied.
    pub fn conforms(&self) -> bool {
        self.exit_status() == 0
    }

    /// 0 if the engine conforms, 1 if it violates a must, 2 if a must could not be checked.
    pub fn exit_status(&self) -> u8 {
        let musts = || self.results.iter().filter(|result| result.severity == Severity::Must);
        if musts().any(|result| matches!(result.verdict, Verdict::Fail(_))) {
            1
        } else {
            u8::from(musts().any(|result| matches!(result.verdict, Verdict::Inconclusive(_)))) * 2
        }
    }

    /// The checks that failed.
    pub fn failures(&self) -> impl Iterator<Item = &CheckResult> {
        self.results.iter().filter(|result| matches!(result.verdict, Verdict::Fail(_)))
    }
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.why.fmt(f)?;
        self.error_output.iter().try_for_each(|line| write!(f, "\n  {line}"))
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
        for result in self.results.iter().filter(|result| result.severity == severity) {
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
            1 => "violates a must",
            _ => "could not be judged in full",
        }
    }
}
