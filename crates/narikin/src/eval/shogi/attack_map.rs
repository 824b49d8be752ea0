//! Numbers of attackers of each square.

use readyok_rules::rsshogi::{
    board::{
        Position,
        attack_tables::{KING_ATTACKS, bishop_attacks, lance_attacks, rook_attacks},
    },
    types::{Bitboard, Color, PieceType, Square},
};

use super::view::{COLORS, SQUARES};

const BOARD: u128 = (1 << SQUARES) - 1;
const RANK: u128 = 0o001_001_001_001_001_001_001_001_001;

/// Attackers of a square: by Black, up to three, plus four times those of White.
pub(super) type Case = u8;

/// Numbers of attackers per square, as bitboards of their binary digits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    ones: u128,
    twos: u128,
    many: u128,
}

impl Counts {
    /// Adds one attacker to each of these squares.
    fn add(&mut self, set: u128) {
        let carry = self.ones & set;
        self.ones ^= set;
        self.many |= self.twos & carry;
        self.twos ^= carry;
    }

    /// The attacked squares.
    pub(super) fn any(self) -> u128 {
        self.ones | self.twos | self.many
    }

    /// The digits of numbers up to three.
    fn digits(self) -> [u128; 2] {
        [self.ones | self.many, self.twos | self.many]
    }
}

/// A sliding piece.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slider {
    pub(super) color: Color,
    /// Index among lance, bishop, rook, horse, dragon.
    pub(super) number: usize,
    /// Attacks along its lines.
    pub(super) attacks: u128,
}

/// Numbers of attackers of Black and White, without kings, whose attacks follow from their squares.
#[derive(Debug, Clone, Copy)]
pub(super) struct AttackMap(pub(super) [Counts; 2]);

impl AttackMap {
    /// Computes the numbers, and calls `slide` with each sliding piece.
    #[inline(always)]
    pub(super) fn new(position: &Position, mut slide: impl FnMut(Slider)) -> Self {
        let black = steps::<-1>(position, Color::BLACK);
        let white = steps::<1>(position, Color::WHITE);
        let mut attacks_map = Self([black, white]);
        for (counts, color) in attacks_map.0.iter_mut().zip(COLORS) {
            slides(position, color, |slider| {
                counts.add(slider.attacks);
                slide(slider);
            });
        }
        attacks_map
    }

    #[inline(always)]
    pub(super) fn cases(&self) -> Cases {
        let [black, white] = self.0.map(|counts| counts.digits().map(u128::to_le_bytes));
        let spread = |set: &[u8; 16], index: usize| SPREAD[usize::from(set[index % 16])];
        Cases(std::array::from_fn(|index| {
            let black = spread(&black[0], index) | spread(&black[1], index) << 1;
            let white = spread(&white[0], index) | spread(&white[1], index) << 1;
            (black | white << 2).to_le_bytes()
        }))
    }
}

pub(super) fn ring(king: Square) -> u128 {
    KING_ATTACKS.as_slice().get(king.to_index()).map_or(0, Bitboard::packed_bits)
}

/// The cases of all squares, padded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cases([[Case; 8]; SQUARES.div_ceil(8)]);

impl Cases {
    #[cfg(test)]
    pub(super) fn all(case: Case) -> Self {
        Self([[case; 8]; SQUARES.div_ceil(8)])
    }

    /// The case of a square; 0 outside the board.
    pub(super) fn at(&self, square: usize) -> Case {
        self.0.as_flattened().get(square).copied().unwrap_or(0)
    }

    /// The cases of all squares.
    pub(super) fn iter(&self) -> impl Iterator<Item = Case> {
        self.0.as_flattened().iter().copied().take(SQUARES)
    }
}

/// Spreads the bits of a byte to bytes.
const SPREAD: [u64; 256] = {
    let mut spread = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                spread[byte] |= 1 << (8 * bit);
            }
            bit += 1;
        }
        byte += 1;
    }
    spread
};

/// Counts the step attacks of a side that moves in direction `FORWARD`.
#[inline(always)]
fn steps<const FORWARD: i32>(position: &Position, color: Color) -> Counts {
    let of = |piece| position.pieces_for(piece, color).packed_bits();
    let golds = position.golds().packed_bits() & position.pieces_by_color(color).packed_bits();
    let (silvers, knights) = (of(PieceType::SILVER), of(PieceType::KNIGHT));
    let straight = golds | of(PieceType::HORSE);
    let diagonal = silvers | of(PieceType::DRAGON);

    // Each step leads to different squares for different pieces, so it is added for all pieces at a
    // time.
    let mut counts = Counts::default();
    counts.add(shift(straight | silvers | of(PieceType::PAWN), 0, FORWARD));
    counts.add(shift(straight, 0, -FORWARD));
    for side in [-1, 1] {
        counts.add(shift(straight, side, 0));
        counts.add(shift(diagonal | golds, side, FORWARD));
        counts.add(shift(diagonal, side, -FORWARD));
        counts.add(shift(knights, side, 2 * FORWARD));
    }
    counts
}

#[inline(always)]
fn slides(position: &Position, color: Color, mut slide: impl FnMut(Slider)) {
    let occupied = position.pieces();
    let mut slide = |number, attacks| slide(Slider { color, number, attacks });
    for square in &position.pieces_for(PieceType::LANCE, color) {
        slide(0, lance_attacks(square, occupied, color).packed_bits());
    }
    for (piece, number) in [(PieceType::BISHOP, 1), (PieceType::HORSE, 3)] {
        for square in &position.pieces_for(piece, color) {
            slide(number, bishop_attacks(square, occupied).packed_bits());
        }
    }
    for (piece, number) in [(PieceType::ROOK, 2), (PieceType::DRAGON, 4)] {
        for square in &position.pieces_for(piece, color) {
            slide(number, rook_attacks(square, occupied).packed_bits());
        }
    }
}

/// Shifts a set; squares that leave the board are dropped.
const fn shift(set: u128, files: i32, ranks: i32) -> u128 {
    let lost = match ranks {
        -2 => RANK | RANK << 1,
        -1 => RANK,
        1 => RANK << 8,
        2 => RANK << 7 | RANK << 8,
        _ => 0,
    };
    let set = set & !lost;
    let by = 9 * files + ranks;
    (if by < 0 { set >> -by } else { set << by }) & BOARD
}
