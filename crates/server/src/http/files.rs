//! The file picker: directories below the allowed roots.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use axum::Json;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::Service;
use super::rest::rejected;
use crate::engine::is_program;
use crate::game::io_error;
use crate::wire::{ApiError, Directory, DirectoryEntry, ErrorCategory, ErrorCode, ErrorSubject};

/// Maximum number of shown entries of a directory.
const MOST: usize = 2000;

#[derive(Deserialize)]
pub(super) struct Asked {
    path: Option<String>,
}

pub(super) async fn directory(
    State(service): State<Service>,
    Query(asked): Query<Asked>,
) -> Response {
    let roots = service.roots;
    let read = tokio::task::spawn_blocking(move || match asked.path {
        None => Ok(list_of_roots(&roots)),
        Some(path) => list(Path::new(&path), &roots),
    });
    match read.await {
        Ok(Ok(directory)) => Json(directory).into_response(),
        Ok(Err(error)) => rejected(error),
        Err(_) => rejected(ApiError::storage(ErrorCode::Unreadable)),
    }
}

/// The canonical path below one of the roots. Links must not lead out of them. Missing files are reported only
/// within the roots.
pub(super) fn allowed(path: &Path, roots: &[PathBuf]) -> Result<PathBuf, ApiError> {
    let outside = || ApiError::new(ErrorCategory::InvalidPath, ErrorCode::PathNotAllowed);
    if !path.is_absolute() {
        return Err(outside());
    }
    let real = path.canonicalize().map_err(|error| match path.parent() {
        Some(parent) if error.kind() == ErrorKind::NotFound && allowed(parent, roots).is_ok() => {
            ApiError::new(
                ErrorCategory::InvalidPath,
                ErrorCode::NotFound { subject: ErrorSubject::File },
            )
        }
        _ => outside(),
    })?;
    let is_below = |root: &PathBuf| root.canonicalize().is_ok_and(|root| real.starts_with(root));
    if roots.iter().any(is_below) { Ok(real) } else { Err(outside()) }
}

fn list_of_roots(roots: &[PathBuf]) -> Directory {
    // A PATH may contain a directory more than once.
    let mut seen = HashSet::new();
    let entries = roots.iter().filter(|root| seen.insert(*root)).filter_map(|root| entry(root));
    let entries = entries.collect();
    Directory { path: None, parent: None, entries, truncated: false }
}

fn list(path: &Path, roots: &[PathBuf]) -> Result<Directory, ApiError> {
    let real = allowed(path, roots)?;
    let unreadable = |error| ApiError::new(ErrorCategory::InvalidPath, io_error(&error));
    let all = std::fs::read_dir(&real).map_err(unreadable)?;
    let mut entries: Vec<DirectoryEntry> =
        all.flatten().take(20 * MOST).filter_map(|it| entry(&it.path())).collect();
    entries.sort_by(|a, b| (!a.directory, &a.name).cmp(&(!b.directory, &b.name)));
    let truncated = MOST < entries.len();
    entries.truncate(MOST);
    let parent = real.parent().filter(|parent| allowed(parent, roots).is_ok());
    Ok(Directory {
        path: real.to_str().map(str::to_owned),
        parent: parent.and_then(Path::to_str).map(str::to_owned),
        entries,
        truncated,
    })
}

/// An entry of a directory. Names that are not UTF-8 are left out.
fn entry(path: &Path) -> Option<DirectoryEntry> {
    let about = path.metadata().ok()?;
    let text = path.to_str()?;
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or(text);
    Some(DirectoryEntry {
        name: name.to_owned(),
        path: text.to_owned(),
        directory: about.is_dir(),
        program: is_program(path),
        size: about.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_that_is_named_twice_is_shown_once() {
        let directory = tempfile::tempdir().expect("a directory");
        let roots = ["a", "b", "a"].map(|name| directory.path().join(name));
        for root in &roots {
            std::fs::create_dir_all(root).expect("it is made");
        }
        let shown: Vec<String> =
            list_of_roots(&roots).entries.into_iter().map(|entry| entry.name).collect();
        assert_eq!(shown, ["a", "b"]);
    }

    #[test]
    fn nothing_outside_of_the_roots_is_shown() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path().join("root");
        std::fs::create_dir_all(root.join("below")).expect("it is made");
        let roots = [root.clone()];
        assert!(allowed(&root.join("below"), &roots).is_ok());
        assert!(allowed(&root.join("below/.."), &roots).is_ok());
        assert!(allowed(&root.join(".."), &roots).is_err());
        assert!(allowed(Path::new("below"), &roots).is_err());
        assert!(allowed(Path::new("/etc"), &roots).is_err());
        let code = |path: &Path| allowed(path, &roots).expect_err("it does not exist").error.code;
        assert_eq!(
            code(&root.join("none.pgn")),
            ErrorCode::NotFound { subject: ErrorSubject::File }
        );
        assert_eq!(code(&directory.path().join("none.pgn")), ErrorCode::PathNotAllowed);
        assert_eq!(code(&root.join("../none.pgn")), ErrorCode::PathNotAllowed);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("/etc", root.join("out")).expect("it is made");
            assert!(allowed(&root.join("out"), &roots).is_err());
        }
        let shown = list(&root, &roots).expect("it can be read");
        assert_eq!(shown.parent, None);
        assert!(shown.entries.iter().any(|entry| entry.name == "below" && entry.directory));
    }
}
