//! The headers of a record: players, event, date and any other, in order.

use crate::{Game, Side};

/// Names with values, in the order of the file. A name can occur more than once.
///
/// Names are those of the game's own formats: PGN for chess (`White`, `Event`), KIF for shogi (`先手`,
/// `棋戦`). The names of CSA and JKF are translated to those of KIF. [`Tag`] has the names of the
/// common headers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headers(Vec<(String, String)>);

impl Headers {
    /// The first value of a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Sets the value of a name: replaces its first value, or appends a header.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        let name = name.into();
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value.into(),
            None => self.0.push((name, value.into())),
        }
    }

    /// Appends a header, even if the name already exists.
    pub fn push(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.push((name.into(), value.into()));
    }

    /// Removes all values of a name and returns the first.
    pub fn remove(&mut self, name: &str) -> Option<String> {
        let first = self.get(name).map(str::to_owned);
        self.0.retain(|(known, _)| known != name);
        first
    }

    /// Removes the first value of a name.
    pub(super) fn remove_first(&mut self, name: &str) {
        if let Some(index) = self.0.iter().position(|(known, _)| known == name) {
            self.0.remove(index);
        }
    }

    /// All headers, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The number of headers.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no headers.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
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
