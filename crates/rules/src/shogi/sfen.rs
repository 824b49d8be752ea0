//! Reads an SFEN: hands in any order, move number optional.

use rsshogi::{
    board::{
        Position, SfenError,
        position::{Ply, ValidationError},
    },
    types::{Color, HandPiece, PieceType},
};

use super::side;
use crate::{Field, PositionError, board_text::Shape};

const SHAPE: Shape = Shape {
    size: 9,
    pieces: "plnsgbrk",
    promotable: "plnsbr",
    rank_name: |row| char::from_digit(row + 10, 36).unwrap_or('?'),
    file_name: |column| char::from_digit(9_u32.saturating_sub(column), 10).unwrap_or('?'),
    fields: &[Field::Board, Field::Turn, Field::Hands, Field::MoveNumber],
    required: 3,
};

/// Move numbers are kept up to this, which leaves room for every game to go on.
const LATEST_MOVE: Ply = 10_000;

pub(super) fn read(text: &str) -> Result<Position, PositionError> {
    let fields = SHAPE.split(text)?;
    let [board, turn, hands, number @ ..] = fields.as_slice() else {
        return Err(PositionError::MissingField(Field::Board));
    };
    SHAPE.check_board(board)?;
    let number = number.first().map_or(Ok(1), |text| move_number(text))?;
    let position = Position::from_sfen(&format!("{board} {turn} {hands} {number}"))
        .map_err(|error| unreadable(&error, board, turn, hands))?;
    check(&position)?;
    Ok(position)
}

fn move_number(text: &str) -> Result<Ply, PositionError> {
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(PositionError::bad(Field::MoveNumber, text));
    }
    // What does not fit is too large, since it is nothing but digits.
    Ok(text.parse().unwrap_or(LATEST_MOVE).clamp(1, LATEST_MOVE))
}

fn unreadable(error: &SfenError, board: &str, turn: &str, hands: &str) -> PositionError {
    match error {
        SfenError::InvalidTurn(_) => PositionError::bad(Field::Turn, turn),
        // The board has been checked, so that an unknown piece can only be in hand.
        SfenError::InvalidPiece(_) | SfenError::InvalidHandCount { .. } => {
            PositionError::bad(Field::Hands, hands)
        }
        SfenError::MissingField(_)
        | SfenError::InvalidSquare
        | SfenError::InvalidPly(_)
        | SfenError::TrailingToken(_)
        | SfenError::InvalidMove(_) => PositionError::bad(Field::Board, board),
    }
}

/// A position can lack a king, as mate problems do, but not both: a king in check could otherwise
/// be taken, and the lists of moves would not hold all drops.
fn check(position: &Position) -> Result<(), PositionError> {
    position.validate().map_err(|error| invalid(position, &error))?;
    let (us, them) = (position.turn(), position.turn().flip());
    let (our_king, their_king) = (position.king_square(us), position.king_square(them));
    if our_king.is_none() && their_king.is_none() {
        return Err(PositionError::NoKings);
    }
    if !their_king.is_none() && position.is_attacked_by(their_king, us) {
        return Err(PositionError::OpponentInCheck);
    }
    Ok(())
}

fn invalid(position: &Position, error: &ValidationError) -> PositionError {
    match *error {
        ValidationError::NoKing(color) | ValidationError::TwoKings(color) => {
            let kings = position.pieces_for(PieceType::KING, color);
            PositionError::Kings { side: side(color), count: kings.count() as usize }
        }
        ValidationError::DoublePawn(file, color) => {
            PositionError::TwoPawns { side: side(color), file: file.raw().unsigned_abs() + 1 }
        }
        ValidationError::InvalidHandCount { piece, count } => {
            too_many(piece.to_piece_type(), count, limit(piece))
        }
        ValidationError::ExcessivePieceCount { piece, count, limit } => {
            too_many(piece, count, limit)
        }
        ValidationError::InvalidPlacement(square, piece) => PositionError::DeadPiece {
            piece: letter(position.piece_on(square).color(), piece),
            square: square.to_usi(),
        },
    }
}

fn too_many(piece: PieceType, count: u32, limit: u32) -> PositionError {
    PositionError::TooManyPieces { piece: letter(Color::BLACK, piece), count, limit }
}

/// How many pieces of a kind the game has.
fn limit(piece: HandPiece) -> u32 {
    match piece {
        HandPiece::PAWN => 18,
        HandPiece::BISHOP | HandPiece::ROOK => 2,
        _ => 4,
    }
}

fn letter(color: Color, piece: PieceType) -> char {
    let letter = piece.to_string().chars().last().unwrap_or('?');
    if color == Color::BLACK { letter } else { letter.to_ascii_lowercase() }
}
