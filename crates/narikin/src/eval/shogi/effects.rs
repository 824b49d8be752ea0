//! How often each square is attacked by each side.
//!
//! Kings are left out: what a king attacks follows from where it stands.

use readyok_rules::rsshogi::{
    board::{
        Position,
        attack_tables::{bishop_attacks, lance_attacks, rook_attacks},
    },
    types::{Bitboard, Color, PieceType},
};

use super::view::SQUARES;

const BOARD: u128 = (1 << SQUARES) - 1;
const RANK: u128 = 0o001_001_001_001_001_001_001_001_001;

/// Numbers of attackers, one for each square, as bitboards of their binary digits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    ones: u128,
    twos: u128,
    fours: u128,
}

impl Counts {
    /// Counts one more on each of these squares.
    fn add(&mut self, set: u128) {
        let carry = self.ones & set;
        self.ones ^= set;
        let carry_on = self.twos & carry;
        self.twos ^= carry;
        // From here on it is only many.
        self.fours |= carry_on;
    }

    /// Squares attacked once or three times and more, and twice and more.
    fn up_to_three(self) -> [u128; 2] {
        [self.ones | self.fours, self.twos | self.fours]
    }
}

/// The numbers of a position, Black's and White's.
pub(super) struct Effects([Counts; 2]);

impl Effects {
    pub(super) fn new(position: &Position) -> Self {
        Self([steps::<-1>(position, Color::BLACK), steps::<1>(position, Color::WHITE)])
    }

    /// For each square how often Black attacks it, up to three, and four times how often White does.
    pub(super) fn cases(&self) -> [u8; SQUARES] {
        let [black, white] = self.0.map(Counts::up_to_three);
        let mut cases = [0; SQUARES];
        for (digit, set) in (0..).zip(black.into_iter().chain(white)) {
            for (cases, byte) in cases.chunks_mut(8).zip(set.to_le_bytes()) {
                let spread = SPREAD[usize::from(byte)].map(|bit| bit << digit);
                cases.iter_mut().zip(spread).for_each(|(case, bit)| *case |= bit);
            }
        }
        cases
    }
}

/// The bits of a byte, each in a byte of its own.
const SPREAD: [[u8; 8]; 256] = {
    let mut spread = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            spread[byte][bit] = if byte >> bit & 1 == 1 { 1 } else { 0 };
            bit += 1;
        }
        byte += 1;
    }
    spread
};

/// Counts what a side attacks whose forward is so many ranks.
fn steps<const FORWARD: i32>(position: &Position, color: Color) -> Counts {
    let of = |piece| position.pieces_for(piece, color).packed_bits();
    let side = position.pieces_by_color(color).packed_bits();
    let golds = position.golds().packed_bits() & side;
    let (silvers, knights) = (of(PieceType::SILVER), of(PieceType::KNIGHT));
    let (horses, dragons) = (of(PieceType::HORSE), of(PieceType::DRAGON));
    let mut counts = Counts::default();

    // No two pieces attack a square in the same direction by a step, so each direction counts once.
    let straight = golds | horses;
    let forward = straight | silvers;
    counts.add(shift(forward | of(PieceType::PAWN), 0, FORWARD));
    counts.add(shift(straight, 0, -FORWARD));
    let diagonal = silvers | dragons;
    for side in [-1, 1] {
        counts.add(shift(straight, side, 0));
        counts.add(shift(diagonal | golds, side, FORWARD));
        counts.add(shift(diagonal, side, -FORWARD));
        counts.add(shift(knights, side, 2 * FORWARD));
    }

    let occupied = position.pieces();
    let mut slide = |set: Bitboard| counts.add(set.packed_bits());
    for square in &position.pieces_for(PieceType::LANCE, color) {
        slide(lance_attacks(square, occupied, color));
    }
    for square in &(position.bishop_horse() & position.pieces_by_color(color)) {
        slide(bishop_attacks(square, occupied));
    }
    for square in &(position.rook_dragon() & position.pieces_by_color(color)) {
        slide(rook_attacks(square, occupied));
    }
    counts
}

/// Moves every square of a set; what would leave the board is lost.
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
