//! What can be said about a move: comments, signs, times, an evaluation, marks on the board.

use std::time::Duration;

use super::Termination;
use crate::Square;

/// What a record says about one move, or, at the root, about the start position.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Annotations {
    /// Comments before the move, where it begins a variation. PGN alone has a place for them.
    pub before: Vec<String>,
    /// Comments after the move, which can have several lines.
    pub comments: Vec<String>,
    /// Signs such as `!?`.
    pub nags: Vec<Nag>,
    /// The time that the player has left after the move.
    pub clock: Option<Duration>,
    /// The time that the move took.
    pub elapsed: Option<Duration>,
    /// What the position after the move is worth.
    pub evaluation: Option<Evaluation>,
    /// Marked squares and arrows. PGN alone has a place for them.
    pub marks: Vec<Mark>,
    /// How the game or the variation ended after this move.
    pub end: Option<End>,
}

impl Annotations {
    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A numeric annotation glyph of PGN: 1 is `!`, 2 `?`, 3 `‼`, 4 `⁇`, 5 `⁉`, 6 `⁈`, and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Nag(pub u8);

/// What an engine or a person holds a position to be worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Evaluation {
    /// The worth, seen from the side that moves first in the game (White in chess).
    pub score: RecordScore,
    /// How deep the engine has searched, in plies.
    pub depth: Option<u32>,
}

/// A number that an [`Evaluation`] gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RecordScore {
    /// Hundredths of a pawn.
    Centipawns(i32),
    /// A forced mate in so many moves (chess) or plies (shogi); by the second player if negative.
    Mate(i32),
}

/// A mark on the board: a square, or an arrow between two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mark {
    /// The colour.
    pub color: MarkColor,
    /// The marked square, or where the arrow starts.
    pub from: Square,
    /// Where the arrow ends; none for a square.
    pub to: Option<Square>,
}

/// The colours that marks can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MarkColor {
    /// `G`
    Green,
    /// `R`
    Red,
    /// `Y`
    Yellow,
    /// `B`
    Blue,
}

impl MarkColor {
    pub(super) fn letter(self) -> char {
        match self {
            Self::Green => 'G',
            Self::Red => 'R',
            Self::Yellow => 'Y',
            Self::Blue => 'B',
        }
    }

    pub(super) fn from_letter(letter: char) -> Option<Self> {
        [Self::Green, Self::Red, Self::Yellow, Self::Blue]
            .into_iter()
            .find(|color| color.letter() == letter)
    }
}

/// How a line of moves ended, which is no move itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// What happened.
    pub termination: Termination,
    /// How long the player thought before it.
    pub elapsed: Option<Duration>,
    /// Comments on it.
    pub comments: Vec<String>,
}

impl From<Termination> for End {
    fn from(termination: Termination) -> Self {
        Self { termination, elapsed: None, comments: Vec::new() }
    }
}
