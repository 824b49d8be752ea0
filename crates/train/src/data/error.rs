//! Errors of files of games.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a file of games cannot be read or written.
#[derive(Debug)]
pub enum DataError {
    /// An operation of the system failed.
    Io {
        /// The file.
        path: PathBuf,
        /// The operation that failed, as a participle.
        what: &'static str,
        /// The error.
        source: io::Error,
    },
    /// The header is missing or invalid.
    NoHeader {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// The file is damaged, not only at its end.
    Damaged {
        /// The file.
        path: PathBuf,
        /// The offset of the damaged block, in bytes.
        offset: u64,
        /// The reason.
        why: String,
    },
    /// Another process is writing the file.
    Locked(PathBuf),
    /// The file exists with other settings.
    OtherSettings {
        /// The file.
        path: PathBuf,
        /// The setting that differs.
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
                write!(f, "`{}` is not a file of games: {why}", path.display())
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

/// Adds the path to an I/O error.
pub(super) trait At<T> {
    fn at(self, path: &Path, what: &'static str) -> Result<T, DataError>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, path: &Path, what: &'static str) -> Result<T, DataError> {
        self.map_err(|source| DataError::Io { path: path.to_owned(), what, source })
    }
}
