//! Ends of games of a match in the words of the page and of records.

use readyok_arena::result::{GameResult, Termination};
use readyok_client::Exit;
use readyok_rules::record::Termination as RecordEnd;
use readyok_rules::{Game, Position, Side};

use crate::engine::{exited, fault, printable};
use crate::game::move_problem;
use crate::wire::{EndReason, Outcome, Problem, ProblemKind};

/// How a game ended, for the page.
fn outcome(game: Game, winner: Option<Side>, end: &Termination) -> Outcome {
    Outcome {
        winner: winner.map(crate::wire::Side::from),
        result: end.result(winner).as_str().to_owned(),
        reason: EndReason::from(&RecordEnd::from(end)),
        detail: detail(end),
        problem: problem(game, end),
    }
}

/// What more there is to say about an end, in English.
fn detail(end: &Termination) -> Option<String> {
    match end {
        Termination::DrawAdjudication => Some("by both scores".to_owned()),
        Termination::ResignAdjudication => Some("by score".to_owned()),
        Termination::MateClaim => Some("by a trusted claim of mate".to_owned()),
        Termination::Tablebase => Some("by tablebases".to_owned()),
        Termination::TimeForfeit { late_us } => Some(format!("{} ms late", late_us / 1000)),
        Termination::IllegalMove { word, why, position: _ } => {
            Some(format!("`{}`: {why}", word.escape_debug()))
        }
        Termination::Crash { exit, fault: _ } => Some(exit.clone()),
        Termination::Stall { waited_ms } => Some(format!("silent for {waited_ms} ms")),
        Termination::NoStart { why, fault: _ } => Some(why.clone()),
        Termination::Checkmate
        | Termination::Stalemate
        | Termination::Repetition
        | Termination::FiftyMoves
        | Termination::InsufficientMaterial
        | Termination::PerpetualCheck
        | Termination::Declaration
        | Termination::WrongDeclaration
        | Termination::Try
        | Termination::Impasse
        | Termination::Resignation
        | Termination::MoveLimit
        | Termination::Aborted => None,
    }
}

/// What there is to say about an end in words of the page.
fn problem(game: Game, end: &Termination) -> Option<Problem> {
    Some(match end {
        Termination::DrawAdjudication => Problem::new(ProblemKind::ByScores),
        Termination::ResignAdjudication => Problem::new(ProblemKind::ByScore),
        Termination::MateClaim => Problem::new(ProblemKind::ByMateClaim),
        Termination::Tablebase => Problem::new(ProblemKind::ByTablebases),
        Termination::TimeForfeit { late_us } => {
            Problem::new(ProblemKind::Late).with("time", &(late_us / 1000))
        }
        Termination::Stall { waited_ms } => {
            Problem::new(ProblemKind::Silent).with("time", waited_ms)
        }
        Termination::IllegalMove { word, position, why: _ } => {
            // The rules say what is wrong; a result has only their words.
            let position = Position::from_text(game, position).ok();
            match position.map(|position| position.parse_move(word)) {
                Some(Err(error)) => move_problem(&error),
                Some(Ok(_)) | None => Problem::new(ProblemKind::Unreadable).with("move", word),
            }
        }
        Termination::Crash { exit, fault: told } => match Exit::explained(exit) {
            Some(exit) => exited(exit),
            None => Problem::new(ProblemKind::LeftGame)
                .with("text", &printable(exit))
                .because(told.as_deref().map(fault)),
        },
        Termination::NoStart { why, fault: told } => match told {
            Some(told) => fault(told),
            None => Problem::new(ProblemKind::CannotStart).with("text", &printable(why)),
        },
        Termination::Checkmate
        | Termination::Stalemate
        | Termination::Repetition
        | Termination::FiftyMoves
        | Termination::InsufficientMaterial
        | Termination::PerpetualCheck
        | Termination::Declaration
        | Termination::WrongDeclaration
        | Termination::Try
        | Termination::Impasse
        | Termination::Resignation
        | Termination::MoveLimit
        | Termination::Aborted => return None,
    })
}

/// The outcome of a game that was stored.
pub(super) fn of_game(kind: Game, game: &GameResult) -> Outcome {
    outcome(kind, game.winner, &game.termination)
}

#[cfg(test)]
mod tests {
    use readyok_arena::result::{EngineFault, EngineFaultKind};

    use super::*;

    fn check(end: &Termination, expected: Problem) {
        let told = outcome(Game::Chess, Some(Side::First), end);
        assert_eq!(told.problem, Some(expected), "{end:?}");
        assert!(told.detail.is_some(), "{end:?}");
    }

    #[test]
    fn what_engines_did_is_told_by_its_kind() {
        let crash = |exit: &str| Termination::Crash { exit: exit.to_owned(), fault: None };
        let problem = Problem::new;
        check(&crash("exited with code 3"), problem(ProblemKind::Exited).with("code", "3"));
        // Signals have the numbers of the machine where the engine ran.
        check(
            &crash("was killed by signal 10 (SIGBUS: the engine crashed)"),
            problem(ProblemKind::Crashed),
        );
        check(&crash("was killed by signal 10"), problem(ProblemKind::Signal).with("signal", "10"));
        check(&Termination::MateClaim, problem(ProblemKind::ByMateClaim));
        check(
            &crash("it was lost before"),
            problem(ProblemKind::LeftGame).with("text", "it was lost before"),
        );
        let illegal = |word: &str, position: &str| Termination::IllegalMove {
            word: word.to_owned(),
            position: position.to_owned(),
            why: "English".to_owned(),
        };
        let start = Position::start(Game::Chess).to_string();
        check(&illegal("e2e5", &start), problem(ProblemKind::CannotReach).with("move", "e2e5"));
        check(&illegal("win", ""), problem(ProblemKind::Unreadable).with("move", "win"));
        let why = "no such file".to_owned();
        check(
            &Termination::NoStart { why, fault: None },
            problem(ProblemKind::CannotStart).with("text", "no such file"),
        );
        let fault = |kind| Some(Box::new(EngineFault::new(kind)));
        let why = "English".to_owned();
        check(
            &Termination::NoStart { why, fault: fault(EngineFaultKind::NotReady) },
            problem(ProblemKind::NotReady),
        );
        let exit = "English".to_owned();
        check(
            &Termination::Crash { exit, fault: fault(EngineFaultKind::Closed) },
            problem(ProblemKind::LeftGame)
                .with("text", "English")
                .because(Some(problem(ProblemKind::Closed))),
        );
    }
}
