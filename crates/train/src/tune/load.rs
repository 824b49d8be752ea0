//! Reads files of games into positions to fit to.

use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};

use narikin::eval::Model;

use super::dataset::{Dataset, Full};
use crate::data::{DataError, Reader};
use crate::games::TrainGame;
use crate::samples::{self, Filter, ReplayError};
use crate::scale::Scores;

/// One game of so many is kept for validation.
const SHARE: u64 = 16;

/// Positions, apart by games: those of one game are too much alike to test what was learnt from the
/// others of it.
#[derive(Debug, Default)]
pub struct Split {
    /// What weights are fitted to.
    pub training: Dataset,
    /// What they are tested on: the games whose number leaves 15 when divided by 16.
    pub validation: Dataset,
    /// What the scores of the former are worth in results.
    pub scores: Scores,
}

/// Why positions cannot be read.
#[derive(Debug)]
pub enum LoadError {
    /// The file cannot be read.
    Data(DataError),
    /// It is of another game.
    OtherGame(PathBuf),
    /// A game in it cannot be played.
    Replay {
        /// The file.
        path: PathBuf,
        /// The number of the game, from 0 on.
        game: u64,
        /// Why it cannot be played.
        why: ReplayError,
    },
    /// There are too many.
    Full(Full),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Data(error) => error.fmt(f),
            Self::OtherGame(path) => write!(f, "`{}` has games of another kind", path.display()),
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

/// Reads the positions of files that pass a filter, as a model sees them.
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
            let is_kept = game % SHARE == SHARE - 1;
            let data = if is_kept { &mut split.validation } else { &mut split.training };
            let mut pushed = Ok(());
            samples::each::<G>(&record, filter, |sample| {
                if !is_kept {
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
