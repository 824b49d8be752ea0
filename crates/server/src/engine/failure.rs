//! What went wrong with a process, by kinds for which the page has words.

use std::io::ErrorKind;

use readyok_client::{DropReason, EngineError, Exit, Misuse, Problem as Wrong, Wait};

use super::log::printable;
use crate::wire::{Failure, Problem, ProblemKind};

/// An error of an engine, for the page.
pub(crate) fn failure(error: &EngineError) -> Failure {
    let problem = problem(error).map(|problem| match error.stderr().last() {
        Some(line) => problem.with("last_words", &printable(line)),
        None => problem,
    });
    Failure { text: error.to_string(), problem }
}

fn problem(error: &EngineError) -> Option<Problem> {
    let kind = match error.problem() {
        Wrong::Start { kind, text } => return Some(start(*kind, text)),
        Wrong::Late(Wait::Hello) => ProblemKind::NoGreeting,
        Wrong::Late(Wait::Ready) => ProblemKind::NotReady,
        Wrong::Late(Wait::Stop) => ProblemKind::NotStopped,
        Wrong::Late(Wait::Quit) => ProblemKind::NotLeft,
        Wrong::OutOfTime(late) => {
            return Some(Problem::new(ProblemKind::Late).with("time", &late.as_millis()));
        }
        // How it ended says more than that its output did.
        Wrong::Gone => {
            let exit = error.exit().map(Exit::from);
            return Some(exit.map_or_else(|| Problem::new(ProblemKind::Closed), exited));
        }
        Wrong::Dropped(DropReason::EngineGone) => ProblemKind::EngineEnded,
        Wrong::Misuse(Misuse::CopyProtected) => ProblemKind::CopyProtected,
        Wrong::Misuse(
            misuse @ (Misuse::UnknownOption(_)
            | Misuse::OptionValue(_)
            | Misuse::ManagedOption { .. }),
        ) => return Some(Problem::new(ProblemKind::OptionRefused).with("text", misuse)),
        _ => return None,
    };
    Some(Problem::new(kind))
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

fn exited(exit: Exit) -> Problem {
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
