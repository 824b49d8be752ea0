//! Failures of processes, by kinds for which the page has texts.

use readyok_client::{
    EngineError, EngineFailure, EngineFailureKind, Exit, ExitCause, ProcessStatus,
};
use readyok_protocol::OptionError;

use super::log::printable;
use crate::wire::{Failure, Problem, ProblemKind, Thing};

/// An error of an engine, for the page.
pub(crate) fn failure(error: &EngineError) -> Failure {
    Failure::new(failure_problem(&EngineFailure::from(error)), error.to_string())
}

/// A failure of an engine, for the page.
pub(crate) fn failure_problem(failure: &EngineFailure) -> Problem {
    let problem = match (&failure.kind, failure.exit) {
        // The exit status is more specific than the closed output.
        (EngineFailureKind::Closed | EngineFailureKind::NotRunning, Some(exit)) => exited(exit),
        (kind, _) => problem_of(kind, failure.message.as_deref()),
    };
    match &failure.last_stderr_line {
        Some(line) => problem.with("last_words", &printable(line)),
        None => problem,
    }
}

fn problem_of(kind: &EngineFailureKind, message: Option<&str>) -> Problem {
    let message = || printable(message.unwrap_or_default());
    Problem::new(match kind {
        EngineFailureKind::NotFound => ProblemKind::NoSuchProgram,
        EngineFailureKind::PermissionDenied => ProblemKind::MayNotRun,
        EngineFailureKind::ConnectionRefused => ProblemKind::NobodyThere,
        EngineFailureKind::StartFailed => {
            return Problem::new(ProblemKind::CannotStart).with("text", &message());
        }
        EngineFailureKind::HandshakeTimeout => ProblemKind::NoGreeting,
        EngineFailureKind::ReadyTimeout => ProblemKind::NotReady,
        EngineFailureKind::StopTimeout => ProblemKind::NotStopped,
        EngineFailureKind::ExitTimeout => ProblemKind::NotLeft,
        EngineFailureKind::Overrun { overrun_ms } => {
            return Problem::new(ProblemKind::Late).with("time", overrun_ms);
        }
        EngineFailureKind::Closed => ProblemKind::Closed,
        EngineFailureKind::NotRunning => ProblemKind::EngineEnded,
        EngineFailureKind::CopyProtected => ProblemKind::CopyProtected,
        EngineFailureKind::UnknownOption { name } => {
            return Problem::no_such(Thing::Option, &printable(name));
        }
        EngineFailureKind::ManagedOption { name } => {
            return of_option(ProblemKind::SetByServer, name);
        }
        EngineFailureKind::OptionValue { error } => return option_problem(error),
        EngineFailureKind::UnsupportedGame => ProblemKind::OtherGame,
        EngineFailureKind::UnsupportedPosition => ProblemKind::Untold,
        EngineFailureKind::Other => return Problem::system(&message()),
        other => return Problem::system(&format!("{other:?}")),
    })
}

/// What is wrong about an option.
pub(super) fn of_option(kind: ProblemKind, name: &str) -> Problem {
    Problem::new(kind).with("option", &printable(name))
}

/// Why a value is invalid for an option.
pub(crate) fn option_problem(error: &OptionError) -> Problem {
    let end = |end: Option<i64>| end.map(|end| end.to_string()).unwrap_or_default();
    match error {
        OptionError::NotABoolean { option, .. } => of_option(ProblemKind::NotABoolean, option),
        OptionError::NotANumber { option, .. } => of_option(ProblemKind::NotANumber, option),
        OptionError::OutOfRange { option, min, max, .. } => {
            let problem = of_option(ProblemKind::OutOfRange, option);
            problem.with("min", &end(*min)).with("max", &end(*max))
        }
        OptionError::NotAChoice { option, value, .. } => {
            of_option(ProblemKind::NotAChoice, option).with("value", &printable(value))
        }
        OptionError::LineBreak { option } => of_option(ProblemKind::LineBreak, option),
        OptionError::NoValue { option } => of_option(ProblemKind::NoValue, option),
        OptionError::UnwantedValue { option, .. } => of_option(ProblemKind::IsAButton, option),
        other => Problem::system(other),
    }
}

/// How a process ended.
fn exited(exit: Exit) -> Problem {
    Problem::new(match (exit.cause, exit.status) {
        (Some(ExitCause::IllegalInstruction), _) => ProblemKind::WrongProcessor,
        (Some(ExitCause::SegmentationFault | ExitCause::BusError), _) => ProblemKind::Crashed,
        (Some(ExitCause::ArithmeticError), _) => ProblemKind::DividedByZero,
        (Some(ExitCause::Aborted), _) => ProblemKind::GaveUp,
        (Some(ExitCause::Killed), _) => ProblemKind::Killed,
        (None, ProcessStatus::Code(code)) => {
            return Problem::new(ProblemKind::Exited).with("code", &code);
        }
        (None, ProcessStatus::Signal(number)) => {
            return Problem::new(ProblemKind::Signal).with("signal", &number);
        }
        // A process without output is terminated.
        _ => ProblemKind::Closed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_failures_to_problems() {
        let check = |failure: EngineFailure, expected: Problem| {
            assert_eq!(failure_problem(&failure), expected);
        };
        let of = EngineFailure::new;
        check(
            of(EngineFailureKind::StartFailed).with_message("no memory"),
            Problem::new(ProblemKind::CannotStart).with("text", "no memory"),
        );
        check(of(EngineFailureKind::Closed), Problem::new(ProblemKind::Closed));
        check(
            EngineFailure {
                last_stderr_line: Some("no\u{1b} network".to_owned()),
                ..EngineFailure::exited(Exit::code(3))
            },
            Problem::new(ProblemKind::Exited)
                .with("code", "3")
                .with("last_words", "no\\u{1b} network"),
        );
        let killed = Exit { status: ProcessStatus::Signal(9), cause: Some(ExitCause::Killed) };
        check(
            EngineFailure { exit: Some(killed), ..of(EngineFailureKind::ReadyTimeout) },
            Problem::new(ProblemKind::NotReady),
        );
        // Signals have the numbers of the system where the engine ran.
        let crashed = Exit { status: ProcessStatus::Signal(10), cause: Some(ExitCause::BusError) };
        check(EngineFailure::exited(crashed), Problem::new(ProblemKind::Crashed));
        let signal = Exit { status: ProcessStatus::Signal(10), cause: None };
        let problem = Problem::new(ProblemKind::Signal).with("signal", "10");
        check(EngineFailure::exited(signal), problem);
        let error = OptionError::NoValue { option: "Hash".to_owned() };
        check(
            of(EngineFailureKind::OptionValue { error }),
            Problem::new(ProblemKind::NoValue).with("option", "Hash"),
        );
    }
}
