//! Why an engine could not be had or was lost: what its text says to people, for programs.

use std::io::ErrorKind;

use readyok_client::{DropReason, EngineError, Problem, TimeoutKind, UsageError, explain};
use readyok_protocol::OptionError;
use serde::{Deserialize, Serialize};

use super::{Termination, WarningKind};

/// Why an engine could not be had or was lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineFault {
    /// What went wrong.
    #[serde(flatten)]
    pub kind: EngineFaultKind,
    /// How its process ended, as [`Termination::Crash`] tells it; none if it has not, or
    /// was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<String>,
    /// The last line of its error output, shortened if it was long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_words: Option<String>,
}

/// What went wrong with an engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum EngineFaultKind {
    /// There is no such program, or no folder to run it in.
    NoProgram,
    /// The program may not be run.
    NotPermitted,
    /// Nobody answers at its address.
    Unreachable,
    /// The system does not start it for another reason.
    NotStarted {
        /// What the system says.
        text: String,
    },
    /// It does not answer the greeting.
    NoGreeting,
    /// It does not answer `isready`.
    NotReady,
    /// It does not answer `stop`.
    NotStopped,
    /// It does not leave.
    NotLeft,
    /// Its time was over so long ago.
    OutOfTime {
        /// How long, in milliseconds.
        late_ms: u64,
    },
    /// It closed its output or the connection.
    Closed,
    /// It was gone before it was asked.
    Gone,
    /// It reports that its copy protection is violated.
    CopyProtected,
    /// It has no such option.
    UnknownOption {
        /// The name.
        name: String,
    },
    /// The option follows from the game and the search, and is not set by a person.
    ManagedOption {
        /// The name.
        name: String,
    },
    /// The option has no such value.
    OptionValue {
        /// What is wrong with it.
        error: OptionError,
    },
    /// Its protocol is not one of the game.
    OtherGame,
    /// Its protocol has no words for the start of the game.
    Untold,
    /// Something else.
    Other {
        /// What.
        text: String,
    },
}

impl EngineFault {
    pub(crate) const MAX_TEXT: usize = 256;

    /// A fault of an engine of which nothing else is known.
    pub fn new(kind: EngineFaultKind) -> Self {
        Self { kind, exit: None, last_words: None }
    }
}

impl From<&EngineError> for EngineFault {
    fn from(error: &EngineError) -> Self {
        let cut = |line: &String| line.chars().take(Self::MAX_TEXT).collect();
        Self {
            kind: EngineFaultKind::from(error.problem()),
            exit: error.own_exit().map(explain),
            last_words: error.stderr().last().map(cut),
        }
    }
}

impl From<&Problem> for EngineFaultKind {
    fn from(problem: &Problem) -> Self {
        match problem {
            Problem::Start { kind, text } => match kind {
                ErrorKind::NotFound => Self::NoProgram,
                ErrorKind::PermissionDenied => Self::NotPermitted,
                ErrorKind::ConnectionRefused | ErrorKind::HostUnreachable | ErrorKind::TimedOut => {
                    Self::Unreachable
                }
                _ => Self::NotStarted { text: text.clone() },
            },
            Problem::Timeout(TimeoutKind::Handshake) => Self::NoGreeting,
            Problem::Timeout(TimeoutKind::Ready) => Self::NotReady,
            Problem::Timeout(TimeoutKind::Stop) => Self::NotStopped,
            Problem::Timeout(TimeoutKind::Exit) => Self::NotLeft,
            Problem::OutOfTime(late) => {
                Self::OutOfTime { late_ms: u64::try_from(late.as_millis()).unwrap_or(u64::MAX) }
            }
            Problem::Disconnected => Self::Closed,
            Problem::Dropped(DropReason::Disconnected) | Problem::Usage(UsageError::NotRunning) => {
                Self::Gone
            }
            problem if problem.is_copy_protection() => Self::CopyProtected,
            Problem::Usage(UsageError::UnknownOption(unknown)) => {
                Self::UnknownOption { name: unknown.name.clone() }
            }
            Problem::Usage(UsageError::ManagedOption { name }) => {
                Self::ManagedOption { name: name.clone() }
            }
            Problem::Usage(UsageError::OptionValue(error)) => {
                Self::OptionValue { error: error.clone() }
            }
            Problem::Usage(UsageError::WrongNotation) => Self::OtherGame,
            other => Self::Other { text: other.to_string() },
        }
    }
}

impl Termination {
    /// An engine could not be had.
    pub(crate) fn no_start(error: &EngineError) -> Self {
        Self::NoStart { why: error.to_string(), fault: Some(Box::new(error.into())) }
    }

    /// An engine cannot play the game.
    pub(crate) fn unfit(why: String, kind: EngineFaultKind) -> Self {
        Self::NoStart { why, fault: Some(Box::new(EngineFault::new(kind))) }
    }

    /// An engine left.
    pub(crate) fn crash(error: &EngineError) -> Self {
        match error.own_exit() {
            Some(status) => Self::Crash { exit: explain(status), fault: None },
            None => Self::Crash { exit: error.to_string(), fault: Some(Box::new(error.into())) },
        }
    }
}

impl WarningKind {
    /// An engine had left.
    pub(crate) fn restarted(error: &EngineError) -> Self {
        Self::Restarted { why: error.to_string(), fault: Some(Box::new(error.into())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(end: &Termination, json: &str) {
        assert_eq!(serde_json::to_string(end).unwrap(), json);
        assert_eq!(serde_json::from_str::<Termination>(json).unwrap(), *end);
    }

    #[test]
    fn a_fault_is_kept_beside_its_text() {
        let fault = EngineFault {
            exit: Some("exited with code 3".to_owned()),
            last_words: Some("no network".to_owned()),
            ..EngineFault::new(EngineFaultKind::Closed)
        };
        round_trip(
            &Termination::NoStart { why: "English".to_owned(), fault: Some(Box::new(fault)) },
            r#"{"kind":"no-start","why":"English","fault":{"kind":"closed","exit":"exited with code 3","last_words":"no network"}}"#,
        );
        let error = OptionError::NoValue { option: "Hash".to_owned() };
        round_trip(
            &Termination::unfit("English".to_owned(), EngineFaultKind::OptionValue { error }),
            r#"{"kind":"no-start","why":"English","fault":{"kind":"option-value","error":{"kind":"no-value","option":"Hash"}}}"#,
        );
        round_trip(
            &Termination::Crash { exit: "English".to_owned(), fault: None },
            r#"{"kind":"crash","exit":"English"}"#,
        );
    }
}
