//! What can go wrong with an engine, told so that a person can act on it.

use std::fmt;
use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use readyok_protocol::session::client::{DropReason, Misuse, Wait};

/// Why an engine gave no result.
///
/// An engine that breaks the rules of its protocol is no error as long as there is a result: what
/// it did wrong is among the [notices](crate::Engine::take_notices).
#[derive(Clone, Debug)]
pub struct EngineError(Box<Details>);

#[derive(Clone, Debug)]
struct Details {
    engine: String,
    problem: Problem,
    exit: Option<ExitStatus>,
    stderr: Vec<String>,
}

/// What went wrong.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Problem {
    /// The engine could not be started or reached.
    Start {
        /// The kind of the failure.
        kind: io::ErrorKind,
        /// What the system says.
        text: String,
    },
    /// The engine did not answer in time. It was ended.
    Late(Wait),
    /// The search did not end before its own deadline, so many seconds ago. It was told to stop.
    OutOfTime(Duration),
    /// The search exceeded its [stall limit](crate::Search::stall_limit). It was stopped.
    Stalled,
    /// The engine exited, crashed, or closed its output. It was ended if need be.
    Gone,
    /// The search ended without an answer.
    Dropped(DropReason),
    /// The caller asked for something that cannot be. Nothing was sent, and the engine goes on.
    Misuse(Misuse),
}

impl EngineError {
    pub(crate) fn new(engine: &str, problem: Problem) -> Self {
        let engine = engine.to_owned();
        Self(Box::new(Details { engine, problem, exit: None, stderr: Vec::new() }))
    }

    pub(crate) fn start(engine: &str, error: &io::Error) -> Self {
        Self::new(engine, Problem::Start { kind: error.kind(), text: error.to_string() })
    }

    pub(crate) fn with_end(mut self, exit: Option<ExitStatus>, stderr: Vec<String>) -> Self {
        self.0.exit = exit;
        self.0.stderr = stderr;
        self
    }

    /// The engine, by the name it was started with.
    pub fn engine(&self) -> &str {
        &self.0.engine
    }

    /// What went wrong.
    pub fn problem(&self) -> &Problem {
        &self.0.problem
    }

    /// How the process ended, if it was one and has ended. An engine that was late was killed.
    pub fn exit(&self) -> Option<ExitStatus> {
        self.0.exit
    }

    /// The last lines of its error output, the latest last.
    pub fn stderr(&self) -> &[String] {
        &self.0.stderr
    }

    /// Whether the engine can still be used.
    pub fn is_recoverable(&self) -> bool {
        match self.0.problem {
            Problem::OutOfTime(_) | Problem::Dropped(_) | Problem::Misuse(_) | Problem::Stalled => {
                true
            }
            Problem::Start { .. } | Problem::Late(_) | Problem::Gone => false,
        }
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "engine `{}`: {}", self.0.engine, self.0.problem)?;
        if let Some(status) = self.0.exit {
            write!(f, "; it {}", explain(status))?;
        }
        if let Some(line) = self.0.stderr.last() {
            write!(f, "; its last words: `{}`", line.escape_debug())?;
        }
        Ok(())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start { text, .. } => write!(f, "cannot be started: {text}"),
            Self::Late(wait) => wait.fmt(f),
            Self::OutOfTime(late) => write!(f, "lost on time, {late:?} ago"),
            Self::Gone => f.write_str("closed its output"),
            Self::Dropped(DropReason::Superseded) => f.write_str("a newer search took its place"),
            Self::Dropped(DropReason::Cancelled) => f.write_str("the search was cancelled"),
            Self::Dropped(DropReason::GameOver) => f.write_str("the game is over"),
            Self::Dropped(DropReason::EngineGone) => f.write_str("takes no more searches"),
            Self::Misuse(misuse) => misuse.fmt(f),
            Self::Stalled => f.write_str("sent nothing for too long during a search"),
        }
    }
}

impl std::error::Error for EngineError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.problem {
            Problem::Misuse(misuse) => Some(misuse),
            Problem::Start { .. }
            | Problem::Late(_)
            | Problem::OutOfTime(_)
            | Problem::Gone
            | Problem::Dropped(_)
            | Problem::Stalled => None,
        }
    }
}

/// How a process ended, as far as its status tells.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Exit {
    /// It exited by itself, with this code.
    Code(i32),
    /// The binary was not built for this CPU.
    WrongProcessor,
    /// It touched memory that is not its own.
    Crashed,
    /// It divided by zero.
    DividedByZero,
    /// It gave up.
    Aborted,
    /// It was killed, by the client or for want of memory.
    Killed,
    /// It was told to end, by the client or the system.
    Terminated,
    /// It wrote to nobody.
    BrokenPipe,
    /// It was killed by another signal.
    Signal(i32),
    /// Nobody knows.
    Unknown,
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        #[cfg(unix)]
        if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
            return named(signal).map_or(Self::Signal(signal), |(_, exit)| exit);
        }
        match status.code() {
            // STATUS_ILLEGAL_INSTRUCTION of Windows.
            Some(-0x3FFF_FFE3) => Self::WrongProcessor,
            Some(code) => Self::Code(code),
            None => Self::Unknown,
        }
    }
}

impl Exit {
    /// How a process ended of which [`explain`] has told: whoever keeps results keeps its words.
    ///
    /// ```
    /// use readyok_client::Exit;
    ///
    /// assert_eq!(Exit::explained("exited with code 3"), Some(Exit::Code(3)));
    /// let by_macos = "was killed by signal 10 (SIGBUS: the engine crashed)";
    /// assert_eq!(Exit::explained(by_macos), Some(Exit::Crashed));
    /// ```
    pub fn explained(text: &str) -> Option<Self> {
        if let Some(code) = text.strip_prefix("exited with code ") {
            return code.parse().ok().map(Self::Code);
        }
        if text.strip_prefix("crashed: ") == Self::WrongProcessor.meaning() {
            return Some(Self::WrongProcessor);
        }
        let signal = text.strip_prefix("was killed by signal ")?;
        let (number, cause) = signal.split_once(' ').unwrap_or((signal, ""));
        // Signals have other numbers on other systems: the cause counts as the text names it.
        let meaning = cause.strip_suffix(')').and_then(|cause| cause.split_once(": "));
        let known = Self::BY_SIGNAL
            .into_iter()
            .find(|exit| meaning.is_some_and(|(_, meaning)| exit.meaning() == Some(meaning)));
        known.or_else(|| number.parse().ok().map(Self::Signal))
    }

    const BY_SIGNAL: [Self; 7] = [
        Self::WrongProcessor,
        Self::Crashed,
        Self::DividedByZero,
        Self::Aborted,
        Self::Killed,
        Self::Terminated,
        Self::BrokenPipe,
    ];

    fn meaning(self) -> Option<&'static str> {
        Some(match self {
            Self::WrongProcessor => "the binary was not built for this CPU",
            Self::Crashed => "the engine crashed",
            Self::DividedByZero => "the engine divided by zero",
            Self::Aborted => "the engine gave up",
            Self::Killed => "by the client, or for want of memory",
            Self::Terminated => "by the client or the system",
            Self::BrokenPipe => "the engine wrote to nobody",
            Self::Code(_) | Self::Signal(_) | Self::Unknown => return None,
        })
    }
}

/// How a process ended, for people: `exited with code 3`, `was killed by signal 4 (SIGILL: the
/// binary was not built for this CPU)`.
///
/// ```
/// assert_eq!(readyok_client::explain(Default::default()), "exited with code 0");
/// ```
pub fn explain(status: ExitStatus) -> String {
    let exit = Exit::from(status);
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return match named(signal).zip(exit.meaning()) {
            Some(((name, _), meaning)) => {
                format!("was killed by signal {signal} ({name}: {meaning})")
            }
            None => format!("was killed by signal {signal}"),
        };
    }
    match (exit, exit.meaning()) {
        (_, Some(meaning)) => format!("crashed: {meaning}"),
        (Exit::Code(code), None) => format!("exited with code {code}"),
        (_, None) => "ended".to_owned(),
    }
}

/// The name of a signal, and what it means for an engine.
#[cfg(unix)]
fn named(signal: i32) -> Option<(&'static str, Exit)> {
    use rustix::process::Signal;
    Some(match Signal::from_named_raw(signal)? {
        Signal::ILL => ("SIGILL", Exit::WrongProcessor),
        Signal::SEGV => ("SIGSEGV", Exit::Crashed),
        Signal::BUS => ("SIGBUS", Exit::Crashed),
        Signal::FPE => ("SIGFPE", Exit::DividedByZero),
        Signal::ABORT => ("SIGABRT", Exit::Aborted),
        Signal::KILL => ("SIGKILL", Exit::Killed),
        Signal::TERM => ("SIGTERM", Exit::Terminated),
        Signal::PIPE => ("SIGPIPE", Exit::BrokenPipe),
        _ => return None,
    })
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    #[test]
    fn what_was_explained_is_understood_again() {
        // Codes are in the second byte of a status, signals in the first.
        for status in [0, 3 << 8, 4, 6, 7, 8, 9, 11, 13, 15, 33] {
            let status = ExitStatus::from_raw(status);
            let text = explain(status);
            assert_eq!(Exit::explained(&text), Some(Exit::from(status)), "{text}");
        }
        for text in
            ["", "ended", "exited with code x", "was killed by signal", "it was lost before"]
        {
            assert_eq!(Exit::explained(text), None, "{text}");
        }
    }
}
