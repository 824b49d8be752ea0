//! Why an engine failed to start or was lost, as a value that can be stored and sent.

use std::fmt;
use std::io::ErrorKind;

use readyok_protocol::OptionError;
use readyok_protocol::session::client::{DropReason, TimeoutKind, UsageError};

use crate::error::{EngineError, Problem};
use crate::exit::Exit;

/// Why an engine failed to start or was lost.
#[derive(Clone, Debug, Eq, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EngineFailure {
    /// The kind of the failure.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub kind: EngineFailureKind,
    /// The message of the system or of the engine.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub message: Option<String>,
    /// The timeout that was exceeded, in milliseconds.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub timeout_ms: Option<u64>,
    /// The exit of a process that ended by itself.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub exit: Option<Exit>,
    /// The last line of the error output, truncated to [`EngineFailure::MAX_TEXT`] characters.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub last_stderr_line: Option<String>,
}

/// The kind of an [`EngineFailure`].
#[derive(Clone, Debug, Eq, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum EngineFailureKind {
    /// There is no such executable or no such working directory.
    NotFound,
    /// The executable may not be run.
    PermissionDenied,
    /// The address does not accept connections.
    ConnectionRefused,
    /// The executable cannot be started for another reason.
    StartFailed,
    /// No reply to `uci` or `usi`.
    HandshakeTimeout,
    /// No reply to `isready`.
    ReadyTimeout,
    /// No `bestmove` after `stop`.
    StopTimeout,
    /// The engine was still running after `quit`.
    ExitTimeout,
    /// The time for the move was exceeded.
    Overrun {
        /// By how much, in milliseconds.
        overrun_ms: u64,
    },
    /// The engine closed its output or the connection.
    Closed,
    /// The engine had exited before the request.
    NotRunning,
    /// The engine reported a copy protection error.
    CopyProtected,
    /// The engine has no such option.
    UnknownOption {
        /// The name of the option.
        name: String,
    },
    /// The option is managed by the session and cannot be set.
    ManagedOption {
        /// The name of the option.
        name: String,
    },
    /// The option does not accept the value.
    OptionValue {
        /// The reason.
        error: OptionError,
    },
    /// The protocol of the engine does not support the game.
    UnsupportedGame,
    /// The protocol of the engine does not support the start position.
    UnsupportedPosition,
    /// Another failure; the message describes it.
    Other,
}

impl EngineFailure {
    /// Longer texts are truncated to this number of characters.
    pub const MAX_TEXT: usize = 256;

    /// A failure without further details.
    pub fn new(kind: EngineFailureKind) -> Self {
        Self { kind, message: None, timeout_ms: None, exit: None, last_stderr_line: None }
    }

    /// Adds a text about the failure.
    #[must_use]
    pub fn with_message(self, message: &str) -> Self {
        Self { message: Some(truncated(message)), ..self }
    }

    /// A failure described only by a message.
    pub fn other(message: &str) -> Self {
        Self::new(EngineFailureKind::Other).with_message(message)
    }

    /// A process that exited during a game.
    pub fn exited(exit: Exit) -> Self {
        Self { exit: Some(exit), ..Self::new(EngineFailureKind::Closed) }
    }
}

fn truncated(text: &str) -> String {
    text.chars().take(EngineFailure::MAX_TEXT).collect()
}

impl From<&EngineError> for EngineFailure {
    fn from(error: &EngineError) -> Self {
        let kind = EngineFailureKind::from(error.problem());
        let message = match (error.problem(), &kind) {
            (Problem::Start { text, .. }, _) => Some(text.clone()),
            (problem, EngineFailureKind::Other) => Some(problem.to_string()),
            _ => error.message().map(str::to_owned),
        };
        let millis =
            |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Self {
            kind,
            message: message.as_deref().map(truncated),
            timeout_ms: error.timeout().map(millis),
            exit: error.own_exit().map(Exit::from),
            last_stderr_line: error.stderr().last().map(|line| truncated(line)),
        }
    }
}

impl From<&Problem> for EngineFailureKind {
    fn from(problem: &Problem) -> Self {
        match problem {
            Problem::Start { kind, .. } => match kind {
                ErrorKind::NotFound => Self::NotFound,
                ErrorKind::PermissionDenied => Self::PermissionDenied,
                ErrorKind::ConnectionRefused | ErrorKind::HostUnreachable | ErrorKind::TimedOut => {
                    Self::ConnectionRefused
                }
                _ => Self::StartFailed,
            },
            Problem::Timeout(TimeoutKind::Handshake) => Self::HandshakeTimeout,
            Problem::Timeout(TimeoutKind::Ready) => Self::ReadyTimeout,
            Problem::Timeout(TimeoutKind::Stop) => Self::StopTimeout,
            Problem::Timeout(TimeoutKind::Exit) => Self::ExitTimeout,
            Problem::OutOfTime(overrun) => {
                let overrun_ms = u64::try_from(overrun.as_millis()).unwrap_or(u64::MAX);
                Self::Overrun { overrun_ms }
            }
            Problem::Disconnected => Self::Closed,
            Problem::Dropped(DropReason::Disconnected) | Problem::Usage(UsageError::NotRunning) => {
                Self::NotRunning
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
            Problem::Usage(UsageError::WrongNotation) => Self::UnsupportedGame,
            _ => Self::Other,
        }
    }
}

/// A sentence without the engine as its subject: `no reply to isready within 10 s`.
impl fmt::Display for EngineFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_described_by_message = matches!(
            self.kind,
            EngineFailureKind::NotFound
                | EngineFailureKind::PermissionDenied
                | EngineFailureKind::ConnectionRefused
                | EngineFailureKind::StartFailed
                | EngineFailureKind::Other
        );
        let message = self.message.as_deref();
        match (&self.kind, self.exit) {
            (EngineFailureKind::Closed, Some(exit)) => exit.fmt(f)?,
            (kind, exit) => {
                match (kind, message) {
                    (EngineFailureKind::Other, Some(message)) => f.write_str(message)?,
                    (_, Some(message)) if is_described_by_message => {
                        write!(f, "cannot be started: {message}")?;
                    }
                    (kind, _) => kind.fmt(f)?,
                }
                if let Some(ms) = self.timeout_ms {
                    write!(f, " within {} s", std::time::Duration::from_millis(ms).as_secs_f64())?;
                }
                if let Some(exit) = exit {
                    write!(f, "; it {exit}")?;
                }
            }
        }
        if let Some(message) = message.filter(|_| !is_described_by_message) {
            write!(f, ": `{}`", message.escape_debug())?;
        }
        if let Some(line) = &self.last_stderr_line {
            write!(f, "; last stderr line: `{}`", line.escape_debug())?;
        }
        Ok(())
    }
}

impl fmt::Display for EngineFailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => f.write_str("no such executable"),
            Self::PermissionDenied => f.write_str("permission denied"),
            Self::ConnectionRefused => f.write_str("connection refused"),
            Self::StartFailed => f.write_str("cannot be started"),
            Self::HandshakeTimeout => f.write_str("no reply to `uci` or `usi`"),
            Self::ReadyTimeout => f.write_str("no `readyok`"),
            Self::StopTimeout => f.write_str("no `bestmove` after `stop`"),
            Self::ExitTimeout => f.write_str("no exit after `quit`"),
            Self::Overrun { overrun_ms } => write!(f, "lost on time by {overrun_ms} ms"),
            Self::Closed => f.write_str("closed its output"),
            Self::NotRunning => f.write_str("was not running"),
            Self::CopyProtected => f.write_str("reported a copy protection error"),
            Self::UnknownOption { name } => {
                write!(f, "has no option `{}`", name.escape_debug())
            }
            Self::ManagedOption { name } => {
                write!(f, "option `{}` is managed by the session", name.escape_debug())
            }
            Self::OptionValue { error } => error.fmt(f),
            Self::UnsupportedGame => f.write_str("does not support the game"),
            Self::UnsupportedPosition => f.write_str("does not support the start position"),
            Self::Other => f.write_str("failed"),
        }
    }
}

impl std::error::Error for EngineFailure {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn describes_a_failure_with_its_details() {
        let exit = EngineFailure {
            last_stderr_line: Some("no network".to_owned()),
            ..EngineFailure::exited(Exit::code(3))
        };
        assert_eq!(exit.to_string(), "exited with code 3; last stderr line: `no network`");
        let timeout = EngineFailure {
            timeout_ms: Some(2500),
            ..EngineFailure::new(EngineFailureKind::ReadyTimeout)
        };
        assert_eq!(timeout.to_string(), "no `readyok` within 2.5 s");
        let missing = EngineFailure::new(EngineFailureKind::NotFound).with_message("no file");
        assert_eq!(missing.to_string(), "cannot be started: no file");
        assert_eq!(EngineFailure::other("no memory").to_string(), "no memory");
    }
}
