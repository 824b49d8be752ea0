//! The database as a whole: one writer thread and any number of readers.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use readyok_rules::Side;
use readyok_rules::record::GameRecord;
use rusqlite::Connection;

use crate::collection::{self, Chapter, Collection, CollectionEdit};
use crate::duplicates::{Undecided, undecided};
use crate::error::{Error, LibraryDefect};
use crate::game::{GameEntry, Indexer, NewGame, StoredGame};
use crate::groups::{DuplicateGroup, groups};
use crate::lock::{LOCK_TIMEOUT, ProcessLock};
use crate::matcher::Filter;
use crate::names::{self, NameCount, NameKind, NameMerge, NameProposal, SpellingFile};
use crate::outcome::{Decided, Decision, Duplicates, Outcome, Outcomes};
use crate::postings::Key;
use crate::query::{self, Column, Explorer, Page};
use crate::receipt::{self, Receipt};
use crate::repertoire::{self, RepertoireGame};
use crate::schema;
use crate::snapshot::{Shared, Snapshot};
use crate::summary::Summary;
use crate::writer::{MAX_PENDING, Request, Writer};

/// A database of games in one file. Methods can be called by any thread; all of them block.
#[derive(Debug)]
pub struct Library {
    shared: Arc<Shared>,
    requests: Option<SyncSender<Request>>,
    writer: Option<JoinHandle<()>>,
    preloading: Mutex<Option<JoinHandle<()>>>,
}

impl Library {
    /// Opens a database, and creates it if the file does not exist.
    ///
    /// # Errors
    /// The file cannot be opened, has another version, or is not a database of games; it is not changed then.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::open_with(path, StoredGame::postings, MAX_PENDING)
    }

    /// Opens a database of games whose moves have another encoding. `indexer` computes the postings of games whose
    /// postings were lost because the process was killed, or have another key scheme. Postings become a run when
    /// there are `max_pending`.
    #[doc(hidden)]
    pub fn open_with(path: &Path, indexer: Indexer, max_pending: usize) -> Result<Self, Error> {
        Self::open_within(path, (indexer, max_pending), LOCK_TIMEOUT)
    }

    /// As [`Self::open_with`]. Requests fail after the given time if another process writes for longer.
    #[doc(hidden)]
    pub fn open_within(
        path: &Path,
        indexing: (Indexer, usize),
        timeout: Duration,
    ) -> Result<Self, Error> {
        let lock = ProcessLock::open(path, timeout)?;
        let lock = lock.ok_or_else(|| schema::defect_of(path))?;
        let (connection, snapshot) = {
            let _guard = lock.acquire()?;
            Writer::load(schema::open_writer(path, lock.is_alone())?)?
        };
        let shared = Arc::new(Shared::new(path.to_owned(), snapshot.clone()));
        let writer = Writer::new((connection, lock), Arc::clone(&shared), snapshot, indexing);
        let (sender, requests) = mpsc::sync_channel(4);
        let thread = thread::Builder::new()
            .name("library".to_owned())
            .spawn(move || writer.run(&requests))?;
        Ok(Self {
            shared,
            requests: Some(sender),
            writer: Some(thread),
            preloading: Mutex::default(),
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.shared.path
    }

    /// Runs a query on one state of the file and of the memory.
    fn read<T>(
        &self,
        query: impl FnOnce(&Connection, &Snapshot) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let result = self.shared.read(query);
        if self.shared.lacks_postings.swap(false, Ordering::Relaxed)
            && let Some(requests) = &self.requests
        {
            // Each request indexes them first.
            let _ = requests.try_send(Request::Refresh(mpsc::channel().0));
        }
        result
    }

    /// Waits until all games are indexed that other processes have added, or that were not indexed before a kill.
    /// Searches by position miss them until then.
    ///
    /// # Errors
    /// The file could not be read or written.
    pub fn wait_until_indexed(&self) -> Result<(), Error> {
        self.request(Request::Refresh)
    }

    fn request<T>(
        &self,
        request: impl FnOnce(Sender<Result<T, Error>>) -> Request,
    ) -> Result<T, Error> {
        let (sender, response) = mpsc::channel();
        let requests = self.requests.as_ref().ok_or(Error::Defect(LibraryDefect::LibraryClosed))?;
        requests.send(request(sender)).map_err(|_| Error::Defect(LibraryDefect::LibraryClosed))?;
        response.recv().map_err(|_| Error::Defect(LibraryDefect::LibraryClosed))?
    }

    /// Adds games in one transaction and returns their numbers.
    ///
    /// # Errors
    /// Nothing was added.
    pub fn add(&self, games: Vec<NewGame>) -> Result<Vec<u32>, Error> {
        let outcomes = self.send_games(games, Duplicates::Keep, None)?.recv();
        Ok(outcomes
            .map_err(|_| Error::Defect(LibraryDefect::LibraryClosed))??
            .into_iter()
            .map(Outcome::game)
            .collect())
    }

    /// Adds games in one transaction, unless this is a repetition of the last batch of its source. Then the games were
    /// added before a crash, and the outcomes are those of that time. Batches of a source are added one at a time.
    ///
    /// # Errors
    /// Nothing was added.
    pub fn add_once(
        &self,
        (source, batch): (&str, u64),
        games: Vec<NewGame>,
        duplicates: Duplicates,
    ) -> Result<Vec<Outcome>, Error> {
        let batch = Some((source.to_owned(), batch));
        self.send_games(games, duplicates, batch)?
            .recv()
            .map_err(|_| Error::Defect(LibraryDefect::LibraryClosed))?
    }

    /// The last batches of all sources of [`Self::add_once`].
    ///
    /// # Errors
    /// The file could not be read.
    pub fn receipts(&self) -> Result<Vec<Receipt>, Error> {
        self.read(|connection, _| receipt::all(connection))
    }

    /// Forgets the last batch of a source.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn forget_receipt(&self, source: &str) -> Result<(), Error> {
        self.request(|response| Request::Forget(source.to_owned(), response))
    }

    /// Sends games to the writer, which adds them in one transaction.
    pub(crate) fn send_games(
        &self,
        games: Vec<NewGame>,
        duplicates: Duplicates,
        batch: Option<(String, u64)>,
    ) -> Result<Receiver<Outcomes>, Error> {
        let (response, receiver) = mpsc::channel();
        let requests = self.requests.as_ref().ok_or(Error::Defect(LibraryDefect::LibraryClosed))?;
        let request = Request::Add { games, duplicates, batch, response };
        requests.send(request).map_err(|_| Error::Defect(LibraryDefect::LibraryClosed))?;
        Ok(receiver)
    }

    /// Groups of games that are one game by [`GameIdentity`](readyok_rules::record::GameIdentity): with equal moves, or
    /// with moves that are the first ones of another. Ascending by their first games.
    ///
    /// # Errors
    /// The file could not be read.
    pub fn duplicates(&self) -> Result<Vec<DuplicateGroup>, Error> {
        self.read(groups)
    }

    /// The first `limit` duplicates that were imported with [`Duplicates::Ask`].
    ///
    /// # Errors
    /// The file could not be read.
    pub fn undecided(&self, limit: usize) -> Result<Undecided, Error> {
        self.read(|connection, snapshot| undecided(connection, snapshot, limit))
    }

    /// Adds, deletes or merges undecided duplicates: the given ones, or all. Those that would replace an open game
    /// remain undecided.
    ///
    /// # Errors
    /// The transaction of some of them failed; those before are decided.
    pub fn decide(&self, games: Option<Vec<u32>>, decision: Decision) -> Result<Decided, Error> {
        self.request(|response| Request::Decide { games, decision, response })
    }

    /// States that the app opens a game, or closes it as often as it has opened it. Its content is that of the app in
    /// between, so that imports do not replace it.
    pub fn set_open(&self, game: u32, is_open: bool) {
        let mut open = self.shared.open.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry(game).or_default();
        *count = if is_open { count.saturating_add(1) } else { count.saturating_sub(1) };
        if *count == 0 {
            open.remove(&game);
        }
    }

    /// Prevents imports from replacing a game, until the result is dropped. A game that is read to be changed needs
    /// it from before the read until [`Self::set_open`].
    #[must_use]
    pub fn hold(self: &Arc<Self>, game: u32) -> Hold {
        self.set_open(game, true);
        Hold { library: Arc::downgrade(self), game }
    }

    /// Sets or removes a label of games.
    ///
    /// # Errors
    /// Nothing was changed.
    pub fn set_label(&self, games: Vec<u32>, label: String, set: bool) -> Result<(), Error> {
        self.request(|response| Request::Label { games, label, set, response })
    }

    /// All labels with their numbers of games.
    ///
    /// # Errors
    /// The file could not be read.
    pub fn labels(&self) -> Result<Vec<(String, u32)>, Error> {
        self.read(|connection, _| {
            let mut statement = connection
                .prepare_cached("SELECT text, count(*) FROM label GROUP BY text ORDER BY text")?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Changes a collection at a time in ms since 1970. Returns its number.
    ///
    /// # Errors
    /// Nothing was changed.
    pub fn edit_collection(&self, edit: CollectionEdit, at_ms: i64) -> Result<u32, Error> {
        self.request(|response| Request::Collection(edit, at_ms, response))
    }

    /// All collections, the last changed one first.
    ///
    /// # Errors
    /// The file could not be read.
    pub fn collections(&self) -> Result<Vec<Collection>, Error> {
        self.read(|connection, _| collection::all(connection))
    }

    /// A collection with its chapters in their order.
    ///
    /// # Errors
    /// It does not exist, or the file could not be read.
    pub fn collection(&self, collection: u32) -> Result<(Collection, Vec<Chapter>), Error> {
        self.read(|connection, _| collection::read(connection, collection))
    }

    /// A collection with its chapters that has a game, and the place of the game: the preferred one, or the one that
    /// was changed last.
    ///
    /// # Errors
    /// The file could not be read.
    pub fn place_of(
        &self,
        game: u32,
        preferred: Option<u32>,
    ) -> Result<Option<(Collection, Vec<Chapter>, usize)>, Error> {
        self.read(|connection, _| collection::place_of(connection, game, preferred))
    }

    /// The number of collections that have at least one of the games.
    ///
    /// # Errors
    /// The file could not be read.
    pub fn collections_of(&self, games: &BTreeSet<u32>) -> Result<usize, Error> {
        self.read(|connection, _| collection::count_of(connection, games))
    }

    /// Takes the number of a game that [`Self::add_reserved`] may add later. No other game gets it.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn reserve(&self) -> Result<u32, Error> {
        self.request(|response| Request::Reserve(None, response))
    }

    /// Reserves a number of an earlier [`Self::reserve`] again, which an older copy of the file does not know. Returns
    /// false if a game has it.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn reserve_again(&self, game: u32) -> Result<bool, Error> {
        Ok(self.request(|response| Request::Reserve(Some(game), response))? == game)
    }

    /// Adds a game with a number of [`Self::reserve`]. Returns false if the number was not reserved, or is in use.
    ///
    /// # Errors
    /// Nothing was added.
    pub fn add_reserved(&self, game: u32, new: NewGame) -> Result<bool, Error> {
        let new = Box::new(new);
        self.request(|response| Request::AddReserved { game, new, response })
    }

    /// Replaces a game. Returns false if it does not exist.
    ///
    /// # Errors
    /// Nothing was changed.
    pub fn replace(&self, game: u32, new: NewGame) -> Result<bool, Error> {
        let (new, revision) = (Box::new(new), None);
        self.request(|response| Request::Replace { game, new, revision, response })
    }

    /// Replaces a game if it has a revision. Returns false if it has another one, or does not exist.
    ///
    /// # Errors
    /// Nothing was changed.
    pub fn replace_revision(&self, game: u32, revision: u32, new: NewGame) -> Result<bool, Error> {
        let (new, revision) = (Box::new(new), Some(revision));
        self.request(|response| Request::Replace { game, new, revision, response })
    }

    /// The revision of a game.
    ///
    /// # Errors
    /// The file could not be read.
    pub fn revision(&self, game: u32) -> Result<Option<u32>, Error> {
        self.read(|connection, snapshot| {
            if snapshot.summaries.raw(game).is_none() {
                return Ok(None);
            }
            let sql = "SELECT revision FROM game WHERE id = ?1";
            Ok(Some(connection.prepare_cached(sql)?.query_row([game], |row| row.get(0))?))
        })
    }

    /// Deletes games, in transactions of 500. Their chapters are no longer listed. Returns how many existed.
    ///
    /// # Errors
    /// The transaction of some of them failed; those before are deleted.
    pub fn delete(&self, games: Vec<u32>) -> Result<usize, Error> {
        self.request(|response| Request::Delete(games, response))
    }

    /// Adds deleted games again in one transaction, with their numbers. Chapters of games that were deleted since the
    /// file was opened return to their places. Returns how many did not exist.
    ///
    /// # Errors
    /// Nothing was changed.
    pub fn restore(&self, games: Vec<StoredGame>) -> Result<usize, Error> {
        self.request(|response| Request::Restore(games, response))
    }

    /// All names that games have, each with its number of games, in alphabetical order.
    ///
    /// # Errors
    /// The file could not be read.
    pub fn names(&self, kind: NameKind) -> Result<Vec<NameCount>, Error> {
        self.read(|connection, snapshot| names::all(connection, snapshot, kind))
    }

    /// Names of players that are probably spellings of one name. Names with different FIDE ids, and names of players who
    /// play each other, are not proposed.
    ///
    /// # Errors
    /// The file could not be read.
    pub fn propose_names(&self) -> Result<Vec<NameProposal>, Error> {
        self.read(names::proposals::propose)
    }

    /// Names that a spelling file of SCID corrects.
    ///
    /// # Errors
    /// The file could not be read.
    pub fn propose_spelling(
        &self,
        file: &SpellingFile,
        kind: NameKind,
    ) -> Result<Vec<NameProposal>, Error> {
        Ok(file.proposals(kind, &self.names(kind)?))
    }

    /// The merges that can be undone, the last one first.
    ///
    /// # Errors
    /// The file could not be read.
    pub fn name_merges(&self) -> Result<Vec<NameMerge>, Error> {
        self.read(|connection, _| names::merges::all(connection))
    }

    /// Replaces names by another one in all games, at a time in ms since 1970. Returns the number of the merge, by which
    /// [`Self::undo_name_merge`] undoes it, and the number of changed games; none if no game has the names.
    ///
    /// # Errors
    /// Nothing was changed.
    pub fn merge_names(
        &self,
        kind: NameKind,
        from: Vec<String>,
        to: String,
        at_ms: i64,
    ) -> Result<Option<(u32, usize)>, Error> {
        self.request(|response| Request::MergeNames { kind, from, to, at_ms, response })
    }

    /// Undoes a merge of names in the games that have had no other name since. Returns how many; none if the merge is
    /// unknown, or was forgotten because of later ones.
    ///
    /// # Errors
    /// Nothing was changed.
    pub fn undo_name_merge(&self, merge: u32) -> Result<Option<usize>, Error> {
        self.request(|response| Request::UndoNameMerge(merge, response))
    }

    /// Writes recent postings to the index. With `optimize`, merges the whole index.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn flush(&self, optimize: bool) -> Result<(), Error> {
        self.request(|response| Request::Flush(optimize, response))
    }

    /// Games that match a filter, sorted by a column (`true`: descending). `limit` of them after `offset`.
    ///
    /// # Errors
    /// The file could not be read.
    pub fn search<'f>(
        &self,
        filter: impl Into<Filter<'f>>,
        sort: (Column, bool),
        offset: usize,
        limit: usize,
    ) -> Result<Page, Error> {
        let filter = filter.into();
        self.read(|connection, snapshot| {
            query::search(connection, &self.shared.caches, snapshot, filter, sort, (offset, limit))
        })
    }

    /// Reads in the background what the first search would read from the disk.
    pub fn preload(&self) {
        let shared = Arc::clone(&self.shared);
        let thread = thread::Builder::new().name("preload".to_owned()).spawn(move || {
            // Without it, the first search is slower.
            let _ = shared.preload();
        });
        *self.preloading.lock().unwrap_or_else(PoisonError::into_inner) = thread.ok();
    }

    /// Numbers of all games that match a filter, ascending.
    ///
    /// # Errors
    /// The file could not be read.
    pub fn find_all<'f>(&self, filter: impl Into<Filter<'f>>) -> Result<Vec<u32>, Error> {
        let filter = filter.into();
        self.read(|connection, snapshot| {
            query::all(connection, &self.shared.caches, snapshot, filter)
        })
    }

    /// Statistics of the moves that were played in a position where it is `turn`'s move.
    ///
    /// # Errors
    /// The file could not be read.
    pub fn explore<'f>(
        &self,
        position: Key,
        turn: Side,
        filter: impl Into<Filter<'f>>,
    ) -> Result<Explorer, Error> {
        let filter = filter.into();
        self.read(|connection, snapshot| {
            query::explore(connection, &self.shared.caches, snapshot, position, turn, filter)
        })
    }

    /// The games that match a filter and reach a position of a tree of moves after its start, in the order of their
    /// numbers, with the place where each leaves it. Main lines of games count, and all variations of the tree.
    ///
    /// # Errors
    /// The file could not be read, or the search was cancelled.
    pub fn repertoire<'f>(
        &self,
        tree: &GameRecord,
        filter: impl Into<Filter<'f>>,
    ) -> Result<Vec<RepertoireGame>, Error> {
        let filter = filter.into();
        self.read(|connection, snapshot| {
            repertoire::search(connection, &self.shared.caches, snapshot, tree, filter)
        })
    }

    /// A game.
    ///
    /// # Errors
    /// The file could not be read.
    pub fn game(&self, game: u32) -> Result<Option<StoredGame>, Error> {
        let found = self.read(|connection, _| StoredGame::read(connection, game))?;
        Ok(found.filter(|entry| entry.summary.exists))
    }

    /// Existing games of a list, in its order.
    ///
    /// # Errors
    /// The file could not be read.
    pub fn entries(&self, games: &[u32]) -> Result<Vec<GameEntry>, Error> {
        self.read(|connection, snapshot| {
            let known =
                games.iter().filter_map(|game| Some((*game, snapshot.summaries.get(*game)?)));
            known.map(|(game, summary)| GameEntry::read(connection, game, summary)).collect()
        })
    }

    /// The summary of a game.
    #[must_use]
    pub fn summary(&self, game: u32) -> Option<Summary> {
        self.shared.snapshot().summaries.get(game)
    }
}

/// A game that imports do not replace.
#[derive(Debug)]
pub struct Hold {
    library: Weak<Library>,
    game: u32,
}

impl Drop for Hold {
    fn drop(&mut self) {
        if let Some(library) = self.library.upgrade() {
            library.set_open(self.game, false);
        }
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        drop(self.requests.take());
        self.shared.closing.store(true, Ordering::Relaxed);
        let preloading = self.preloading.get_mut().unwrap_or_else(PoisonError::into_inner);
        for thread in self.writer.take().into_iter().chain(preloading.take()) {
            // A panic was reported on its thread.
            let _ = thread.join();
        }
    }
}
