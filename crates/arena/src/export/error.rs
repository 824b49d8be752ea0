//! Errors of exports.

use std::path::{Path, PathBuf};
use std::{error, fmt, io};

use crate::pairing::PairResult;
use crate::store::StoreError;

/// An error of an export file.
#[derive(Debug)]
#[non_exhaustive]
pub enum ExportError {
    /// An I/O error.
    Io {
        /// The file.
        path: PathBuf,
        /// The failed operation.
        what: &'static str,
        /// The cause.
        error: io::Error,
    },
    /// The format does not support the game of the match.
    Form {
        /// The file.
        path: PathBuf,
    },
    /// A game cannot be written.
    Game {
        /// The file.
        path: PathBuf,
        /// The pair.
        pair: u64,
        /// The reason.
        why: String,
    },
    /// The start of the records cannot be stored.
    Store(StoreError),
}

impl ExportError {
    pub(super) fn io(path: &Path, what: &'static str, error: io::Error) -> Self {
        Self::Io { path: path.to_owned(), what, error }
    }

    pub(super) fn game(path: &Path, pair: &PairResult, why: String) -> Self {
        Self::Game { path: path.to_owned(), pair: pair.pairing.index, why }
    }
}

/// Adds the path and the failed operation to an I/O error.
pub(super) trait At<T> {
    fn at(self, path: &Path, what: &'static str) -> Result<T, ExportError>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, path: &Path, what: &'static str) -> Result<T, ExportError> {
        self.map_err(|error| ExportError::io(path, what, error))
    }
}

impl From<StoreError> for ExportError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, what, error } => write!(f, "`{}` {what}: {error}", path.display()),
            Self::Form { path } => {
                write!(
                    f,
                    "`{}` cannot be written: PGN is for chess, CSA and KIF are for shogi",
                    path.display()
                )
            }
            Self::Game { path, pair, why } => {
                write!(f, "pair {pair} cannot be written to `{}`: {why}", path.display())
            }
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl error::Error for ExportError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Io { error, .. } => Some(error),
            Self::Store(error) => Some(error),
            Self::Form { .. } | Self::Game { .. } => None,
        }
    }
}
