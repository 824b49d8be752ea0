//! Between the state and the thread that writes: games to be saved, answers that wait until they are, and games
//! that are read from the library.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use super::games::storage;
use super::{App, AppState, StoredReport};
use crate::game::{GameSession, GameSnapshot, Searched, StoredSession, api_error, no_such};
use crate::store::{Games, Store, StoreError, StoredGame, Writer, Written};
use crate::time::{Moment, now};
use crate::wire::{Answer, ApiError, ApiErrorCode, GameId, ProblemKind as Kind, Thing};

/// The answer to a command. It is sent when all that the command has changed is written, or could not be.
pub(crate) struct Reply {
    pub(crate) answer: Result<Answer, ApiError>,
    /// None if nothing has to be written.
    pub(crate) written: Option<Written>,
}

impl From<Result<Answer, ApiError>> for Reply {
    fn from(answer: Result<Answer, ApiError>) -> Self {
        Self { answer, written: None }
    }
}

/// What the state has queued for the library.
pub(super) struct SaveQueue {
    writer: Writer,
    /// Counts what was queued.
    queued: u64,
    /// Games that are queued and not taken yet.
    waiting: BTreeSet<GameId>,
    /// Games that are being written.
    writing: BTreeSet<GameId>,
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

    /// A game is no longer open. What waits to be written is written all the same.
    pub(super) fn leave(&mut self, room: &GameSession) {
        if self.waiting.contains(&room.id()) {
            self.closed.insert(room.id(), room.snapshot());
        }
        self.mark_changed(Some(room.id()));
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
    fn begin_reading(&mut self, game: GameId) -> Arc<AtomicBool> {
        let changed = Arc::new(AtomicBool::new(false));
        self.reading.retain(|(_, changed)| 0 < changed.strong_count());
        self.reading.push((game, Arc::downgrade(&changed)));
        changed
    }
}

/// A game that was read from the library.
pub(super) struct Loaded {
    pub(super) room: GameSession,
    pub(super) report: Option<(StoredReport, Vec<Searched>)>,
}

impl Loaded {
    fn new(id: GameId, stored: StoredGame, at: Moment) -> Option<Self> {
        let kept: StoredSession = serde_json::from_str(&stored.kept).ok()?;
        let mut room = GameSession::restore(id, kept, at)?;
        if !stored.has_rematch && room.next().is_some() {
            room.set_rematch(None);
        }
        Some(Self { room, report: stored.report })
    }
}

impl Games for Weak<App> {
    fn take(&self, games: &[GameId]) -> Vec<(GameId, GameSnapshot)> {
        let Some(app) = self.upgrade() else { return Vec::new() };
        let mut state = app.state();
        games.iter().filter_map(|id| Some((*id, state.take_to_save(*id)?))).collect()
    }

    fn saved(&self, results: Vec<(GameId, Result<(), StoreError>)>) {
        let Some(app) = self.upgrade() else { return };
        for (id, result) in results {
            app.state().game_saved(id, result, now());
        }
    }
}

impl App {
    /// Changes the state. What has to be written for it is written before the answer is sent.
    pub(super) fn change(
        &self,
        change: impl FnOnce(&mut AppState) -> Result<Answer, ApiError>,
    ) -> Reply {
        let mut state = self.state();
        let before = state.saves.queued;
        let answer = change(&mut state);
        let written = (state.saves.queued != before).then(|| self.writer.barrier());
        Reply { answer, written }
    }

    /// Reads a game of the library, and hands it to `then` with the state as it was meanwhile.
    pub(super) async fn load<T>(
        &self,
        id: GameId,
        then: impl FnOnce(&mut AppState, Result<Loaded, ApiError>) -> T,
    ) -> T {
        loop {
            let changed = self.state().saves.begin_reading(id);
            let loaded = self.read_game(id).await;
            let mut state = self.state();
            if !changed.load(Ordering::Relaxed) {
                return then(&mut state, loaded);
            }
        }
    }

    /// The text is parsed outside the runtime and the writer: a large tree takes seconds.
    async fn read_game(&self, id: GameId) -> Result<Loaded, ApiError> {
        let stored = self.writer.call(move |store| store.game(id)).await.map_err(storage)?;
        let missing = || no_such(Thing::Game, &id, format!("there is no game {id}"));
        let stored = stored.ok_or_else(missing)?;
        let parsed = tokio::task::spawn_blocking(move || Loaded::new(id, stored, now())).await;
        parsed.ok().flatten().ok_or_else(|| {
            api_error(ApiErrorCode::Storage, Kind::Damaged, format!("game {id} is damaged"))
        })
    }
}

impl AppState {
    /// The writer takes a game.
    fn take_to_save(&mut self, id: GameId) -> Option<GameSnapshot> {
        if !self.saves.waiting.remove(&id) {
            return None;
        }
        let closed = self.saves.closed.remove(&id);
        let snapshot = closed.or_else(|| self.rooms.get(&id).map(GameSession::snapshot))?;
        self.saves.writing.insert(id);
        Some(snapshot)
    }

    /// A game was saved, or could not be. It continues, and its subscribers are notified.
    fn game_saved(&mut self, id: GameId, result: Result<(), StoreError>, at: Moment) {
        self.saves.writing.remove(&id);
        if let Some(room) = self.rooms.get_mut(&id) {
            room.mark_saved(result.err().map(|error| error.to_string()));
            self.publish_changes(id, at);
        }
    }
}
