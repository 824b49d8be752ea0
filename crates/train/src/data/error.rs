//! What can be wrong with a file of games.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a file of games cannot be read or written.
#[derive(Debug)]
pub enum DataError {
    /// The system does not let it.
    Io {
        /// The file.
        path: PathBuf,
        /// What could not be done to it.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// It does not begin as such a file does.
    NoHeader {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// It is damaged, and not only at its end.
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where the damaged block begins, in bytes.
        offset: u64,
        /// What is wrong with it.
        why: String,
    },
    /// Another program writes it.
    Locked(PathBuf),
    /// It is to go on with other settings than it began with.
    OtherSettings {
        /// The file.
        path: PathBuf,
        /// What differs.
        what: &'static str,
    },
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, what, source } => {
                write!(f, "`{}` cannot be {what}: {source}", path.display())
            }
            Self::NoHeader { path, why } => {
                write!(f, "`{}` is no file of games: {why}", path.display())
            }
            Self::Damaged { path, offset, why } => {
                write!(f, "`{}` is damaged at byte {offset}: {why}", path.display())
            }
            Self::Locked(path) => {
                write!(f, "`{}` is being written by another program", path.display())
            }
            Self::OtherSettings { path, what } => {
                write!(f, "`{}` was begun with another {what}", path.display())
            }
        }
    }
}

impl Error for DataError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::NoHeader { .. }
            | Self::Damaged { .. }
            | Self::Locked(_)
            | Self::OtherSettings { .. } => None,
        }
    }
}

/// Names the file in an error of the system.
pub(super) trait At<T> {
    fn at(self, path: &Path, what: &'static str) -> Result<T, DataError>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, path: &Path, what: &'static str) -> Result<T, DataError> {
        self.map_err(|source| DataError::Io { path: path.to_owned(), what, source })
    }
}
