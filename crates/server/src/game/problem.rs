//! Errors of the rules as problems, for which the page has texts.

use readyok_rules::{Field, Game, IllegalReason, MoveError, PositionError, Side as RulesSide};

use super::api_error::api_error;
use crate::wire::{ApiError, ApiErrorCode, Problem, ProblemKind as Kind};

/// Why a position cannot be played.
pub(crate) fn position_problem(game: Option<Game>, error: &PositionError) -> Problem {
    let side = |side: &RulesSide| match side {
        RulesSide::First => "first",
        RulesSide::Second => "second",
    };
    let problem = match error {
        PositionError::MissingField(field) => {
            Problem::new(Kind::MissingField).with("field", field_name(*field))
        }
        PositionError::ExtraField { text } => Problem::new(Kind::ExtraField).with("text", text),
        PositionError::BadField { field, text } => {
            Problem::new(Kind::BadField).with("field", field_name(*field)).with("text", text)
        }
        PositionError::RankCount { count, expected } => {
            Problem::new(Kind::RankCount).with("count", count).with("expected", expected)
        }
        PositionError::RankLength { rank } => Problem::new(Kind::RankLength).with("rank", rank),
        PositionError::UnknownPiece { piece, square } => {
            Problem::new(Kind::UnknownPiece).with("letter", piece).with("square", square)
        }
        PositionError::Kings { side: whose, count } => {
            Problem::new(Kind::Kings).with("side", side(whose)).with("count", count)
        }
        PositionError::NoKings => Problem::new(Kind::NoKings),
        PositionError::TooManyPieces { piece, count, limit } => Problem::new(Kind::TooManyPieces)
            .with("piece", piece)
            .with("count", count)
            .with("limit", limit),
        PositionError::TooMuchMaterial { side: whose } => {
            Problem::new(Kind::TooMuchMaterial).with("side", side(whose))
        }
        PositionError::DeadPiece { piece, square } => {
            Problem::new(Kind::DeadPiece).with("piece", piece).with("square", square)
        }
        PositionError::TwoPawns { side: whose, file } => {
            Problem::new(Kind::TwoPawns).with("side", side(whose)).with("file", file)
        }
        PositionError::CastlingRight { square } => {
            Problem::new(Kind::CastlingRight).with("square", square)
        }
        PositionError::OpponentInCheck { king } => {
            Problem::new(Kind::OpponentInCheck).with("square", king)
        }
        PositionError::NoSuchSquare { square } => {
            Problem::new(Kind::NoSuchSquare).with("square", square)
        }
        PositionError::NotForHand { piece } => Problem::new(Kind::NotForHand).with("piece", piece),
    };
    Problem { variant: game.map(Into::into), ..problem }
}

fn field_name(field: Field) -> &'static str {
    match field {
        Field::Board => "board",
        Field::Turn => "turn",
        Field::Castling => "castling",
        Field::EnPassant => "en_passant",
        Field::HalfmoveClock => "halfmove_clock",
        Field::FullmoveNumber => "fullmove_number",
        Field::Hands => "hands",
        Field::MoveNumber => "move_number",
    }
}

/// Why a move cannot be played.
pub(crate) fn illegal_problem(why: IllegalReason) -> Problem {
    Problem::new(match why {
        IllegalReason::Unreadable => Kind::Unreadable,
        IllegalReason::NoPiece => Kind::NoPiece,
        IllegalReason::OpponentsPiece => Kind::OpponentsPiece,
        IllegalReason::OwnPiece => Kind::OwnPiece,
        IllegalReason::CannotReach => Kind::CannotReach,
        IllegalReason::Castling => Kind::Castling,
        IllegalReason::PromotionMissing => Kind::PromotionMissing,
        IllegalReason::PromotionImpossible => Kind::PromotionImpossible,
        IllegalReason::Check => Kind::InCheck,
        IllegalReason::NotInHand => Kind::NotInHand,
        IllegalReason::SquareTaken => Kind::SquareTaken,
        IllegalReason::TwoPawns => Kind::SecondPawn,
        IllegalReason::DeadPiece => Kind::NeverAgain,
        IllegalReason::DropMate => Kind::DropMate,
        IllegalReason::GameTooLong => Kind::GameTooLong,
        IllegalReason::Ambiguous => Kind::Ambiguous,
        IllegalReason::NoSuchPiece => Kind::NoSuchPiece,
        IllegalReason::WrongSide => Kind::WrongSide,
        IllegalReason::NoLastMove => Kind::NoLastMove,
    })
}

/// Which move cannot be played, and why.
pub(crate) fn move_problem(error: &MoveError) -> Problem {
    let mut word = error.text.clone();
    if !error.candidates.is_empty() {
        word = format!("{word} ({})", error.candidates.join(", "));
    }
    illegal_problem(error.reason).with("move", &word)
}

pub(crate) fn illegal(error: &MoveError) -> ApiError {
    let ambiguous = error.reason == IllegalReason::Ambiguous;
    let code = if ambiguous { ApiErrorCode::AmbiguousMove } else { ApiErrorCode::IllegalMove };
    api_error(code, move_problem(error), error.to_string())
}

pub(crate) fn unplayable(game: Game, error: &PositionError) -> ApiError {
    api_error(ApiErrorCode::Position, position_problem(Some(game), error), error.to_string())
}
