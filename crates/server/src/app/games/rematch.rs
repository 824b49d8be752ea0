//! Rematches. A finished game has at most one.

use super::Games;
use crate::app::components::Components;
use crate::app::context::Context;
use crate::app::engines::Engines;
use crate::app::{App, Reply};
use crate::game::{GameSession, Tree, open};
use crate::wire::{Answer, ApiError, GameId, NewGame};

enum Rematch {
    Started(GameId),
    Open(Box<NewGame>),
}

impl App {
    /// Starts another game of the players of a finished game, or answers with the one that exists.
    pub(in crate::app) async fn rematch(&self, of: GameId) -> Result<Reply, ApiError> {
        let rematch = self.update(|components, _| components.games.rematch_of(of))?;
        let new = match rematch {
            Rematch::Started(game) => return Ok(Ok(Answer::Game { game }).into()),
            Rematch::Open(new) => new,
        };
        // A book is read without the lock.
        let tree = open(&new)?;
        let id = self.new_row().await?;
        Ok(self.set_up_in_row(id, |components, cx| components.start_rematch(cx, of, id, tree)))
    }
}

impl Components<'_> {
    fn start_rematch(
        &mut self,
        cx: &mut Context<'_>,
        of: GameId,
        id: GameId,
        tree: Tree,
    ) -> Result<Answer, ApiError> {
        // Another tab may have been faster.
        let new = match self.games.rematch_of(of)? {
            Rematch::Started(game) => return Ok(Answer::Game { game }),
            Rematch::Open(new) => new,
        };
        let answer = self.new_game(cx, id, &new, tree)?;
        self.games.set_rematch(self.engines, cx, of, Some(id));
        Ok(answer)
    }
}

impl Games {
    fn rematch_of(&self, of: GameId) -> Result<Rematch, ApiError> {
        let session = self.session(of)?;
        match session.rematch() {
            Some(game) => Ok(Rematch::Started(game)),
            None => session.rematch_setup().map(|new| Rematch::Open(Box::new(new))),
        }
    }

    fn set_rematch(
        &mut self,
        engines: &Engines,
        cx: &mut Context<'_>,
        of: GameId,
        rematch: Option<GameId>,
    ) {
        let _ = self.update(engines, cx, of, |session, _| {
            session.set_rematch(rematch);
            Ok(Vec::new())
        });
    }

    /// A game was deleted: the game whose rematch it was can have another one.
    pub(super) fn forget_rematch(
        &mut self,
        engines: &Engines,
        cx: &mut Context<'_>,
        deleted: GameId,
    ) {
        let sessions = self.sessions.values();
        let of = sessions.filter(|session| session.rematch() == Some(deleted));
        for id in of.map(GameSession::id).collect::<Vec<_>>() {
            self.set_rematch(engines, cx, id, None);
        }
    }
}
