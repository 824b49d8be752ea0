//! Illegal moves of an engine, localized.

use readyok_rules::{Illegal, LineError, MoveError};

use crate::message::{Message, Value, values};

impl From<&LineError> for Value {
    fn from(error: &LineError) -> Self {
        let number = error.index.saturating_add(1);
        let values = values!(number, cause = &error.error);
        Message::of_library(error.to_string(), "move.number", values).into()
    }
}

impl From<&MoveError> for Value {
    fn from(error: &MoveError) -> Self {
        Message::from(error).into()
    }
}

impl From<&MoveError> for Message {
    fn from(error: &MoveError) -> Self {
        let (mv, cause) = (&error.word, reason(error.why));
        if error.between.is_empty() {
            return Self::of_library(error.to_string(), "move.illegal", values!(mv, cause));
        }
        let values = values!(mv, cause, moves = error.between.join(", "));
        Self::of_library(error.to_string(), "move.illegal-among", values)
    }
}

fn reason(why: Illegal) -> Message {
    let id = match why {
        Illegal::Unreadable => "move.unreadable",
        Illegal::NoPiece => "move.no-piece",
        Illegal::OpponentsPiece => "move.opponents-piece",
        Illegal::OwnPiece => "move.own-piece",
        Illegal::CannotReach => "move.cannot-reach",
        Illegal::Castling => "move.castling",
        Illegal::PromotionMissing => "move.promotion-missing",
        Illegal::PromotionImpossible => "move.promotion-impossible",
        Illegal::Check => "move.check",
        Illegal::NotInHand => "move.not-in-hand",
        Illegal::SquareTaken => "move.square-taken",
        Illegal::TwoPawns => "move.two-pawns",
        Illegal::DeadPiece => "move.dead-piece",
        Illegal::DropMate => "move.drop-mate",
        Illegal::GameTooLong => "move.game-too-long",
        Illegal::Ambiguous => "move.ambiguous",
        Illegal::NoSuchPiece => "move.no-such-piece",
        Illegal::WrongSide => "move.wrong-side",
        Illegal::NoLastMove => "move.no-last-move",
    };
    Message::of_library(why.to_string(), id, Vec::new())
}

#[cfg(test)]
mod tests {
    use readyok_protocol::Language;

    use super::*;

    #[test]
    fn illegal_moves_have_a_japanese_text() {
        let error = MoveError { word: "e2e5".into(), why: Illegal::CannotReach, between: vec![] };
        let line = LineError { index: 2, error };
        let message = crate::message::message!("pv.illegal", error = &line);
        assert_eq!(message.to_string(), format!("the PV is illegal: {line}"));
        assert_eq!(
            message.in_language(Language::Japanese),
            "読み筋どおりに指せない: 3 手目: `e2e5` は指せない (その駒はそこへ動けない)"
        );
        let why = Illegal::Ambiguous;
        let error = MoveError { word: "N".into(), why, between: vec!["a".into(), "b".into()] };
        let message = crate::message::message!("bestmove.illegal", error = &error);
        assert_eq!(
            message.in_language(Language::Japanese),
            "`bestmove` が合法手ではない: `N` は指せない (複数の手が考えられる: a, b)"
        );
    }
}
