//! Reads a FEN of four to six fields, with castling rights as FEN, X-FEN or Shredder-FEN have them.

use shakmaty::{
    Bitboard, Castles, CastlingMode, Chess, Color, FromSetup, PositionError as ShakmatyError,
    PositionErrorKinds, Setup,
    fen::{Fen, ParseFenError},
};

use super::side;
use crate::{Field, PositionError, board_text::Shape};

const SHAPE: Shape = Shape {
    size: 8,
    pieces: "pnbrqk",
    promotable: "",
    rank_name: |row| char::from_digit(8_u32.saturating_sub(row), 10).unwrap_or('?'),
    file_name: |column| char::from_digit(column + 10, 36).unwrap_or('?'),
    fields: &[
        Field::Board,
        Field::Turn,
        Field::Castling,
        Field::EnPassant,
        Field::HalfmoveClock,
        Field::FullmoveNumber,
    ],
    required: 4,
};

pub(super) fn read(text: &str, mode: CastlingMode) -> Result<Chess, PositionError> {
    let setup = read_setup(text)?;
    // An en passant square without a pawn is harmless and common, and a check that no move can have
    // given is playable.
    Chess::from_setup(setup.clone(), mode)
        .or_else(ShakmatyError::ignore_invalid_ep_square)
        .or_else(ShakmatyError::ignore_impossible_check)
        .map_err(|error| why(&setup, mode, error.kinds()))
}

fn read_setup(text: &str) -> Result<Setup, PositionError> {
    let fields = SHAPE.split(text)?;
    let [board, rest @ ..] = fields.as_slice() else {
        return Err(PositionError::MissingField(Field::Board));
    };
    SHAPE.check_board(board)?;
    for (&field, &text) in SHAPE.fields.iter().skip(1).zip(rest) {
        // Shakmaty would read an underscore as a space, and checks left to give as a clock.
        let number = matches!(field, Field::HalfmoveClock | Field::FullmoveNumber);
        if text.contains('_') || number && !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(PositionError::bad(field, text));
        }
    }
    Fen::from_ascii(fields.join(" ").as_bytes()).map(Fen::into_setup).map_err(|error| {
        let field = match error {
            ParseFenError::InvalidFen
            | ParseFenError::InvalidBoard
            | ParseFenError::InvalidPocket => Field::Board,
            ParseFenError::InvalidTurn => Field::Turn,
            ParseFenError::InvalidCastling => Field::Castling,
            ParseFenError::InvalidEpSquare => Field::EnPassant,
            ParseFenError::InvalidRemainingChecks | ParseFenError::InvalidHalfmoveClock => {
                Field::HalfmoveClock
            }
            ParseFenError::InvalidFullmoves => Field::FullmoveNumber,
        };
        let position = SHAPE.fields.iter().position(|&known| known == field);
        let text = position.and_then(|index| fields.get(index)).copied().unwrap_or_default();
        PositionError::bad(field, text)
    })
}

/// Names the first thing that is wrong with a setup of which Shakmaty told the kind.
fn why(setup: &Setup, mode: CastlingMode, kinds: PositionErrorKinds) -> PositionError {
    for color in Color::ALL {
        let count = setup.board.by_piece(color.king()).count();
        if count != 1 {
            return PositionError::Kings { side: side(color), count };
        }
    }
    if let Some(square) = (setup.board.pawns() & Bitboard::BACKRANKS).first()
        && let Some(pawn) = setup.board.piece_at(square)
    {
        return PositionError::DeadPiece { piece: pawn.char(), square: square.to_string() };
    }
    let (Ok(castles) | Err(castles)) = Castles::from_setup(setup, mode);
    if let Some(square) = setup.castling_rights.without(castles.castling_rights()).first() {
        return PositionError::CastlingRight { square: square.to_string() };
    }
    if kinds.contains(PositionErrorKinds::OPPOSITE_CHECK) {
        return PositionError::OpponentInCheck;
    }
    PositionError::TooMuchMaterial
}
