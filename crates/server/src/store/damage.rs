//! Damaged files. They are moved to a directory of their own, where they can be repaired, and the server starts with the
//! others.
//!
//! | damaged | moved to `damaged/N` |
//! |---|---|
//! | `app.sqlite` | the file |
//! | `library.sqlite` | the file and `open.sqlite`, with a copy of `app.sqlite`, where references to games are deleted: new games get the numbers of the old ones |
//! | `open.sqlite` | the file |

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::{FILES, StoreError};
use crate::data_dir;
use crate::wire::DamagedFile;

/// The directory of damaged files in the data directory.
const DIRECTORY: &str = "damaged";
/// Maximum number of its directories.
const MAX_DIRECTORIES: u32 = 1000;

/// Whether a file has another content than this program has written.
pub(super) fn is_damage(error: &StoreError) -> bool {
    match error {
        StoreError::Content(_) => true,
        StoreError::Database(error) => readyok_library::is_damage(error),
        StoreError::Library(error) => error.is_damage(),
        StoreError::Unusable(_, error) => is_damage(error),
        StoreError::File(..) | StoreError::Version(..) | StoreError::Closed => false,
    }
}

/// Where the files of one start are moved.
#[derive(Debug)]
pub(super) struct Aside<'a> {
    data: &'a Path,
    directory: Option<PathBuf>,
}

impl<'a> Aside<'a> {
    pub(super) fn new(data: &'a Path) -> Self {
        Self { data, directory: None }
    }

    /// The directory, which is made when it is needed.
    fn directory(&mut self) -> Result<&Path, StoreError> {
        if self.directory.is_none() {
            let all = self.data.join(DIRECTORY);
            let mut numbers = 1..=MAX_DIRECTORIES;
            let free = numbers.find_map(|number| {
                let path = all.join(number.to_string());
                (!path.exists()).then_some(path)
            });
            let path = free.unwrap_or_else(|| all.join("full"));
            data_dir::create_dir(&path).map_err(|error| StoreError::File(path.clone(), error))?;
            self.directory = Some(path);
        }
        // It was set above.
        Ok(self.directory.as_deref().unwrap_or(self.data))
    }

    /// Moves a file of the data directory, with the files that `SQLite` stores next to it.
    pub(super) fn take(&mut self, name: &str) -> Result<(), StoreError> {
        let data = self.data;
        let directory = self.directory()?;
        // The file itself is last: until then it is found damaged again, and `SQLite` would apply the others to a new file.
        for ending in ["-shm", "-wal", ""] {
            let name = format!("{name}{ending}");
            let from = data.join(&name);
            if from.exists() {
                let moved = fs::rename(&from, directory.join(&name));
                moved.map_err(|error| StoreError::File(from, error))?;
            }
        }
        let path = data.join(name);
        data_dir::open(&path).map(drop).map_err(|error| StoreError::File(path, error))
    }

    /// Copies `app.sqlite`.
    pub(super) fn copy_app(&mut self, db: &Connection) -> Result<(), StoreError> {
        let path = self.directory()?.join(FILES[0]);
        if path.exists() {
            // It was damaged, too, and the new one has no references.
            return Ok(());
        }
        let copied = db.execute("VACUUM INTO ?1", [path.to_string_lossy()]);
        copied.map(drop).map_err(|error| StoreError::Unusable(path, Box::new(error.into())))
    }
}

/// The files that were moved at this start or an earlier one, and that have not been taken away since.
pub(super) fn moved_files(data: &Path) -> Vec<DamagedFile> {
    let Ok(entries) = fs::read_dir(data.join(DIRECTORY)) else { return Vec::new() };
    let mut directories: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    directories.sort();
    let [app, library, open] = FILES;
    let mut files = Vec::new();
    for directory in directories {
        let has = |name: &&str| directory.join(name).exists();
        // The others are next to the library because they belong to it.
        let names = if has(&library) { vec![library] } else { vec![app, open] };
        files.extend(names.into_iter().filter(has).map(|name| DamagedFile {
            path: data.join(name).to_string_lossy().into_owned(),
            moved_to: Some(directory.join(name).to_string_lossy().into_owned()),
        }));
    }
    files
}
