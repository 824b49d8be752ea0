//! The exit of a process, as a value that can be stored and sent.

use std::fmt;
use std::process::ExitStatus;

/// The exit of a process. [`ExitDescription`] has its text.
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

readyok_protocol::texts! {
    /// Why a process was killed.
    #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
    #[cfg_attr(feature = "ts", derive(ts_rs::TS))]
    #[non_exhaustive]
    pub enum ExitCause {
        /// SIGILL, `STATUS_ILLEGAL_INSTRUCTION`.
        IllegalInstruction => "the binary was not built for this CPU",
        /// SIGSEGV, `STATUS_ACCESS_VIOLATION`.
        SegmentationFault => "invalid memory access",
        /// SIGBUS, `STATUS_IN_PAGE_ERROR`.
        BusError => "access to memory that cannot be mapped",
        /// `STATUS_STACK_OVERFLOW`; on Unix it is a segmentation fault.
        StackOverflow => "the stack was exhausted",
        /// SIGFPE, `STATUS_INTEGER_DIVIDE_BY_ZERO`.
        ArithmeticError => "division by zero",
        /// SIGABRT, `STATUS_STACK_BUFFER_OVERRUN`.
        Aborted => "the engine aborted",
        /// `STATUS_DLL_NOT_FOUND`; on Unix it is an exit code.
        MissingLibrary => "a library of the engine is missing or unsuitable",
        /// SIGKILL, `STATUS_NO_MEMORY`.
        Killed => "by another program, or out of memory",
        /// SIGTERM, `STATUS_CONTROL_C_EXIT`.
        Terminated => "by another program or the system",
        /// SIGPIPE.
        BrokenPipe => "write to a closed pipe",
    }
}

readyok_protocol::errors! {
    /// The text of an [`Exit`], without the engine as its subject.
    #[derive(Clone, Debug, Eq, PartialEq)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(tag = "code", rename_all = "snake_case"))]
    #[cfg_attr(feature = "ts", derive(ts_rs::TS))]
    pub enum ExitDescription {
        Exited { status: i32 } => "exited with code {status}",
        Signal { signal: i32 } => "was killed by signal {signal}",
        FatalSignal { signal: i32, name: String, exit_cause: ExitCause } =>
            "was killed by signal {signal} ({name}: {exit_cause})",
        /// Of Windows, with its hexadecimal code and its name.
        Exception { status: String, name: String, exit_cause: ExitCause } =>
            "crashed with code {status} ({name}: {exit_cause})",
        /// With an exit code instead of a signal or an exception.
        Killed { exit_cause: ExitCause } => "was killed: {exit_cause}",
        /// Neither code nor signal is known.
        Crashed { exit_cause: ExitCause } => "crashed: {exit_cause}",
        Ended => "ended",
    }
}

/// The exit code of processes that are killed by this crate on Windows: `KYDR`, which no engine returns.
pub(crate) const JOB_EXIT_CODE: u32 = 0x5244_594B;

impl Exit {
    /// An exit with a code.
    pub fn code(code: i32) -> Self {
        Self { status: ProcessStatus::Code(code), cause: None }
    }

    /// Whether the process did not end by itself: a fatal signal, or an exception of Windows.
    pub fn is_crash(self) -> bool {
        self.cause.is_some() || matches!(self.status, ProcessStatus::Signal(_))
    }

    /// The name of the exception that ended a process of Windows: `STATUS_ACCESS_VIOLATION`.
    pub fn exception(self) -> Option<&'static str> {
        match self.status {
            ProcessStatus::Code(code) => nt_status(code).map(|(name, _)| name),
            ProcessStatus::Signal(_) | ProcessStatus::Unknown => None,
        }
    }
}

/// The name and the cause of an exit code of Windows, if it is the NTSTATUS of an exception.
fn nt_status(code: i32) -> Option<(&'static str, ExitCause)> {
    use ExitCause as Cause;
    Some(match code.cast_unsigned() {
        0x4000_0015 => ("STATUS_FATAL_APP_EXIT", Cause::Aborted),
        0x8000_0001 => ("STATUS_GUARD_PAGE_VIOLATION", Cause::SegmentationFault),
        0x8000_0002 => ("STATUS_DATATYPE_MISALIGNMENT", Cause::BusError),
        0x8000_0003 => ("STATUS_BREAKPOINT", Cause::Aborted),
        0xC000_0005 => ("STATUS_ACCESS_VIOLATION", Cause::SegmentationFault),
        0xC000_0006 => ("STATUS_IN_PAGE_ERROR", Cause::BusError),
        0xC000_0017 => ("STATUS_NO_MEMORY", Cause::Killed),
        0xC000_001D => ("STATUS_ILLEGAL_INSTRUCTION", Cause::IllegalInstruction),
        0xC000_0044 => ("STATUS_QUOTA_EXCEEDED", Cause::Killed),
        0xC000_007B => ("STATUS_INVALID_IMAGE_FORMAT", Cause::MissingLibrary),
        0xC000_008C => ("STATUS_ARRAY_BOUNDS_EXCEEDED", Cause::SegmentationFault),
        0xC000_008E => ("STATUS_FLOAT_DIVIDE_BY_ZERO", Cause::ArithmeticError),
        0xC000_0094 => ("STATUS_INTEGER_DIVIDE_BY_ZERO", Cause::ArithmeticError),
        0xC000_0095 => ("STATUS_INTEGER_OVERFLOW", Cause::ArithmeticError),
        0xC000_0096 => ("STATUS_PRIVILEGED_INSTRUCTION", Cause::IllegalInstruction),
        0xC000_00FD => ("STATUS_STACK_OVERFLOW", Cause::StackOverflow),
        0xC000_0135 => ("STATUS_DLL_NOT_FOUND", Cause::MissingLibrary),
        0xC000_0138 => ("STATUS_ORDINAL_NOT_FOUND", Cause::MissingLibrary),
        0xC000_0139 => ("STATUS_ENTRYPOINT_NOT_FOUND", Cause::MissingLibrary),
        0xC000_013A => ("STATUS_CONTROL_C_EXIT", Cause::Terminated),
        0xC000_0142 => ("STATUS_DLL_INIT_FAILED", Cause::MissingLibrary),
        0xC000_0374 => ("STATUS_HEAP_CORRUPTION", Cause::Aborted),
        0xC000_0409 => ("STATUS_STACK_BUFFER_OVERRUN", Cause::Aborted),
        0xC000_0420 => ("STATUS_ASSERTION_FAILURE", Cause::Aborted),
        0xC000_0602 => ("STATUS_FAIL_FAST_EXCEPTION", Cause::Aborted),
        0xE06D_7363 => ("uncaught C++ exception", Cause::Aborted),
        _ => return None,
    })
}

impl ExitCause {
    fn signal_name(self) -> &'static str {
        match self {
            Self::IllegalInstruction => "SIGILL",
            Self::SegmentationFault | Self::StackOverflow => "SIGSEGV",
            Self::BusError => "SIGBUS",
            Self::ArithmeticError => "SIGFPE",
            Self::Aborted | Self::MissingLibrary => "SIGABRT",
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
        let cause = match nt_status(code) {
            Some((_, cause)) => Some(cause),
            None if code.cast_unsigned() == JOB_EXIT_CODE => Some(ExitCause::Killed),
            None => None,
        };
        Self { status: ProcessStatus::Code(code), cause }
    }
}

impl From<Exit> for ExitDescription {
    fn from(exit: Exit) -> Self {
        match (exit.status, exit.cause) {
            (ProcessStatus::Code(status), None) => Self::Exited { status },
            (ProcessStatus::Signal(signal), None) => Self::Signal { signal },
            (ProcessStatus::Signal(signal), Some(exit_cause)) => {
                Self::FatalSignal { signal, name: exit_cause.signal_name().to_owned(), exit_cause }
            }
            (ProcessStatus::Code(code), Some(exit_cause)) => match nt_status(code) {
                Some((name, _)) => Self::Exception {
                    status: format!("{code:#010X}"),
                    name: name.to_owned(),
                    exit_cause,
                },
                None => Self::Killed { exit_cause },
            },
            (ProcessStatus::Unknown, Some(exit_cause)) => Self::Crashed { exit_cause },
            (ProcessStatus::Unknown, None) => Self::Ended,
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ExitDescription::from(*self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(code: i32) -> String {
        let cause = nt_status(code).map(|(_, cause)| cause);
        Exit { status: ProcessStatus::Code(code), cause }.to_string()
    }

    #[test]
    fn exceptions_of_windows_have_names() {
        assert_eq!(
            text(-1_073_741_819),
            "crashed with code 0xC0000005 (STATUS_ACCESS_VIOLATION: invalid memory access)"
        );
        assert_eq!(
            text(-1_073_741_515),
            "crashed with code 0xC0000135 (STATUS_DLL_NOT_FOUND: a library of the engine is missing \
             or unsuitable)"
        );
        for code in [1, 3, 101, 255] {
            assert_eq!(text(code), format!("exited with code {code}"));
        }
    }
}
