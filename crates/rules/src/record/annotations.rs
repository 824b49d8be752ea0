//! What can be said about a move: comments, signs, times, an evaluation, marks on the board.

use std::time::Duration;

use readyok_protocol::Score;

use crate::{GameOutcome, GameResult, Side, Square, Termination};

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
    /// The evaluation of the position after the move.
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

/// The evaluation of a position by an engine or an annotator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Evaluation {
    /// From the view of the side that moves first in the game (White in chess).
    pub score: Score,
    /// Search depth in plies.
    pub depth: Option<u32>,
}

impl Evaluation {
    /// The evaluation by a side whose score is from its own view.
    pub fn by(side: Side, score: Score, depth: Option<u32>) -> Self {
        let score = match side {
            Side::First => score,
            Side::Second => score.negated(),
        };
        Self { score, depth }
    }
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
    /// The result of the line and what ended it.
    pub outcome: GameOutcome,
    /// The text of an end that is [`Termination::Other`].
    pub text: Option<String>,
    /// How long the player thought before it.
    pub elapsed: Option<Duration>,
    /// Comments on it.
    pub comments: Vec<String>,
}

impl End {
    /// An end that only a text describes.
    pub fn other(text: impl Into<String>) -> Self {
        let outcome = GameOutcome { result: GameResult::Unknown, termination: Termination::Other };
        Self { text: Some(text.into()), ..Self::from(outcome) }
    }

    /// An end with the result that follows from it in shogi when it is `turn`'s move.
    pub(super) fn implied(termination: Termination, turn: Side) -> Self {
        Self::from(GameOutcome { result: termination.result(turn, true), termination })
    }
}

impl From<GameOutcome> for End {
    fn from(outcome: GameOutcome) -> Self {
        Self { outcome, text: None, elapsed: None, comments: Vec::new() }
    }
}
