//! What went wrong with a process, by kinds for which the page has words.

use std::io::ErrorKind;

use readyok_client::{DropReason, EngineError, Exit, Misuse, Problem as Wrong, Wait};
use readyok_protocol::{OptionError, UnknownOption};

use super::log::printable;
use crate::wire::{Failure, Problem, ProblemKind, Thing};

/// An error of an engine, for the page.
pub(crate) fn failure(error: &EngineError) -> Failure {
    let problem = problem(error);
    let problem = match error.stderr().last() {
        Some(line) => problem.with("last_words", &printable(line)),
        None => problem,
    };
    Failure::new(problem, error.to_string())
}

fn problem(error: &EngineError) -> Problem {
    let kind = match error.problem() {
        Wrong::Start { kind, text } => return start(*kind, text),
        Wrong::Late(Wait::Hello) => ProblemKind::NoGreeting,
        Wrong::Late(Wait::Ready) => ProblemKind::NotReady,
        Wrong::Late(Wait::Stop) => ProblemKind::NotStopped,
        Wrong::Late(Wait::Quit) => ProblemKind::NotLeft,
        Wrong::OutOfTime(late) => {
            return Problem::new(ProblemKind::Late).with("time", &late.as_millis());
        }
        // How it ended says more than that its output did.
        Wrong::Gone => {
            let exit = error.exit().map(Exit::from);
            return exit.map_or_else(|| Problem::new(ProblemKind::Closed), exited);
        }
        Wrong::Dropped(DropReason::EngineGone) => ProblemKind::EngineEnded,
        Wrong::Misuse(Misuse::CopyProtected) => ProblemKind::CopyProtected,
        Wrong::Misuse(Misuse::UnknownOption(UnknownOption { name })) => {
            return Problem::no_such(Thing::Option, &printable(name));
        }
        Wrong::Misuse(Misuse::OptionValue(error)) => return option_problem(error),
        Wrong::Misuse(Misuse::ManagedOption { name }) => {
            return of_option(ProblemKind::SetByServer, name);
        }
        other => return Problem::system(other),
    };
    Problem::new(kind)
}

/// What is wrong about an option.
pub(super) fn of_option(kind: ProblemKind, name: &str) -> Problem {
    Problem::new(kind).with("option", &printable(name))
}

/// Why a value is none of an option.
pub(super) fn option_problem(error: &OptionError) -> Problem {
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

fn start(kind: ErrorKind, text: &str) -> Problem {
    match kind {
        ErrorKind::NotFound => Problem::new(ProblemKind::NoSuchProgram),
        ErrorKind::PermissionDenied => Problem::new(ProblemKind::MayNotRun),
        ErrorKind::ConnectionRefused | ErrorKind::HostUnreachable | ErrorKind::TimedOut => {
            Problem::new(ProblemKind::NobodyThere)
        }
        _ => Problem::new(ProblemKind::CannotStart).with("text", text),
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
