//! Which weight has which number.

use std::ops::Range;

use readyok_rules::rsshogi::types::{HandPiece, PieceType};

use super::view::{OFFSETS, PLACES};

/// Every kind of piece but the king has its own worth.
pub(super) const PIECES: usize = 13;

/// Pieces that move alike stand well on the same squares.
pub(super) const KINDS: usize = 10;

/// A side attacks a square not at all, once, twice or more often, and so does the other; nothing
/// is said about squares that nobody attacks.
pub(super) const CASES: usize = 15;

/// A piece on the board.
pub(super) const MATERIAL: Range<usize> = 0..PIECES;
/// The first, second and further piece of a kind in hand.
pub(super) const HAND: Range<usize> = after(&MATERIAL, 38);
/// Having the move.
pub(super) const TEMPO: Range<usize> = after(&HAND, 1);
/// The king's square.
pub(super) const KING_PLACE: Range<usize> = after(&TEMPO, PLACES);
/// A piece's square.
pub(super) const PLACE: Range<usize> = after(&KING_PLACE, KINDS * PLACES);
/// Where an own piece stands, seen from a king.
pub(super) const DEFENDER: Range<usize> = after(&PLACE, KINDS * OFFSETS);
/// Where a piece of the opponent stands, seen from a king.
pub(super) const ATTACKER: Range<usize> = after(&DEFENDER, KINDS * OFFSETS);
/// How often a square is attacked, seen from a king.
pub(super) const EFFECT: Range<usize> = after(&ATTACKER, CASES * OFFSETS);

pub(super) const WEIGHTS: usize = EFFECT.end;

pub(super) const GROUPS: &[(&str, Range<usize>)] = &[
    ("material", MATERIAL),
    ("hand", HAND),
    ("tempo", TEMPO),
    ("king place", KING_PLACE),
    ("place", PLACE),
    ("defender", DEFENDER),
    ("attacker", ATTACKER),
    ("effect", EFFECT),
];

const fn after(previous: &Range<usize>, len: usize) -> Range<usize> {
    previous.end..previous.end + len
}

/// The number of a kind of piece among all; none for the king.
pub(super) fn piece(piece: PieceType) -> Option<usize> {
    Some(match piece {
        PieceType::PAWN => 0,
        PieceType::LANCE => 1,
        PieceType::KNIGHT => 2,
        PieceType::SILVER => 3,
        PieceType::GOLD => 4,
        PieceType::BISHOP => 5,
        PieceType::ROOK => 6,
        PieceType::HORSE => 7,
        PieceType::DRAGON => 8,
        PieceType::PRO_PAWN => 9,
        PieceType::PRO_LANCE => 10,
        PieceType::PRO_KNIGHT => 11,
        PieceType::PRO_SILVER => 12,
        _ => return None,
    })
}

/// The number of a piece among those that move alike.
pub(super) fn kind(piece: usize) -> usize {
    piece.min(KINDS - 1)
}

/// The weights for pieces in hand of a kind, one for each that there can be.
pub(super) fn hand(piece: HandPiece) -> Range<usize> {
    let (start, len) = match piece {
        HandPiece::PAWN => (0, 18),
        HandPiece::LANCE => (18, 4),
        HandPiece::KNIGHT => (22, 4),
        HandPiece::SILVER => (26, 4),
        HandPiece::GOLD => (30, 4),
        HandPiece::BISHOP => (34, 2),
        HandPiece::ROOK => (36, 2),
        _ => (38, 0),
    };
    HAND.start + start..HAND.start + start + len
}

/// The weight for a square that is attacked so often by the king's own side and by the other.
pub(super) fn effect(offset: usize, own: usize, other: usize) -> Option<usize> {
    let case = (own | other << 2).checked_sub(1)?;
    Some(EFFECT.start + offset * CASES + case)
}
