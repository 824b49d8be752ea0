//! Failures of engine processes as error codes.

use readyok_client::{
    EngineError, EngineFailure, EngineFailureKind, Exit, ExitCause, ProcessStatus,
};
use readyok_protocol::OptionError;

use super::log::printable;
use crate::wire::{ErrorCode, ErrorInfo, ErrorSubject};

pub(crate) fn engine_error(error: &EngineError) -> ErrorInfo {
    engine_failure(&EngineFailure::from(error))
}

pub(crate) fn engine_failure(failure: &EngineFailure) -> ErrorInfo {
    let code = match (&failure.kind, failure.exit) {
        // The exit status is more specific than the closed output.
        (EngineFailureKind::Closed | EngineFailureKind::NotRunning, Some(exit)) => exit_code(exit),
        (kind, _) => failure_code(kind, failure.message.as_deref()),
    };
    match &failure.last_stderr_line {
        Some(line) => code.with(|it| it.stderr = Some(printable(line))),
        None => code.into(),
    }
}

fn failure_code(kind: &EngineFailureKind, message: Option<&str>) -> ErrorCode {
    let message = || printable(message.unwrap_or_default());
    match kind {
        EngineFailureKind::NotFound => ErrorCode::ProgramNotFound,
        EngineFailureKind::PermissionDenied => ErrorCode::ProgramNotExecutable,
        EngineFailureKind::ConnectionRefused => ErrorCode::ConnectionRefused,
        EngineFailureKind::StartFailed => ErrorCode::StartFailed { text: message() },
        EngineFailureKind::HandshakeTimeout => ErrorCode::HandshakeTimeout,
        EngineFailureKind::ReadyTimeout => ErrorCode::ReadyTimeout,
        EngineFailureKind::StopTimeout => ErrorCode::StopTimeout,
        EngineFailureKind::ExitTimeout => ErrorCode::ExitTimeout,
        EngineFailureKind::Overrun { overrun_ms } => {
            ErrorCode::TimeLimitExceeded { time: *overrun_ms }
        }
        EngineFailureKind::Closed => ErrorCode::OutputClosed,
        EngineFailureKind::NotRunning => ErrorCode::EngineStopped,
        EngineFailureKind::CopyProtected => ErrorCode::CopyProtectionError,
        EngineFailureKind::UnknownOption { name } => {
            ErrorCode::unknown(ErrorSubject::Option, printable(name))
        }
        EngineFailureKind::ManagedOption { name } => {
            ErrorCode::ManagedOption { option: printable(name) }
        }
        EngineFailureKind::OptionValue { error } => option_error(error),
        EngineFailureKind::UnsupportedGame => ErrorCode::UnsupportedVariant,
        EngineFailureKind::UnsupportedPosition => ErrorCode::UnsupportedPosition,
        EngineFailureKind::Other => ErrorCode::System { text: message() },
        other => ErrorCode::system(&format!("{other:?}")),
    }
}

pub(crate) fn option_error(error: &OptionError) -> ErrorCode {
    let end = |end: Option<i64>| end.map(|end| end.to_string()).unwrap_or_default();
    match error {
        OptionError::NotABoolean { option, .. } => {
            ErrorCode::NotABoolean { option: printable(option) }
        }
        OptionError::NotANumber { option, .. } => {
            ErrorCode::NotAnInteger { option: printable(option) }
        }
        OptionError::OutOfRange { option, min, max, .. } => {
            ErrorCode::OutOfRange { option: printable(option), min: end(*min), max: end(*max) }
        }
        OptionError::NotAChoice { option, value, .. } => {
            ErrorCode::UnknownChoice { option: printable(option), value: printable(value) }
        }
        OptionError::LineBreak { option } => ErrorCode::LineBreak { option: printable(option) },
        OptionError::NoValue { option } => ErrorCode::MissingValue { option: printable(option) },
        OptionError::UnwantedValue { option, .. } => {
            ErrorCode::OptionIsButton { option: printable(option) }
        }
        other => ErrorCode::system(other),
    }
}

fn exit_code(exit: Exit) -> ErrorCode {
    match (exit.cause, exit.status) {
        (Some(ExitCause::IllegalInstruction), _) => ErrorCode::UnsupportedCpu,
        (Some(ExitCause::SegmentationFault | ExitCause::BusError), _) => {
            ErrorCode::SegmentationFault
        }
        (Some(ExitCause::ArithmeticError), _) => ErrorCode::ArithmeticError,
        (Some(ExitCause::Aborted), _) => ErrorCode::Aborted,
        (Some(ExitCause::Killed), _) => ErrorCode::Killed,
        (None, ProcessStatus::Code(status)) => ErrorCode::Exited { status },
        (None, ProcessStatus::Signal(signal)) => ErrorCode::Signal { signal },
        // A process without output is terminated.
        _ => ErrorCode::OutputClosed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_failures_to_error_codes() {
        let check = |failure: EngineFailure, expected: ErrorCode| {
            assert_eq!(engine_failure(&failure), expected.into());
        };
        let of = EngineFailure::new;
        check(
            of(EngineFailureKind::StartFailed).with_message("no memory"),
            ErrorCode::StartFailed { text: "no memory".to_owned() },
        );
        check(of(EngineFailureKind::Closed), ErrorCode::OutputClosed);
        let failure = EngineFailure {
            last_stderr_line: Some("no\u{1b} network".to_owned()),
            ..EngineFailure::exited(Exit::code(3))
        };
        let stderr = Some("no\\u{1b} network".to_owned());
        let expected = ErrorCode::Exited { status: 3 }.with(|it| it.stderr = stderr);
        assert_eq!(engine_failure(&failure), expected);
        let killed = Exit { status: ProcessStatus::Signal(9), cause: Some(ExitCause::Killed) };
        check(
            EngineFailure { exit: Some(killed), ..of(EngineFailureKind::ReadyTimeout) },
            ErrorCode::ReadyTimeout,
        );
        // Signal numbers belong to the system where the engine ran.
        let crashed = Exit { status: ProcessStatus::Signal(10), cause: Some(ExitCause::BusError) };
        check(EngineFailure::exited(crashed), ErrorCode::SegmentationFault);
        let signal = Exit { status: ProcessStatus::Signal(10), cause: None };
        check(EngineFailure::exited(signal), ErrorCode::Signal { signal: 10 });
        let error = OptionError::NoValue { option: "Hash".to_owned() };
        check(
            of(EngineFailureKind::OptionValue { error }),
            ErrorCode::MissingValue { option: "Hash".to_owned() },
        );
    }
}
