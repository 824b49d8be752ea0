//! Headers of a record, and annotations of moves: comments, NAGs, times, evaluations, marks, ends.

use std::{fmt, time::Duration};

use readyok_protocol::Score;

use crate::{Game, GameOutcome, GameResult, Side, Square, Termination};

/// Names with values, in the order of the file. A name can occur more than once.
///
/// Names are those of the game's own formats: PGN for chess (`White`, `Event`), KIF for shogi (`先手`,
/// `棋戦`). The names of CSA and JKF are translated to those of KIF. [`Tag`] has the names of the
/// common headers.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers {
    /// All names and values. One text needs fewer allocations.
    text: String,
    entries: Vec<HeaderEnds>,
}

/// The ends of a name and of the value after it, in the text of all headers.
#[derive(Clone, Copy, PartialEq, Eq)]
struct HeaderEnds {
    name: usize,
    value: usize,
}

impl Headers {
    /// The first value of a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// Sets the value of a name: replaces its first value, or appends a header.
    pub fn set(&mut self, name: impl AsRef<str>, value: impl AsRef<str>) {
        let (name, value) = (name.as_ref(), value.as_ref());
        let Some(index) = self.index_of(name) else { return self.push(name, value) };
        if let Some(entry) = self.entries.get_mut(index) {
            let HeaderEnds { name, value: old } = *entry;
            entry.value = name + value.len();
            self.text.replace_range(name..old, value);
            self.move_ends(index + 1, old, name + value.len());
        }
    }

    /// Appends a header, even if the name already exists.
    pub fn push(&mut self, name: impl AsRef<str>, value: impl AsRef<str>) {
        if self.entries.is_empty() {
            // Enough for the headers of most games.
            self.text.reserve(256);
            self.entries.reserve(16);
        }
        self.text.push_str(name.as_ref());
        let name = self.text.len();
        self.text.push_str(value.as_ref());
        self.entries.push(HeaderEnds { name, value: self.text.len() });
    }

    /// Removes all values of a name and returns the first.
    pub fn remove(&mut self, name: &str) -> Option<String> {
        let first = self.remove_first(name);
        while first.is_some() && self.remove_first(name).is_some() {}
        first
    }

    /// Removes the first value of a name.
    pub(super) fn remove_first(&mut self, name: &str) -> Option<String> {
        let index = self.index_of(name)?;
        let start = self.start(index);
        let HeaderEnds { name, value } = self.entries.remove(index);
        let removed = self.text.get(name..value).map(str::to_owned);
        self.text.replace_range(start..value, "");
        self.move_ends(index, value, start);
        removed
    }

    fn index_of(&self, name: &str) -> Option<usize> {
        self.iter().position(|(known, _)| known == name)
    }

    /// The start of a header's name.
    fn start(&self, index: usize) -> usize {
        let before = index.checked_sub(1).and_then(|before| self.entries.get(before));
        before.map_or(0, |before| before.value)
    }

    /// Moves headers after a change of the text before them.
    fn move_ends(&mut self, from: usize, old: usize, new: usize) {
        for entry in self.entries.iter_mut().skip(from) {
            for end in [&mut entry.name, &mut entry.value] {
                *end = *end - old + new;
            }
        }
    }

    /// All headers, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut start = 0;
        self.entries.iter().map(move |&HeaderEnds { name, value }| {
            let part = |part| self.text.get(part).unwrap_or_default();
            let header = (part(start..name), part(name..value));
            start = value;
            header
        })
    }

    /// The number of headers.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no headers.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// A header that has a name in every game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tag {
    /// The tournament or match.
    Event,
    /// The place where the game was played.
    Site,
    /// The start: `2026.11.21` in chess, `2026/11/21 10:00:00` in shogi.
    Date,
    /// The round of the event.
    Round,
    /// The name of a player.
    Player(Side),
    /// The time control: `300+3` in chess, free text in shogi.
    TimeControl,
    /// The name of the opening.
    Opening,
}

impl Tag {
    /// The name of the header in records of a game.
    pub fn name(self, game: Game) -> &'static str {
        let (chess, shogi) = match self {
            Self::Event => ("Event", "棋戦"),
            Self::Site => ("Site", "場所"),
            Self::Date => ("Date", "開始日時"),
            Self::Round => ("Round", "回戦"),
            Self::Player(Side::First) => ("White", "先手"),
            Self::Player(Side::Second) => ("Black", "後手"),
            Self::TimeControl => ("TimeControl", "持ち時間"),
            Self::Opening => ("Opening", "戦型"),
        };
        match game {
            Game::Chess | Game::Chess960 => chess,
            Game::Shogi => shogi,
        }
    }
}

/// The header of a player in a handicap game of shogi.
pub(super) fn handicap_player(side: Side) -> &'static str {
    match side {
        Side::First => "下手",
        Side::Second => "上手",
    }
}

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
    pub(super) const EMPTY: Self = Self {
        before: Vec::new(),
        comments: Vec::new(),
        nags: Vec::new(),
        clock: None,
        elapsed: None,
        evaluation: None,
        marks: Vec::new(),
        end: None,
    };

    /// Whether there are no annotations.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A numeric annotation glyph of PGN: 1 is `!`, 2 `?`, 3 `‼`, 4 `⁇`, 5 `⁉`, 6 `⁈`, and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Nag(pub u8);

impl Nag {
    /// Whether the glyph assesses the move, as `!` and `??` do. A move has at most one of them.
    pub fn is_move_assessment(self) -> bool {
        matches!(self.0, 1..=6)
    }
}

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
