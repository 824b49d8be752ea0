//! New games, and games that are opened, closed and deleted.

use std::collections::BTreeSet;
use std::collections::btree_map::Entry;

use readyok_library::{Hold, Source};

use super::saving::{ReadSession, Reply, written};
use super::{App, AppState};
use crate::game::{Draft, GameSession, Origin, Tree, open};
use crate::store::{StoreError, Written, storage};
use crate::time::now;
use crate::wire::{Answer, ApiError, Delta, ErrorSubject, GameId, GamesDelta, NewGame, Topic};

/// Maximum number of open games.
const MAX_OPEN: usize = 200;

/// Whether a game was open before. If not, it is stored as an open one.
enum Opened {
    Before,
    Now(Written<Result<(), StoreError>>),
}

impl App {
    /// Sets up a game. A board without players is a draft.
    pub(super) async fn new_game(
        &self,
        new: &NewGame,
        replaces: Option<GameId>,
    ) -> Result<Reply, ApiError> {
        // A book is read without the lock.
        let tree = open(new)?;
        if new.players.is_none() {
            let record = tree.to_record();
            let added = self.begin_draft(replaces, move |store, at| {
                store.new_draft(&record, Draft::default(), at)
            });
            let id = added?.await.unwrap_or(Err(StoreError::Closed)).map_err(storage)?;
            let draft = Some(Draft::default());
            return Ok(self.set_up_added(id, |state| state.set_up_game(id, new, (tree, draft))));
        }
        let id = self.add_game(&tree).await?;
        Ok(self.set_up_added(id, |state| state.set_up_game(id, new, (tree, None))))
    }

    /// Adds a new game to the library.
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method is not general enough"
    )]
    async fn add_game(&self, tree: &Tree) -> Result<GameId, ApiError> {
        // A game that is rejected is not added.
        self.update(|state| state.evict_idle())?;
        let (at, record) = (now(), tree.to_record());
        let added = self.writer.call(move |store| store.new_game(&record, Source::Play, at));
        added.await.map_err(storage)
    }

    /// Sets up a game that was added. It is deleted if it was not opened.
    fn set_up_added(
        &self,
        id: GameId,
        set_up: impl FnOnce(&mut AppState) -> Result<Answer, ApiError>,
    ) -> Reply {
        let mut used = false;
        let reply = self.change(|state| {
            let answer = set_up(state);
            used = state.sessions.contains_key(&id);
            answer
        });
        if !used {
            drop(self.writer.run(move |store| store.delete(&[id])));
        }
        reply
    }

    /// Opens a game of the library.
    pub(super) async fn open_game(&self, id: GameId) -> Result<Answer, ApiError> {
        let present = self.update(|state| state.open_present(id));
        let opened = if let Some(opened) = present {
            opened
        } else {
            self.load(id, |state, read| {
                // Another tab may have been faster.
                let present = state.open_present(id);
                present.map_or_else(|| state.open_read(read?), Ok)
            })
            .await?
        };
        match opened {
            Opened::Before => (),
            Opened::Now(marked) => written(marked).await?,
        }
        Ok(Answer::Game { game: id })
    }

    /// Closes a game after it is saved.
    pub(super) async fn close_game(&self, id: GameId) -> Result<Answer, ApiError> {
        loop {
            let saved = self.update(|state| {
                state.interrupt(id)?;
                Ok(state.saves.is_pending(id).then(|| self.writer.barrier()))
            })?;
            if let Some(saved) = saved {
                // Without an answer the library is closed, which the session's save error shows.
                let _ = saved.await;
            }
            let closed = self.update(|state| {
                let error = state.session(id)?.save_error().cloned().map(ApiError::storage);
                match error {
                    // It may have been changed again in the meantime.
                    _ if state.saves.is_pending(id) => Ok(None),
                    Some(error) => Err(error),
                    None => Ok(Some(state.remove_game(id))),
                }
            })?;
            if let Some(closed) = closed {
                written(closed).await?;
                return Ok(Answer::Done);
            }
        }
    }

    pub(super) async fn delete_game(&self, id: GameId) -> Result<Reply, ApiError> {
        let collections = self.collections_of([id].into()).await?;
        self.update(|state| {
            if state.interrupt(id).is_ok() {
                drop(state.remove_game(id));
            }
        });
        let deleted = self.writer.call(move |store| store.delete(&[id])).await.map_err(storage)?;
        Ok(self.change(|state| {
            // Another tab may have opened it in the meantime.
            if state.sessions.contains_key(&id) {
                drop(state.remove_game(id));
            }
            // Games that are being read may refer to it.
            state.saves.mark_changed(None);
            if deleted == 0 {
                return Err(ApiError::not_found(ErrorSubject::Game, id));
            }
            state.forget_rematch(id);
            Ok(Answer::Deleted { count: 1, restorable: false, collections })
        }))
    }
}

impl AppState {
    /// Sets up a game that was stored, and starts it if it has players.
    fn set_up_game(
        &mut self,
        id: GameId,
        new: &NewGame,
        (tree, draft): (Tree, Option<Draft>),
    ) -> Result<Answer, ApiError> {
        let players = new.players.as_ref().map(|players| self.with_names(players)).transpose()?;
        self.evict_idle()?;
        let now = now();
        let mut session = match draft {
            Some(draft) => GameSession::new_draft(id, tree, draft, now),
            None => GameSession::new(id, tree, now),
        };
        if let Some(end) = session.tree().main_line().last().copied() {
            session.go_to(end)?;
        }
        self.add_session(session);
        if let Some(players) = players {
            let session = self.session_mut(id)?;
            session.set_players(players, new.rules, now);
            let (active, document) = session.active_mut()?;
            let origin = Origin { start: new.start.clone(), book: new.book.clone() };
            active.set_origin(document, origin);
            let effects = active.resume(document, now)?;
            self.flush_game(id, effects);
        }
        Ok(Answer::Game { game: id })
    }

    /// Ensures that one more game can be opened. At the limit, the game that is idle longest is closed.
    pub(super) fn evict_idle(&mut self) -> Result<(), ApiError> {
        while MAX_OPEN <= self.sessions.len() {
            let idle = self.sessions.values().filter(|session| self.is_idle(session));
            let oldest = idle
                .min_by_key(|session| (session.last_changed(), session.id()))
                .map(GameSession::id);
            let Some(oldest) = oldest else {
                return Err(ApiError::too_many(ErrorSubject::OpenGame));
            };
            // It is saved. After an error it is open again after the next start.
            drop(self.remove_game(oldest));
        }
        Ok(())
    }

    /// Whether a game can be closed: it is saved, and no tab or engine uses it.
    pub(super) fn is_idle(&self, session: &GameSession) -> bool {
        let id = session.id();
        let topics = [Topic::Game(id), Topic::Analysis(id), Topic::Report(id)];
        !session.is_running()
            && session.save_error().is_none()
            && !self.saves.is_pending(id)
            && !self.background.contains_key(&id)
            && !topics.into_iter().any(|topic| self.hub.is_wanted(topic))
            && !self.tasks.is_game_busy(id)
            && !self.is_report_due(id)
            // It would be lost.
            && session.draft().is_none_or(|draft| !draft.edited)
    }

    /// Opens a game that has a session. None if it must be loaded.
    fn open_present(&mut self, id: GameId) -> Option<Opened> {
        let session = self.sessions.get(&id)?;
        let Some(hold) = self.background.remove(&id) else { return Some(Opened::Before) };
        let begun = self.saves.open_game(session, hold);
        self.publish_game_line(id);
        Some(Opened::Now(begun))
    }

    fn open_read(&mut self, (session, report, hold): ReadSession) -> Result<Opened, ApiError> {
        self.evict_idle()?;
        let id = session.id();
        let begun = self.saves.open_game(&session, hold);
        self.sessions.insert(id, session);
        self.restore_report(id, report);
        self.publish_game_line(id);
        Ok(Opened::Now(begun))
    }

    /// Removes games that were deleted.
    pub(super) fn discard_deleted(&mut self, deleted: &BTreeSet<GameId>) {
        let rematches = self.sessions.values().filter_map(GameSession::rematch);
        let rematches: Vec<_> = rematches.filter(|id| deleted.contains(id)).collect();
        for id in self.open_ids() {
            if deleted.contains(&id) {
                drop(self.remove_game(id));
            }
        }
        for id in rematches {
            self.forget_rematch(id);
        }
    }

    /// Removes an open game.
    pub(super) fn remove_game(&mut self, id: GameId) -> Written<Result<(), StoreError>> {
        self.end_analyses_of_game(id);
        self.tasks.end_game(id);
        self.reports.remove(&id);
        self.background.remove(&id);
        if let Some(session) = self.sessions.remove(&id) {
            self.saves.leave(&session);
        }
        let written = self.saves.close_game(id);
        for topic in [Topic::Game(id), Topic::Analysis(id), Topic::Report(id)] {
            self.hub.close(topic);
        }
        let delta = GamesDelta { changed: Vec::new(), removed: vec![id] };
        self.hub.publish(Topic::Games, Delta::Games(delta));
        written
    }
}

impl AppState {
    pub(super) fn add_background(&mut self, session: GameSession, hold: Hold) {
        let id = session.id();
        if let Entry::Vacant(entry) = self.sessions.entry(id) {
            entry.insert(session);
            self.background.insert(id, hold);
        }
    }

    /// Removes a session and its report, unless the user has opened it in the meantime.
    pub(super) fn remove_background(&mut self, id: GameId) {
        let Some(hold) = self.background.remove(&id) else { return };
        if let Some(session) = self.sessions.remove(&id) {
            self.saves.leave(&session);
        }
        // Its last version is written before.
        drop(self.saves.run(move |_| drop(hold)));
        self.reports.remove(&id);
        for topic in [Topic::Game(id), Topic::Analysis(id), Topic::Report(id)] {
            self.hub.close(topic);
        }
    }
}

enum Rematch {
    Started(GameId),
    Open(Box<NewGame>),
}

impl App {
    /// Starts the rematch of a finished game, or answers with the existing one.
    pub(super) async fn rematch(&self, of: GameId) -> Result<Reply, ApiError> {
        let rematch = self.state().rematch_of(of)?;
        let new = match rematch {
            Rematch::Started(game) => return Ok(Ok(Answer::Game { game }).into()),
            Rematch::Open(new) => new,
        };
        // A book is read without the lock.
        let tree = open(&new)?;
        let id = self.add_game(&tree).await?;
        Ok(self.set_up_added(id, |state| state.start_rematch(of, id, tree)))
    }
}

impl AppState {
    fn start_rematch(&mut self, of: GameId, id: GameId, tree: Tree) -> Result<Answer, ApiError> {
        // Another tab may have been faster.
        let new = match self.rematch_of(of)? {
            Rematch::Started(game) => return Ok(Answer::Game { game }),
            Rematch::Open(new) => new,
        };
        let answer = self.set_up_game(id, &new, (tree, None))?;
        self.set_rematch(of, Some(id));
        Ok(answer)
    }

    fn rematch_of(&self, of: GameId) -> Result<Rematch, ApiError> {
        let session = self.session(of)?;
        match session.rematch() {
            Some(game) => Ok(Rematch::Started(game)),
            None => session.rematch_setup().map(|new| Rematch::Open(Box::new(new))),
        }
    }

    fn set_rematch(&mut self, of: GameId, rematch: Option<GameId>) {
        let _ = self.change_session(of, |session, _| {
            session.set_rematch(rematch);
            Ok(((), Vec::new()))
        });
    }

    /// Allows another rematch after a rematch was deleted.
    fn forget_rematch(&mut self, deleted: GameId) {
        let sessions = self.sessions.values();
        let of = sessions.filter(|session| session.rematch() == Some(deleted));
        for id in of.map(GameSession::id).collect::<Vec<_>>() {
            self.set_rematch(id, None);
        }
    }
}
