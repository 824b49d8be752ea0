//! The state and the thread of the library: commands that wait for the writer, and games that are read.

use std::sync::Weak;
use std::sync::atomic::Ordering;

use super::components::Components;
use super::context::Context;
use super::saving::Loaded;
use super::{App, Reply, storage};
use crate::game::GameSnapshot;
use crate::store::{GameSource, StoreError};
use crate::time::now;
use crate::wire::{Answer, ApiError, ErrorCode, ErrorSubject, GameId};

impl GameSource for Weak<App> {
    fn take(&self, games: &[GameId]) -> Vec<(GameId, GameSnapshot)> {
        let Some(app) = self.upgrade() else { return Vec::new() };
        app.update(|components, cx| {
            let snapshot = |id: &GameId| {
                let snapshot = cx.saves.take(*id, || components.games.snapshot(*id))?;
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
    /// Changes the state. The answer is sent when the changes are written.
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

    /// Reads a game of the library, and calls `then` with a state in which the game was not changed since.
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
