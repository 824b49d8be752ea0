//! Plays games of Narikin against itself.
//!
//! Game number k depends only on the settings, the program and k. A run can be interrupted and resumed
//! with the same file.

mod game;
mod judge;
mod opening;
mod player;
mod run;

use std::collections::TryReserveError;
use std::error::Error;
use std::fmt;

use crate::data::DataError;

pub use run::{Progress, Until, run};

/// Why games cannot be played.
#[derive(Debug)]
pub enum GenerateError {
    /// The file cannot be read or written.
    Data(DataError),
    /// There is no memory for the search.
    Memory(TryReserveError),
    /// No balanced opening was found, as with an engine without knowledge.
    NoOpening {
        /// The number of the game.
        game: u64,
    },
}

impl fmt::Display for GenerateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Data(error) => error.fmt(f),
            Self::Memory(error) => write!(f, "no memory for the search: {error}"),
            Self::NoOpening { game } => write!(f, "no opening found for game {game}"),
        }
    }
}

impl Error for GenerateError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Data(error) => error.source(),
            Self::Memory(error) => Some(error),
            Self::NoOpening { .. } => None,
        }
    }
}

impl From<DataError> for GenerateError {
    fn from(error: DataError) -> Self {
        Self::Data(error)
    }
}

impl From<TryReserveError> for GenerateError {
    fn from(error: TryReserveError) -> Self {
        Self::Memory(error)
    }
}
