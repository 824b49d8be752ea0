//! Errors of the database.

use std::io;

use rusqlite::ErrorCode;
use serde::{Deserialize, Serialize};

use crate::varint::Corrupt;

/// An operation on the database failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// `SQLite` reported another error.
    #[error("the library failed: {0}")]
    Sqlite(rusqlite::Error),
    /// A file operation failed.
    #[error("the library failed: {0}")]
    Io(#[from] io::Error),
    /// The library cannot be used.
    #[error(transparent)]
    Defect(#[from] LibraryDefect),
    /// The observer of a query cancelled it.
    #[error("the search was cancelled")]
    Cancelled,
    /// No item has this number.
    #[error("{0} not found: {1}")]
    NotFound(Item, u32),
    /// The maximum number is reached.
    #[error("too many: {0}")]
    TooMany(Item),
    /// The name is not valid.
    #[error("{0} name is empty, too long or contains control characters")]
    InvalidName(Item),
}

readyok_protocol::errors! {
    /// Why a library cannot be used.
    #[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
    #[cfg_attr(feature = "ts", derive(ts_rs::TS))]
    #[serde(tag = "code", rename_all = "snake_case")]
    #[non_exhaustive]
    pub enum LibraryDefect {
        /// The file was not changed.
        LibraryVersion {
            /// The version of the file.
            found: i64,
            /// The version that this program reads and writes.
            expected: i64,
        } => "the library has version {found}, this program needs version {expected}",
        /// A database of another program. It was not changed.
        NoLibrary => "the file is not a library of games",
        LibraryDamaged => "the library is damaged",
        /// By its owner, or after an earlier error.
        LibraryClosed => "the library is closed",
        LibraryFull => "the library contains the maximum number of games",
        LibraryInUse => "another program uses the library",
        LibraryReadOnly => "the library is read-only",
        DiskFull => "the disk is full",
    }
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
        matches!(self, Self::Defect(LibraryDefect::LibraryDamaged))
    }
}

impl LibraryDefect {
    /// The defect that a database reports.
    pub fn of(error: &rusqlite::Error) -> Option<Self> {
        Some(match error.sqlite_error_code() {
            _ if is_damage(error) => Self::LibraryDamaged,
            Some(ErrorCode::DiskFull) => Self::DiskFull,
            Some(ErrorCode::ReadOnly) => Self::LibraryReadOnly,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::LibraryInUse,
            _ => return None,
        })
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        LibraryDefect::of(&error).map_or(Self::Sqlite(error), Self::Defect)
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
        LibraryDefect::LibraryDamaged.into()
    }
}
