//! The files of the server: games in the library, and everything else in `app.sqlite`.
//!
//! ```text
//!  Store ──┬── app.sqlite       open games and drafts, engines, settings, reports, jobs, games of matches, exercises
//!          └── library.sqlite   games
//! ```
//! The newest version of an open game is one row of `app.sqlite`, which an import does not lock. The game in the library
//! is replaced when the game ends or is closed, and before a search.

mod damage;
mod drafts;
mod exercise_tables;
mod exercises;
mod failure;
mod games;
mod reports;
mod search;
mod training_sets;
mod writer;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use readyok_library::{Library, LibraryDefect};
use rusqlite::{Connection, OptionalExtension, params};

use crate::engine::EngineConfig;
use crate::online::Token;
use crate::time::{Moment, date};
use crate::wire::{DamagedFile, EngineId, GameId, Settings};

pub(crate) use exercise_tables::Times;
pub(crate) use exercises::StoredExercise;
pub(crate) use failure::{library_error, storage};
pub(crate) use games::{listed, listed_new, new_game};
pub(crate) use reports::{AccountJob, StoredJob, StoredReport};
pub(crate) use search::{filter_of, search};
pub(crate) use training_sets::{Changed, NewSet, StoredSet};

use damage::{Aside, is_damage, moved_files};
use drafts::ClosedDraft;
use games::{DeletedGame, OpenGame};
use reports::jobs_in;
pub(crate) use writer::{GameSource, Writer, Written};

/// Maximum wait for another program that writes the file, such as a backup. Only saving waits for it.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

/// The version of the schema and of the stored JSON of `app.sqlite`. A change of either increments it.
/// Files of versions 2 to 4 are extended.
const VERSION: i64 = 5;

/// The `application_id` of `app.sqlite`: "`RdAp`".
const APPLICATION: i64 = 0x5264_4170;

/// What version 3 changed: notes of engines have no texts of moves.
const FROM_VERSION_2: &str = "
    UPDATE judgement SET kept = json_object(
        'score', json_extract(kept, '$.score'),
        'depth', json_extract(kept, '$.depth'),
        'choices', json_extract(kept, '$.choices'),
        'lines', json(CASE json_array_length(kept, '$.best') WHEN 0 THEN '[]' ELSE json_array(json_object(
            'score', json_extract(kept, '$.score'),
            'moves', json((SELECT json_group_array(json_extract(value, '$.uci')) FROM json_each(kept, '$.best')))
        )) END)
    );
";

/// What version 3 added.
const OPEN_GAMES: &str = "
    CREATE TABLE open_game (game INTEGER PRIMARY KEY, changed INTEGER NOT NULL, document BLOB NOT NULL);
";

const SCHEMA: &str = "
    CREATE TABLE engine (id INTEGER PRIMARY KEY AUTOINCREMENT, entry TEXT NOT NULL);
    CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE report (game INTEGER PRIMARY KEY, kept TEXT NOT NULL);
    CREATE TABLE judgement (
        game INTEGER NOT NULL,
        ply INTEGER NOT NULL,
        kept TEXT NOT NULL,
        PRIMARY KEY (game, ply)
    ) WITHOUT ROWID;
    CREATE TABLE job (id INTEGER PRIMARY KEY AUTOINCREMENT, kept TEXT NOT NULL);
    CREATE TABLE job_game (
        job INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE,
        number INTEGER NOT NULL,
        game INTEGER NOT NULL,
        PRIMARY KEY (job, number)
    ) WITHOUT ROWID;
    CREATE TABLE match_game (
        match_id INTEGER NOT NULL,
        number INTEGER NOT NULL,
        game INTEGER NOT NULL,
        PRIMARY KEY (match_id, number)
    ) WITHOUT ROWID;
    CREATE INDEX match_game_by_game ON match_game (game);
";

/// All files, for writing.
pub(crate) struct Store {
    db: Connection,
    library: Arc<Library>,
    /// The open games as they are stored.
    open: BTreeMap<GameId, OpenGame>,
    /// The games of the last deletion.
    deleted: Vec<DeletedGame>,
    /// The drafts that were closed last, the latest last. They can be opened again.
    closed_drafts: VecDeque<(GameId, ClosedDraft)>,
    /// Files that were moved, or are used although they are damaged in part.
    damaged: Vec<DamagedFile>,
}

/// A file of the server cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file or directory.
    #[error("cannot use `{}`: {}", .0.display(), .1)]
    File(PathBuf, #[source] std::io::Error),
    /// `app.sqlite`.
    #[error("app.sqlite failed: {0}")]
    Database(#[from] rusqlite::Error),
    /// The library.
    #[error("{LIBRARY}: {0}")]
    Library(#[from] readyok_library::Error),
    /// A stored JSON value is invalid.
    #[error("app.sqlite is damaged: {0}")]
    Content(#[from] serde_json::Error),
    /// A database that cannot be opened.
    #[error("cannot use `{}`: {}", .0.display(), .1.cause())]
    Unusable(PathBuf, #[source] Box<Self>),
    /// A file of another version of the program, with the version if it is known. It was not changed.
    #[error("`{}` {}", .0.display(), other_version(*.1))]
    Version(PathBuf, Option<i64>),
    /// The files are closed, because the server ends.
    #[error("the library is closed")]
    Closed,
}

impl StoreError {
    /// The error without the file, which the text of another error names.
    fn cause(&self) -> &dyn fmt::Display {
        match self {
            Self::Database(error) => error,
            Self::Library(error) => error,
            Self::Content(error) => error,
            error => error,
        }
    }
}

fn other_version(version: Option<i64>) -> String {
    match version {
        Some(version) => format!("has version {version}, which this program cannot read"),
        None => "was written by another program or an earlier version of this program".to_owned(),
    }
}

/// The files in the data directory.
pub(crate) const FILES: [&str; 2] = ["app.sqlite", LIBRARY];
/// The name of the library in the data directory.
pub const LIBRARY: &str = "library.sqlite";

impl Store {
    /// Opens the files of a directory, which are created if they are missing. Damaged ones are moved to a directory of
    /// their own.
    pub(crate) fn open(directory: &Path) -> Result<Self, StoreError> {
        std::fs::create_dir_all(directory)
            .map_err(|error| StoreError::File(directory.to_owned(), error))?;
        let [app, library] = FILES;
        let mut aside = Aside::new(directory);
        let games = open_library(&directory.join(library));
        let app_path = directory.join(app);
        let db = match open_app(&app_path) {
            Err(error) if is_damage(&error) => {
                aside.take(app)?;
                open_app(&app_path)?
            }
            opened => opened?,
        };
        let games = match games {
            Err(error) if is_damage(&error) => {
                aside.copy_app(&db)?;
                db.execute_batch(FORGET_GAMES)?;
                aside.take(library)?;
                open_library(&directory.join(library))?
            }
            opened => opened?,
        };
        let games = Arc::new(games);
        let mut store = Self {
            db,
            library: games,
            open: BTreeMap::new(),
            deleted: Vec::new(),
            closed_drafts: VecDeque::new(),
            damaged: Vec::new(),
        };
        store.read_open_games(&mut aside)?;
        store.damaged = moved_files(directory);
        let linked = store.link_match_games();
        store.tolerate(linked, &directory.join(LIBRARY))?;
        Ok(store)
    }

    /// Files that were moved, or are used although they are damaged in part.
    pub(crate) fn damaged(&self) -> &[DamagedFile] {
        &self.damaged
    }

    /// Reports damage that does not prevent the use of a file.
    pub(crate) fn tolerate(
        &mut self,
        result: Result<(), StoreError>,
        path: &Path,
    ) -> Result<(), StoreError> {
        match result {
            Err(error) if is_damage(&error) => {
                let path = path.to_string_lossy().into_owned();
                let file = DamagedFile { path, moved_to: None, game: None };
                if !self.damaged.contains(&file) {
                    self.damaged.push(file);
                }
                Ok(())
            }
            result => result,
        }
    }

    /// The games.
    pub(crate) fn library(&self) -> &Arc<Library> {
        &self.library
    }

    /// The engines of the user.
    pub(crate) fn engines(&self) -> Result<Vec<(EngineId, EngineConfig)>, StoreError> {
        engines_in(&self.db)
    }

    /// The largest number of an engine, deleted or not.
    pub(crate) fn last_engine(&self) -> Result<EngineId, StoreError> {
        last_engine_in(&self.db)
    }

    pub(crate) fn save_engine(
        &self,
        id: EngineId,
        config: &EngineConfig,
    ) -> Result<(), StoreError> {
        let entry = serde_json::to_string(config)?;
        self.db.execute("REPLACE INTO engine (id, entry) VALUES (?1, ?2)", params![id, entry])?;
        Ok(())
    }

    pub(crate) fn delete_engine(&self, id: EngineId) -> Result<(), StoreError> {
        self.db.execute("DELETE FROM engine WHERE id = ?1", [id])?;
        Ok(())
    }

    /// The settings of the user.
    pub(crate) fn settings(&self) -> Result<Settings, StoreError> {
        settings_in(&self.db)
    }

    pub(crate) fn save_settings(&self, settings: &Settings) -> Result<(), StoreError> {
        let text = serde_json::to_string(settings)?;
        self.db.execute("REPLACE INTO setting (name, value) VALUES ('settings', ?1)", [text])?;
        Ok(())
    }

    /// The API token of Lichess.
    pub(crate) fn lichess_token(&self) -> Result<Option<Token>, StoreError> {
        let sql = "SELECT value FROM setting WHERE name = 'lichess_token'";
        let text = self.db.query_row(sql, [], |row| row.get::<_, String>(0)).optional()?;
        Ok(text.and_then(|text| Token::new(&text)))
    }

    pub(crate) fn save_lichess_token(&self, token: Option<&Token>) -> Result<(), StoreError> {
        match token {
            Some(token) => {
                let sql = "REPLACE INTO setting (name, value) VALUES ('lichess_token', ?1)";
                self.db.execute(sql, [token.text()])?;
            }
            None => {
                self.db.execute("DELETE FROM setting WHERE name = 'lichess_token'", [])?;
            }
        }
        Ok(())
    }

    /// The port of the previous server, if it is known.
    pub(crate) fn last_port(&self) -> Option<u16> {
        let mut query = self.db.prepare("SELECT value FROM setting WHERE name = 'port'").ok()?;
        query.query_row([], |row| row.get::<_, String>(0)).ok()?.parse().ok()
    }

    /// Stores the port for the next server.
    pub(crate) fn save_port(&self, port: u16) {
        let text = port.to_string();
        // After an error the next server has another address.
        let _ = self.db.execute("REPLACE INTO setting (name, value) VALUES ('port', ?1)", [text]);
    }
}

/// A moment as the files have it.
pub(crate) fn dated(at: Moment) -> i64 {
    i64::try_from(date(at)).unwrap_or(i64::MAX)
}

/// The references to games in `app.sqlite`.
const FORGET_GAMES: &str = "
    BEGIN;
    DELETE FROM open_game;
    DELETE FROM report;
    DELETE FROM judgement;
    DELETE FROM match_game;
    DELETE FROM job;
    UPDATE training_set SET source = NULL;
    COMMIT;
";

fn engines_in(db: &Connection) -> Result<Vec<(EngineId, EngineConfig)>, StoreError> {
    let mut query = db.prepare("SELECT id, entry FROM engine ORDER BY id")?;
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))?;
    let mut engines = Vec::new();
    for row in rows {
        let (id, entry) = row?;
        engines.push((id, serde_json::from_str(&entry)?));
    }
    Ok(engines)
}

fn last_engine_in(db: &Connection) -> Result<EngineId, StoreError> {
    let mut query = db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'engine'")?;
    let last: Option<i64> = query.query_row([], |row| row.get(0)).optional()?;
    Ok(EngineId::try_from(last.unwrap_or_default()).unwrap_or(EngineId::MAX))
}

fn settings_in(db: &Connection) -> Result<Settings, StoreError> {
    let mut query = db.prepare("SELECT value FROM setting WHERE name = 'settings'")?;
    let text = query.query_row([], |row| row.get::<_, String>(0)).optional()?;
    Ok(text.map(|text| serde_json::from_str(&text)).transpose()?.unwrap_or_default())
}

/// An error of the library as one of a file.
fn unusable(path: &Path, error: readyok_library::Error) -> StoreError {
    match error {
        readyok_library::Error::Defect(LibraryDefect::NoLibrary) => {
            StoreError::Version(path.to_owned(), None)
        }
        readyok_library::Error::Defect(LibraryDefect::LibraryVersion { found, .. }) => {
            StoreError::Version(path.to_owned(), Some(found))
        }
        error => StoreError::Unusable(path.to_owned(), Box::new(error.into())),
    }
}

fn open_library(path: &Path) -> Result<Library, StoreError> {
    Library::open(path).map_err(|error| unusable(path, error))
}

/// Opens `app.sqlite`, which is created if it is missing or empty, and reads all that the start needs.
fn open_app(path: &Path) -> Result<Connection, StoreError> {
    let opened = open_app_file(path).and_then(|db| {
        engines_in(&db)?;
        last_engine_in(&db)?;
        settings_in(&db)?;
        jobs_in(&db)?;
        Ok(db)
    });
    opened.map_err(|error| match error {
        StoreError::Version(..) => error,
        error => StoreError::Unusable(path.to_owned(), Box::new(error)),
    })
}

fn open_app_file(path: &Path) -> Result<Connection, StoreError> {
    let mut db = Connection::open(path)?;
    db.busy_timeout(BUSY_TIMEOUT)?;
    db.pragma_update(None, "synchronous", "NORMAL")?;
    // Tables are replaced below.
    db.pragma_update(None, "foreign_keys", "OFF")?;
    let change = db.transaction()?;
    let tables: i64 =
        change.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if tables == 0 {
        change.execute_batch(SCHEMA)?;
        change.execute_batch(OPEN_GAMES)?;
        change.execute_batch(exercise_tables::SCHEMA)?;
        change.pragma_update(None, "application_id", APPLICATION)?;
        change.pragma_update(None, "user_version", VERSION)?;
    } else {
        let value = |name| change.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        if value("application_id")? != APPLICATION {
            return Err(StoreError::Version(path.to_owned(), None));
        }
        match value("user_version")? {
            VERSION => (),
            // Version 4 has drafts, whose rows version 3 would delete. Version 5 has sets of exercises.
            version @ 2..=4 => {
                if version == 2 {
                    change.execute_batch(OPEN_GAMES)?;
                    change.execute_batch(FROM_VERSION_2)?;
                }
                exercises::move_to_sets(&change)?;
                change.pragma_update(None, "user_version", VERSION)?;
            }
            other => return Err(StoreError::Version(path.to_owned(), Some(other))),
        }
    }
    change.commit()?;
    db.pragma_update(None, "foreign_keys", "ON")?;
    db.pragma_update(None, "journal_mode", "WAL")?;
    Ok(db)
}

#[cfg(test)]
mod tests;
