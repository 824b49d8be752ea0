//! Another game of the same players, set up as the one that is over was.

use readyok_rules::Game;
use serde::{Deserialize, Serialize};

use super::{ActiveGame, GameSession, PlayState, not_now};
use crate::wire::{ApiError, Book, GameId, NewGame, ProblemKind, Rematch, Sides, Start};

/// How a game was set up, beside its players and its rules. What was left to the lot is drawn anew.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Origin {
    /// Where it starts.
    pub(crate) start: Start,
    /// Where its first moves come from.
    pub(crate) book: Option<Book>,
}

impl GameSession {
    /// Keeps how the game was set up.
    pub(crate) fn set_origin(&mut self, origin: Origin) {
        if let Some(active) = &mut self.play {
            active.origin = Some(origin);
            self.changes.unsaved = true;
        }
    }

    /// Whether there is another game of the same players; none while this one is not over.
    pub(crate) fn rematch(&self) -> Option<Rematch> {
        let active = self.over()?;
        Some(match active.rematch {
            Some(game) => Rematch::Begun { game },
            None => Rematch::Open { swapped: self.swaps() },
        })
    }

    /// The rematch, if it has begun.
    pub(crate) fn next(&self) -> Option<GameId> {
        self.play.as_ref()?.rematch
    }

    /// The rematch has begun, or is no more.
    pub(crate) fn set_rematch(&mut self, game: Option<GameId>) {
        if let Some(active) = &mut self.play {
            active.rematch = game;
            self.changes.play = true;
            self.changes.unsaved = true;
        }
    }

    /// How to set the rematch up.
    pub(crate) fn next_game(&self) -> Result<NewGame, ApiError> {
        if self.play.is_none() {
            return Err(not_now(ProblemKind::NobodyPlays, "nobody plays this game"));
        }
        let active =
            self.over().ok_or_else(|| not_now(ProblemKind::GameNotOver, "the game is not over"))?;
        let [first, second] =
            [&active.slots.first, &active.slots.second].map(|slot| slot.player.clone());
        let players = if self.swaps() {
            Sides { first: second, second: first }
        } else {
            Sides { first, second }
        };
        let origin = active.origin.clone().unwrap_or_else(|| Origin {
            start: Start::Text { text: self.tree.start().to_string() },
            book: None,
        });
        Ok(NewGame {
            variant: self.game().into(),
            start: origin.start,
            players: Some(players),
            rules: active.rules,
            book: origin.book,
        })
    }

    fn over(&self) -> Option<&ActiveGame> {
        self.play.as_ref().filter(|active| active.state == PlayState::Over)
    }

    /// A handicap is for the weaker player, who keeps it.
    fn swaps(&self) -> bool {
        self.game() != Game::Shogi || self.tree.start().setup().as_handicap().is_none()
    }
}
