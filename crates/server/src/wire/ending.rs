//! Why a game ended, by kinds for which the page has words in each language.

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
            Self::EngineFailed => "engine_failed",
            Self::Adjudication => "adjudication",
            Self::Aborted => "aborted",
            Self::Other => "other",
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
            "engine_failed",
            "adjudication",
            "aborted",
            "other",
        ] {
            assert_eq!(reason(word).word(), word);
        }
    }
}
