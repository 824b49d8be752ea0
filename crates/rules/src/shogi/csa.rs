//! Moves in the notation of the Computer Shogi Association: `7776FU`, with the piece after the move.

use rsshogi::{
    board::Position,
    types::{File, Move, Move32, PieceType, Rank, Square},
};

/// The names of pieces.
const NAMES: [(PieceType, &str); 14] = [
    (PieceType::PAWN, "FU"),
    (PieceType::LANCE, "KY"),
    (PieceType::KNIGHT, "KE"),
    (PieceType::SILVER, "GI"),
    (PieceType::GOLD, "KI"),
    (PieceType::BISHOP, "KA"),
    (PieceType::ROOK, "HI"),
    (PieceType::KING, "OU"),
    (PieceType::PRO_PAWN, "TO"),
    (PieceType::PRO_LANCE, "NY"),
    (PieceType::PRO_KNIGHT, "NK"),
    (PieceType::PRO_SILVER, "NG"),
    (PieceType::HORSE, "UM"),
    (PieceType::DRAGON, "RY"),
];

pub(crate) fn csa_name(kind: PieceType) -> &'static str {
    NAMES.iter().find(|(known, _)| *known == kind).map_or("", |(_, name)| name)
}

pub(crate) fn piece_by_csa(name: &str) -> Option<PieceType> {
    NAMES.iter().find(|(_, known)| *known == name).map(|&(kind, _)| kind)
}

/// The square of a file and a rank, both 1 to 9.
pub(crate) fn square(file: u32, rank: u32) -> Option<Square> {
    let raw = |number: u32| i8::try_from(number.checked_sub(1)?).ok().filter(|number| *number < 9);
    Some(Square::from_file_rank(File::new(raw(file)?), Rank::new(raw(rank)?)))
}

/// The file and rank of a square, both 1 to 9.
pub(crate) fn square_of(square: Square) -> (u32, u32) {
    let number = |raw: i8| u32::try_from(raw).map_or(0, |raw| raw + 1);
    (number(square.file().raw()), number(square.rank().raw()))
}

/// Writes a move without the sign of its side.
pub(crate) fn write_csa(board: &Position, mv: Move32) -> String {
    let (to_file, to_rank) = square_of(mv.to_sq());
    if let Some(kind) = mv.dropped_piece() {
        return format!("00{to_file}{to_rank}{}", csa_name(kind));
    }
    let (file, rank) = square_of(mv.from_sq());
    let before = board.piece_on(mv.from_sq()).piece_type();
    let kind = if mv.is_promotion() { before.promote() } else { before };
    format!("{file}{rank}{to_file}{to_rank}{}", csa_name(kind))
}

/// Reads a move without the sign of its side. It can be illegal, and the piece another one.
pub(crate) fn read_csa(board: &Position, text: &str) -> Option<Move> {
    let (squares, name) = text.split_at_checked(4)?;
    let numbers: Vec<u32> = squares.chars().filter_map(|letter| letter.to_digit(10)).collect();
    let &[from_file, from_rank, to_file, to_rank] = numbers.as_slice() else { return None };
    let kind = piece_by_csa(name)?;
    let to = square(to_file, to_rank)?;
    if (from_file, from_rank) == (0, 0) {
        return kind.is_hand_piece().then(|| Move::drop(kind, to));
    }
    let from = square(from_file, from_rank)?;
    let before = board.piece_on(from).piece_type();
    let promotes = before != kind && before.is_promotable() && before.promote() == kind;
    Some(if promotes { Move::promotion(from, to) } else { Move::normal(from, to) })
}
