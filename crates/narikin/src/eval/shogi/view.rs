//! Squares as a side and its king see them.
//!
//! Each side looks from its own edge of the board. The rules know no left and right, so a king on
//! the left half is looked at in a mirror.

use readyok_rules::rsshogi::types::{Color, Square};

pub(super) const SQUARES: usize = 81;

/// Squares, when left and right are the same.
pub(super) const PLACES: usize = 45;

/// How a square can lie to a king: up to 4 files on its nearer side and 8 on the other, 8 ranks in
/// front of it and 8 behind it.
pub(super) const OFFSETS: usize = 13 * 17;

const CENTRE: usize = 4;

/// A square as a side sees it: files counted from its right, ranks from the opponent's edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) file: usize,
    pub(super) rank: usize,
}

impl Spot {
    pub(super) fn new(color: Color, square: usize) -> Self {
        let square =
            if color == Color::BLACK { square } else { (SQUARES - 1).saturating_sub(square) };
        Self { file: square / 9, rank: square % 9 }
    }

    pub(super) fn mirrored(self) -> Self {
        Self { file: 2 * CENTRE - self.file, ..self }
    }

    fn folded(self) -> Self {
        if self.file > CENTRE { self.mirrored() } else { self }
    }

    /// The number of this square when left and right are the same.
    pub(super) fn place(self) -> usize {
        self.folded().file * 9 + self.rank
    }
}

/// How a king sees squares.
#[derive(Debug, Clone, Copy)]
pub(super) struct View {
    color: Color,
    king: Spot,
    mirrored: bool,
}

impl View {
    /// None without a king.
    pub(super) fn new(color: Color, king: Square) -> Option<Self> {
        if !king.is_on_board() {
            return None;
        }
        let spot = Spot::new(color, king.to_index());
        Some(Self { color, king: spot.folded(), mirrored: spot.file > CENTRE })
    }

    pub(super) fn king(self) -> Spot {
        self.king
    }

    /// The number of how a square lies to the king.
    pub(super) fn offset(self, square: usize) -> usize {
        let spot = Spot::new(self.color, square);
        let spot = if self.king.file == CENTRE {
            spot.folded()
        } else if self.mirrored {
            spot.mirrored()
        } else {
            spot
        };
        (spot.file + CENTRE - self.king.file) * 17 + spot.rank + 8 - self.king.rank
    }
}
