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
    /// The engine exited, crashed, or closed its output. It was ended if need be.
    Gone,
    /// The search ended without an answer.
    Dropped(DropReason),
    /// The caller asked for something that cannot be. Nothing was sent, and the engine goes on.
    Misuse(Misuse),
    /// The caller looked for a search at an engine that it is not of.
    OtherEngine,
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
            Problem::OutOfTime(_)
            | Problem::Dropped(_)
            | Problem::Misuse(_)
            | Problem::OtherEngine => true,
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
            Self::OtherEngine => f.write_str("the search is one of another engine"),
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
            | Problem::OtherEngine => None,
        }
    }
}

/// How a process ended, for people: `exited with code 3`, `was killed by signal 4 (SIGILL: the
/// binary was not built for this CPU)`.
///
/// ```
/// assert_eq!(readyok_client::explain(Default::default()), "exited with code 0");
/// ```
pub fn explain(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return match signal_name(signal) {
            Some(name) => format!("was killed by signal {signal} ({name})"),
            None => format!("was killed by signal {signal}"),
        };
    }
    match status.code() {
        // STATUS_ILLEGAL_INSTRUCTION of Windows.
        Some(-0x3FFF_FFE3) => format!("crashed: {ILLEGAL_INSTRUCTION}"),
        Some(code) => format!("exited with code {code}"),
        None => "ended".to_owned(),
    }
}

const ILLEGAL_INSTRUCTION: &str = "the binary was not built for this CPU";

#[cfg(unix)]
fn signal_name(signal: i32) -> Option<String> {
    use rustix::process::Signal;
    let (name, meaning) = match Signal::from_named_raw(signal)? {
        Signal::ILL => ("SIGILL", ILLEGAL_INSTRUCTION),
        Signal::SEGV => ("SIGSEGV", "the engine crashed"),
        Signal::BUS => ("SIGBUS", "the engine crashed"),
        Signal::FPE => ("SIGFPE", "the engine divided by zero"),
        Signal::ABORT => ("SIGABRT", "the engine gave up"),
        Signal::KILL => ("SIGKILL", "by the client, or for want of memory"),
        Signal::TERM => ("SIGTERM", "by the client or the system"),
        Signal::PIPE => ("SIGPIPE", "the engine wrote to nobody"),
        _ => return None,
    };
    Some(format!("{name}: {meaning}"))
}
