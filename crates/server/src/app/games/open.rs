//! Opening, closing and deleting games.

use super::{Games, with_names};
use crate::app::components::Components;
use crate::app::context::Context;
use crate::app::saving::Loaded;
use crate::app::{App, Reply, storage, written};
use crate::game::{GameSession, Tree, open};
use crate::store::{StoreError, Written};
use crate::time::now;
use crate::wire::{Answer, ApiError, Delta, ErrorSubject, GameId, GamesDelta, NewGame, Topic};

/// Maximum number of open games.
const MAX_OPEN: usize = 200;

/// Whether a game was open before. If not, the library marks it as open.
enum Opened {
    Before,
    Now(Written<Result<(), StoreError>>),
}

impl App {
    pub(in crate::app) async fn new_game(&self, new: &NewGame) -> Result<Reply, ApiError> {
        // A book is read without the lock.
        let tree = open(new)?;
        let id = self.new_row().await?;
        Ok(self.set_up_in_row(id, |components, cx| components.new_game(cx, id, new, tree)))
    }

    /// Adds a row for a game to be played.
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method is not general enough"
    )]
    pub(super) async fn new_row(&self) -> Result<GameId, ApiError> {
        // A game that is rejected needs no row.
        self.update(|components, cx| components.evict_idle(cx))?;
        let at = now();
        self.writer.call(move |store| store.new_game("play", at)).await.map_err(storage)
    }

    /// Sets up a game in a new row. The row is deleted if the game was not opened.
    pub(super) fn set_up_in_row(
        &self,
        id: GameId,
        set_up: impl FnOnce(&mut Components<'_>, &mut Context<'_>) -> Result<Answer, ApiError>,
    ) -> Reply {
        let mut used = false;
        let reply = self.change(|components, cx| {
            let answer = set_up(components, cx);
            used = components.games.contains(id);
            answer
        });
        if !used {
            drop(self.writer.run(move |store| store.delete(id)));
        }
        reply
    }

    /// Opens a game of the library.
    pub(in crate::app) async fn open_game(&self, id: GameId) -> Result<Answer, ApiError> {
        let present = self.update(|components, cx| components.games.open_present(cx, id));
        let opened = if let Some(opened) = present {
            opened
        } else {
            self.load(id, |components, cx, loaded| {
                // Another tab may have been faster.
                let present = components.games.open_present(cx, id);
                present.map_or_else(|| components.open_loaded(cx, loaded?), Ok)
            })
            .await?
        };
        match opened {
            Opened::Before => (),
            Opened::Now(marked) => written(marked).await?,
        }
        Ok(Answer::Game { game: id })
    }

    /// Closes a game when it is saved.
    pub(in crate::app) async fn close_game(&self, id: GameId) -> Result<Answer, ApiError> {
        loop {
            let saved = self.update(|components, cx| {
                components.games.interrupt(components.engines, cx, id)?;
                Ok(cx.saves.is_pending(id).then(|| self.writer.barrier()))
            })?;
            if let Some(saved) = saved {
                // Without an answer the library is closed, which the session's save error shows.
                let _ = saved.await;
            }
            let closed = self.update(|components, cx| {
                let error = components.games.session(id)?.save_error().map(storage);
                match error {
                    // It may have been changed again in the meantime.
                    _ if cx.saves.is_pending(id) => Ok(None),
                    Some(error) => Err(error),
                    None => Ok(Some(components.remove_game(cx, id))),
                }
            })?;
            if let Some(closed) = closed {
                written(closed).await?;
                return Ok(Answer::Done);
            }
        }
    }

    pub(in crate::app) async fn delete_game(&self, id: GameId) -> Result<Reply, ApiError> {
        self.update(|components, cx| {
            if components.games.interrupt(components.engines, cx, id).is_ok() {
                drop(components.remove_game(cx, id));
            }
        });
        let deleted = self.writer.call(move |store| store.delete(id)).await.map_err(storage)?;
        Ok(self.change(|components, cx| {
            // Another tab may have opened it in the meantime.
            if components.games.contains(id) {
                drop(components.remove_game(cx, id));
            }
            // Games that are being read may refer to it.
            cx.saves.mark_changed(None);
            if !deleted {
                return Err(ApiError::not_found(ErrorSubject::Game, id));
            }
            components.games.forget_rematch(components.engines, cx, id);
            Ok(Answer::Done)
        }))
    }
}

impl Components<'_> {
    /// Sets up a game in a new row of the library.
    pub(super) fn new_game(
        &mut self,
        cx: &mut Context<'_>,
        id: GameId,
        new: &NewGame,
        tree: Tree,
    ) -> Result<Answer, ApiError> {
        let players = new.players.as_ref();
        let players = players.map(|players| with_names(self.engines, players)).transpose()?;
        self.evict_idle(cx)?;
        self.games.set_up(self.engines, cx, (id, new, tree), players)
    }

    /// Ensures that one more game can be opened: at the limit, the game that was idle longest is closed.
    pub(in crate::app) fn evict_idle(&mut self, cx: &mut Context<'_>) -> Result<(), ApiError> {
        while MAX_OPEN <= self.games.sessions.len() {
            let sessions = self.games.sessions.values();
            let idle = sessions.filter(|session| self.is_idle(cx, session));
            let oldest = idle.min_by_key(|it| (it.last_changed(), it.id())).map(GameSession::id);
            let Some(oldest) = oldest else {
                return Err(ApiError::too_many(ErrorSubject::OpenGame));
            };
            // It is saved; if it cannot be marked as closed, it is open again after the next start.
            drop(self.remove_game(cx, oldest));
        }
        Ok(())
    }

    /// Whether a game can be closed without a loss: it is saved, no tab shows it, no engine works on it.
    fn is_idle(&self, cx: &Context<'_>, session: &GameSession) -> bool {
        let id = session.id();
        let topics = [Topic::Game(id), Topic::Analysis(id), Topic::Report(id)];
        !session.is_running()
            && session.save_error().is_none()
            && !cx.saves.is_pending(id)
            && !self.games.background.contains(&id)
            && !topics.into_iter().any(|topic| cx.hub.is_wanted(topic))
            && !cx.processes.is_game_busy(id)
            && !self.reports.is_due(id)
    }

    fn open_loaded(&mut self, cx: &mut Context<'_>, loaded: Loaded) -> Result<Opened, ApiError> {
        self.evict_idle(cx)?;
        let id = loaded.session.id();
        self.games.sessions.insert(id, loaded.session);
        self.reports.restore(id, loaded.report);
        self.games.publish_summary(cx, id);
        Ok(Opened::Now(cx.set_open(id, true)))
    }

    /// Removes an open game. It is marked as closed in the library.
    fn remove_game(&mut self, cx: &mut Context<'_>, id: GameId) -> Written<Result<(), StoreError>> {
        self.analyses.remove_game(cx, id);
        cx.processes.quit_game(id);
        self.reports.remove(cx, id);
        self.games.remove(cx, id);
        let written = cx.set_open(id, false);
        cx.hub.close(Topic::Game(id));
        cx.hub.close(Topic::Analysis(id));
        let delta = GamesDelta { changed: Vec::new(), removed: vec![id] };
        cx.hub.publish(Topic::Games, Delta::Games(delta));
        written
    }
}

impl Games {
    /// Opens a game that has a session. None if it must be read.
    fn open_present(&mut self, cx: &mut Context<'_>, id: GameId) -> Option<Opened> {
        self.sessions.get(&id)?;
        if !self.background.remove(&id) {
            return Some(Opened::Before);
        }
        self.publish_summary(cx, id);
        Some(Opened::Now(cx.set_open(id, true)))
    }

    fn remove(&mut self, cx: &mut Context<'_>, id: GameId) {
        self.players.retain(|(game, _), _| *game != id);
        self.background.remove(&id);
        if let Some(session) = self.sessions.remove(&id) {
            cx.saves.leave(&session);
        }
    }
}

impl Context<'_> {
    pub(in crate::app) fn set_open(
        &mut self,
        id: GameId,
        open: bool,
    ) -> Written<Result<(), StoreError>> {
        self.saves.run(move |store| store.set_open(id, open))
    }
}
