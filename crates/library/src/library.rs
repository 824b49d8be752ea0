//! The database as a whole: one writer thread and any number of readers.

use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread::{self, JoinHandle};

use readyok_rules::Side;

use crate::duplicates::groups;
use crate::error::Error;
use crate::game::{GameEntry, Indexer, NewGame, StoredGame};
use crate::import::{self, Duplicates, ImportOptions, Imported, Importer, Outcome, Outcomes};
use crate::postings::Key;
use crate::query::{self, Column, Explorer, Filter, Page};
use crate::schema;
use crate::snapshot::Shared;
use crate::summary::Summary;
use crate::writer::{MAX_PENDING, Request, Writer};

/// A database of games in one file. Methods can be called by any thread; all of them block.
#[derive(Debug)]
pub struct Library {
    shared: Arc<Shared>,
    requests: Option<SyncSender<Request>>,
    writer: Option<JoinHandle<()>>,
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
        let (connection, snapshot) = Writer::load(schema::open_writer(path)?)?;
        let shared = Arc::new(Shared::new(path.to_owned(), snapshot.clone()));
        let mut writer = Writer::new(connection, Arc::clone(&shared), snapshot, max_pending);
        let (sender, requests) = mpsc::sync_channel(4);
        let thread = thread::Builder::new().name("library".to_owned()).spawn(move || {
            // Searches by position miss games that were not indexed; the next start tries again.
            let _ = writer.recover(indexer);
            writer.run(&requests);
        })?;
        Ok(Self { shared, requests: Some(sender), writer: Some(thread) })
    }

    fn request<T>(
        &self,
        request: impl FnOnce(Sender<Result<T, Error>>) -> Request,
    ) -> Result<T, Error> {
        let (sender, response) = mpsc::channel();
        let requests = self.requests.as_ref().ok_or(Error::Stopped)?;
        requests.send(request(sender)).map_err(|_| Error::Stopped)?;
        response.recv().map_err(|_| Error::Stopped)?
    }

    /// Adds games in one transaction and returns their numbers.
    ///
    /// # Errors
    /// Nothing was added.
    pub fn add(&self, games: Vec<NewGame>) -> Result<Vec<u32>, Error> {
        let outcomes = self.send_games(games, Duplicates::Keep)?.recv();
        let outcomes = outcomes.map_err(|_| Error::Stopped)??;
        Ok(outcomes
            .into_iter()
            .map(|it| match it {
                Outcome::Added(id) | Outcome::Duplicate(id) | Outcome::Replaced(id) => id,
            })
            .collect())
    }

    /// Sends games to the writer, which adds them in one transaction.
    pub(crate) fn send_games(
        &self,
        games: Vec<NewGame>,
        duplicates: Duplicates,
    ) -> Result<Receiver<Outcomes>, Error> {
        let (response, receiver) = mpsc::channel();
        let requests = self.requests.as_ref().ok_or(Error::Stopped)?;
        let request = Request::Add { games, duplicates, response };
        requests.send(request).map_err(|_| Error::Stopped)?;
        Ok(receiver)
    }

    /// Reads the games of a source and adds them in batches. `progress` is called about five times a second and
    /// cancels the import with [`ControlFlow::Break`]. Games that were added remain after a cancellation, an error and
    /// a crash.
    ///
    /// # Errors
    /// A batch could not be stored. A game that cannot be read is not an error.
    pub fn import(
        &self,
        source: impl Read,
        options: ImportOptions,
        progress: impl FnMut(&Imported) -> ControlFlow<()>,
    ) -> Result<Imported, Error> {
        import::import(self, source, options, progress)
    }

    /// Adds games one by one; [`Self::import`] for records that come from elsewhere.
    #[must_use]
    pub fn importer(&self, options: ImportOptions) -> Importer<'_> {
        Importer::new(self, options)
    }

    /// Groups of duplicates, each in ascending order.
    ///
    /// # Errors
    /// The file could not be read.
    pub fn duplicates(&self) -> Result<Vec<Vec<u32>>, Error> {
        self.shared.read(groups)
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
        self.shared.read(|connection, _| {
            let mut statement = connection
                .prepare_cached("SELECT text, count(*) FROM label GROUP BY text ORDER BY text")?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Replaces a game. Returns false if it does not exist.
    ///
    /// # Errors
    /// Nothing was changed.
    pub fn replace(&self, game: u32, new: NewGame) -> Result<bool, Error> {
        self.request(|response| Request::Replace(game, Box::new(new), response))
    }

    /// Deletes games, in transactions of 500. Returns how many existed.
    ///
    /// # Errors
    /// The transaction of some of them failed; those before are deleted.
    pub fn delete(&self, games: Vec<u32>) -> Result<usize, Error> {
        self.request(|response| Request::Delete(games, response))
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
    pub fn search(
        &self,
        filter: &Filter,
        sort: (Column, bool),
        offset: usize,
        limit: usize,
    ) -> Result<Page, Error> {
        self.shared.read(|connection, snapshot| {
            query::search(connection, &self.shared.caches, snapshot, filter, sort, (offset, limit))
        })
    }

    /// Numbers of all games that match a filter, ascending.
    ///
    /// # Errors
    /// The file could not be read.
    pub fn find_all(&self, filter: &Filter) -> Result<Vec<u32>, Error> {
        self.shared.read(|connection, snapshot| {
            query::all(connection, &self.shared.caches, snapshot, filter)
        })
    }

    /// Statistics of the moves that were played in a position where it is `turn`'s move.
    ///
    /// # Errors
    /// The file could not be read.
    pub fn explore(&self, position: Key, turn: Side, filter: &Filter) -> Result<Explorer, Error> {
        self.shared.read(|connection, snapshot| {
            query::explore(connection, &self.shared.caches, snapshot, position, turn, filter)
        })
    }

    /// A game.
    ///
    /// # Errors
    /// The file could not be read.
    pub fn game(&self, game: u32) -> Result<Option<StoredGame>, Error> {
        self.shared.read(|connection, _| StoredGame::read(connection, game))
    }

    /// Existing games of a list, in its order.
    ///
    /// # Errors
    /// The file could not be read.
    pub fn entries(&self, games: &[u32]) -> Result<Vec<GameEntry>, Error> {
        self.shared.read(|connection, snapshot| {
            let known = games.iter().filter_map(|it| Some((*it, snapshot.summaries.get(*it)?)));
            known.map(|(game, it)| GameEntry::read(connection, game, it)).collect()
        })
    }

    /// The summary of a game.
    #[must_use]
    pub fn summary(&self, game: u32) -> Option<Summary> {
        self.shared.snapshot().summaries.get(game)
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        drop(self.requests.take());
        if let Some(writer) = self.writer.take() {
            // A panic of the writer was reported on its thread.
            let _ = writer.join();
        }
    }
}
