//! Import and export of games.

use super::{App, storage};
use crate::game::{GameSession, Tree};
use crate::store::{Row, StoreError};
use crate::time::{Moment, now};
use crate::wire::{ApiError, GameId, LibraryGame, NodeId};

/// Maximum number of imported games in one transaction.
const MAX_BATCH: usize = 64;
/// Size after which a transaction gets no further game, in bytes: moves that are played in the meantime are written
/// between two transactions.
const MAX_BATCH_BYTES: usize = 1 << 20;

/// Imported games that are written in one transaction.
#[derive(Default)]
pub(crate) struct Batch {
    rows: Vec<Row>,
    bytes: usize,
}

impl Batch {
    /// Adds a game. Returns whether the batch is full.
    pub(crate) fn push(&mut self, row: Row) -> bool {
        self.bytes += row.size();
        self.rows.push(row);
        MAX_BATCH <= self.rows.len() || MAX_BATCH_BYTES <= self.bytes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(crate) fn take(&mut self) -> Vec<Row> {
        self.bytes = 0;
        std::mem::take(&mut self.rows)
    }
}

/// The row of an imported game. Searches find it even without a result.
pub(crate) fn row_of(tree: Tree, at: Moment) -> Result<Row, ApiError> {
    Row::of(&GameSession::new(0, tree, at).snapshot(), true).map_err(storage)
}

impl App {
    /// Adds imported games. It waits for the library: do not call it on threads of the runtime. After an error, the
    /// remaining games are not added.
    pub(crate) fn import(&self, rows: Vec<Row>) -> (Vec<LibraryGame>, Option<ApiError>) {
        let at = now();
        let added = self.writer.call_blocking(move |store| {
            let (ids, error) = store.import(&rows, at);
            let games = rows.into_iter().zip(ids);
            let games: Vec<_> = games.map(|(row, id)| row.into_found(id, "import", at)).collect();
            Ok((games, error))
        });
        match added {
            Ok((games, error)) => (games, error.map(storage)),
            Err(error) => (Vec::new(), Some(storage(error))),
        }
    }

    /// Adds an imported game and opens it. It waits as [`Self::import`] does.
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method is not general enough"
    )]
    pub(crate) fn import_open(&self, tree: Tree) -> Result<LibraryGame, ApiError> {
        let at = now();
        // What cannot be opened is not added.
        self.update(|components, cx| components.evict_idle(cx))?;
        let row = row_of(tree.clone(), at)?;
        let added = self.writer.call_blocking(move |store| {
            let ids = store.add_games(std::slice::from_ref(&row), "import", true, at)?;
            Ok(ids.first().map(|id| row.into_found(*id, "import", at)))
        });
        let closed = || storage(StoreError::Closed);
        let game = added.map_err(storage)?.ok_or_else(closed)?;
        let mut session = GameSession::new(game.id, tree, at);
        session.take_unsaved();
        self.update(|components, cx| {
            if let Err(error) = components.evict_idle(cx) {
                drop(cx.set_open(game.id, false));
                return Err(error);
            }
            components.games.add(components.engines, cx, session);
            Ok(game)
        })
    }

    /// The tree of a game, open or not, with its cursor.
    pub(crate) async fn tree_of(&self, id: GameId) -> Result<(Tree, NodeId), ApiError> {
        let tree = |session: &GameSession| (session.tree().clone(), session.cursor());
        let open = self.state().games.get(id).map(tree);
        if let Some(found) = open {
            return Ok(found);
        }
        let found = self.load(id, |components, _, loaded| match components.games.get(id) {
            Some(session) => Ok(tree(session)),
            None => loaded.map(|loaded| tree(&loaded.session)),
        });
        found.await
    }
}
