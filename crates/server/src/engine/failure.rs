//! What went wrong with a process, by kinds for which the page has words.

use readyok_arena::result::{EngineFault, EngineFaultKind};
use readyok_client::{EngineError, Exit};
use readyok_protocol::OptionError;

use super::log::printable;
use crate::wire::{Failure, Problem, ProblemKind, Thing};

/// An error of an engine, for the page.
pub(crate) fn failure(error: &EngineError) -> Failure {
    Failure::new(fault(&EngineFault::from(error)), error.to_string())
}

/// What went wrong with an engine, for the page.
pub(crate) fn fault(fault: &EngineFault) -> Problem {
    let exit = fault.exit.as_deref().and_then(Exit::explained);
    let problem = match (&fault.kind, exit) {
        // How it ended says more than that its output did.
        (EngineFaultKind::Closed | EngineFaultKind::Gone, Some(exit)) => exited(exit),
        (kind, _) => kind_of(kind),
    };
    match &fault.last_words {
        Some(line) => problem.with("last_words", &printable(line)),
        None => problem,
    }
}

fn kind_of(kind: &EngineFaultKind) -> Problem {
    Problem::new(match kind {
        EngineFaultKind::NoProgram => ProblemKind::NoSuchProgram,
        EngineFaultKind::NotPermitted => ProblemKind::MayNotRun,
        EngineFaultKind::Unreachable => ProblemKind::NobodyThere,
        EngineFaultKind::NotStarted { text } => {
            return Problem::new(ProblemKind::CannotStart).with("text", &printable(text));
        }
        EngineFaultKind::NoGreeting => ProblemKind::NoGreeting,
        EngineFaultKind::NotReady => ProblemKind::NotReady,
        EngineFaultKind::NotStopped => ProblemKind::NotStopped,
        EngineFaultKind::NotLeft => ProblemKind::NotLeft,
        EngineFaultKind::OutOfTime { late_ms } => {
            return Problem::new(ProblemKind::Late).with("time", late_ms);
        }
        EngineFaultKind::Closed => ProblemKind::Closed,
        EngineFaultKind::Gone => ProblemKind::EngineEnded,
        EngineFaultKind::CopyProtected => ProblemKind::CopyProtected,
        EngineFaultKind::UnknownOption { name } => {
            return Problem::no_such(Thing::Option, &printable(name));
        }
        EngineFaultKind::ManagedOption { name } => {
            return of_option(ProblemKind::SetByServer, name);
        }
        EngineFaultKind::OptionValue { error } => return option_problem(error),
        EngineFaultKind::OtherGame => ProblemKind::OtherGame,
        EngineFaultKind::Untold => ProblemKind::Untold,
        EngineFaultKind::Other { text } => return Problem::system(&printable(text)),
        other => return Problem::system(&format!("{other:?}")),
    })
}

/// What is wrong about an option.
pub(super) fn of_option(kind: ProblemKind, name: &str) -> Problem {
    Problem::new(kind).with("option", &printable(name))
}

/// Why a value is none of an option.
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
pub(crate) fn exited(exit: Exit) -> Problem {
    Problem::new(match exit {
        Exit::Code(code) => return Problem::new(ProblemKind::Exited).with("code", &code),
        Exit::Signal(number) => return Problem::new(ProblemKind::Signal).with("signal", &number),
        Exit::WrongProcessor => ProblemKind::WrongProcessor,
        Exit::Crashed => ProblemKind::Crashed,
        Exit::DividedByZero => ProblemKind::DividedByZero,
        Exit::Aborted => ProblemKind::GaveUp,
        Exit::Killed => ProblemKind::Killed,
        // Whoever closes his output is told to end.
        _ => ProblemKind::Closed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_told_by_its_kind() {
        let check = |told: EngineFault, expected: Problem| assert_eq!(fault(&told), expected);
        let of = |kind| EngineFault::new(kind);
        check(
            of(EngineFaultKind::NotStarted { text: "no memory".to_owned() }),
            Problem::new(ProblemKind::CannotStart).with("text", "no memory"),
        );
        check(of(EngineFaultKind::Closed), Problem::new(ProblemKind::Closed));
        check(
            EngineFault {
                exit: Some("exited with code 3".to_owned()),
                last_words: Some("no\u{1b} network".to_owned()),
                ..of(EngineFaultKind::Closed)
            },
            Problem::new(ProblemKind::Exited)
                .with("code", "3")
                .with("last_words", "no\\u{1b} network"),
        );
        check(
            EngineFault {
                exit: Some("was killed by signal 9".to_owned()),
                ..of(EngineFaultKind::NotReady)
            },
            Problem::new(ProblemKind::NotReady),
        );
        let error = OptionError::NoValue { option: "Hash".to_owned() };
        check(
            of(EngineFaultKind::OptionValue { error }),
            Problem::new(ProblemKind::NoValue).with("option", "Hash"),
        );
    }
}
