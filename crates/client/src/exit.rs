//! The exit status of an engine's process, as a value that can be stored.

use std::fmt;
use std::process::ExitStatus;

/// The exit of a process.
///
/// The cause is part of the value, because signal numbers differ between systems and a stored status
/// can be read on another one.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Exit {
    /// The status reported by the system.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub status: ProcessStatus,
    /// The cause, if the status names one.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub cause: Option<ExitCause>,
}

/// The status of a process.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum ProcessStatus {
    /// The process exited with this code.
    Code(i32),
    /// The process was killed by a signal with this number.
    Signal(i32),
    /// Neither is known.
    Unknown,
}

/// Why a process was killed.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ExitCause {
    /// The executable was not built for this CPU (SIGILL).
    IllegalInstruction,
    /// An invalid memory access (SIGSEGV).
    SegmentationFault,
    /// An access to memory that cannot be mapped (SIGBUS).
    BusError,
    /// A division by zero (SIGFPE).
    ArithmeticError,
    /// The process called `abort` (SIGABRT).
    Aborted,
    /// Killed by another process or for lack of memory (SIGKILL).
    Killed,
    /// Terminated by another process or the system (SIGTERM).
    Terminated,
    /// A write to a closed pipe (SIGPIPE).
    BrokenPipe,
}

impl Exit {
    /// An exit with a code.
    pub fn code(code: i32) -> Self {
        Self { status: ProcessStatus::Code(code), cause: None }
    }
}

impl ExitCause {
    fn signal_name(self) -> &'static str {
        match self {
            Self::IllegalInstruction => "SIGILL",
            Self::SegmentationFault => "SIGSEGV",
            Self::BusError => "SIGBUS",
            Self::ArithmeticError => "SIGFPE",
            Self::Aborted => "SIGABRT",
            Self::Killed => "SIGKILL",
            Self::Terminated => "SIGTERM",
            Self::BrokenPipe => "SIGPIPE",
        }
    }

    #[cfg(unix)]
    fn of_signal(signal: i32) -> Option<Self> {
        use rustix::process::Signal;
        Some(match Signal::from_named_raw(signal)? {
            Signal::ILL => Self::IllegalInstruction,
            Signal::SEGV => Self::SegmentationFault,
            Signal::BUS => Self::BusError,
            Signal::FPE => Self::ArithmeticError,
            Signal::ABORT => Self::Aborted,
            Signal::KILL => Self::Killed,
            Signal::TERM => Self::Terminated,
            Signal::PIPE => Self::BrokenPipe,
            _ => return None,
        })
    }
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        /// `STATUS_ILLEGAL_INSTRUCTION` of Windows.
        const ILLEGAL_INSTRUCTION: i32 = -0x3FFF_FFE3;
        #[cfg(unix)]
        if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
            return Self {
                status: ProcessStatus::Signal(signal),
                cause: ExitCause::of_signal(signal),
            };
        }
        let Some(code) = status.code() else {
            return Self { status: ProcessStatus::Unknown, cause: None };
        };
        let cause = (code == ILLEGAL_INSTRUCTION).then_some(ExitCause::IllegalInstruction);
        Self { status: ProcessStatus::Code(code), cause }
    }
}

/// `exited with code 3`, `was killed by signal 4 (SIGILL: the binary was not built for this CPU)`.
impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.status, self.cause) {
            (ProcessStatus::Code(code), None) => write!(f, "exited with code {code}"),
            (ProcessStatus::Signal(number), None) => write!(f, "was killed by signal {number}"),
            (ProcessStatus::Signal(number), Some(cause)) => {
                write!(f, "was killed by signal {number} ({}: {cause})", cause.signal_name())
            }
            (ProcessStatus::Code(_) | ProcessStatus::Unknown, Some(cause)) => {
                write!(f, "crashed: {cause}")
            }
            (ProcessStatus::Unknown, None) => f.write_str("ended"),
        }
    }
}

impl fmt::Display for ExitCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::IllegalInstruction => "the binary was not built for this CPU",
            Self::SegmentationFault | Self::BusError => "the engine crashed",
            Self::ArithmeticError => "the engine divided by zero",
            Self::Aborted => "the engine aborted",
            Self::Killed => "by another program, or out of memory",
            Self::Terminated => "by another program or the system",
            Self::BrokenPipe => "the engine wrote to a closed pipe",
        })
    }
}
