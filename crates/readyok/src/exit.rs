//! How the program ends: its exit codes, and what it says about failures.

use std::error::Error;
use std::fmt;
use std::process::{ExitCode, ExitStatus};

/// An exit code, and what it means.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Code {
    /// 0: done.
    Done,
    /// 1: something failed on the way: an engine broke down, a file could not be written.
    Failed,
    /// 2: the arguments make no sense, and nothing was started.
    Usage,
    /// 3: `tap --strict` heard a side break a must.
    MustBroken,
    /// 1: `check` saw the engine break a must.
    Nonconforming,
    /// 2: `check` could not judge the engine.
    Unjudged,
    /// 130: interrupted, in the middle of an analysis twice.
    Interrupted,
    /// Of `tap`: that of the engine, or 128 and the number of the signal that ended it.
    Engine(u8),
}

impl Code {
    /// The code of a process that ended so.
    pub fn of(status: ExitStatus) -> Self {
        if status.success() {
            return Self::Done;
        }
        #[cfg(unix)]
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        #[cfg(not(unix))]
        let signal = None::<i32>;
        let code = status.code().or_else(|| signal.map(|signal| 128 + signal));
        Self::Engine(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
    }

    /// What the system is told.
    pub fn number(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed | Self::Nonconforming => 1,
            Self::Usage | Self::Unjudged => 2,
            Self::MustBroken => 3,
            Self::Interrupted => 130,
            Self::Engine(code) => code,
        }
    }
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        code.number().into()
    }
}

/// Why a command did not do what it was asked to.
#[derive(Debug)]
pub struct Failure {
    /// The exit code.
    pub code: Code,
    error: Box<dyn Error>,
}

impl Failure {
    /// Something failed on the way.
    pub fn failed(error: impl Into<Box<dyn Error>>) -> Self {
        Self { code: Code::Failed, error: error.into() }
    }

    /// The arguments make no sense.
    pub fn usage(error: impl Into<Box<dyn Error>>) -> Self {
        Self { code: Code::Usage, error: error.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}
