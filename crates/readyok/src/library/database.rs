//! The database of a command: that of the app, or another file.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use readyok_library::{Error, Filter, Library, LibraryDefect};
use readyok_rules::record::Condition;
use readyok_server::{LIBRARY, create_library, is_running};

use crate::convert::Progress;
use crate::dirs;
use crate::exit::Failure;

/// A database that may not exist yet.
#[derive(Clone, Debug)]
pub(crate) struct Database {
    pub(crate) path: PathBuf,
    /// The data directory of the app, if the database is in it.
    data: Option<PathBuf>,
}

impl Database {
    /// The given file, or the database of the app.
    pub(crate) fn find(path: Option<&Path>) -> Result<Self, Failure> {
        if let Some(path) = path {
            let path = std::path::absolute(path).map_err(Failure::usage)?;
            let is_of_app = path.file_name().is_some_and(|name| name == LIBRARY);
            let data = path.parent().filter(|_| is_of_app).map(Path::to_owned);
            return Ok(Self { path, data });
        }
        let data = dirs::data(&dirs::env);
        let data = data.ok_or_else(|| Failure::usage("no data directory: use --database FILE"))?;
        Ok(Self { path: data.join(LIBRARY), data: Some(data) })
    }

    /// Whether the app that uses the database is running.
    pub(crate) fn is_in_app(&self) -> bool {
        self.data.as_deref().is_some_and(is_running)
    }

    /// Opens an existing database, whose games are all indexed then.
    pub(crate) fn open(&self) -> Result<Arc<Library>, Failure> {
        if !self.path.exists() {
            let path = self.path.display();
            return Err(Failure::usage(format!(
                "no database `{path}`: `readyok library import` creates it"
            )));
        }
        self.open_or_create()
    }

    /// Opens a database, which is created if it does not exist.
    pub(crate) fn open_or_create(&self) -> Result<Arc<Library>, Failure> {
        if let Some(data) = &self.data
            && !self.path.exists()
        {
            create_library(data).map_err(|error| self.unusable(&error))?;
        }
        let library = Library::open(&self.path).map_err(|error| self.unusable(&error))?;
        library.wait_until_indexed().map_err(|error| self.unusable(&error))?;
        Ok(Arc::new(library))
    }

    /// The failure of a command that writes.
    pub(crate) fn failed(&self, error: Error) -> Failure {
        failure(error).at(&self.path)
    }

    /// The failure of a command that has changed nothing.
    pub(crate) fn unusable(&self, error: &dyn std::fmt::Display) -> Failure {
        Failure::usage(format!("`{}`: {error}", self.path.display()))
    }
}

/// The failure of a request: exit code 2 if the database cannot be used.
pub(crate) fn failure(error: Error) -> Failure {
    match error {
        Error::Defect(LibraryDefect::DiskFull) | Error::Io(_) => Failure::failed(error),
        Error::Defect(_) => Failure::usage(error),
        error => Failure::failed(error),
    }
}

/// A query with its progress.
pub(super) fn watched<T>(
    condition: &Condition,
    query: impl FnOnce(Filter<'_>) -> Result<T, Error>,
) -> Result<T, Failure> {
    let progress: RefCell<Option<(Progress, Arc<AtomicU64>)>> = RefCell::default();
    let watch = |done: usize, all: usize| {
        let mut progress = progress.borrow_mut();
        let (progress, counter) = progress.get_or_insert_with(|| {
            let counter = Arc::new(AtomicU64::new(0));
            (Progress::new("games searched", Some(all as u64), Arc::clone(&counter)), counter)
        });
        counter.store(done as u64, Ordering::Relaxed);
        progress.update(done as u64);
        ControlFlow::Continue(())
    };
    let result = query(Filter::watched(condition, &watch)).map_err(failure);
    if let Some((mut progress, _)) = progress.into_inner() {
        progress.clear();
    }
    result
}
