//! Which weight has which number.

use std::ops::Range;

use readyok_rules::rsshogi::types::{HandPiece, PieceType};

use super::{
    scene::LEVELS,
    view::{DISTANCES, NEAR, OFFSETS, PLACES},
};

/// Every piece but the king has its own worth.
pub(super) const PIECES: usize = 13;

/// Pieces that move alike stand well on the same squares.
pub(super) const KINDS: usize = 10;

/// A side attacks a square not at all, once, twice or more often, and so does the other; nothing
/// is said about squares that nobody attacks.
pub(super) const CASES: usize = 15;

/// Lance, bishop, rook, horse, dragon.
pub(super) const SLIDERS: usize = 5;

/// Weights that belong together, such as a table.
#[derive(Debug, Clone)]
pub struct Group {
    /// What they are for.
    pub name: &'static str,
    /// Where they stand among the weights.
    pub range: Range<usize>,
}

/// Declares the groups with the numbers of their weights, one after the other.
macro_rules! groups {
    ($($(#[doc = $doc:literal])+ $name:ident, $text:literal, $after:expr, $len:expr;)*) => {
        $($(#[doc = $doc])+ pub(super) const $name: Range<usize> = $after..$after + $len;)*

        /// All groups, in the order of their weights.
        pub const GROUPS: &[Group] = &[$(Group { name: $text, range: $name }),*];
    };
}

groups! {
    /// A piece on the board.
    MATERIAL, "material", 0, PIECES;
    /// The first, second and further piece of a kind in hand.
    HAND, "hand", MATERIAL.end, 38;
    /// Having the move.
    TEMPO, "tempo", HAND.end, 1;
    /// The king's square.
    KING_PLACE, "king place", TEMPO.end, PLACES;
    /// A piece's square.
    PLACE, "place", KING_PLACE.end, KINDS * PLACES;
    /// Where an own piece stands, seen from a king.
    DEFENDER, "defender", PLACE.end, KINDS * OFFSETS;
    /// Where a piece of the opponent stands, seen from a king.
    ATTACKER, "attacker", DEFENDER.end, KINDS * OFFSETS;
    /// How often a square is attacked.
    CONTROL, "control", ATTACKER.end, PLACES * CASES;
    /// How often a square is attacked, seen from a king.
    EFFECT, "effect", CONTROL.end, OFFSETS * CASES;
    /// The same near the king, when the opponent has something to drop.
    PRESSURE, "pressure", EFFECT.end, (LEVELS - 1) * NEAR * CASES;
    /// How often a piece is attacked and defended, when its side is to move and when not.
    THREAT, "threat", PRESSURE.end, PIECES * 2 * CASES;
    /// The same by its distance from a king, to whose side it belongs or not.
    GUARD, "guard", THREAT.end, 2 * KINDS * DISTANCES * CASES;
    /// Attacked squares around a king, up to six, by what the opponent can drop.
    ATTACKED, "attacked", GUARD.end, 7 * LEVELS;
    /// Those of them that only the king defends, up to five.
    BREACH, "breach", ATTACKED.end, 6 * LEVELS;
    /// Squares that a king can go to.
    ESCAPE, "escape", BREACH.end, 9 * LEVELS;
    /// What the opponent has in hand, by the number of those, too.
    HOLD, "hold", ESCAPE.end, 7 * 6;
    /// Squares that a sliding piece can go to.
    MOBILITY, "mobility", HOLD.end, 9 + (SLIDERS - 1) * 17;
    /// Squares around the other king that a sliding piece attacks.
    HITS, "hits", MOBILITY.end, SLIDERS * 3;
    /// A piece that may not leave its king.
    PINNED, "pinned", HITS.end, KINDS;
    /// Files without a pawn, with no, one or more pawns in hand.
    FILES, "files", PINNED.end, 10 * 3;
}

pub(super) const WEIGHTS: usize = FILES.end;

/// The number of a piece; none for the king.
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

/// The weight of a sliding piece that can go to so many squares.
pub(super) fn mobility(slider: usize, squares: usize) -> usize {
    // A lance has one file, the others have 16 squares.
    MOBILITY.start
        + match slider.checked_sub(1) {
            None => squares.min(8),
            Some(after) => 9 + after * 17 + squares.min(16),
        }
}

/// The weights for pieces in hand of a kind, one for each that there can be.
pub(super) fn hand(piece: HandPiece) -> Range<usize> {
    let (start, len) = match piece {
        HandPiece::PAWN => (0, 18),
        HandPiece::LANCE => (18, 4),
        HandPiece::KNIGHT => (22, 4),
        HandPiece::SILVER => (26, 4),
        HandPiece::BISHOP => (30, 2),
        HandPiece::ROOK => (32, 2),
        HandPiece::GOLD => (34, 4),
        _ => (38, 0),
    };
    HAND.start + start..HAND.start + start + len
}
