//! Which weight means what.

use std::ops::Range;

use super::start;

/// Weights that belong together, such as a table.
#[derive(Debug, Clone)]
pub struct Group {
    /// What they are for.
    pub name: &'static str,
    /// Where they stand among the weights.
    pub range: Range<usize>,
    /// Before any fitting, the value of each in centipawns, in the opening and in the ending.
    pub(super) start: fn(usize) -> (i32, i32),
}

impl Group {
    /// The number of a weight in this group, which has more than `index` of them.
    pub(super) const fn at(&self, index: usize) -> usize {
        self.range.start + index
    }
}

/// Declares each group with the number of its weights and what they are before fitting.
macro_rules! groups {
    ($($(#[doc = $doc:literal])+ $name:ident, $text:literal, $len:expr, $start:expr;)*) => {
        #[derive(Clone, Copy)]
        #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "named as the groups")]
        enum Id { $($name),* }

        const LENGTHS: &[usize] = &[$($len),*];

        $($(#[doc = $doc])+ pub(super) const $name: Group = Group {
            name: $text,
            range: from(Id::$name as usize)..from(Id::$name as usize + 1),
            start: $start,
        };)*

        /// All groups, in the order of their weights.
        pub const GROUPS: &[Group] = &[$($name),*];
    };
}

/// How many weights there are.
pub(super) const WEIGHTS: usize = from(LENGTHS.len());

/// How many weights there are in the groups before this one.
const fn from(group: usize) -> usize {
    let mut sum = 0;
    let mut index = 0;
    while index < group {
        sum += LENGTHS[index];
        index += 1;
    }
    sum
}

/// Squares on which a pawn can stand, and those of the four other pieces.
pub(super) const PLACES: usize = 48 + 4 * 64;

/// The kinds of squares that a king can stand on.
pub(super) const KING_ZONES: usize = 10;

groups! {
    /// Having the move.
    TEMPO, "tempo", 1, start::tempo;
    /// Pawn, knight, bishop, rook, queen.
    MATERIAL, "material", 5, start::material;
    /// By the square of a piece, its king being in the right half.
    PLACE, "place", PLACES, start::place;
    /// By the square of the king, in the right half.
    KING, "king", 32, start::king;
    /// By the zone of the own king and the square of a piece.
    OWN_KING, "place by own king", KING_ZONES * PLACES, start::nothing;
    /// By the zone of the enemy's king and the square of a piece, the enemy's king being in the
    /// right half.
    ENEMY_KING, "place by enemy king", KING_ZONES * PLACES, start::nothing;
    /// By the number of safe squares that it attacks.
    KNIGHT_MOBILITY, "knight mobility", 9, start::knight_mobility;
    /// By the number of safe squares that it attacks.
    BISHOP_MOBILITY, "bishop mobility", 14, start::bishop_mobility;
    /// By the number of safe squares that it attacks.
    ROOK_MOBILITY, "rook mobility", 15, start::rook_mobility;
    /// By the number of safe squares that it attacks.
    QUEEN_MOBILITY, "queen mobility", 28, start::queen_mobility;
}
