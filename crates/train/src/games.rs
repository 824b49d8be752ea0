//! The games, as files number their starts and moves, and as the tuner plays them again.

mod chess;
mod shogi;

use std::ops::Range;

use narikin::eval::{Model, Weight};
use readyok_rules::{Game, Move, Position, Setup, Side};

pub use chess::Chess;
pub use shogi::Shogi;

/// A game that Narikin is trained in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GameKind {
    /// Chess, with starts of Chess960.
    Chess,
    /// Shogi.
    Shogi,
}

impl GameKind {
    /// The number of the game in a file.
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Chess => 0,
            Self::Shogi => 1,
        }
    }

    pub(crate) fn from_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::Chess),
            1 => Some(Self::Shogi),
            _ => None,
        }
    }

    /// The name of the game.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chess => "chess",
            Self::Shogi => "shogi",
        }
    }

    /// How many start positions there are.
    pub fn starts(self) -> u16 {
        match self {
            Self::Chess => 960,
            Self::Shogi => 1,
        }
    }

    /// The number of the usual start position.
    pub fn usual_start(self) -> u16 {
        match self {
            Self::Chess => 518,
            Self::Shogi => 0,
        }
    }

    /// The start position of a number, if there is one.
    pub fn start(self, number: u16) -> Option<Position> {
        match self {
            Self::Chess => Setup::chess960(number)?.position().ok(),
            Self::Shogi => (number == 0).then(|| Position::start(Game::Shogi)),
        }
    }
}

/// The number of a move in a file; none for what no game has as a move.
pub fn number(mv: Move) -> Option<u16> {
    match mv {
        Move::Chess(mv) => chess::number(mv),
        Move::Shogi(mv) => Some(mv.to_move().raw()),
    }
}

/// A game whose boards can be played on by the numbers of a file, with the model of Narikin's
/// evaluation.
pub trait TrainGame {
    /// The board that models look at.
    type Board;

    /// The model that Narikin plays with.
    type Model: Model<Board = Self::Board>;

    /// Which game this is.
    const KIND: GameKind;

    /// The start position of a number, if there is one.
    fn start(number: u16) -> Option<Self::Board>;

    /// Plays the move of a number. Reports whether it is legal; if not, nothing has changed.
    fn play(board: &mut Self::Board, mv: u16) -> bool;

    /// The side to move.
    fn turn(board: &Self::Board) -> Side;

    /// Whether the side to move is in check.
    fn in_check(board: &Self::Board) -> bool;

    /// Whether a legal move neither captures nor promotes.
    fn is_quiet(board: &Self::Board, mv: u16) -> bool;

    /// The weights that the model begins with.
    fn hand_written() -> Vec<Weight>;

    /// The groups of the model's weights, each with its name.
    fn groups() -> Vec<(&'static str, Range<usize>)>;
}
