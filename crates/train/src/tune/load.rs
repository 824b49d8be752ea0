//! Loads files of games as positions.

use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};

use narikin::eval::Model;

use super::dataset::{Dataset, Full};
use crate::data::{DataError, Reader};
use crate::games::TrainGame;
use crate::samples::{self, Filter, ReplayError};
use crate::scale::Scores;

/// One of this number of games is used for validation.
const VALIDATION_INTERVAL: u64 = 16;

/// Training and validation positions. They are separated by game, because positions of one game are too
/// similar.
#[derive(Debug, Default)]
pub struct Split {
    /// The training set.
    pub training: Dataset,
    /// The validation set: every 16th game.
    pub validation: Dataset,
    /// The scores and results of the training set.
    pub scores: Scores,
}

/// Why positions cannot be loaded.
#[derive(Debug)]
pub enum LoadError {
    /// The file cannot be read.
    Data(DataError),
    /// The file is of another game.
    OtherGame(PathBuf),
    /// A game cannot be replayed.
    Replay {
        /// The file.
        path: PathBuf,
        /// The number of the game, from 0.
        game: u64,
        /// The reason.
        why: ReplayError,
    },
    /// There are too many positions.
    Full(Full),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Data(error) => error.fmt(f),
            Self::OtherGame(path) => write!(f, "`{}` is a file of another game", path.display()),
            Self::Replay { path, game, why } => {
                write!(f, "game {game} of `{}` cannot be played: {why}", path.display())
            }
            Self::Full(error) => error.fmt(f),
        }
    }
}

impl Error for LoadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Data(error) => error.source(),
            Self::Replay { why, .. } => Some(why),
            Self::OtherGame(_) | Self::Full(_) => None,
        }
    }
}

impl From<DataError> for LoadError {
    fn from(error: DataError) -> Self {
        Self::Data(error)
    }
}

/// Loads the positions of files that pass a filter.
///
/// # Errors
/// See [`LoadError`].
pub fn load<G: TrainGame, M: Model<Board = G::Board>>(
    paths: &[impl AsRef<Path>],
    filter: &Filter,
) -> Result<Split, LoadError> {
    let mut split = Split::default();
    for path in paths {
        let path = path.as_ref();
        let reader = Reader::open(path)?;
        if reader.header().game != G::KIND {
            return Err(LoadError::OtherGame(path.to_owned()));
        }
        for (game, record) in (0..).zip(reader) {
            let record = record?;
            let validates = game % VALIDATION_INTERVAL == VALIDATION_INTERVAL - 1;
            let data = if validates { &mut split.validation } else { &mut split.training };
            let mut pushed = Ok(());
            samples::each::<G>(&record, filter, |sample| {
                if !validates {
                    split.scores.add(sample.score, record.winner);
                }
                if pushed.is_ok() {
                    pushed = data.push::<M>(sample.board, sample.score, record.winner);
                }
            })
            .map_err(|why| LoadError::Replay { path: path.to_owned(), game, why })?;
            pushed.map_err(LoadError::Full)?;
        }
    }
    Ok(split)
}
