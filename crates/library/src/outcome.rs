//! Decisions about duplicates, and what the writer did with new games.

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// The treatment of new games that equal games of the database or of the same import: the same moves, known and equal
/// players or an equal event and site, and dates that do not contradict each other. Chapters of a study are different
/// games.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "DuplicateChoice"))]
pub enum Duplicates {
    /// They are not added, unless they have more annotations than the known games.
    #[default]
    Skip,
    /// As [`Self::Skip`]. A game of Lichess or chess.com is also a duplicate of the game with its address, which may
    /// have been edited, and is not added then.
    #[serde(skip)]
    SkipOnline,
    /// They are added.
    Keep,
    /// They replace the known game if they have more annotations, and are not added otherwise. Where that would lose
    /// something, they wait as with [`Self::Ask`]: if the app has opened the known game, or it has notes of engines.
    Replace,
    /// They are stored, but not visible until a decision.
    Ask,
}

/// The numbers of duplicates of a decision.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Decided {
    /// Those that are decided.
    pub decided: usize,
    /// Those that remain undecided because the game to be replaced is open.
    pub open: usize,
}

/// The treatment of duplicates that wait for a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "DuplicateDecision"))]
pub enum Decision {
    /// They are deleted.
    Skip,
    /// They are added.
    Keep,
    /// They replace the known games.
    Replace,
}

/// What the writer did with a new game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It was added with this number.
    Added(u32),
    /// It equals this game and was not added.
    Duplicate(u32),
    /// It replaced this game.
    Replaced(u32),
    /// It equals this game and is not visible until [`Library::decide`](crate::Library::decide).
    Undecided(u32),
}

impl Outcome {
    /// The game that was added, or the known one.
    #[must_use]
    pub fn game(self) -> u32 {
        match self {
            Self::Added(id) | Self::Duplicate(id) | Self::Replaced(id) | Self::Undecided(id) => id,
        }
    }
}

/// The response of the writer for a batch.
pub(crate) type Outcomes = Result<Vec<Outcome>, Error>;
