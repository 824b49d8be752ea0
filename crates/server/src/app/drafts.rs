//! Drafts: boards that are not in the library until they are saved or played. An untouched one gives way to the next.

use std::collections::HashMap;

use super::{App, AppState};
use crate::game::{Draft, GameSession, Tree};
use crate::store::{Store, StoreError, Written, storage};
use crate::time::{Moment, now};
use crate::wire::{Answer, ApiError, GameId, Topic};

impl App {
    /// Makes room for a draft, which takes the place of untouched ones that no tab shows and of the given board, and
    /// stores it.
    pub(super) fn begin_draft(
        &self,
        replaces: Option<GameId>,
        add: impl FnOnce(&mut Store, Moment) -> Result<GameId, StoreError> + Send + 'static,
    ) -> Result<Written<Result<GameId, StoreError>>, ApiError> {
        let at = now();
        self.update(|state| {
            state.replaced_drafts.extend(replaces);
            state.drop_unseen_drafts();
            state.evict_idle()
        })?;
        Ok(self.writer.run(move |store| add(store, at)))
    }

    /// Opens a draft that was stored.
    pub(super) fn add_draft(&self, session: GameSession) -> Result<(), ApiError> {
        self.update(|state| {
            let id = session.id();
            if let Err(error) = state.evict_idle() {
                drop(state.saves.run(move |store| store.delete(&[id])));
                return Err(error);
            }
            let mut session = session;
            session.take_unsaved();
            state.add_session(session);
            Ok(())
        })
    }

    /// Opens a game that was pasted or read from a file as a draft. It blocks, so it must not be called on threads of
    /// the runtime.
    pub(super) fn open_as_draft(
        &self,
        tree: Tree,
        replaces: Option<GameId>,
    ) -> Result<GameId, ApiError> {
        let draft = Draft { imported: true, edited: false };
        let record = tree.to_record();
        let added =
            self.begin_draft(replaces, move |store, at| store.new_draft(&record, draft, at));
        let added = added?.blocking_recv().unwrap_or(Err(StoreError::Closed));
        let id = added.map_err(storage)?;
        self.add_draft(GameSession::new_draft(id, tree, draft, now()))?;
        Ok(id)
    }

    /// Adds a draft to the library. Other games are there.
    pub(super) async fn save_draft(&self, id: GameId) -> Result<Answer, ApiError> {
        let is_draft = self.state().session(id)?.draft().is_some();
        if is_draft {
            // The writer has the changes until now.
            self.writer.call(move |store| store.save_draft(id)).await.map_err(storage)?;
            self.update(|state| {
                if let Some(session) = state.sessions.get_mut(&id) {
                    session.end_draft();
                    state.flush_game(id, Vec::new());
                    state.publish_game_line(id);
                }
            });
        }
        Ok(Answer::Done)
    }

    /// Adds those of the games that are drafts to the library.
    pub(super) async fn save_drafts(&self, games: &[GameId]) -> Result<(), ApiError> {
        let drafts: Vec<GameId> = {
            let state = self.state();
            let is_draft =
                |id: &&GameId| state.sessions.get(id).is_some_and(|it| it.draft().is_some());
            games.iter().filter(is_draft).copied().collect()
        };
        for id in drafts {
            self.save_draft(id).await?;
        }
        Ok(())
    }

    /// The trees of all drafts.
    pub(crate) fn drafts(&self) -> HashMap<GameId, Tree> {
        let state = self.state();
        let drafts = state.sessions.values().filter(|session| session.draft().is_some());
        drafts.map(|session| (session.id(), session.tree().clone())).collect()
    }

    /// Closes an untouched draft that was replaced, when its last tab has gone to the next board.
    pub(crate) fn on_topics_left(&self) {
        self.update(AppState::drop_replaced_drafts);
    }
}

impl AppState {
    /// Closes untouched drafts that no tab shows.
    fn drop_unseen_drafts(&mut self) {
        let unseen =
            self.sessions.values().filter(|it| it.is_untouched_draft() && self.is_idle(it));
        for id in unseen.map(GameSession::id).collect::<Vec<_>>() {
            drop(self.remove_game(id));
        }
        self.drop_replaced_drafts();
    }

    /// Closes replaced drafts that no tab shows any more, with the analysis of the board.
    pub(super) fn drop_replaced_drafts(&mut self) {
        let mut replaced = std::mem::take(&mut self.replaced_drafts);
        replaced.retain(|id| {
            let session = self.sessions.get(id);
            let Some(session) = session.filter(|it| it.is_untouched_draft()) else { return false };
            let topics = [Topic::Game(*id), Topic::Analysis(*id), Topic::Report(*id)];
            let is_seen = topics.into_iter().any(|topic| self.hub.is_wanted(topic));
            if is_seen || session.save_error().is_some() || self.is_report_due(*id) {
                return true;
            }
            drop(self.remove_game(*id));
            false
        });
        self.replaced_drafts = replaced;
    }
}
