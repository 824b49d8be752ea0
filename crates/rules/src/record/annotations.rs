//! Annotations of a move: comments, NAGs, times, an evaluation, marks on the board.

use std::time::Duration;

use readyok_protocol::Score;

use crate::{GameOutcome, GameResult, Side, Square, Termination};

/// The annotations of a move or, at the root, of the start position.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Annotations {
    /// Comments before the move if it begins a variation. Only PGN supports them.
    pub before: Vec<String>,
    /// Comments after the move. They can have several lines.
    pub comments: Vec<String>,
    /// Glyphs such as `!?`.
    pub nags: Vec<Nag>,
    /// The remaining time of the player after the move.
    pub clock: Option<Duration>,
    /// The time spent on the move.
    pub elapsed: Option<Duration>,
    /// The evaluation of the position after the move.
    pub evaluation: Option<Evaluation>,
    /// Marked squares and arrows. Only PGN supports them.
    pub marks: Vec<Mark>,
    /// How the game or the variation ended after this move.
    pub end: Option<End>,
}

impl Annotations {
    /// Whether there are no annotations.
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
    /// The evaluation of a side from its own view.
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
    /// The marked square, or the start of the arrow.
    pub from: Square,
    /// The end of the arrow. `None` for a square.
    pub to: Option<Square>,
}

/// The colors of marks.
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

/// The end of a line of moves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// The result of the line and what ended it.
    pub outcome: GameOutcome,
    /// The text of [`Termination::Other`].
    pub text: Option<String>,
    /// The time spent before it.
    pub elapsed: Option<Duration>,
    /// Comments after it.
    pub comments: Vec<String>,
}

impl End {
    /// An end that is described only by a text.
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
