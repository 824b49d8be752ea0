//! Squares from the perspective of a side and its king.
//!
//! Each side looks from its own edge. Files are mirrored if the king is on the left half, as shogi
//! is symmetric.

use readyok_rules::rsshogi::{
    board::Position,
    types::{Color, Hand, HandPiece, Square},
};

pub(super) const SQUARES: usize = 81;

/// Squares of one half with the center file.
pub(super) const PLACES: usize = 45;

/// Offsets of a square from a king: 13 files, as one half is mirrored, by 17 ranks.
pub(super) const OFFSETS: usize = 13 * 17;

/// Offsets within two steps of a king.
pub(super) const NEAR: usize = 5 * 5;

/// Classes of distances from a king.
pub(super) const DISTANCES: usize = 5;

const CENTRE: usize = 4;

/// A square from a side's perspective: files from the right, ranks from the opponent's edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RelativeSquare {
    file: usize,
    rank: usize,
}

impl RelativeSquare {
    pub(super) fn new(color: Color, square: usize) -> Self {
        let seen = if color == Color::BLACK { square } else { (SQUARES - 1).abs_diff(square) };
        Self { file: seen / 9, rank: seen % 9 }
    }

    fn mirrored(self) -> Self {
        Self { file: (2 * CENTRE).abs_diff(self.file), ..self }
    }

    fn folded(self) -> Self {
        if self.file > CENTRE { self.mirrored() } else { self }
    }

    /// The index of this square or its mirror image.
    pub(super) fn place(self) -> usize {
        self.folded().file * 9 + self.rank
    }
}

/// The perspective of a king.
#[derive(Debug, Clone, Copy)]
pub(super) struct View {
    color: Color,
    king: RelativeSquare,
    mirrored: bool,
}

/// The offset of a square from a king.
#[derive(Debug, Clone, Copy)]
pub(super) struct Offset {
    /// 4 plus the file offset towards the farther edge.
    file: usize,
    /// 8 plus the rank offset behind the king.
    rank: usize,
}

impl View {
    /// None without a king.
    pub(super) fn new(color: Color, king: Square) -> Option<Self> {
        if !king.is_on_board() {
            return None;
        }
        let relative = RelativeSquare::new(color, king.to_index());
        Some(Self { color, king: relative.folded(), mirrored: relative.file > CENTRE })
    }

    /// The index of the king's square.
    pub(super) fn place(self) -> usize {
        self.king.place()
    }

    pub(super) fn offset(self, square: usize) -> Offset {
        let relative = RelativeSquare::new(self.color, square);
        let relative = if self.king.file == CENTRE {
            relative.folded()
        } else if self.mirrored {
            relative.mirrored()
        } else {
            relative
        };
        Offset {
            file: relative.file + CENTRE - self.king.file,
            rank: relative.rank + 8 - self.king.rank,
        }
    }
}

impl Offset {
    pub(super) fn numbered(number: usize) -> Self {
        Self { file: number / 17, rank: number % 17 }
    }

    /// Below [`OFFSETS`].
    pub(super) fn number(self) -> usize {
        self.file * 17 + self.rank
    }

    /// Below [`NEAR`]; none at more than two steps.
    pub(super) fn near(self) -> Option<usize> {
        let (file, rank) = (self.file.checked_sub(2)?, self.rank.checked_sub(6)?);
        (file < 5 && rank < 5).then_some(file * 5 + rank)
    }

    /// King distance.
    pub(super) fn steps(self) -> usize {
        self.file.abs_diff(CENTRE).max(self.rank.abs_diff(8))
    }

    /// Below [`DISTANCES`].
    pub(super) fn distance(self) -> usize {
        match self.steps() {
            0 | 1 => 0,
            2 => 1,
            3 => 2,
            4 | 5 => 3,
            _ => 4,
        }
    }
}

/// The number of drop levels.
pub(super) const LEVELS: usize = 4;

/// The kings, drop levels and side to move, on which all values depend.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context {
    /// Kings of Black and White; off the board if missing.
    pub(super) kings: [Square; 2],
    /// Drop levels of the opponents of these kings, below [`LEVELS`].
    pub(super) levels: [usize; 2],
    pub(super) turn: Color,
}

pub(super) const COLORS: [Color; 2] = [Color::BLACK, Color::WHITE];

impl Context {
    pub(super) fn new(position: &Position) -> Self {
        Self {
            kings: COLORS.map(|color| position.king_square(color)),
            levels: COLORS.map(|color| level(position.hand(color.flip()))),
            turn: position.turn(),
        }
    }
}

/// 1 for Black, -1 for White.
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
