//! Failures of engines, as values that can be stored and sent.

use std::fmt;
use std::io;
use std::time::Duration;

use readyok_protocol::OptionError;
use readyok_protocol::session::client::{DropReason, TimeoutKind, UsageError};
use readyok_protocol::translation::display_text;

use crate::error::{EngineError, Problem, is_of_connection};
use crate::exit::{Exit, ExitDescription};

/// Why an engine failed to start or was lost.
///
/// The text is a sentence without the engine as its subject: ``no `readyok` within 10 s``.
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

readyok_protocol::errors! {
    /// The kind of an [`EngineFailure`].
    #[derive(Clone, Debug, Eq, PartialEq)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "kebab-case"))]
    #[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(tag = "code", rename_all = "snake_case"))]
    // Aliases are the names in results of matches of earlier versions.
    #[non_exhaustive]
    pub enum EngineFailureKind {
        #[cfg_attr(feature = "serde", serde(alias = "not-found"))]
        ProgramNotFound => "cannot be started: program or working directory not found",
        #[cfg_attr(feature = "serde", serde(alias = "permission-denied"))]
        ProgramNotExecutable => "cannot be started: no permission to execute the program",
        /// Also of an unreachable host.
        ConnectionRefused => "cannot be reached at its address",
        /// For another reason; the message describes it.
        StartFailed => "cannot be started",
        HandshakeTimeout => "no `uciok` or `usiok`",
        ReadyTimeout => "no `readyok`",
        StopTimeout => "no `bestmove` after `stop`",
        ExitTimeout => "no exit after `quit`",
        Overrun { overrun_ms: u64 } => "exceeded the time limit by {overrun_ms} ms",
        #[cfg_attr(feature = "serde", serde(alias = "closed"))]
        OutputClosed => "closed its output or the connection",
        /// It had exited before the request.
        NotRunning => "was not running",
        CopyProtected => "reported a copy protection error",
        UnknownOption { name: String = display_text(name) } => "has no option `{name}`",
        ManagedOption { name: String = display_text(name) } => "option `{name}` is set automatically",
        /// The caller permits only certain values of options with texts, such as paths.
        ForbiddenValue { name: String = display_text(name) } =>
            "the text value of option `{name}` is not allowed here",
        /// By its protocol.
        UnsupportedGame => "does not support the game",
        /// By its protocol.
        UnsupportedPosition => "does not support the position",
        /// The message describes it.
        Other => "failed",
    }
    wraps {
        #[cfg_attr(feature = "serde", serde(untagged, deserialize_with = "option_error"))]
        Option(OptionError),
    }
}

/// Reads the error of an option. Results of matches of earlier versions have it in a field.
#[cfg(feature = "serde")]
fn option_error<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<OptionError, D::Error> {
    #[derive(serde::Deserialize)]
    #[serde(untagged)]
    enum Stored {
        Current(OptionError),
        Earlier { error: OptionError },
    }
    serde::Deserialize::deserialize(deserializer).map(|stored| match stored {
        Stored::Current(error) | Stored::Earlier { error } => error,
    })
}

readyok_protocol::errors! {
    /// A detail in the text of an [`EngineFailure`].
    #[derive(Clone, Debug, Eq, PartialEq)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(tag = "detail", rename_all = "snake_case"))]
    #[cfg_attr(feature = "ts", derive(ts_rs::TS))]
    pub enum EngineFailureDetail {
        Timeout { timeout_ms: u64 = Duration::from_millis(*timeout_ms).as_secs_f64() } =>
            " within {timeout_ms} s",
        Exit { exit: ExitDescription } => "; it {exit}",
        Message { text: String = display_text(text) } => ": `{text}`",
        Stderr { line: String = display_text(line) } => "; last stderr line: `{line}`",
    }
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
        Self { exit: Some(exit), ..Self::new(EngineFailureKind::OutputClosed) }
    }

    /// The exit that caused the failure. It describes the failure, instead of the kind.
    pub fn causal_exit(&self) -> Option<ExitDescription> {
        let is_caused =
            matches!(self.kind, EngineFailureKind::OutputClosed | EngineFailureKind::NotRunning);
        self.exit.filter(|_| is_caused).map(ExitDescription::from)
    }

    /// The details, in the order of the text.
    pub fn details(&self) -> impl Iterator<Item = EngineFailureDetail> {
        use EngineFailureDetail::{Exit, Message, Stderr, Timeout};
        let exit = self.exit.filter(|_| self.causal_exit().is_none());
        let details = [
            self.timeout_ms.map(|timeout_ms| Timeout { timeout_ms }),
            exit.map(|exit| Exit { exit: exit.into() }),
            self.message.clone().map(|text| Message { text }),
            self.last_stderr_line.clone().map(|line| Stderr { line }),
        ];
        details.into_iter().flatten()
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
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
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
                io::ErrorKind::NotFound => Self::ProgramNotFound,
                io::ErrorKind::PermissionDenied => Self::ProgramNotExecutable,
                kind if is_of_connection(*kind) => Self::ConnectionRefused,
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
            Problem::Disconnected => Self::OutputClosed,
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
            Problem::Usage(UsageError::OptionValue(error)) => error.clone().into(),
            Problem::Usage(UsageError::WrongNotation) => Self::UnsupportedGame,
            _ => Self::Other,
        }
    }
}

impl fmt::Display for EngineFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.causal_exit() {
            Some(exit) => exit.fmt(f)?,
            None => self.kind.fmt(f)?,
        }
        self.details().try_for_each(|detail| detail.fmt(f))
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "engine `{}`: ", self.engine())?;
        let problem = self.problem();
        if matches!(problem, Problem::Start { .. } | Problem::Timeout(_)) {
            return EngineFailure::from(self).fmt(f);
        }
        match (problem, self.termination(), self.exit()) {
            (Problem::Disconnected, Some(reason), _) => reason.fmt(f)?,
            (problem, Some(reason), _) => write!(f, "{problem}; it {reason}")?,
            (Problem::Disconnected, None, Some(status)) => Exit::from(status).fmt(f)?,
            (problem, None, Some(status)) => write!(f, "{problem}; it {}", Exit::from(status))?,
            (problem, None, None) => problem.fmt(f)?,
        }
        if let Some(message) = self.message() {
            let before = if problem.is_copy_protection() { ":" } else { "; last message:" };
            write!(f, "{before} `{}`", message.escape_debug())?;
        }
        if let Some(line) = self.stderr().last() {
            write!(f, "; last stderr line: `{}`", line.escape_debug())?;
        }
        Ok(())
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
        let missing =
            EngineFailure::new(EngineFailureKind::ProgramNotFound).with_message("no file");
        let text = "cannot be started: program or working directory not found: `no file`";
        assert_eq!(missing.to_string(), text);
        assert_eq!(EngineFailure::other("no memory").to_string(), "failed: `no memory`");
    }
}
