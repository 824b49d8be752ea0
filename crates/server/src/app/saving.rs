//! The queue of the writer, answers that depend on it, and games read from the library.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use tokio::sync::oneshot;

use crate::game::{GameSession, GameSnapshot, Searched, StoredSession};
use crate::store::{Store, StoredGame, StoredReport, Writer, Written};
use crate::time::Moment;
use crate::wire::{Answer, ApiError, GameId};

/// An answer that comes later.
pub(crate) type Deferred = oneshot::Receiver<Result<Answer, ApiError>>;

/// A report with its judgements.
pub(super) type StoredJudgements = (StoredReport, Vec<Searched>);

/// The answer to a command.
pub(crate) enum Reply {
    Done(Result<Answer, ApiError>),
    /// It is sent when all changes of the command are written, or could not be.
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
    /// Counts what was queued.
    pub(super) queued: u64,
    /// Games that are queued and not taken yet.
    waiting: BTreeSet<GameId>,
    /// Games that are being written.
    pub(super) writing: BTreeSet<GameId>,
    /// Games that were closed before the writer has taken them.
    closed: BTreeMap<GameId, GameSnapshot>,
    /// Games that are being read, each with a flag that it was changed meanwhile.
    reading: Vec<(GameId, Weak<AtomicBool>)>,
}

impl SaveQueue {
    pub(super) fn new(writer: Writer) -> Self {
        let (waiting, writing) = (BTreeSet::new(), BTreeSet::new());
        Self { writer, queued: 0, waiting, writing, closed: BTreeMap::new(), reading: Vec::new() }
    }

    /// Has a game saved as it is when its turn comes. Returns whether there is a library.
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

    /// Whether a game has changes that are not written yet, and did not fail to be.
    pub(super) fn is_pending(&self, game: GameId) -> bool {
        self.waiting.contains(&game) || self.writing.contains(&game)
    }

    /// A game is no longer open. Its changes are still written.
    pub(super) fn leave(&mut self, session: &GameSession) {
        if self.waiting.contains(&session.id()) {
            self.closed.insert(session.id(), session.snapshot());
        }
        self.mark_changed(Some(session.id()));
    }

    /// What is being read of a game, or of all, is out of date.
    pub(super) fn mark_changed(&mut self, game: Option<GameId>) {
        for (id, changed) in &self.reading {
            if game.is_none_or(|game| game == *id)
                && let Some(changed) = changed.upgrade()
            {
                changed.store(true, Ordering::Relaxed);
            }
        }
    }

    /// A game is about to be read. The flag is set if what was read is out of date.
    pub(super) fn begin_reading(&mut self, game: GameId) -> Arc<AtomicBool> {
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
    /// The writer takes a game, if it waits.
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
