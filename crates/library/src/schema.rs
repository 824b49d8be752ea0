//! The schema of the database file, and how a file is opened.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::codec::KEY_SCHEME;
use crate::codec::tags::{online_game, online_key};
use crate::collection;
use crate::error::{Error, LibraryDefect};

/// Stored as `user_version`. A file since version 3 is extended; one with another version is rejected.
pub(crate) const VERSION: i64 = 6;

/// Stored as `application_id`: "`RdLi`".
pub(crate) const APPLICATION: i64 = 0x5264_4C69;

const SCHEMA: &str = "
    CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
    CREATE TABLE name (
        id INTEGER PRIMARY KEY,
        text TEXT NOT NULL UNIQUE,
        folded TEXT NOT NULL
    );
    CREATE TABLE opening (
        id INTEGER PRIMARY KEY,
        eco TEXT NOT NULL,
        text TEXT NOT NULL,
        folded TEXT NOT NULL,
        UNIQUE (eco, text)
    );
    -- Searches by text read only these; sorted lists follow their order.
    CREATE INDEX name_by_folded ON name (folded);
    CREATE INDEX opening_by_folded ON opening (folded);
    CREATE TABLE game (
        id INTEGER PRIMARY KEY,
        summary BLOB NOT NULL,
        site INTEGER NOT NULL DEFAULT 0,
        added INTEGER NOT NULL,
        changed INTEGER NOT NULL,
        -- The number of the next game at the time of the last change.
        changed_before INTEGER NOT NULL,
        revision INTEGER NOT NULL DEFAULT 0,
        start TEXT,
        moves BLOB NOT NULL,
        tags BLOB,
        annotations BLOB,
        layer BLOB,
        play BLOB,
        -- A hash of the online game.
        online INTEGER
    );
    CREATE INDEX game_by_change ON game (changed_before) WHERE revision > 0;
    CREATE TABLE summaries (no INTEGER PRIMARY KEY, data BLOB NOT NULL);
    CREATE TABLE run (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        level INTEGER NOT NULL,
        base INTEGER NOT NULL,
        low INTEGER NOT NULL DEFAULT 0,
        high INTEGER NOT NULL,
        target INTEGER,
        dead BLOB
    );
    CREATE TABLE block (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
    CREATE TABLE block_key (
        run INTEGER, first INTEGER, no INTEGER, PRIMARY KEY (run, first, no)
    ) WITHOUT ROWID;
    CREATE TABLE unindexed (game INTEGER PRIMARY KEY);
    -- Duplicates that are not visible until the user has decided.
    CREATE TABLE undecided (game INTEGER PRIMARY KEY, known INTEGER NOT NULL);
    -- The last batch of a source.
    CREATE TABLE receipt (
        source TEXT PRIMARY KEY, batch INTEGER NOT NULL, content INTEGER NOT NULL,
        outcomes BLOB NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE label (
        game INTEGER, text TEXT, PRIMARY KEY (game, text)
    ) WITHOUT ROWID;
    CREATE INDEX label_by_text ON label (text);
";

/// What finds a game by the name of the online game.
const ONLINE_GAMES: &str = "CREATE INDEX game_by_online ON game (online) WHERE online IS NOT NULL;";

/// What the versions since 4 have added.
const ADDED: [&str; 3] = [
    "ALTER TABLE game ADD COLUMN layer BLOB;",
    collection::SCHEMA,
    "ALTER TABLE game ADD COLUMN online INTEGER;",
];

/// Opens the library for writing and creates it if it does not exist. Without other processes, chapters of deleted
/// games are forgotten.
pub(crate) fn open_writer(path: &Path, is_alone: bool) -> Result<Connection, Error> {
    let mut connection = Connection::open(path)?;
    configure(&connection, "ON", -8192)?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "journal_size_limit", 16 << 20)?;
    // A transaction that begins with a read does not wait for another writer, such as a backup: it fails.
    connection.set_transaction_behavior(TransactionBehavior::Immediate);
    let transaction = connection.transaction()?;
    let tables: i64 =
        transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if tables == 0 {
        transaction.execute_batch(SCHEMA)?;
        transaction.execute_batch(collection::SCHEMA)?;
        transaction.execute_batch(ONLINE_GAMES)?;
        transaction.execute_batch(&format!(
            "INSERT INTO meta VALUES
             ('key_scheme', {KEY_SCHEME}), ('indexed', 1), ('generation', 0), ('next_game', 1);"
        ))?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    } else {
        match check(&transaction) {
            Err(Error::Defect(LibraryDefect::LibraryVersion { found, .. }))
                if (3..VERSION).contains(&found) =>
            {
                for added in ADDED.iter().skip(usize::try_from(found - 3).unwrap_or_default()) {
                    transaction.execute_batch(added)?;
                }
                set_online_games(&transaction)?;
                transaction.execute_batch(ONLINE_GAMES)?;
                transaction.pragma_update(None, "user_version", VERSION)?;
            }
            checked => checked?,
        }
        if is_alone {
            collection::forget_deleted(&transaction)?;
        }
    }
    transaction.commit()?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    Ok(connection)
}

/// Sets the online games of a file of an earlier version.
fn set_online_games(transaction: &Connection) -> Result<(), Error> {
    let mut games = transaction.prepare("SELECT id, tags FROM game WHERE tags IS NOT NULL")?;
    let mut update = transaction.prepare("UPDATE game SET online = ?2 WHERE id = ?1")?;
    let mut rows = games.query([])?;
    let mut known: Vec<(u32, u32)> = Vec::new();
    while let Some(row) = rows.next()? {
        let tags = row.get_ref(1)?.as_blob().unwrap_or_default();
        if let Some(online) = online_game(tags) {
            known.push((row.get(0)?, online_key(&online)));
        }
    }
    for (game, key) in known {
        update.execute((game, key))?;
    }
    Ok(())
}

/// Opens the file for reading.
pub(crate) fn open_reader(path: &Path) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    // A scan is larger than any cache; the system caches the file.
    configure(&connection, "OFF", -1024)?;
    connection.pragma_update(None, "query_only", "ON")?;
    check(&connection)?;
    Ok(connection)
}

/// Why a file is no library.
pub(crate) fn defect_of(path: &Path) -> Error {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let checked = Connection::open_with_flags(path, flags).map_err(Error::from);
    let checked = checked.and_then(|connection| check(&connection));
    checked.err().unwrap_or(Error::Defect(LibraryDefect::NoLibrary))
}

fn configure(connection: &Connection, foreign_keys: &str, cache: i64) -> Result<(), Error> {
    connection.busy_timeout(Duration::from_secs(10))?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.pragma_update(None, "foreign_keys", foreign_keys)?;
    connection.pragma_update(None, "cache_size", cache)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    Ok(())
}

pub(crate) fn check(connection: &Connection) -> Result<(), Error> {
    let value = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    if value("application_id")? != APPLICATION {
        return Err(Error::Defect(LibraryDefect::NoLibrary));
    }
    match value("user_version")? {
        VERSION => Ok(()),
        found => Err(Error::Defect(LibraryDefect::LibraryVersion { found, expected: VERSION })),
    }
}

/// A value of the table `meta`.
pub(crate) fn meta(connection: &Connection, name: &str) -> Result<i64, Error> {
    let mut statement = connection.prepare_cached("SELECT value FROM meta WHERE name = ?1")?;
    Ok(statement.query_row([name], |row| row.get(0))?)
}

pub(crate) fn set_meta(connection: &Connection, name: &str, value: i64) -> Result<(), Error> {
    let mut statement = connection.prepare_cached("UPDATE meta SET value = ?2 WHERE name = ?1")?;
    statement.execute(rusqlite::params![name, value])?;
    Ok(())
}
