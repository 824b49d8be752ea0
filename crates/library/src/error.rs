//! Errors of the database.

use std::io;

use rusqlite::ErrorCode;

use crate::varint::Corrupt;

/// An operation on the database failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// `SQLite` reported an error.
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// A file operation failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file has another version of the schema. It was not changed.
    #[error("the library has version {found}, this program needs version {expected}")]
    Version {
        /// The version of the file.
        found: i64,
        /// The version that this program reads and writes.
        expected: i64,
    },
    /// The file is a database of another program. It was not changed.
    #[error("the file is not a library of games")]
    Foreign,
    /// A stored value is corrupt.
    #[error("the library contains corrupt data")]
    Corrupt,
    /// The writer has stopped after an earlier error.
    #[error("the library was closed after an error")]
    Stopped,
    /// The maximum number of games is reached.
    #[error("the library contains the maximum number of games")]
    Full,
    /// No item has this number.
    #[error("{0} not found: {1}")]
    NotFound(Item, u32),
    /// The maximum number is reached.
    #[error("too many: {0}")]
    TooMany(Item),
    /// The name is empty, too long, or contains control characters.
    #[error("invalid name of a {0}")]
    InvalidName(Item),
}

readyok_protocol::texts! {
    /// A part of the database.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Item {
        Game => "game",
        /// A collection of games.
        Collection => "collection",
        /// A game of a collection.
        Chapter => "chapter",
    }
}

impl Error {
    /// Whether the file has another content than this program has written.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Corrupt => true,
            Self::Sqlite(error) => is_damage(error),
            Self::Io(_)
            | Self::Version { .. }
            | Self::Foreign
            | Self::Stopped
            | Self::Full
            | Self::NotFound(..)
            | Self::TooMany(_)
            | Self::InvalidName(_) => false,
        }
    }
}

/// Whether the content of a database is damaged.
pub fn is_damage(error: &rusqlite::Error) -> bool {
    match error {
        rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::InvalidColumnType(..) => true,
        error => matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
        ),
    }
}

impl From<Corrupt> for Error {
    fn from(_: Corrupt) -> Self {
        Self::Corrupt
    }
}
