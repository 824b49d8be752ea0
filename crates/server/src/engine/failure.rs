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
        Wrong::Late(wait) => late(*wait),
        Wrong::OutOfTime(late) => {
            return Problem::new(ProblemKind::Late).with("time", &late.as_millis());
        }
        Wrong::Gone => return gone(error.exit().map(Exit::from)),
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

/// The same of an error of which there is only the text, as in results of matches. None if it is another kind of text.
pub(crate) fn read_back(text: &str) -> Option<Problem> {
    let (_, said) = text.strip_prefix("engine `")?.split_once("`: ")?;
    let (said, last_words) = match said.split_once("; its last words: `") {
        Some((said, words)) => (said, Some(words.strip_suffix('`').unwrap_or(words))),
        None => (said, None),
    };
    let (what, exit) = match said.rsplit_once("; it ") {
        Some((what, exit)) => (what, Exit::explained(exit)),
        None => (said, None),
    };
    let problem = if let Some(text) = what.strip_prefix("cannot be started: ") {
        Problem::new(ProblemKind::CannotStart).with("text", &printable(text))
    } else if what == Wrong::Gone.to_string() {
        gone(exit)
    } else {
        let waits = [Wait::Hello, Wait::Ready, Wait::Stop, Wait::Quit];
        waits.into_iter().find(|&wait| what == Wrong::Late(wait).to_string()).map(late)?.into()
    };
    Some(match last_words {
        Some(line) => problem.with("last_words", &printable(line)),
        None => problem,
    })
}

/// What was waited for in vain.
fn late(wait: Wait) -> ProblemKind {
    match wait {
        Wait::Hello => ProblemKind::NoGreeting,
        Wait::Ready => ProblemKind::NotReady,
        Wait::Stop => ProblemKind::NotStopped,
        Wait::Quit => ProblemKind::NotLeft,
    }
}

/// How it ended says more than that its output did.
fn gone(exit: Option<Exit>) -> Problem {
    exit.map_or_else(|| Problem::new(ProblemKind::Closed), exited)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_read_back_from_its_text() {
        let check =
            |text: &str, expected: Problem| assert_eq!(read_back(text), Some(expected), "{text}");
        check(
            "engine `A`: cannot be started: no such file",
            Problem::new(ProblemKind::CannotStart).with("text", "no such file"),
        );
        check("engine `A`: closed its output", Problem::new(ProblemKind::Closed));
        check(
            "engine `A`: closed its output; it exited with code 3; its last words: `no; it is`",
            Problem::new(ProblemKind::Exited).with("code", "3").with("last_words", "no; it is"),
        );
        for (wait, kind) in [
            (Wait::Hello, ProblemKind::NoGreeting),
            (Wait::Ready, ProblemKind::NotReady),
            (Wait::Stop, ProblemKind::NotStopped),
            (Wait::Quit, ProblemKind::NotLeft),
        ] {
            check(&format!("engine `A`: {}", Wrong::Late(wait)), Problem::new(kind));
        }
        for other in ["", "no such file", "engine `A", "engine `A`: is tired"] {
            assert_eq!(read_back(other), None, "{other}");
        }
    }
}
