//! Damaged files. They are moved to a directory of their own, where they can be repaired, and the server starts with the
//! others.
//!
//! | damaged | moved to `damaged/N` |
//! |---|---|
//! | `app.sqlite` | the file |
//! | `library.sqlite` | the file, with a copy of `app.sqlite`, where open games and references to games are deleted: new games get the numbers of the old ones |
//! | an open game in `app.sqlite` | its blob; the game is in the library as it was written there |

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use super::{FILES, LIBRARY, StoreError};
use crate::data_dir;
use crate::wire::{DamagedFile, GameId};

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

    /// Writes the blob of a damaged open game.
    pub(super) fn keep_game(&mut self, game: GameId, blob: &[u8]) -> Result<(), StoreError> {
        let path = self.directory()?.join(format!("{}{game}{}", GAME.0, GAME.1));
        let written = data_dir::replace(&path).and_then(|mut file| file.write_all(blob));
        written.map_err(|error| StoreError::File(path, error))
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

/// The name of the file of a damaged open game, around its number.
const GAME: (&str, &str) = ("game-", ".document");

/// The files that were moved at this start or an earlier one, and that have not been taken away since.
pub(super) fn moved_files(data: &Path) -> Vec<DamagedFile> {
    let entries = fs::read_dir(data.join(DIRECTORY)).into_iter().flatten().flatten();
    let mut directories: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    directories.sort();
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let app = text(&data.join(FILES[0]));
    let mut files = Vec::new();
    for directory in directories {
        // The copy of the other file belongs to the library.
        let moved = [LIBRARY, FILES[0]].into_iter().find(|name| directory.join(name).exists());
        files.extend(moved.map(|name| DamagedFile {
            path: text(&data.join(name)),
            moved_to: Some(text(&directory.join(name))),
            game: None,
        }));
        let names = fs::read_dir(&directory).into_iter().flatten().flatten();
        let games = names.filter_map(|entry| {
            let name = entry.file_name();
            let number = name.to_str()?.strip_prefix(GAME.0)?.strip_suffix(GAME.1)?.parse();
            Some((number.ok()?, entry.path()))
        });
        let mut games: Vec<(GameId, PathBuf)> = games.collect();
        games.sort();
        files.extend(games.into_iter().map(|(game, path)| DamagedFile {
            path: app.clone(),
            moved_to: Some(text(&path)),
            game: Some(game),
        }));
    }
    // Earlier versions stored changes of open games in this file, and empty it when all are closed.
    let earlier = data.join("open.sqlite");
    if has_open_games(&earlier) {
        files.push(DamagedFile { path: text(&earlier), moved_to: None, game: None });
    }
    files
}

fn has_open_games(path: &Path) -> bool {
    let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY);
    let count =
        |db: Connection| db.query_row("SELECT count(*) FROM open_game", [], |row| row.get(0));
    db.and_then(count).is_ok_and(|count: i64| count > 0)
}
