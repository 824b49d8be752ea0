//! Rematches: another game of the same players, set up in the same way.

use super::play::ActiveGame;
use super::{Document, GameSession, Origin, no_players};
use crate::wire::{ApiError, ErrorCode, GameId, NewGame, Rematch, Sides, Start};

impl ActiveGame {
    pub(crate) fn set_origin(&mut self, document: &mut Document, origin: Origin) {
        self.origin = Some(origin);
        document.changes.unsaved = true;
    }

    /// Whether there is a rematch; none while the game is not over.
    pub(super) fn rematch_state(&self, document: &Document) -> Option<Rematch> {
        if !self.is_over() {
            return None;
        }
        Some(match self.rematch {
            Some(game) => Rematch::Begun { game },
            None => Rematch::Open { swapped: !document.is_handicap() },
        })
    }
}

impl GameSession {
    /// The rematch, if it has started.
    pub(crate) fn rematch(&self) -> Option<GameId> {
        self.active.as_ref()?.rematch
    }

    /// The rematch has started, or was deleted.
    pub(crate) fn set_rematch(&mut self, game: Option<GameId>) {
        if let Some(active) = &mut self.active {
            active.rematch = game;
            self.document.changes.play = true;
            self.document.changes.unsaved = true;
        }
    }

    /// How to set up the rematch.
    pub(crate) fn rematch_setup(&self) -> Result<NewGame, ApiError> {
        let active = self.active.as_ref().ok_or_else(no_players)?;
        if !active.is_over() {
            return Err(ApiError::conflict(ErrorCode::GameNotOver));
        }
        let [first, second] =
            [&active.slots.first, &active.slots.second].map(|slot| slot.player.clone());
        // The weaker player keeps a handicap.
        let players = if self.document.is_handicap() {
            Sides { first, second }
        } else {
            Sides { first: second, second: first }
        };
        let origin = active.origin.clone().unwrap_or_else(|| Origin {
            start: Start::Text { text: self.tree().start().to_string() },
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
}
