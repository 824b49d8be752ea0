//! Why a move of an engine cannot be played, as part of what a check has found.

use readyok_rules::{Illegal, LineError, MoveError};

use crate::message::{Message, Value, said};

impl From<&LineError> for Value {
    fn from(error: &LineError) -> Self {
        let number = error.index.saturating_add(1);
        said!("move {number}: {error}", number, error = Message::from(&error.error)).into()
    }
}

impl From<&MoveError> for Value {
    fn from(error: &MoveError) -> Self {
        Message::from(error).into()
    }
}

impl From<&MoveError> for Message {
    fn from(error: &MoveError) -> Self {
        let (word, why) = (&error.word, reason(error.why));
        if error.between.is_empty() {
            return said!("illegal move `{word}`: {why}", word, why);
        }
        let moves = error.between.join(", ");
        said!("illegal move `{word}`: {why}: {moves}", word, why, moves)
    }
}

fn reason(why: Illegal) -> Message {
    match why {
        Illegal::Unreadable => said!("it is no move of this game"),
        Illegal::NoPiece => said!("no piece stands on its first square"),
        Illegal::OpponentsPiece => said!("the piece belongs to the opponent"),
        Illegal::OwnPiece => said!("the target square holds a piece of the same side"),
        Illegal::CannotReach => said!("the piece does not move so"),
        Illegal::Castling => said!("castling is not possible now"),
        Illegal::PromotionMissing => said!("the piece has to promote"),
        Illegal::PromotionImpossible => said!("the piece cannot promote so"),
        Illegal::Check => said!("the king would be in check"),
        Illegal::NotInHand => said!("no such piece is in hand"),
        Illegal::SquareTaken => said!("the square is taken"),
        Illegal::TwoPawns => said!("the file has a pawn of this side already"),
        Illegal::DeadPiece => said!("the piece could never move again"),
        Illegal::DropMate => said!("a dropped pawn may not give mate"),
        Illegal::GameTooLong => said!("the game is too long"),
        Illegal::Ambiguous => said!("it could be several moves"),
        Illegal::NoSuchPiece => said!("the side to move has no such piece"),
        Illegal::WrongSide => said!("the other side is to move"),
        Illegal::NoLastMove => said!("there is no last move"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn english_says_what_the_rules_say() {
        let whys = [
            Illegal::Unreadable,
            Illegal::NoPiece,
            Illegal::OpponentsPiece,
            Illegal::OwnPiece,
            Illegal::CannotReach,
            Illegal::Castling,
            Illegal::PromotionMissing,
            Illegal::PromotionImpossible,
            Illegal::Check,
            Illegal::NotInHand,
            Illegal::SquareTaken,
            Illegal::TwoPawns,
            Illegal::DeadPiece,
            Illegal::DropMate,
            Illegal::GameTooLong,
            Illegal::Ambiguous,
            Illegal::NoSuchPiece,
            Illegal::WrongSide,
            Illegal::NoLastMove,
        ];
        for why in whys {
            let between =
                if why == Illegal::Ambiguous { vec!["a".into(), "b".into()] } else { vec![] };
            let error =
                LineError { index: 2, error: MoveError { word: "e2e5".into(), why, between } };
            assert_eq!(Value::from(&error).to_string(), error.to_string());
        }
    }
}
