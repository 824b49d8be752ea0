//! Errors of the library and of the store as error codes.

use readyok_library::{Error as Failed, LibraryDefect};

use super::StoreError;
use crate::wire::{ApiError, ErrorCode};

/// An error of the library as an error code.
pub(crate) fn library_error(error: &StoreError) -> ErrorCode {
    match error {
        StoreError::Closed => LibraryDefect::LibraryClosed.into(),
        StoreError::Content(_) => LibraryDefect::LibraryDamaged.into(),
        StoreError::Library(Failed::Defect(defect)) => defect.clone().into(),
        StoreError::Database(failure) => match LibraryDefect::of(failure) {
            Some(defect) => defect.into(),
            None => ErrorCode::system(error),
        },
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
        assert_eq!(code(ffi::SQLITE_FULL), LibraryDefect::DiskFull.into());
        assert_eq!(code(ffi::SQLITE_READONLY), LibraryDefect::LibraryReadOnly.into());
        assert_eq!(code(ffi::SQLITE_BUSY), LibraryDefect::LibraryInUse.into());
        assert_eq!(code(ffi::SQLITE_CORRUPT), LibraryDefect::LibraryDamaged.into());
        let text = "app.sqlite failed: text".to_owned();
        assert_eq!(code(ffi::SQLITE_CONSTRAINT), ErrorCode::System { text });
    }
}
