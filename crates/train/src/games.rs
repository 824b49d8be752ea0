//! The games: numbers of start positions and moves in files, and boards for the tuner.

mod chess;
mod shogi;

use std::ops::Range;

use narikin::eval::{Model, Weight};
use readyok_rules::{Game, Move, Position, Setup, Side};

pub use chess::Chess;
pub use shogi::Shogi;

/// A game for which Narikin is trained.
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

    /// The number of start positions.
    pub fn starts(self) -> u16 {
        match self {
            Self::Chess => 960,
            Self::Shogi => 1,
        }
    }

    /// The number of the standard start position.
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

/// The number of a move in a file. `None` for moves that cannot occur in a game.
pub fn number(mv: Move) -> Option<u16> {
    match mv {
        Move::Chess(mv) => chess::number(mv),
        Move::Shogi(mv) => Some(mv.to_move().raw()),
    }
}

/// A game whose boards can play the numbered moves of a file, with the model of Narikin's evaluation.
pub trait TrainGame {
    /// The board type of the model.
    type Board;

    /// The model of Narikin's evaluation.
    type Model: Model<Board = Self::Board>;

    /// The game.
    const KIND: GameKind;

    /// The start position of a number, if there is one.
    fn start(number: u16) -> Option<Self::Board>;

    /// Plays the move of a number. False if it is illegal; the board is then unchanged.
    fn play(board: &mut Self::Board, mv: u16) -> bool;

    /// The side to move.
    fn turn(board: &Self::Board) -> Side;

    /// Whether the side to move is in check.
    fn in_check(board: &Self::Board) -> bool;

    /// Whether a legal move neither captures nor promotes.
    fn is_quiet(board: &Self::Board, mv: u16) -> bool;

    /// The initial weights of the model.
    fn hand_written() -> Vec<Weight>;

    /// The groups of the model's weights with their names.
    fn groups() -> Vec<(&'static str, Range<usize>)>;
}
