//! Rematches: one for each game that is over, however often somebody asks.

use super::{App, AppState, Reply};
use crate::game::{Tree, open};
use crate::time::{Moment, now};
use crate::wire::{Answer, ApiError, GameId, NewGame};

/// What there is to do for a rematch.
enum Wanted {
    /// Nothing: it has begun.
    Begun(GameId),
    /// It is to be set up so.
    Open(Box<NewGame>),
}

impl App {
    /// Has the players of a game that is over play again.
    pub(super) async fn rematch(&self, of: GameId) -> Result<Reply, ApiError> {
        let wanted = self.state().rematch_of(of)?;
        let new = match wanted {
            Wanted::Begun(game) => return Ok(Ok(Answer::Game { game }).into()),
            Wanted::Open(new) => new,
        };
        // A book is read without the lock.
        let tree = open(&new)?;
        let id = self.new_row().await?;
        Ok(self.in_new_row(id, |state| state.begin_rematch(of, id, tree, now())))
    }
}

impl AppState {
    fn rematch_of(&mut self, of: GameId) -> Result<Wanted, ApiError> {
        let room = self.room(of)?;
        match room.next() {
            Some(game) => Ok(Wanted::Begun(game)),
            None => room.next_game().map(|new| Wanted::Open(Box::new(new))),
        }
    }

    fn begin_rematch(
        &mut self,
        of: GameId,
        id: GameId,
        tree: Tree,
        at: Moment,
    ) -> Result<Answer, ApiError> {
        // Another tab may have been faster.
        let new = match self.rematch_of(of)? {
            Wanted::Begun(game) => return Ok(Answer::Game { game }),
            Wanted::Open(new) => new,
        };
        let answer = self.new_game(id, &new, tree, at)?;
        if let (Answer::Game { game }, Some(room)) = (&answer, self.rooms.get_mut(&of)) {
            room.set_rematch(Some(*game));
            self.settle(of, Vec::new(), at);
        }
        Ok(answer)
    }

    /// A game is no more: whoever has played it as a rematch may have another one.
    pub(super) fn forget_rematch(&mut self, gone: GameId, at: Moment) {
        let rooms = self.rooms.values_mut();
        let led = rooms.filter(|room| room.next() == Some(gone));
        let led: Vec<GameId> = led.map(|room| room.id()).collect();
        for id in led {
            if let Some(room) = self.rooms.get_mut(&id) {
                room.set_rematch(None);
            }
            self.settle(id, Vec::new(), at);
        }
    }
}
