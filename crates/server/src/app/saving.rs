//! The queue of the writer, games that are read, and answers that wait for either.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use readyok_library::{Hold, Library};
use tokio::sync::oneshot;

use super::{App, AppState};
use crate::game::{GameSession, StoredSession};
use crate::store::{GameSource, Store, StoreError, StoredReport, Writer, Written, storage};
use crate::time::now;
use crate::wire::{Answer, ApiError, ErrorCode, ErrorSubject, GameId};

/// Waits until something is written.
pub(super) async fn written<T>(result: Written<Result<T, StoreError>>) -> Result<T, ApiError> {
    result.await.unwrap_or(Err(StoreError::Closed)).map_err(storage)
}

/// Runs work that blocks.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(storage(StoreError::Closed)))
}

/// The receiver of a later answer.
pub(crate) type Deferred = oneshot::Receiver<Result<Answer, ApiError>>;

/// A game that was read, with its report. Imports do not replace it in the meantime.
pub(super) type ReadSession = (GameSession, Option<StoredReport>, Hold);

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
    /// Games that are queued, before the writer has taken them.
    waiting: BTreeSet<GameId>,
    /// Games that are being written.
    pub(super) writing: BTreeSet<GameId>,
    /// The last versions of games that were closed while they were queued.
    closed: BTreeMap<GameId, StoredSession>,
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
            self.closed.insert(session.id(), session.stored());
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

    /// Stores a game as an open one.
    pub(super) fn open_game(
        &mut self,
        session: &GameSession,
        hold: Hold,
    ) -> Written<Result<(), StoreError>> {
        let (id, stored) = (session.id(), session.stored());
        self.run(move |store| {
            let opened = store.open_game(id, stored);
            drop(hold);
            opened
        })
    }

    pub(super) fn close_game(&mut self, id: GameId) -> Written<Result<(), StoreError>> {
        self.run(move |store| store.close_game(id))
    }

    /// Registers a read of a game. The flag is set if the result is out of date.
    fn begin_reading(&mut self, game: GameId) -> Arc<AtomicBool> {
        let changed = Arc::new(AtomicBool::new(false));
        self.reading.retain(|(_, changed)| 0 < changed.strong_count());
        self.reading.push((game, Arc::downgrade(&changed)));
        changed
    }
}

impl SaveQueue {
    /// The present version of a queued game, for the writer.
    pub(super) fn take(
        &mut self,
        id: GameId,
        open: impl FnOnce() -> Option<StoredSession>,
    ) -> Option<StoredSession> {
        if !self.waiting.remove(&id) {
            return None;
        }
        let version = self.closed.remove(&id).or_else(open)?;
        self.writing.insert(id);
        Some(version)
    }
}

impl GameSource for Weak<App> {
    fn take(&self, games: &[GameId]) -> Vec<(GameId, StoredSession)> {
        let Some(app) = self.upgrade() else { return Vec::new() };
        app.update(|state| {
            let AppState { sessions, saves, .. } = state;
            let version = |id: &GameId| {
                let open = || sessions.get(id).map(GameSession::stored);
                Some((*id, saves.take(*id, open)?))
            };
            games.iter().filter_map(version).collect()
        })
    }

    fn saved(&self, results: Vec<(GameId, Result<(), StoreError>)>) {
        let Some(app) = self.upgrade() else { return };
        for (id, result) in results {
            app.update(|state| state.on_saved(id, result));
        }
    }
}

impl App {
    /// The games, unless the server ends.
    pub(crate) fn library(&self) -> Result<Arc<Library>, ApiError> {
        self.library.upgrade().ok_or_else(|| storage(StoreError::Closed))
    }

    /// Completes an answer later, so that the tab can send other commands in the meantime.
    pub(super) fn defer<F>(self: &Arc<Self>, work: impl FnOnce(Arc<Self>) -> F) -> Deferred
    where
        F: Future<Output = Result<Answer, ApiError>> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let work = work(Arc::clone(self));
        tokio::spawn(async move {
            // The tab may be closed.
            let _ = reply.send(work.await);
        });
        answer
    }

    /// Reads a game of the library, and calls `then` if the game was not changed in the meantime. Otherwise retries.
    pub(super) async fn load<T>(
        &self,
        id: GameId,
        then: impl FnOnce(&mut AppState, Result<ReadSession, ApiError>) -> T,
    ) -> T {
        let mut then = Some(then);
        loop {
            let changed = self.state().saves.begin_reading(id);
            let loaded = self.read_game(id).await;
            let result = self.update(|state| {
                let is_current = !changed.load(Ordering::Relaxed);
                then.take_if(|_| is_current).map(|then| then(state, loaded))
            });
            if let Some(result) = result {
                return result;
            }
        }
    }

    /// The game is decoded outside the runtime and the writer: a large tree takes seconds.
    pub(super) async fn read_game(&self, id: GameId) -> Result<ReadSession, ApiError> {
        let library = self.library()?;
        let hold = library.hold(id);
        let found = self.writer.call(move |store| store.game(id)).await.map_err(storage)?;
        let (game, report) = found.ok_or_else(|| ApiError::not_found(ErrorSubject::Game, id))?;
        let session = blocking(move || {
            let stored = game.decode().map_err(|_| ApiError::storage(ErrorCode::GameDamaged))?;
            Ok(restored(&library, id, stored))
        });
        Ok((session.await?, report, hold))
    }
}

/// The session of a stored game. A rematch that was deleted is forgotten.
pub(super) fn restored(library: &Library, id: GameId, stored: StoredSession) -> GameSession {
    let mut session = GameSession::restored(id, stored, now());
    if session.rematch().is_some_and(|rematch| library.summary(rematch).is_none()) {
        session.set_rematch(None);
        session.take_unsaved();
    }
    session
}
