//! The library: imported games, the queue of the writer, and games that are read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use rusqlite::ErrorCode as Failure;
use tokio::sync::oneshot;

use super::components::{Components, Context};
use super::{App, storage};
use crate::game::{GameSession, GameSnapshot, Searched, StoredSession, Tree};
use crate::store::{GameSource, Row, Store, StoreError, StoredGame, StoredReport, Writer, Written};
use crate::time::{Moment, now};
use crate::wire::{Answer, ApiError, ErrorCode, ErrorSubject, GameId, LibraryGame, NodeId};

/// Maximum number of imported games in one transaction.
const MAX_BATCH: usize = 64;
/// Maximum size of a transaction before its last game, in bytes. Moves that are played in the meantime are written
/// between two transactions.
const MAX_BATCH_BYTES: usize = 1 << 20;

/// Imported games that are written in one transaction.
#[derive(Default)]
pub(crate) struct Batch {
    rows: Vec<Row>,
    bytes: usize,
}

impl Batch {
    /// Adds a game. Returns whether the batch is full.
    pub(crate) fn push(&mut self, row: Row) -> bool {
        self.bytes += row.size();
        self.rows.push(row);
        MAX_BATCH <= self.rows.len() || MAX_BATCH_BYTES <= self.bytes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(crate) fn take(&mut self) -> Vec<Row> {
        self.bytes = 0;
        std::mem::take(&mut self.rows)
    }
}

/// An error of the library as an error code.
pub(super) fn library_error(error: &StoreError) -> ErrorCode {
    match error {
        StoreError::Closed => ErrorCode::LibraryClosed,
        StoreError::Content(_) => ErrorCode::LibraryDamaged,
        StoreError::Database(failure) => match failure.sqlite_error_code() {
            Some(Failure::DiskFull) => ErrorCode::DiskFull,
            Some(Failure::ReadOnly) => ErrorCode::LibraryReadOnly,
            Some(Failure::DatabaseBusy | Failure::DatabaseLocked) => ErrorCode::LibraryInUse,
            Some(Failure::DatabaseCorrupt | Failure::NotADatabase) => ErrorCode::LibraryDamaged,
            _ => ErrorCode::system(error),
        },
        StoreError::File(..) | StoreError::Version(_) => ErrorCode::system(error),
    }
}

/// The row of an imported game. Searches find it even without a result.
pub(crate) fn row_of(tree: Tree, at: Moment) -> Result<Row, ApiError> {
    Row::of(&GameSession::new(0, tree, at).snapshot(), true).map_err(storage)
}

impl App {
    /// Adds imported games. It blocks, so it must not be called on threads of the runtime. After an error, the
    /// remaining games are not added.
    pub(crate) fn import(&self, rows: Vec<Row>) -> (Vec<LibraryGame>, Option<ApiError>) {
        let at = now();
        let added = self.writer.call_blocking(move |store| {
            let (ids, error) = store.import(&rows, at);
            let games = rows.into_iter().zip(ids);
            let games: Vec<_> = games.map(|(row, id)| row.into_found(id, "import", at)).collect();
            Ok((games, error))
        });
        match added {
            Ok((games, error)) => (games, error.map(storage)),
            Err(error) => (Vec::new(), Some(storage(error))),
        }
    }

    /// Adds an imported game and opens it. It blocks like [`Self::import`].
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method is not general enough"
    )]
    pub(crate) fn import_open(&self, tree: Tree) -> Result<LibraryGame, ApiError> {
        let at = now();
        // A game that cannot be opened is not added.
        self.update(|components, cx| components.evict_idle(cx))?;
        let row = row_of(tree.clone(), at)?;
        let added = self.writer.call_blocking(move |store| {
            let ids = store.add_games(std::slice::from_ref(&row), "import", true, at)?;
            Ok(ids.first().map(|id| row.into_found(*id, "import", at)))
        });
        let closed = || storage(StoreError::Closed);
        let game = added.map_err(storage)?.ok_or_else(closed)?;
        let mut session = GameSession::new(game.id, tree, at);
        session.take_unsaved();
        self.update(|components, cx| {
            if let Err(error) = components.evict_idle(cx) {
                drop(cx.set_open(game.id, false));
                return Err(error);
            }
            components.games.add(components.engines, cx, session);
            Ok(game)
        })
    }

    /// The tree of a game, open or not, with its cursor.
    pub(crate) async fn tree_of(&self, id: GameId) -> Result<(Tree, NodeId), ApiError> {
        let tree = |session: &GameSession| (session.tree().clone(), session.cursor());
        let open = self.state().games.get(id).map(tree);
        if let Some(found) = open {
            return Ok(found);
        }
        let found = self.load(id, |components, _, loaded| match components.games.get(id) {
            Some(session) => Ok(tree(session)),
            None => loaded.map(|loaded| tree(&loaded.session)),
        });
        found.await
    }
}

/// The receiver of a later answer.
pub(crate) type Deferred = oneshot::Receiver<Result<Answer, ApiError>>;

/// A report with its judgements.
pub(super) type StoredJudgements = (StoredReport, Vec<Searched>);

/// The answer to a command.
pub(crate) enum Reply {
    Done(Result<Answer, ApiError>),
    /// The answer is sent after the changes of the command are written, or could not be written.
    Written(Result<Answer, ApiError>, Written),
    Deferred(Deferred),
}

impl From<Result<Answer, ApiError>> for Reply {
    fn from(answer: Result<Answer, ApiError>) -> Self {
        Self::Done(answer)
    }
}

impl From<Result<Self, ApiError>> for Reply {
    fn from(reply: Result<Self, ApiError>) -> Self {
        reply.unwrap_or_else(|error| Self::Done(Err(error)))
    }
}

impl From<Result<Deferred, ApiError>> for Reply {
    fn from(answer: Result<Deferred, ApiError>) -> Self {
        answer.map_or_else(|error| Self::Done(Err(error)), Self::Deferred)
    }
}

/// Queues the work of the writer.
pub(crate) struct SaveQueue {
    writer: Writer,
    /// The number of queued operations.
    pub(super) queued: u64,
    /// Games that are queued, before the writer has their snapshots.
    waiting: BTreeSet<GameId>,
    /// Games that are being written.
    pub(super) writing: BTreeSet<GameId>,
    /// Snapshots of games that were closed while they were queued.
    closed: BTreeMap<GameId, GameSnapshot>,
    /// Games that are being read, each with a flag for a change in the meantime.
    reading: Vec<(GameId, Weak<AtomicBool>)>,
}

impl SaveQueue {
    pub(super) fn new(writer: Writer) -> Self {
        let (waiting, writing) = (BTreeSet::new(), BTreeSet::new());
        Self { writer, queued: 0, waiting, writing, closed: BTreeMap::new(), reading: Vec::new() }
    }

    /// Queues a game to be saved in its later state. Returns false if the library is closed.
    #[must_use]
    pub(super) fn save(&mut self, game: GameId) -> bool {
        self.queued += 1;
        if self.waiting.contains(&game) {
            return true;
        }
        let queued = self.writer.save(game);
        if queued {
            self.waiting.insert(game);
        }
        queued
    }

    /// Queues other work on the library.
    pub(super) fn run<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut Store) -> T + Send + 'static,
    ) -> Written<T> {
        self.queued += 1;
        self.writer.run(work)
    }

    /// Whether a game is queued or being written.
    pub(super) fn is_pending(&self, game: GameId) -> bool {
        self.waiting.contains(&game) || self.writing.contains(&game)
    }

    /// Closes a game. Its changes are still written.
    pub(super) fn leave(&mut self, session: &GameSession) {
        if self.waiting.contains(&session.id()) {
            self.closed.insert(session.id(), session.snapshot());
        }
        self.mark_changed(Some(session.id()));
    }

    /// Marks the reads in progress of a game, or of all games, as out of date.
    pub(super) fn mark_changed(&mut self, game: Option<GameId>) {
        for (id, changed) in &self.reading {
            if game.is_none_or(|game| game == *id)
                && let Some(changed) = changed.upgrade()
            {
                changed.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Registers a read of a game. The flag is set if the result is out of date.
    fn begin_reading(&mut self, game: GameId) -> Arc<AtomicBool> {
        let changed = Arc::new(AtomicBool::new(false));
        self.reading.retain(|(_, changed)| 0 < changed.strong_count());
        self.reading.push((game, Arc::downgrade(&changed)));
        changed
    }
}

/// A game that was read from the library.
pub(super) struct Loaded {
    pub(super) session: GameSession,
    pub(super) report: Option<StoredJudgements>,
}

impl Loaded {
    pub(super) fn new(id: GameId, row: StoredGame, now: Moment) -> Option<Self> {
        let stored: StoredSession = serde_json::from_str(&row.kept).ok()?;
        let mut session = GameSession::restore(id, stored, now)?;
        if !row.has_rematch && session.rematch().is_some() {
            session.set_rematch(None);
        }
        Some(Self { session, report: row.report })
    }
}

impl SaveQueue {
    /// The snapshot of a queued game for the writer.
    pub(super) fn take(
        &mut self,
        id: GameId,
        snapshot: impl FnOnce() -> Option<GameSnapshot>,
    ) -> Option<GameSnapshot> {
        if !self.waiting.remove(&id) {
            return None;
        }
        let snapshot = self.closed.remove(&id).or_else(snapshot)?;
        self.writing.insert(id);
        Some(snapshot)
    }
}

impl GameSource for Weak<App> {
    fn take(&self, games: &[GameId]) -> Vec<(GameId, GameSnapshot)> {
        let Some(app) = self.upgrade() else { return Vec::new() };
        app.update(|components, cx| {
            let snapshot = |id: &GameId| {
                let snapshot =
                    cx.saves.take(*id, || components.games.get(*id).map(GameSession::snapshot))?;
                Some((*id, snapshot))
            };
            games.iter().filter_map(snapshot).collect()
        })
    }

    fn saved(&self, results: Vec<(GameId, Result<(), StoreError>)>) {
        let Some(app) = self.upgrade() else { return };
        for (id, result) in results {
            app.update(|components, cx| {
                cx.saves.writing.remove(&id);
                components.games.on_saved(cx, id, result);
            });
        }
    }
}

impl App {
    /// Changes the state. The answer is sent after the changes are written.
    pub(super) fn change(
        &self,
        change: impl FnOnce(&mut Components<'_>, &mut Context<'_>) -> Result<Answer, ApiError>,
    ) -> Reply {
        let mut state = self.state();
        let before = state.saves.queued;
        let answer = state.update(change);
        if state.saves.queued == before {
            return Reply::Done(answer);
        }
        Reply::Written(answer, self.writer.barrier())
    }

    /// Reads a game of the library, and calls `then` if the game was not changed in the meantime. Otherwise retries.
    pub(super) async fn load<T>(
        &self,
        id: GameId,
        then: impl FnOnce(&mut Components<'_>, &mut Context<'_>, Result<Loaded, ApiError>) -> T,
    ) -> T {
        loop {
            let changed = self.state().saves.begin_reading(id);
            let loaded = self.read_game(id).await;
            let mut state = self.state();
            if !changed.load(Ordering::Relaxed) {
                return state.update(|components, cx| then(components, cx, loaded));
            }
        }
    }

    /// The text is parsed outside the runtime and the writer: a large tree takes seconds.
    async fn read_game(&self, id: GameId) -> Result<Loaded, ApiError> {
        let stored = self.writer.call(move |store| store.game(id)).await.map_err(storage)?;
        let missing = || ApiError::not_found(ErrorSubject::Game, id);
        let stored = stored.ok_or_else(missing)?;
        let parsed = tokio::task::spawn_blocking(move || Loaded::new(id, stored, now())).await;
        parsed.ok().flatten().ok_or_else(|| ApiError::storage(ErrorCode::GameDamaged))
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::{Error, ffi};

    use super::*;

    #[test]
    fn failures_of_the_library_have_error_codes() {
        let code = |code| {
            let error = Error::SqliteFailure(ffi::Error::new(code), Some("text".to_owned()));
            library_error(&error.into())
        };
        assert_eq!(code(ffi::SQLITE_FULL), ErrorCode::DiskFull);
        assert_eq!(code(ffi::SQLITE_READONLY), ErrorCode::LibraryReadOnly);
        assert_eq!(code(ffi::SQLITE_BUSY), ErrorCode::LibraryInUse);
        assert_eq!(code(ffi::SQLITE_CORRUPT), ErrorCode::LibraryDamaged);
        let text = "the library failed: text".to_owned();
        assert_eq!(code(ffi::SQLITE_CONSTRAINT), ErrorCode::System { text });
    }
}
