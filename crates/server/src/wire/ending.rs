//! Why a game ended, by kinds for which the page has words in each language.

use readyok_rules::record::Termination;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Why a game ended.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// Mate.
    Checkmate,
    /// No legal move, without check.
    Stalemate,
    /// The same position so often.
    Repetition,
    /// The same position so often, by checks of one side.
    PerpetualCheck,
    /// So many moves without progress.
    FiftyMoves,
    /// Nobody can mate.
    InsufficientMaterial,
    /// So many moves.
    MoveLimit,
    /// The king has come to the opposite corner or camp, by rules with that end.
    Try,
    /// A declared win.
    Declaration,
    /// A win that was declared and is none.
    FailedDeclaration,
    /// A declared draw.
    Impasse,
    /// Resignation.
    Resignation,
    /// The flag fell.
    Time,
    /// The flag fell, and the opponent cannot mate.
    TimeWithoutMaterial,
    /// An illegal move.
    IllegalMove,
    /// The players agreed on a draw.
    Agreement,
    /// A player did not appear or left.
    Forfeit,
    /// An engine failed.
    EngineFailed,
    /// Decided from outside.
    Adjudication,
    /// Broken off.
    Aborted,
    /// Something else.
    Other,
}

impl EndReason {
    /// The word of the wire, which the library has as well.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Checkmate => "checkmate",
            Self::Stalemate => "stalemate",
            Self::Repetition => "repetition",
            Self::PerpetualCheck => "perpetual_check",
            Self::FiftyMoves => "fifty_moves",
            Self::InsufficientMaterial => "insufficient_material",
            Self::MoveLimit => "move_limit",
            Self::Try => "try",
            Self::Declaration => "declaration",
            Self::FailedDeclaration => "failed_declaration",
            Self::Impasse => "impasse",
            Self::Resignation => "resignation",
            Self::Time => "time",
            Self::TimeWithoutMaterial => "time_without_material",
            Self::IllegalMove => "illegal_move",
            Self::Agreement => "agreement",
            Self::Forfeit => "forfeit",
            Self::EngineFailed => "engine_failed",
            Self::Adjudication => "adjudication",
            Self::Aborted => "aborted",
            Self::Other => "other",
        }
    }
}

/// The only conversion between records and the wire. Results of matches and ends by the rules take it as well.
impl From<&Termination> for EndReason {
    fn from(termination: &Termination) -> Self {
        match termination {
            Termination::Checkmate => Self::Checkmate,
            Termination::Stalemate => Self::Stalemate,
            Termination::Repetition => Self::Repetition,
            Termination::PerpetualCheck => Self::PerpetualCheck,
            Termination::FiftyMoves => Self::FiftyMoves,
            Termination::InsufficientMaterial => Self::InsufficientMaterial,
            Termination::MoveLimit => Self::MoveLimit,
            Termination::Try => Self::Try,
            Termination::Declaration => Self::Declaration,
            Termination::FailedDeclaration => Self::FailedDeclaration,
            Termination::Impasse => Self::Impasse,
            Termination::Resignation => Self::Resignation,
            Termination::TimeForfeit => Self::Time,
            Termination::TimeWithoutMaterial => Self::TimeWithoutMaterial,
            Termination::IllegalMove | Termination::IllegalAction => Self::IllegalMove,
            Termination::Draw => Self::Agreement,
            Termination::Forfeit | Termination::WinByForfeit => Self::Forfeit,
            Termination::EngineFailure => Self::EngineFailed,
            Termination::Adjudication => Self::Adjudication,
            Termination::Interrupted => Self::Aborted,
            Termination::NoMate
            | Termination::TakeBack
            | Termination::Error
            | Termination::Other(_) => Self::Other,
        }
    }
}

impl From<EndReason> for Termination {
    fn from(reason: EndReason) -> Self {
        match reason {
            EndReason::Checkmate => Self::Checkmate,
            EndReason::Stalemate => Self::Stalemate,
            EndReason::Repetition => Self::Repetition,
            EndReason::PerpetualCheck => Self::PerpetualCheck,
            EndReason::FiftyMoves => Self::FiftyMoves,
            EndReason::InsufficientMaterial => Self::InsufficientMaterial,
            EndReason::MoveLimit => Self::MoveLimit,
            EndReason::Try => Self::Try,
            EndReason::Declaration => Self::Declaration,
            EndReason::FailedDeclaration => Self::FailedDeclaration,
            EndReason::Impasse => Self::Impasse,
            EndReason::Resignation => Self::Resignation,
            EndReason::Time => Self::TimeForfeit,
            EndReason::TimeWithoutMaterial => Self::TimeWithoutMaterial,
            EndReason::IllegalMove => Self::IllegalMove,
            EndReason::Agreement => Self::Draw,
            EndReason::Forfeit => Self::Forfeit,
            EndReason::EngineFailed => Self::EngineFailure,
            EndReason::Adjudication => Self::Adjudication,
            EndReason::Aborted => Self::Interrupted,
            EndReason::Other => Self::Other("other".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_has_the_words_of_the_wire() {
        let reason = |word: &str| -> EndReason {
            serde_json::from_value(serde_json::Value::from(word)).expect("a reason")
        };
        for word in [
            "checkmate",
            "stalemate",
            "repetition",
            "perpetual_check",
            "fifty_moves",
            "insufficient_material",
            "move_limit",
            "try",
            "declaration",
            "failed_declaration",
            "impasse",
            "resignation",
            "time",
            "time_without_material",
            "illegal_move",
            "agreement",
            "forfeit",
            "engine_failed",
            "adjudication",
            "aborted",
            "other",
        ] {
            assert_eq!(reason(word).word(), word);
            // Records have a name for each.
            assert_eq!(EndReason::from(&Termination::from(reason(word))), reason(word));
        }
    }
}
