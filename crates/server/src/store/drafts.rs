//! Drafts: boards that are rows of `app.sqlite` only. Each has a number that the library keeps for it.

use readyok_library::Source;
use readyok_rules::record::GameRecord;

use super::games::OpenGame;
use super::{Store, StoreError, StoredReport, dated};
use crate::game::{Draft, GameSession, StoredSession, Tree};
use crate::time::Moment;
use crate::wire::GameId;

/// Maximum number of closed drafts that can be opened again.
const MAX_CLOSED: usize = 100;

/// A draft that was closed.
pub(super) struct ClosedDraft {
    pub(super) stored: StoredSession,
    changed: i64,
    pub(super) report: Option<StoredReport>,
}

impl Store {
    /// Stores a new draft.
    pub(crate) fn new_draft(
        &mut self,
        record: &GameRecord,
        draft: Draft,
        at: Moment,
    ) -> Result<GameId, StoreError> {
        let id = self.library.reserve()?;
        let session = GameSession::new_draft(id, Tree::from_record(record), draft, at);
        self.open_draft(id, session.stored(), dated(at))?;
        Ok(id)
    }

    fn open_draft(
        &mut self,
        id: GameId,
        stored: StoredSession,
        changed: i64,
    ) -> Result<(), StoreError> {
        self.write_rows([(id, &stored)].into_iter(), changed)?;
        self.open.insert(id, OpenGame { stored, changed, is_in_library: false });
        Ok(())
    }

    /// Adds a draft to the library. Does nothing if it is in the library already.
    pub(crate) fn save_draft(&mut self, id: GameId) -> Result<(), StoreError> {
        let Some(open) = self.open.get(&id) else { return Ok(()) };
        let Some(draft) = open.stored.draft() else { return Ok(()) };
        let (stored, changed) = (open.stored.clone().without_draft(), open.changed);
        if self.library.summary(id).is_none() {
            let source = if draft.imported { Source::Import } else { Source::Play };
            self.library.add_reserved(id, stored.to_game(source, changed))?;
        }
        // After a kill in between, the row is the one of an open game.
        self.write_rows([(id, &stored)].into_iter(), changed)?;
        self.open.insert(id, OpenGame { stored, changed, is_in_library: true });
        self.library.set_open(id, true);
        Ok(())
    }

    /// Drops the row of a draft, which can be opened again.
    pub(super) fn close_draft(&mut self, id: GameId) -> Result<(), StoreError> {
        let report = self.report(id).ok().flatten();
        self.delete_rows(&[id])?;
        if let Some(OpenGame { stored, changed, .. }) = self.open.remove(&id) {
            self.closed_drafts.push_back((id, ClosedDraft { stored, changed, report }));
        }
        while MAX_CLOSED < self.closed_drafts.len() {
            self.closed_drafts.pop_front();
        }
        Ok(())
    }

    pub(super) fn closed_draft(&self, id: GameId) -> Option<&ClosedDraft> {
        self.closed_drafts.iter().find(|(closed, _)| *closed == id).map(|(_, draft)| draft)
    }

    /// Opens a closed draft again. Returns false if no such draft was closed.
    pub(super) fn reopen_draft(&mut self, id: GameId) -> Result<bool, StoreError> {
        let Some(at) = self.closed_drafts.iter().position(|(closed, _)| *closed == id) else {
            return Ok(false);
        };
        let Some((_, draft)) = self.closed_drafts.remove(at) else { return Ok(false) };
        self.open_draft(id, draft.stored, draft.changed)?;
        if let Some(report) = draft.report {
            self.restore_report(id, &report)?;
        }
        Ok(true)
    }

    /// Forgets closed drafts. Returns how many of the games were some.
    pub(super) fn forget_closed_drafts(&mut self, games: &[GameId]) -> usize {
        let before = self.closed_drafts.len();
        self.closed_drafts.retain(|(id, _)| !games.contains(id));
        before - self.closed_drafts.len()
    }

    /// The number of a draft that was stored, in the present library. A file that was replaced by a copy may have given
    /// it to another game.
    pub(super) fn number_of_draft(
        &self,
        id: GameId,
        stored: &StoredSession,
    ) -> Result<GameId, StoreError> {
        if self.library.reserve_again(id)? {
            return Ok(id);
        }
        let added = stored.to_game(Source::Play, 0).summary;
        let is_saved = self.library.summary(id).is_some_and(|known| {
            (known.moves_hash, known.plies) == (added.moves_hash, added.plies)
        });
        Ok(if is_saved { id } else { self.library.reserve()? })
    }
}
