//! Errors of the database.

use std::{fmt, io};

use rusqlite::ErrorCode;

use crate::varint::Corrupt;

/// An operation on the database failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// `SQLite` reported an error.
    Sqlite(rusqlite::Error),
    /// A file operation failed.
    Io(io::Error),
    /// The file has another version of the schema. It was not changed.
    Version {
        /// The version of the file.
        found: i64,
        /// The version that this program reads and writes.
        expected: i64,
    },
    /// The file is a database of another program. It was not changed.
    Foreign,
    /// A stored value is corrupt.
    Corrupt,
    /// The writer has stopped after an earlier error.
    Stopped,
    /// The maximum number of games is reached.
    Full,
    /// No item has this number.
    NotFound(Item, u32),
    /// The maximum number is reached.
    TooMany(Item),
    /// The name is empty, too long, or contains control characters.
    InvalidName(Item),
}

/// A part of the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Item {
    /// A game.
    Game,
    /// A collection of games.
    Collection,
    /// A game of a collection.
    Chapter,
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Game => "game",
            Self::Collection => "collection",
            Self::Chapter => "chapter",
        })
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

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(error) => error.fmt(f),
            Self::Io(error) => error.fmt(f),
            Self::Version { found, expected } => {
                write!(f, "the library has version {found}, this program needs version {expected}")
            }
            Self::Foreign => f.write_str("the file is not a library of games"),
            Self::Corrupt => f.write_str("the library contains corrupt data"),
            Self::Stopped => f.write_str("the library was closed after an error"),
            Self::Full => f.write_str("the library contains the maximum number of games"),
            Self::NotFound(item, number) => write!(f, "{item} not found: {number}"),
            Self::TooMany(item) => write!(f, "too many: {item}"),
            Self::InvalidName(item) => write!(f, "invalid name of a {item}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Sqlite(error) => Some(error),
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Corrupt> for Error {
    fn from(_: Corrupt) -> Self {
        Self::Corrupt
    }
}
