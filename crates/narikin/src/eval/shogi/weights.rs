//! The weights: one table of their groups with names and sizes, and their initial values.

use std::ops::Range;

use readyok_rules::rsshogi::types::{HandPiece, PieceType};

use super::view::{DISTANCES, LEVELS, NEAR, OFFSETS, Offset, PLACES};
use crate::eval::{WEIGHT_UNITS, Weight};

/// Piece types with material values: all except the king.
pub(super) const PIECES: usize = 13;

/// Piece kinds: pieces that move alike share square tables.
pub(super) const KINDS: usize = 10;

/// Combinations of 0 to 3 attackers per side, without the case of no attacker.
pub(super) const CASES: usize = 15;

/// Lance, bishop, rook, horse, dragon.
pub(super) const SLIDERS: usize = 5;

/// A group of weights, such as a table.
#[derive(Debug, Clone)]
pub struct Group {
    /// The name of the group.
    pub name: &'static str,
    /// The indices of its weights.
    pub range: Range<usize>,
}

/// Declares the groups with their sizes.
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
    /// The side to move.
    TEMPO, "tempo", HAND.end, 1;
    /// The king's square.
    KING_PLACE, "king place", TEMPO.end, PLACES;
    /// A piece's square.
    PLACE, "place", KING_PLACE.end, KINDS * PLACES;
    /// The square of an own piece relative to a king.
    DEFENDER, "defender", PLACE.end, KINDS * OFFSETS;
    /// The square of an opponent's piece relative to a king.
    ATTACKER, "attacker", DEFENDER.end, KINDS * OFFSETS;
    /// The attack count of a square.
    CONTROL, "control", ATTACKER.end, PLACES * CASES;
    /// The attack count of a square relative to a king.
    EFFECT, "effect", CONTROL.end, OFFSETS * CASES;
    /// Attackers near the king, by drop level of the opponent.
    PRESSURE, "pressure", EFFECT.end, (LEVELS - 1) * NEAR * CASES;
    /// The attack and defense counts of a piece, by the side to move.
    THREAT, "threat", PRESSURE.end, PIECES * 2 * CASES;
    /// Attackers and defenders of a piece by its distance from a king.
    GUARD, "guard", THREAT.end, 2 * KINDS * DISTANCES * CASES;
    /// Attacked squares around a king, up to six, by the drops of the opponent.
    ATTACKED, "attacked", GUARD.end, 7 * LEVELS;
    /// Those of them that only the king defends, up to five.
    UNDEFENDED, "undefended", ATTACKED.end, 6 * LEVELS;
    /// Squares that a king can go to.
    ESCAPE, "escape", UNDEFENDED.end, 9 * LEVELS;
    /// Kinds of pieces in the opponent's hand, by the number of undefended squares.
    HOLD, "hold", ESCAPE.end, 7 * 6;
    /// Squares that a sliding piece can go to.
    MOBILITY, "mobility", HOLD.end, 9 + (SLIDERS - 1) * 17;
    /// Squares around the other king that a sliding piece attacks.
    HITS, "hits", MOBILITY.end, SLIDERS * 3;
    /// A pinned piece.
    PINNED, "pinned", HITS.end, KINDS;
    /// Files without a pawn, with no, one or more pawns in hand.
    FILES, "files", PINNED.end, 10 * 3;
}

pub(super) const WEIGHTS: usize = FILES.end;

/// The index of a piece type; none for the king.
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

/// The index of the piece kind.
pub(super) fn kind(piece: usize) -> usize {
    piece.min(KINDS - 1)
}

/// The weight of a sliding piece's mobility.
pub(super) fn mobility(slider: usize, squares: usize) -> usize {
    // A lance has one file, the others have 16 squares.
    MOBILITY.start
        + match slider.checked_sub(1) {
            None => squares.min(8),
            Some(after) => 9 + after * 17 + squares.min(16),
        }
}

/// The weights of pieces in hand, one per piece.
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

/// Piece values in centipawns.
const PIECE_VALUES: [i32; PIECES] =
    [90, 300, 340, 490, 530, 830, 1010, 1140, 1440, 520, 510, 510, 500];

/// Maximum numbers in hand, in the order of hands.
const MAX_IN_HAND: [usize; 7] = [18, 4, 4, 4, 2, 2, 4];

/// Values of pieces in hand, in the order of hands.
const HAND_VALUES: [i32; 7] = [90, 300, 340, 490, 830, 1010, 530];

/// Attack and defense values near the kings, by piece kind.
const ATTACK: [i32; KINDS] = [2, 3, 6, 10, 10, 6, 6, 12, 14, 12];
const DEFENCE: [i32; KINDS] = [2, 1, 2, 9, 11, 1, 0, 10, 5, 5];

/// The weights before tuning.
pub fn initial_weights() -> Vec<Weight> {
    let mut weights = vec![Weight::default(); WEIGHTS];
    let mut set = |range: Range<usize>, centipawns: &dyn Fn(usize) -> i32| {
        for (index, number) in range.enumerate() {
            if let Some(weight) = weights.get_mut(number) {
                *weight = both(centipawns(index));
            }
        }
    };
    set(MATERIAL, &|piece| PIECE_VALUES[piece]);
    set(HAND, &initial_hand);
    set(TEMPO, &|_| 25);
    set(KING_PLACE, &|place| {
        // Kings are safer far from the center, and most of all at home.
        let away = int(4 - place / 9);
        if place % 9 >= 7 { 12 * away } else { 6 * away }
    });
    set(DEFENDER, &|index| near(index) * DEFENCE[index / OFFSETS] / 2);
    set(ATTACKER, &|index| -near(index) * ATTACK[index / OFFSETS] / 2);
    set(EFFECT, &|index| {
        let (own, other) = case(index);
        effect(int(Offset::numbered(index / CASES).steps()), own, other)
    });
    set(THREAT, &|index| {
        let (own, other) = case(index);
        let (row, value) = (index / CASES, PIECE_VALUES[index / CASES / 2]);
        // The side to move can save its piece.
        let share = if row % 2 == 0 { 30 } else { 14 };
        if other == 0 || own > 0 { 0 } else { -value / share }
    });
    set(ATTACKED, &|index| -3 * int(index / LEVELS));
    set(UNDEFENDED, &|index| -int(index / LEVELS * (2 + index % LEVELS)) * 3);
    set(ESCAPE, &|index| -int(4_usize.saturating_sub(index / LEVELS) * (1 + index % LEVELS)) * 4);
    set(MOBILITY, &|index| 5 * int(if index < 9 { index } else { (index - 9) % 17 }).min(10));
    set(HITS, &|index| 8 * int(index % 3 + 1));
    set(PINNED, &|_| -20);
    weights
}

/// Marginal values decrease with the number of pieces.
fn initial_hand(index: usize) -> i32 {
    let mut before = 0;
    for (max, value) in MAX_IN_HAND.into_iter().zip(HAND_VALUES) {
        if index < before + max {
            return value * (112 - 5 * int(index - before).min(10)) / 100;
        }
        before += max;
    }
    0
}

/// Proximity of an offset, up to 5.
fn near(index: usize) -> i32 {
    int(5_usize.saturating_sub(Offset::numbered(index % OFFSETS).steps()))
}

/// Own and enemy attackers of a case.
fn case(index: usize) -> (usize, usize) {
    let case = index % CASES + 1;
    (case % 4, case / 4)
}

/// Value of the attackers of a square for the king, by distance.
fn effect(steps: i32, own: usize, other: usize) -> i32 {
    const SHARE: [i32; 4] = [0, 10, 17, 21];
    let unanswered = if own == 0 { 14 } else { 10 };
    (5 * SHARE[own] - SHARE[other] * unanswered / 2) / (steps + 1)
}

fn int(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(0)
}

fn both(centipawns: i32) -> Weight {
    let units = i16::try_from(centipawns * WEIGHT_UNITS).unwrap_or(i16::MAX);
    Weight { mg: units, eg: units }
}
