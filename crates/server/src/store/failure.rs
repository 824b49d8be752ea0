//! Errors of the library and of the store as error codes.

use readyok_library::Error as Failed;
use rusqlite::ErrorCode as Failure;

use super::StoreError;
use crate::wire::{ApiError, ErrorCode};

/// An error of the library as an error code.
pub(crate) fn library_error(error: &StoreError) -> ErrorCode {
    match error {
        StoreError::Closed | StoreError::Library(Failed::Stopped) => ErrorCode::LibraryClosed,
        StoreError::Content(_) | StoreError::Library(Failed::Corrupt) => ErrorCode::LibraryDamaged,
        StoreError::Database(failure) | StoreError::Library(Failed::Sqlite(failure)) => {
            match failure.sqlite_error_code() {
                Some(Failure::DiskFull) => ErrorCode::DiskFull,
                Some(Failure::ReadOnly) => ErrorCode::LibraryReadOnly,
                Some(Failure::DatabaseBusy | Failure::DatabaseLocked) => ErrorCode::LibraryInUse,
                Some(Failure::DatabaseCorrupt | Failure::NotADatabase) => ErrorCode::LibraryDamaged,
                _ => ErrorCode::system(error),
            }
        }
        StoreError::Unusable(_, error) => library_error(error),
        StoreError::File(..) | StoreError::Version(..) | StoreError::Library(_) => {
            ErrorCode::system(error)
        }
    }
}

/// An error of the library for the answer to a command.
#[expect(clippy::needless_pass_by_value, reason = "it maps errors")]
pub(crate) fn storage(error: StoreError) -> ApiError {
    ApiError::storage(library_error(&error))
}

#[cfg(test)]
mod tests {
    use rusqlite::{Error, ffi};

    use super::*;

    #[test]
    fn failures_of_the_library_have_error_codes() {
        let code = |code| {
            let error = Error::SqliteFailure(ffi::Error::new(code), Some("text".to_owned()));
            library_error(&error.into())
        };
        assert_eq!(code(ffi::SQLITE_FULL), ErrorCode::DiskFull);
        assert_eq!(code(ffi::SQLITE_READONLY), ErrorCode::LibraryReadOnly);
        assert_eq!(code(ffi::SQLITE_BUSY), ErrorCode::LibraryInUse);
        assert_eq!(code(ffi::SQLITE_CORRUPT), ErrorCode::LibraryDamaged);
        let text = "app.sqlite failed: text".to_owned();
        assert_eq!(code(ffi::SQLITE_CONSTRAINT), ErrorCode::System { text });
    }
}
