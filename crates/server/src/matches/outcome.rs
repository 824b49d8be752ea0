//! Ends of games of a match in the words of the page and of records.

use readyok_arena::result::{GameResult, MoveScore, Termination};
use readyok_rules::record::{RecordScore, Termination as RecordEnd};
use readyok_rules::{Game, Side};

use crate::wire::{EndReason, Outcome, Problem, ProblemKind, Score};

/// How a game ended, for the page.
pub(super) fn outcome(winner: Option<Side>, end: &Termination) -> Outcome {
    let (reason, detail) = reason(end);
    let problem = problem(end);
    let result = match winner {
        Some(Side::First) => "1-0",
        Some(Side::Second) => "0-1",
        None if *end == Termination::Aborted => "*",
        None => "1/2-1/2",
    };
    let winner = winner.map(crate::wire::Side::from);
    Outcome { winner, result: result.to_owned(), reason, detail, problem }
}

fn reason(end: &Termination) -> (EndReason, Option<String>) {
    match end {
        Termination::Checkmate => (EndReason::Checkmate, None),
        Termination::Stalemate => (EndReason::Stalemate, None),
        Termination::Repetition => (EndReason::Repetition, None),
        Termination::FiftyMoves => (EndReason::FiftyMoves, None),
        Termination::InsufficientMaterial => (EndReason::InsufficientMaterial, None),
        Termination::PerpetualCheck => (EndReason::PerpetualCheck, None),
        Termination::Declaration => (EndReason::Declaration, None),
        Termination::WrongDeclaration => (EndReason::FailedDeclaration, None),
        Termination::Try => (EndReason::Try, None),
        Termination::Impasse => (EndReason::Impasse, None),
        Termination::Resignation => (EndReason::Resignation, None),
        Termination::DrawAdjudication => {
            (EndReason::Adjudication, Some("by both scores".to_owned()))
        }
        Termination::ResignAdjudication => (EndReason::Adjudication, Some("by score".to_owned())),
        Termination::Tablebase => (EndReason::Adjudication, Some("by tablebases".to_owned())),
        Termination::MoveLimit => (EndReason::MoveLimit, None),
        Termination::TimeForfeit { late_us } => {
            (EndReason::Time, Some(format!("{} ms late", late_us / 1000)))
        }
        Termination::IllegalMove { word, why, position: _ } => {
            (EndReason::IllegalMove, Some(format!("`{}`: {why}", word.escape_debug())))
        }
        Termination::Crash { exit } => (EndReason::EngineFailed, Some(exit.clone())),
        Termination::Stall { waited_ms } => {
            (EndReason::EngineFailed, Some(format!("silent for {waited_ms} ms")))
        }
        Termination::NoStart { why } => (EndReason::EngineFailed, Some(why.clone())),
        Termination::Aborted => (EndReason::Aborted, None),
    }
}

/// What there is to say about an end in words of the page.
fn problem(end: &Termination) -> Option<Problem> {
    Some(match end {
        Termination::DrawAdjudication => Problem::new(ProblemKind::ByScores),
        Termination::ResignAdjudication => Problem::new(ProblemKind::ByScore),
        Termination::Tablebase => Problem::new(ProblemKind::ByTablebases),
        Termination::TimeForfeit { late_us } => {
            Problem::new(ProblemKind::Late).with("time", &(late_us / 1000))
        }
        Termination::Stall { waited_ms } => {
            Problem::new(ProblemKind::Silent).with("time", waited_ms)
        }
        _ => return None,
    })
}

/// The same for a record.
pub(super) fn record_end(end: &Termination) -> RecordEnd {
    match end {
        Termination::Checkmate => RecordEnd::Checkmate,
        Termination::Stalemate => RecordEnd::Stalemate,
        Termination::Repetition => RecordEnd::Repetition,
        Termination::FiftyMoves => RecordEnd::FiftyMoves,
        Termination::InsufficientMaterial => RecordEnd::InsufficientMaterial,
        Termination::PerpetualCheck => RecordEnd::PerpetualCheck,
        Termination::Declaration => RecordEnd::Declaration,
        Termination::WrongDeclaration | Termination::IllegalMove { .. } => RecordEnd::IllegalMove,
        Termination::Try => RecordEnd::Other("try".to_owned()),
        Termination::Impasse => RecordEnd::Impasse,
        Termination::Resignation => RecordEnd::Resignation,
        Termination::DrawAdjudication
        | Termination::ResignAdjudication
        | Termination::Tablebase => RecordEnd::Adjudication,
        Termination::MoveLimit => RecordEnd::MoveLimit,
        Termination::TimeForfeit { .. } => RecordEnd::TimeForfeit,
        Termination::Crash { .. } | Termination::Stall { .. } | Termination::NoStart { .. } => {
            RecordEnd::Error
        }
        Termination::Aborted => RecordEnd::Interrupted,
    }
}

/// Plies of a mate that is counted as records do.
fn plies(game: Game, count: i32) -> u32 {
    let number = count.unsigned_abs();
    match game {
        Game::Shogi => number,
        Game::Chess | Game::Chess960 if count > 0 => number.saturating_mul(2) - 1,
        Game::Chess | Game::Chess960 => number.saturating_mul(2),
    }
}

/// A score for the page, from the side that told it.
pub(super) fn score(game: Game, score: MoveScore) -> Score {
    match score {
        MoveScore::Cp(value) => Score::Cp { value },
        MoveScore::Mate(count) => Score::Mate { plies: Some(plies(game, count)), won: count > 0 },
    }
}

/// A score for a record, from the first side.
pub(super) fn record_score(side: Side, score: MoveScore) -> RecordScore {
    let turned = |value: i32| match side {
        Side::First => value,
        Side::Second => value.saturating_neg(),
    };
    match score {
        MoveScore::Cp(value) => RecordScore::Centipawns(turned(value)),
        MoveScore::Mate(count) => RecordScore::Mate(turned(count)),
    }
}

/// The outcome of a game that was stored.
pub(super) fn of_game(game: &GameResult) -> Outcome {
    outcome(game.winner, &game.termination)
}
