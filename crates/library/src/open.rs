//! Open games as append logs in a database of their own: a change costs one small row, regardless of the size of the
//! tree, and does not wait for an import.
//!
//! The state of a game is the base, a complete tree, and the entries after it. When a game is closed it is folded
//! into the library: [`OpenGames::fold`] replaces the game there and deletes the log. A log whose revision is not
//! larger than that of the game in the library was folded before the program was killed.

mod entry;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rusqlite::{Connection, params};

use crate::error::Error;
use crate::game::NewGame;
use crate::library::Library;
use crate::schema;

pub use entry::{Entry, StoredMove};
pub use tree::{OpenNode, OpenTree};

const SCHEMA: &str = "
    CREATE TABLE open_game (
        id INTEGER PRIMARY KEY,
        revision INTEGER NOT NULL,
        changed INTEGER NOT NULL,
        base BLOB NOT NULL
    );
    CREATE TABLE open_log (
        game INTEGER, no INTEGER, entry BLOB NOT NULL, PRIMARY KEY (game, no)
    ) WITHOUT ROWID;
";

/// Stored as `user_version`.
const VERSION: i64 = 1;

/// Stored as `application_id`, as the letters `RdOp`.
const APPLICATION: i64 = 0x5264_4F70;

/// A log with more entries is replaced by a new base, if it is also larger than four times the base.
const MAX_ENTRIES: i64 = 4096;

/// Logs are compacted and the write-ahead log is copied after this idle time.
const IDLE: Duration = Duration::from_millis(500);

/// Changes that are written in one transaction at most.
const MAX_GROUP: usize = 1000;

type Done = Box<dyn FnOnce(Result<(), Error>) + Send>;

enum Change {
    Begin { game: u32, revision: u32, at_ms: i64, base: Vec<u8> },
    Append { game: u32, at_ms: i64, entries: Vec<Vec<u8>> },
    SetRevision { game: u32, revision: u32 },
    End { game: u32 },
}

/// Logs of open games. Its thread is the only one that writes the file.
#[derive(Debug)]
pub struct OpenGames {
    requests: Option<SyncSender<(Change, Done)>>,
    thread: Option<JoinHandle<()>>,
}

/// An open game that was restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenGame {
    /// Number of the game in the library.
    pub game: u32,
    /// The revision that the game has in the library after it is folded.
    pub revision: u32,
    /// The state.
    pub tree: OpenTree,
    /// Time of the last change in ms since 1970.
    pub changed_ms: i64,
    /// Whether entries could not be read; those and later ones are missing from the tree, but not deleted.
    pub is_damaged: bool,
}

impl OpenGames {
    /// Opens a file of logs, creates it if it does not exist, and restores the open games. Logs of games that were
    /// folded into the library, or do not exist there, are deleted.
    ///
    /// # Errors
    /// The file cannot be opened or has another version.
    pub fn open(path: &Path, library: &Library) -> Result<(Self, Vec<OpenGame>), Error> {
        let connection = schema::open_file(path, SCHEMA, APPLICATION, VERSION)?;
        connection.pragma_update(None, "wal_autocheckpoint", 8000)?;
        let mut logs = Logs { connection, sizes: BTreeMap::new() };
        let games = logs.restore(library)?;
        let (sender, requests) = mpsc::sync_channel(MAX_GROUP);
        let thread = thread::Builder::new()
            .name("open games".to_owned())
            .spawn(move || logs.run(&requests))?;
        Ok((Self { requests: Some(sender), thread: Some(thread) }, games))
    }

    fn send(&self, change: Change, done: Done) {
        let Some(requests) = &self.requests else { return done(Err(Error::Stopped)) };
        if let Err(mpsc::SendError((_, done))) = requests.send((change, done)) {
            done(Err(Error::Stopped));
        }
    }

    fn wait(&self, change: Change) -> Result<(), Error> {
        let (sender, receiver) = mpsc::channel();
        // The receiver waits below.
        self.send(change, Box::new(move |result| drop(sender.send(result))));
        receiver.recv().map_err(|_| Error::Stopped)?
    }

    /// Begins the log of a game of the library, which has `revision` there. A log that exists is replaced.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn begin(
        &self,
        game: u32,
        revision: u32,
        tree: &OpenTree,
        at_ms: i64,
    ) -> Result<(), Error> {
        let revision = revision.checked_add(1).ok_or(Error::Full)?;
        self.wait(Change::Begin { game, revision, at_ms, base: tree.encode() })
    }

    /// Appends changes of a game. `done` is called on the thread of the logs when they are stored: they survive a kill
    /// of the process from then on. Changes of one call are stored together.
    pub fn append(
        &self,
        game: u32,
        entries: &[Entry],
        at_ms: i64,
        done: impl FnOnce(Result<(), Error>) + Send + 'static,
    ) {
        let entries = entries.iter().map(Entry::encode).collect();
        self.send(Change::Append { game, at_ms, entries }, Box::new(done));
    }

    /// Sets the revision that the game in the library has at most while its log is newer. It is set before the game in
    /// the library is replaced by an earlier state, so that a kill in between loses no later change.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn set_revision(&self, game: u32, revision: u32) -> Result<(), Error> {
        let revision = revision.checked_add(1).ok_or(Error::Full)?;
        self.wait(Change::SetRevision { game, revision })
    }

    /// Deletes the log of a game: its changes are lost unless they were folded.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn discard(&self, game: u32) -> Result<(), Error> {
        self.wait(Change::End { game })
    }

    /// Replaces the game in the library by its final state and deletes the log. A kill in between is repaired when the
    /// file is opened. Returns false if the library does not have the game.
    ///
    /// # Errors
    /// A file could not be written. The log exists still.
    pub fn fold(&self, library: &Library, game: u32, new: NewGame) -> Result<bool, Error> {
        let exists = library.replace(game, new)?;
        self.discard(game)?;
        Ok(exists)
    }
}

impl Drop for OpenGames {
    fn drop(&mut self) {
        drop(self.requests.take());
        if let Some(thread) = self.thread.take() {
            // A panic was reported on its thread.
            let _ = thread.join();
        }
    }
}

/// The size of a log.
#[derive(Debug, Clone, Copy, Default)]
struct Size {
    next_no: i64,
    entries: i64,
    bytes: usize,
    base: usize,
}

#[derive(Debug)]
struct Logs {
    connection: Connection,
    sizes: BTreeMap<u32, Size>,
}

impl Logs {
    fn restore(&mut self, library: &Library) -> Result<Vec<OpenGame>, Error> {
        let transaction = self.connection.transaction()?;
        let mut games = Vec::new();
        let ids: Vec<u32> = {
            let mut statement = transaction.prepare("SELECT id FROM open_game ORDER BY id")?;
            statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?
        };
        for id in ids {
            // A base that cannot be read is not deleted.
            let (game, size, damaged) = match load(&transaction, id) {
                Err(Error::Corrupt) => continue,
                loaded => loaded?,
            };
            let known = match library.game(id) {
                // The log of a game that is damaged there is not deleted either.
                Err(error) if error.is_damage() => continue,
                known => known?.map(|it| it.revision),
            };
            if known.is_none_or(|it| it >= game.revision) {
                end(&transaction, id)?;
                continue;
            }
            if let Some(no) = damaged {
                // They are kept for a report.
                transaction.execute("DELETE FROM open_log WHERE game = -?1", [id])?;
                let values = params![id, no];
                let sql = "UPDATE open_log SET game = -?1 WHERE game = ?1 AND no >= ?2";
                transaction.execute(sql, values)?;
            }
            self.sizes.insert(id, size);
            games.push(game);
        }
        transaction.commit()?;
        Ok(games)
    }

    fn run(mut self, requests: &Receiver<(Change, Done)>) {
        let mut is_written = false;
        loop {
            let first = match requests.recv_timeout(IDLE) {
                Ok(first) => first,
                Err(RecvTimeoutError::Timeout) => {
                    if is_written {
                        // Tried again after the next change.
                        let _ = self.compact();
                        let _ =
                            self.connection
                                .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
                        is_written = false;
                    }
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            };
            is_written = true;
            let group: Vec<_> =
                std::iter::once(first).chain(requests.try_iter().take(MAX_GROUP)).collect();
            let changes: Vec<&Change> = group.iter().map(|(change, _)| change).collect();
            if self.write(&changes).is_ok() {
                for (_, done) in group {
                    done(Ok(()));
                }
                continue;
            }
            // One change that cannot be written does not affect the others.
            for (change, done) in group {
                done(self.write(&[&change]));
            }
        }
    }

    fn write(&mut self, changes: &[&Change]) -> Result<(), Error> {
        let mut sizes = BTreeMap::new();
        let mut ended = BTreeSet::new();
        let transaction = self.connection.transaction()?;
        for change in changes {
            match change {
                Change::Begin { game, revision, at_ms, base } => {
                    end(&transaction, *game)?;
                    transaction
                        .prepare_cached("INSERT INTO open_game VALUES (?1, ?2, ?3, ?4)")?
                        .execute(params![game, revision, at_ms, base])?;
                    sizes.insert(*game, Size { base: base.len(), ..Size::default() });
                    ended.remove(game);
                }
                Change::Append { game, at_ms, entries } => {
                    let known = sizes.get(game).or_else(|| self.sizes.get(game));
                    let known = known.filter(|_| !ended.contains(game));
                    let mut size = *known.ok_or(Error::NotOpen)?;
                    let mut insert =
                        transaction.prepare_cached("INSERT INTO open_log VALUES (?1, ?2, ?3)")?;
                    for entry in entries {
                        insert.execute(params![game, size.next_no, entry])?;
                        size.next_no += 1;
                        size.entries += 1;
                        size.bytes += entry.len();
                    }
                    transaction
                        .prepare_cached("UPDATE open_game SET changed = ?2 WHERE id = ?1")?
                        .execute(params![game, at_ms])?;
                    sizes.insert(*game, size);
                }
                Change::SetRevision { game, revision } => {
                    transaction
                        .prepare_cached("UPDATE open_game SET revision = ?2 WHERE id = ?1")?
                        .execute([game, revision])?;
                }
                Change::End { game } => {
                    end(&transaction, *game)?;
                    sizes.remove(game);
                    ended.insert(*game);
                }
            }
        }
        transaction.commit()?;
        self.sizes.retain(|game, _| !ended.contains(game));
        self.sizes.extend(sizes);
        Ok(())
    }

    /// Replaces long logs by new bases.
    fn compact(&mut self) -> Result<(), Error> {
        let is_long = |it: &Size| it.entries > MAX_ENTRIES && it.bytes > 4 * it.base;
        let long: Vec<u32> =
            self.sizes.iter().filter(|(_, it)| is_long(it)).map(|(game, _)| *game).collect();
        for id in long {
            let transaction = self.connection.transaction()?;
            let (game, size, damaged) = load(&transaction, id)?;
            let base = game.tree.encode();
            if damaged.is_some() {
                continue;
            }
            transaction
                .execute("UPDATE open_game SET base = ?2 WHERE id = ?1", params![id, base])?;
            transaction.execute("DELETE FROM open_log WHERE game = ?1", [id])?;
            transaction.commit()?;
            let size = Size { next_no: size.next_no, base: base.len(), ..Size::default() };
            self.sizes.insert(id, size);
        }
        Ok(())
    }
}

/// Deletes a log.
fn end(connection: &Connection, game: u32) -> Result<(), Error> {
    connection.prepare_cached("DELETE FROM open_game WHERE id = ?1")?.execute([game])?;
    connection.prepare_cached("DELETE FROM open_log WHERE game = ?1")?.execute([game])?;
    Ok(())
}

/// A game, the size of its log, and the number of the first entry that cannot be read.
fn load(connection: &Connection, id: u32) -> Result<(OpenGame, Size, Option<i64>), Error> {
    let sql = "SELECT revision, changed, base FROM open_game WHERE id = ?1";
    let (revision, changed_ms, base) = connection
        .query_row(sql, [id], |row| Ok((row.get(0)?, row.get(1)?, row.get::<_, Vec<u8>>(2)?)))?;
    let mut tree = OpenTree::decode(&base)?;
    let mut size = Size { base: base.len(), ..Size::default() };
    let mut damaged = None;
    let mut entries =
        connection.prepare_cached("SELECT no, entry FROM open_log WHERE game = ?1 ORDER BY no")?;
    let mut rows = entries.query([id])?;
    while let Some(row) = rows.next()? {
        let (no, bytes) = (row.get(0)?, row.get_ref(1)?.as_blob().map_err(|_| Error::Corrupt)?);
        let entry = Entry::decode(tree.game, bytes);
        if entry.and_then(|it| tree.apply(&it)).is_err() {
            damaged = Some(no);
            break;
        }
        size.next_no = no + 1;
        size.entries += 1;
        size.bytes += bytes.len();
    }
    let is_damaged = damaged.is_some();
    Ok((OpenGame { game: id, revision, tree, changed_ms, is_damaged }, size, damaged))
}
