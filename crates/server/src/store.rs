//! The library: every game, engines and settings in one `SQLite` file.
//!
//! A game is saved after every move, by the thread of the [`Writer`]. In addition to its stored session it has
//! columns to be searched by, and its main line as moves of 16 bits, which do not depend on any generator of
//! moves.

mod explorer;
mod moves;
mod reports;
mod row;
mod search;
mod writer;

use std::fmt;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, params};

use crate::engine::Entry;
use crate::game::{GameSnapshot, Searched, StoredSession};
use crate::time::{Moment, date};
use crate::wire::{EngineId, GameId, MatchId, Settings};

pub(crate) use reports::{StoredJob, StoredReport};
pub(crate) use row::Row;
pub(crate) use search::{LibraryFile, SearchError};
pub(crate) use writer::{GameSource, Writer, Written};

/// Longest wait for another program that writes the file, such as a backup: only saving waits for it.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

/// The version of the schema and of the stored JSON. A change of either increments it.
const VERSION: i64 = 7;

const SCHEMA: &str = "
    CREATE TABLE game (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        source TEXT NOT NULL,
        added INTEGER NOT NULL,
        changed INTEGER NOT NULL,
        open INTEGER NOT NULL DEFAULT 1,
        variant TEXT NOT NULL DEFAULT 'chess',
        start TEXT NOT NULL DEFAULT '',
        first TEXT NOT NULL DEFAULT '',
        second TEXT NOT NULL DEFAULT '',
        -- Whether the sides were engines; null if unknown.
        first_engine INTEGER,
        second_engine INTEGER,
        result TEXT NOT NULL DEFAULT '*',
        reason TEXT,
        date TEXT,
        event TEXT,
        opening TEXT NOT NULL DEFAULT '',
        plies INTEGER NOT NULL DEFAULT 0,
        moves BLOB NOT NULL DEFAULT x'',
        kept TEXT
    );
    CREATE INDEX game_by_time ON game (changed);
    CREATE TABLE position (
        key INTEGER NOT NULL,
        game INTEGER NOT NULL REFERENCES game (id) ON DELETE CASCADE,
        ply INTEGER NOT NULL,
        PRIMARY KEY (key, game, ply)
    ) WITHOUT ROWID;
    CREATE INDEX position_by_game ON position (game);
    CREATE TABLE engine (id INTEGER PRIMARY KEY AUTOINCREMENT, entry TEXT NOT NULL);
    CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE report (
        game INTEGER PRIMARY KEY REFERENCES game (id) ON DELETE CASCADE,
        kept TEXT NOT NULL
    );
    CREATE TABLE judgement (
        game INTEGER NOT NULL REFERENCES game (id) ON DELETE CASCADE,
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
        game INTEGER NOT NULL REFERENCES game (id) ON DELETE CASCADE,
        PRIMARY KEY (match_id, number)
    ) WITHOUT ROWID;
    CREATE INDEX match_game_by_game ON match_game (game);
";

/// The library, for the one who writes.
#[derive(Debug)]
pub(crate) struct Store {
    db: Connection,
}

/// A game as it was read, before it is parsed.
pub(crate) struct StoredGame {
    /// A [`StoredSession`] as JSON.
    pub(crate) kept: String,
    /// Whether its rematch is in the library.
    pub(crate) has_rematch: bool,
    /// Its report, if there is one that can be read.
    pub(crate) report: Option<(StoredReport, Vec<Searched>)>,
}

/// Why the library cannot be used.
#[derive(Debug)]
pub enum StoreError {
    /// Its file or directory.
    File(PathBuf, std::io::Error),
    /// What is in it.
    Database(rusqlite::Error),
    /// Something in it is no JSON of its kind.
    Content(serde_json::Error),
    /// It was written by another version of the program.
    Version(i64),
    /// It was closed, as the server ends.
    Closed,
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path, error) => write!(f, "cannot use `{}`: {error}", path.display()),
            Self::Database(error) => write!(f, "the library failed: {error}"),
            Self::Content(error) => write!(f, "the library is damaged: {error}"),
            Self::Version(version) => write!(
                f,
                "the library has version {version}, but this program requires version {VERSION}"
            ),
            Self::Closed => f.write_str("the library is closed"),
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::File(_, error) => Some(error),
            Self::Database(error) => Some(error),
            Self::Content(error) => Some(error),
            Self::Version(_) | Self::Closed => None,
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

impl From<serde_json::Error> for StoreError {
    fn from(error: serde_json::Error) -> Self {
        Self::Content(error)
    }
}

/// The file of the library in its directory.
pub(crate) fn file_in(directory: &Path) -> PathBuf {
    directory.join("library.sqlite")
}

impl Store {
    /// Opens the library of a directory, which is created if it is missing.
    pub(crate) fn open(directory: &Path) -> Result<Self, StoreError> {
        std::fs::create_dir_all(directory)
            .map_err(|error| StoreError::File(directory.to_owned(), error))?;
        Self::with(Connection::open(file_in(directory))?)
    }

    fn with(mut db: Connection) -> Result<Self, StoreError> {
        db.pragma_update(None, "journal_mode", "WAL")?;
        db.pragma_update(None, "synchronous", "NORMAL")?;
        db.pragma_update(None, "foreign_keys", "ON")?;
        db.busy_timeout(BUSY_TIMEOUT)?;
        prepare(&mut db)?;
        Ok(Self { db })
    }

    /// A row for a new game. Its number is never used again.
    pub(crate) fn new_game(&self, source: &str, at: Moment) -> Result<GameId, StoreError> {
        row::insert(&self.db, source, true, at)
    }

    /// Saves games as they are in their snapshots, in one transaction if possible. The results are in the order
    /// of the games.
    pub(crate) fn save(
        &mut self,
        games: &[(GameId, GameSnapshot)],
        at: Moment,
    ) -> Vec<Result<(), StoreError>> {
        match (self.save_all(games, at), games) {
            (Ok(()), _) => games.iter().map(|_| Ok(())).collect(),
            (Err(error), [_]) => vec![Err(error)],
            // One game that cannot be saved does not keep the others from it.
            (Err(_), _) => {
                games.iter().map(|game| self.save_all(std::slice::from_ref(game), at)).collect()
            }
        }
    }

    fn save_all(&mut self, games: &[(GameId, GameSnapshot)], at: Moment) -> Result<(), StoreError> {
        let change = self.db.transaction()?;
        for (id, game) in games {
            // One row at a time: a large tree is many megabytes of JSON.
            Row::of(game, game.outcome.is_some())?.update(&change, *id, at)?;
        }
        change.commit()?;
        Ok(())
    }

    /// Adds whole games in one transaction, all or none.
    pub(crate) fn add_games(
        &mut self,
        rows: &[Row],
        source: &str,
        open: bool,
        at: Moment,
    ) -> Result<Vec<GameId>, StoreError> {
        let change = self.db.transaction()?;
        let ids = row::add(&change, rows, source, open, at)?;
        change.commit()?;
        Ok(ids)
    }

    /// Adds games that were read, in one transaction if possible. If one cannot be added, neither are those after
    /// it: the error is that of the first.
    pub(crate) fn import(&mut self, rows: &[Row], at: Moment) -> (Vec<GameId>, Option<StoreError>) {
        if let Ok(ids) = self.add_games(rows, "import", false, at) {
            return (ids, None);
        }
        let mut ids = Vec::new();
        for row in rows {
            match self.add_games(std::slice::from_ref(row), "import", false, at) {
                Ok(added) => ids.extend(added),
                Err(error) => return (ids, Some(error)),
            }
        }
        (ids, None)
    }

    /// Adds a game of a match, unless it is there. Returns its number.
    pub(crate) fn add_match_game(
        &mut self,
        id: MatchId,
        number: u32,
        row: &Row,
        at: Moment,
    ) -> Result<GameId, StoreError> {
        if let Some(game) = self.match_game(id, number)? {
            return Ok(game);
        }
        let change = self.db.transaction()?;
        let game = row::insert(&change, "match", false, at)?;
        row.update(&change, game, at)?;
        change.execute(
            "REPLACE INTO match_game (match_id, number, game) VALUES (?1, ?2, ?3)",
            params![id, number, game],
        )?;
        change.commit()?;
        Ok(game)
    }

    /// The games that were open, with when each was last changed.
    pub(crate) fn open_games(&self) -> Result<Vec<(GameId, Moment, StoredSession)>, StoreError> {
        let mut query = self
            .db
            .prepare("SELECT id, changed, kept FROM game WHERE open = 1 AND kept IS NOT NULL")?;
        let rows = query.query_map([], |row| {
            Ok((row.get(0)?, row.get::<_, i64>(1)?, row.get::<_, String>(2)?))
        })?;
        let mut games = Vec::new();
        for row in rows {
            let (id, changed, kept) = row?;
            games.push((id, Moment::try_from(changed).unwrap_or(0), serde_json::from_str(&kept)?));
        }
        Ok(games)
    }

    /// A game of the library.
    pub(crate) fn game(&self, id: GameId) -> Result<Option<StoredGame>, StoreError> {
        let mut query = self.db.prepare_cached(
            "SELECT kept, EXISTS (
                SELECT 1 FROM game AS next WHERE next.kept IS NOT NULL AND next.id =
                    CASE WHEN json_valid(game.kept) THEN json_extract(game.kept, '$.play.rematch') END
            ) FROM game WHERE id = ?1 AND kept IS NOT NULL",
        )?;
        let found = query.query_row([id], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        Ok(found.map(|(kept, has_rematch)| {
            // A report that cannot be read is made again.
            let report = self.report(id).ok().flatten();
            StoredGame { kept, has_rematch, report }
        }))
    }

    pub(crate) fn set_open(&self, id: GameId, open: bool) -> Result<(), StoreError> {
        self.db.execute("UPDATE game SET open = ?2 WHERE id = ?1", params![id, open])?;
        Ok(())
    }

    /// The game of a match, if it is in the library.
    pub(crate) fn match_game(
        &self,
        id: MatchId,
        number: u32,
    ) -> Result<Option<GameId>, StoreError> {
        let query = "SELECT game FROM match_game WHERE match_id = ?1 AND number = ?2";
        Ok(self.db.query_row(query, [id, number], |row| row.get(0)).optional()?)
    }

    /// These matches are no more, and others will have their numbers. Their games stay.
    pub(crate) fn forget_matches(&self, ids: RangeInclusive<MatchId>) -> Result<(), StoreError> {
        self.db.execute(
            "DELETE FROM match_game WHERE match_id BETWEEN ?1 AND ?2",
            [ids.start(), ids.end()],
        )?;
        Ok(())
    }

    /// Deletes a game. Returns whether it existed.
    pub(crate) fn delete(&self, id: GameId) -> Result<bool, StoreError> {
        Ok(0 < self.db.execute("DELETE FROM game WHERE id = ?1", [id])?)
    }

    /// The engines of the user.
    pub(crate) fn engines(&self) -> Result<Vec<(EngineId, Entry)>, StoreError> {
        let mut query = self.db.prepare("SELECT id, entry FROM engine ORDER BY id")?;
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))?;
        let mut engines = Vec::new();
        for row in rows {
            let (id, entry) = row?;
            engines.push((id, serde_json::from_str(&entry)?));
        }
        Ok(engines)
    }

    /// The last number that an engine has had.
    pub(crate) fn last_engine(&self) -> Result<EngineId, StoreError> {
        let mut query = self.db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'engine'")?;
        let last: Option<i64> = query.query_row([], |row| row.get(0)).optional()?;
        Ok(EngineId::try_from(last.unwrap_or_default()).unwrap_or(EngineId::MAX))
    }

    pub(crate) fn save_engine(&self, id: EngineId, entry: &Entry) -> Result<(), StoreError> {
        let entry = serde_json::to_string(entry)?;
        self.db.execute("REPLACE INTO engine (id, entry) VALUES (?1, ?2)", params![id, entry])?;
        Ok(())
    }

    pub(crate) fn delete_engine(&self, id: EngineId) -> Result<(), StoreError> {
        self.db.execute("DELETE FROM engine WHERE id = ?1", [id])?;
        Ok(())
    }

    /// The user's settings.
    pub(crate) fn settings(&self) -> Result<Settings, StoreError> {
        let mut query = self.db.prepare("SELECT value FROM setting WHERE name = 'settings'")?;
        let text = query.query_row([], |row| row.get::<_, String>(0)).optional()?;
        Ok(text.map(|text| serde_json::from_str(&text)).transpose()?.unwrap_or_default())
    }

    pub(crate) fn save_settings(&self, settings: &Settings) -> Result<(), StoreError> {
        let text = serde_json::to_string(settings)?;
        self.db.execute("REPLACE INTO setting (name, value) VALUES ('settings', ?1)", [text])?;
        Ok(())
    }

    /// The port that the server has had the last time, if that is known.
    pub(crate) fn last_port(&self) -> Option<u16> {
        let mut query = self.db.prepare("SELECT value FROM setting WHERE name = 'port'").ok()?;
        query.query_row([], |row| row.get::<_, String>(0)).ok()?.parse().ok()
    }

    /// Keeps the port for the next time.
    pub(crate) fn save_port(&self, port: u16) {
        let text = port.to_string();
        // Without it the next server has another address, and works.
        let _ = self.db.execute("REPLACE INTO setting (name, value) VALUES ('port', ?1)", [text]);
    }
}

/// A moment as the file has it.
fn dated(at: Moment) -> i64 {
    i64::try_from(date(at)).unwrap_or(i64::MAX)
}

pub(crate) fn variant_name(variant: crate::wire::Variant) -> &'static str {
    match variant {
        crate::wire::Variant::Chess => "chess",
        crate::wire::Variant::Chess960 => "chess960",
        crate::wire::Variant::Shogi => "shogi",
    }
}

/// Creates the schema in a new file, and checks the version of an existing one.
fn prepare(db: &mut Connection) -> Result<(), StoreError> {
    let version: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    match version {
        VERSION => Ok(()),
        0 => {
            let change = db.transaction()?;
            change.execute_batch(SCHEMA)?;
            change.pragma_update(None, "user_version", VERSION)?;
            change.commit()?;
            Ok(())
        }
        _ => Err(StoreError::Version(version)),
    }
}

#[cfg(test)]
mod tests {
    use readyok_rules::record::read;

    use super::*;
    use crate::game::{GameSession, Tree};

    fn memory() -> Store {
        Store::with(Connection::open_in_memory().expect("it opens")).expect("it is made")
    }

    fn room(pgn: &str) -> GameSession {
        let record = read(pgn.as_bytes(), None).flatten().next().expect("a game");
        GameSession::new(1, Tree::from_record(&record), 5)
    }

    #[test]
    fn games_are_saved_together_or_each_by_itself() {
        let mut store = memory();
        let ids = [1, 2, 3].map(|at| store.new_game("play", at).expect("a row"));
        let games = |moves: &str| ids.map(|id| (id, room(moves).snapshot()));
        let plies = |store: &Store| {
            ids.map(|id| {
                let query = "SELECT plies FROM game WHERE id = ?1";
                store.db.query_row(query, [id], |row| row.get::<_, u32>(0)).expect("a row")
            })
        };
        assert!(store.save(&games("1. e4 *"), 7).iter().all(Result::is_ok));
        assert_eq!(plies(&store), [1, 1, 1]);
        store
            .db
            .execute_batch(
                "CREATE TRIGGER full BEFORE UPDATE ON game WHEN NEW.id = 2
                    BEGIN SELECT RAISE(ABORT, 'no'); END",
            )
            .expect("it is made");
        let saved = store.save(&games("1. e4 e5 *"), 8);
        assert_eq!(saved.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true]);
        assert_eq!(plies(&store), [2, 1, 2]);
    }

    #[test]
    fn games_are_added_together_or_not_at_all() {
        let mut store = memory();
        let rows = ["1. e4 *", "1. d4 d5 *"]
            .map(|pgn| Row::of(&room(pgn).snapshot(), true).expect("a row"));
        assert_eq!(store.add_games(&rows, "import", false, 5).expect("it works"), [1, 2]);
        let count = |store: &Store, table: &str| {
            let query = format!("SELECT count(*) FROM {table}");
            store.db.query_row(&query, [], |row| row.get::<_, u32>(0)).expect("a count")
        };
        assert_eq!((count(&store, "game"), count(&store, "position")), (2, 5));
        store
            .db
            .execute_batch(
                "CREATE TRIGGER full BEFORE UPDATE ON game WHEN NEW.plies = 2
                    BEGIN SELECT RAISE(ABORT, 'no'); END",
            )
            .expect("it is made");
        assert!(store.add_games(&rows, "import", false, 5).is_err());
        assert_eq!((count(&store, "game"), count(&store, "position")), (2, 5));
        let (added, error) = store.import(&rows, 5);
        assert_eq!((added.len(), error.is_some()), (1, true), "those before the one that fails");
        assert_eq!((count(&store, "game"), count(&store, "position")), (3, 7));
    }

    #[test]
    fn a_file_of_another_version_is_rejected() {
        for version in [1, VERSION - 1, VERSION + 1] {
            let db = Connection::open_in_memory().expect("it opens");
            db.pragma_update(None, "user_version", version).expect("it is set");
            let rejected = Store::with(db).expect_err("another version");
            assert!(matches!(rejected, StoreError::Version(it) if it == version));
        }
    }

    #[test]
    fn a_file_that_cannot_be_prepared_stays_as_it_was() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = file_in(directory.path());
        let other = Connection::open(&path).expect("it opens");
        other.execute_batch("CREATE TABLE job (other TEXT)").expect("a table");
        drop(other);
        assert!(matches!(Store::open(directory.path()), Err(StoreError::Database(_))));
        let left = Connection::open(&path).expect("it opens");
        let version = left.pragma_query_value(None, "user_version", |row| row.get(0));
        assert_eq!(version, Ok(0_i64));
        let query = "SELECT count(*) FROM sqlite_schema WHERE name IN ('game', 'report')";
        assert_eq!(left.query_row(query, [], |row| row.get(0)), Ok(0));
    }

    #[test]
    fn ids_of_games_are_not_reused() {
        let store = memory();
        let first = store.new_game("play", 1).expect("a row");
        assert!(store.delete(first).expect("it works"));
        assert!(!store.delete(first).expect("it works"));
        assert_ne!(store.new_game("play", 2).expect("a row"), first);
    }

    #[test]
    fn a_game_of_a_match_is_found_until_one_of_them_is_gone() {
        let mut store = memory();
        let row = Row::of(&room("1. e4 *").snapshot(), true).expect("a row");
        let games =
            [1, 2, 3].map(|number| store.add_match_game(7, number, &row, 5).expect("a row"));
        assert_eq!(store.add_match_game(7, 1, &row, 6).expect("it works"), games[0], "it is there");
        let found = |number| store.match_game(7, number).expect("it works");
        assert_eq!((found(1), found(2), found(4)), (Some(games[0]), Some(games[1]), None));
        assert!(store.delete(games[0]).expect("it works"));
        assert_eq!((found(1), found(2)), (None, Some(games[1])));
        store.forget_matches(8..=u32::MAX).expect("it works");
        assert_eq!(found(2), Some(games[1]));
        store.forget_matches(7..=7).expect("it works");
        assert_eq!(found(2), None);
        assert!(store.delete(games[1]).expect("it works"), "the game stays");
    }

    #[test]
    fn ids_of_engines_are_not_reused() {
        let store = memory();
        assert_eq!(store.last_engine().expect("it works"), 0);
        let entry =
            r#"{"name":"Mine","source":{"kind":"tcp","address":"host:1"},"protocol":"usi"}"#;
        let entry = serde_json::from_str(entry).expect("an entry");
        store.save_engine(7, &entry).expect("it works");
        store.save_engine(3, &entry).expect("it works");
        store.delete_engine(7).expect("it works");
        assert_eq!(store.last_engine().expect("it works"), 7);
    }

    #[test]
    fn settings_come_back() {
        let store = memory();
        assert_eq!(store.settings().expect("it works"), Settings::default());
        let mut settings = Settings::default();
        settings.page.insert("theme".to_owned(), "dark".to_owned());
        store.save_settings(&settings).expect("it works");
        assert_eq!(store.settings().expect("it works"), settings);
    }
}
