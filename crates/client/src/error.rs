//! Errors of engines, with all details for the user.

use std::fmt;
use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use readyok_protocol::Dialect;
use readyok_protocol::session::client::{DropReason, TimeoutKind, UsageError};

use crate::exit::{Exit, ExitCause};

/// Why an engine gave no result.
///
/// Protocol violations of an engine are no errors as long as there is a result; they are among the
/// [notices](crate::Engine::drain_notices).
#[derive(Clone, Debug)]
pub struct EngineError(Box<Details>);

#[derive(Clone, Debug)]
struct Details {
    engine: String,
    problem: Problem,
    dialect: Dialect,
    timeout: Option<Duration>,
    exit: Option<ExitStatus>,
    termination: Option<Termination>,
    stderr: Vec<String>,
    message: Option<String>,
}

/// Why the client terminated a process. The status of such a process does not describe the engine.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Termination {
    /// It did not answer in time, or did not exit in time after `quit`.
    Timeout(TimeoutKind),
    /// It closed its output, but did not exit.
    OutputClosed,
    /// Its [`Engine`](crate::Engine) was dropped, and it did not exit by itself in a short time.
    Dropped,
    /// The program called [`Engine::kill`](crate::Engine::kill).
    Killed,
}

/// The problem of an [`EngineError`].
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Problem {
    /// The engine could not be started or reached.
    Start {
        /// The kind of the failure.
        kind: io::ErrorKind,
        /// The message of the system.
        text: String,
    },
    /// The engine did not answer in time and was terminated. [`EngineError::timeout`] is the time.
    Timeout(TimeoutKind),
    /// The search exceeded its deadline by this time. It was stopped.
    OutOfTime(Duration),
    /// The search exceeded its [stall limit](crate::Search::stall_limit). It was stopped.
    Stalled,
    /// The engine exited, crashed, or closed its output. It was terminated if necessary.
    Disconnected,
    /// The search ended without an answer.
    Dropped(DropReason),
    /// An invalid request of the caller. Nothing was sent, and the engine continues.
    Usage(UsageError),
}

impl EngineError {
    pub(crate) fn new(engine: &str, problem: Problem) -> Self {
        let engine = engine.to_owned();
        Self(Box::new(Details {
            engine,
            problem,
            dialect: Dialect::default(),
            timeout: None,
            exit: None,
            termination: None,
            stderr: Vec::new(),
            message: None,
        }))
    }

    /// Adds the protocol, and the timeout after which the engine was terminated.
    pub(crate) fn with_timeout(mut self, dialect: Dialect, timeout: Option<Duration>) -> Self {
        self.0.dialect = dialect;
        self.0.timeout = timeout.filter(|_| matches!(self.0.problem, Problem::Timeout(_)));
        self
    }

    /// Adds the engine's own explanation.
    pub(crate) fn with_message(mut self, message: Option<String>) -> Self {
        self.0.message = message;
        self
    }

    pub(crate) fn start(engine: &str, error: &io::Error) -> Self {
        Self::new(engine, Problem::Start { kind: error.kind(), text: error.to_string() })
    }

    /// Adds the end of the process.
    pub(crate) fn with_end(
        mut self,
        exit: Option<ExitStatus>,
        termination: Option<Termination>,
        stderr: Vec<String>,
    ) -> Self {
        (self.0.exit, self.0.termination, self.0.stderr) = (exit, termination, stderr);
        let cause = self.own_exit().and_then(|status| Exit::from(status).cause);
        if matches!(cause, Some(ExitCause::Killed | ExitCause::Terminated)) {
            // Not the engine has ended itself, so its last message does not explain the end.
            self.0.message = None;
        }
        self
    }

    /// The name of the engine.
    pub fn engine(&self) -> &str {
        &self.0.engine
    }

    /// The problem.
    pub fn problem(&self) -> &Problem {
        &self.0.problem
    }

    /// The exit status of the process, if it has ended. After a [termination](Self::termination) it does not describe
    /// the engine.
    pub fn exit(&self) -> Option<ExitStatus> {
        self.0.exit
    }

    /// The time that the engine has exceeded, if it was [terminated](Self::termination) for a timeout.
    pub fn timeout(&self) -> Option<Duration> {
        self.0.timeout
    }

    /// Why the client terminated the process. `None` if it did not: the process ended by itself or was terminated by
    /// another program.
    pub fn termination(&self) -> Option<Termination> {
        self.0.termination
    }

    /// The exit status, unless the client terminated the process.
    pub fn own_exit(&self) -> Option<ExitStatus> {
        self.0.exit.filter(|_| self.0.termination.is_none())
    }

    /// The engine's message about the problem: the `info string` or unknown line next to a `copyprotection
    /// error`, or the last one of an engine that failed.
    pub fn message(&self) -> Option<&str> {
        self.0.message.as_deref()
    }

    /// The last lines of the error output, the latest last.
    pub fn stderr(&self) -> &[String] {
        &self.0.stderr
    }

    /// Whether the engine is still usable.
    pub fn is_recoverable(&self) -> bool {
        match self.0.problem {
            Problem::OutOfTime(_) | Problem::Dropped(_) | Problem::Usage(_) | Problem::Stalled => {
                true
            }
            Problem::Start { .. } | Problem::Timeout(_) | Problem::Disconnected => false,
        }
    }
}

/// `closed its output without exiting; engine terminated`
impl fmt::Display for Termination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout(wait) => write!(f, "sent {wait}; engine terminated"),
            Self::OutputClosed => {
                f.write_str("closed its output without exiting; engine terminated")
            }
            Self::Dropped => f.write_str("was terminated, because the program closed it"),
            Self::Killed => f.write_str("was killed by this program"),
        }
    }
}

impl Problem {
    /// Whether the engine has reported `copyprotection error`.
    pub fn is_copy_protection(&self) -> bool {
        matches!(
            self,
            Self::Dropped(DropReason::CopyProtected) | Self::Usage(UsageError::CopyProtected)
        )
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start { kind, text } if is_of_connection(*kind) => {
                write!(f, "cannot be reached: {text}")
            }
            Self::Start { text, .. } => write!(f, "cannot be started: {text}"),
            Self::Timeout(wait) => wait.fmt(f),
            Self::OutOfTime(late) => write!(f, "lost on time by {late:?}"),
            Self::Disconnected => f.write_str("closed its output"),
            Self::Dropped(DropReason::Superseded) => f.write_str("a newer search replaced it"),
            Self::Dropped(DropReason::Cancelled) => f.write_str("the search was cancelled"),
            Self::Dropped(DropReason::GameOver) => f.write_str("the game has ended"),
            Self::Dropped(DropReason::CopyProtected) => UsageError::CopyProtected.fmt(f),
            Self::Dropped(DropReason::Disconnected) => f.write_str("accepts no further searches"),
            Self::Dropped(_) => f.write_str("the search ended without an answer"),
            Self::Usage(usage_error) => usage_error.fmt(f),
            Self::Stalled => f.write_str("sent nothing for too long during a search"),
        }
    }
}

/// Whether a connection has failed, and not the start of an executable.
pub(crate) fn is_of_connection(kind: io::ErrorKind) -> bool {
    use io::ErrorKind as Kind;
    matches!(
        kind,
        Kind::ConnectionRefused
            | Kind::ConnectionReset
            | Kind::HostUnreachable
            | Kind::NetworkUnreachable
            | Kind::AddrNotAvailable
            | Kind::TimedOut
    )
}

impl std::error::Error for EngineError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.problem {
            Problem::Usage(usage_error) => Some(usage_error),
            Problem::Start { .. }
            | Problem::Timeout(_)
            | Problem::OutOfTime(_)
            | Problem::Disconnected
            | Problem::Dropped(_)
            | Problem::Stalled => None,
        }
    }
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;
    #[cfg(unix)]
    use crate::failure::EngineFailure;

    #[cfg(unix)]
    #[test]
    fn a_timeout_is_reported_without_the_signal_of_the_client() {
        let late = |wait, dialect, timeout| {
            let error = EngineError::new("x", Problem::Timeout(wait));
            let error = error.with_timeout(dialect, Some(Duration::from_millis(timeout)));
            let termination = Some(Termination::Timeout(wait));
            error.with_end(Some(ExitStatus::from_raw(15)), termination, Vec::new())
        };
        let error = late(TimeoutKind::Handshake, Dialect::Uci, 10_000);
        assert_eq!(error.to_string(), "engine `x`: no `uciok` or `usiok` within 10 s");
        assert_eq!((error.timeout(), error.own_exit()), (Some(Duration::from_secs(10)), None));
        for (wait, timeout, text) in [
            (TimeoutKind::Handshake, 50, "no `uciok` or `usiok` within 0.05 s"),
            (TimeoutKind::Ready, 2500, "no `readyok` within 2.5 s"),
            (TimeoutKind::Stop, 10_000, "no `bestmove` after `stop` within 10 s"),
            (TimeoutKind::Exit, 14_357, "no exit after `quit` within 14.357 s"),
        ] {
            let error = late(wait, Dialect::Usi, timeout);
            assert_eq!(error.to_string(), format!("engine `x`: {text}"));
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_crash_is_reported_with_the_exit_status() {
        let stderr = vec!["no network".to_owned()];
        let error = EngineError::new("x", Problem::Disconnected)
            .with_timeout(Dialect::Uci, Some(Duration::from_secs(1)))
            .with_end(Some(ExitStatus::from_raw(3 << 8)), None, stderr);
        let text = "engine `x`: exited with code 3; last stderr line: `no network`";
        assert_eq!(error.to_string(), text);
        assert_eq!((error.timeout(), error.own_exit()), (None, error.exit()));
    }

    #[cfg(unix)]
    #[test]
    fn a_process_that_another_program_kills_is_not_explained_by_its_last_message() {
        let error = |status| {
            let error = EngineError::new("x", Problem::Disconnected);
            let message = Some("NNUE evaluation using a.nnue".to_owned());
            let status = Some(ExitStatus::from_raw(status));
            error.with_message(message).with_end(status, None, Vec::new()).to_string()
        };
        let killed = "was killed by signal 9 (SIGKILL: by another program, or out of memory)";
        assert_eq!(error(9), format!("engine `x`: {killed}"));
        let text = "exited with code 1; last message: `NNUE evaluation using a.nnue`";
        assert_eq!(error(1 << 8), format!("engine `x`: {text}"));
    }

    #[cfg(unix)]
    #[test]
    fn a_signal_of_the_client_is_not_attributed_to_others() {
        for (reason, text) in [
            (Termination::OutputClosed, "closed its output without exiting; engine terminated"),
            (Termination::Dropped, "was terminated, because the program closed it"),
            (Termination::Killed, "was killed by this program"),
        ] {
            let error = EngineError::new("x", Problem::Disconnected);
            let error = error.with_end(Some(ExitStatus::from_raw(15)), Some(reason), Vec::new());
            assert_eq!(error.to_string(), format!("engine `x`: {text}"));
            assert_eq!((error.own_exit(), error.termination()), (None, Some(reason)));
            assert_eq!(EngineFailure::from(&error).exit, None);
        }
    }

    #[test]
    fn a_copy_protection_error_is_reported_with_the_text_of_the_engine() {
        for problem in
            [Problem::Dropped(DropReason::CopyProtected), Problem::Usage(UsageError::CopyProtected)]
        {
            let error = EngineError::new("x", problem).with_message(Some("no dongle".to_owned()));
            let text = "engine `x`: the engine reported a copy protection error: `no dongle`";
            assert_eq!(error.to_string(), text);
        }
        let error =
            EngineError::new("x", Problem::Disconnected).with_message(Some("no net".to_owned()));
        assert_eq!(error.to_string(), "engine `x`: closed its output; last message: `no net`");
    }
}
