//! What the value of everything else depends on.

use readyok_rules::rsshogi::{
    board::Position,
    types::{Color, Hand, HandPiece, Square},
};

/// How much a side can drop, in steps.
pub(super) const LEVELS: usize = 4;

/// Where the kings are, what can be dropped near them, and whose move it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scene {
    /// Black's and White's; outside of the board if there is none.
    pub(super) kings: [Square; 2],
    /// What the opponents of these kings can drop, below [`LEVELS`].
    pub(super) levels: [usize; 2],
    pub(super) turn: Color,
}

pub(super) const COLORS: [Color; 2] = [Color::BLACK, Color::WHITE];

impl Scene {
    pub(super) fn new(position: &Position) -> Self {
        Self {
            kings: COLORS.map(|color| position.king_square(color)),
            levels: COLORS.map(|color| level(position.hand(color.flip()))),
            turn: position.turn(),
        }
    }
}

/// 1 for Black, whose value it is, and -1 for White.
pub(super) fn sign(color: Color) -> i32 {
    if color == Color::BLACK { 1 } else { -1 }
}

fn level(hand: Hand) -> usize {
    let light = hand.count(HandPiece::PAWN).min(1)
        + hand.count(HandPiece::LANCE)
        + hand.count(HandPiece::KNIGHT);
    let heavy = hand.count(HandPiece::SILVER)
        + hand.count(HandPiece::GOLD)
        + hand.count(HandPiece::BISHOP)
        + hand.count(HandPiece::ROOK);
    match light + 2 * heavy {
        0 => 0,
        1..=2 => 1,
        3..=5 => 2,
        _ => 3,
    }
}
