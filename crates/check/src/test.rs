//! Tests of checks, and their outcomes.

use readyok_protocol::{DiagnosticKind, Rule};

use crate::context::TestContext;
use crate::message::{Message, message};
use crate::mock_engine::Probe;
use crate::result::Verdict;
use crate::spec::Check;
use crate::transcript::Transcript;

/// A check with its test.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TestCase {
    pub(crate) check: Check,
    pub(crate) test: Test,
}

/// How a rule is tested.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Test {
    /// In a session of its own.
    Interactive(fn(&TestContext<'_>) -> TestResult),
    /// By observing all sessions.
    Passive(fn(&Transcript) -> Observation),
    /// By observing violations of an ordering rule in all sessions.
    Ordering(Rule),
    /// By observing lines of a kind (their first token) with given diagnostics in all sessions.
    Syntax {
        /// The first token.
        keyword: &'static str,
        /// What they may not have.
        notes: &'static [DiagnosticKind],
    },
    /// By an engine that does this to a client.
    Mock(Probe),
}

impl Test {
    pub(crate) const fn is_passive(&self) -> bool {
        !matches!(self, Self::Interactive(_) | Self::Mock(_))
    }

    /// The order rule that it verifies.
    pub(crate) const fn order(&self) -> Option<Rule> {
        match self {
            Self::Ordering(rule) => Some(*rule),
            Self::Interactive(_) | Self::Passive(_) | Self::Syntax { .. } | Self::Mock(_) => None,
        }
    }
}

/// Why a check ends early.
#[derive(Debug)]
pub(crate) enum Stop {
    Fail(Message),
    Skip(Message),
    Inconclusive(Message),
}

/// Result of an interactive test. `Ok` is a pass.
pub(crate) type TestResult = Result<(), Stop>;

/// How often a check by listening had something to judge, or which entry breaks the rule, and how.
pub(crate) type Observation = Result<usize, (usize, Message)>;

impl Stop {
    /// A position of ours cannot be set up.
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
