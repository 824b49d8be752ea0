//! Rematches: one for each game that is over, however often somebody asks.

use std::sync::Arc;

use super::games::storage;
use super::{App, World};
use crate::game::{Room, Tree, open};
use crate::time::{Moment, now};
use crate::wire::{Answer, GameId, NewGame, Refusal};

/// What there is to do for a rematch.
enum Wanted {
    /// Nothing: it has begun.
    Begun(GameId),
    /// It is to be set up so.
    Open(Box<NewGame>),
}

impl App {
    /// Has the players of a game that is over play again.
    pub(super) fn rematch(self: &Arc<Self>, of: GameId) -> Result<Answer, Refusal> {
        let wanted = self.world().rematch_of(of)?;
        match wanted {
            Wanted::Begun(game) => Ok(Answer::Game { game }),
            Wanted::Open(new) => {
                // A book is read without the lock.
                let tree = open(&new)?;
                self.world().begin_rematch(of, tree, now())
            }
        }
    }
}

impl World {
    fn rematch_of(&mut self, of: GameId) -> Result<Wanted, Refusal> {
        let room = self.room(of)?;
        match room.next() {
            Some(game) => Ok(Wanted::Begun(game)),
            None => room.next_game().map(|new| Wanted::Open(Box::new(new))),
        }
    }

    fn begin_rematch(&mut self, of: GameId, tree: Tree, at: Moment) -> Result<Answer, Refusal> {
        // Another tab may have been faster.
        let new = match self.rematch_of(of)? {
            Wanted::Begun(game) => return Ok(Answer::Game { game }),
            Wanted::Open(new) => new,
        };
        let answer = self.new_game(&new, tree, at)?;
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

    /// As [`Self::forget_rematch`], for a game that was not open then.
    pub(super) fn forget_lost_rematch(&self, room: &mut Room) -> Result<(), Refusal> {
        if let Some(game) = room.next()
            && self.store.game(game).map_err(storage)?.is_none()
        {
            room.set_rematch(None);
        }
        Ok(())
    }
}
