//! Rows of the library file: games, names, openings, summaries.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use readyok_rules::record::fold;
use rusqlite::{OptionalExtension, Transaction, params};

use crate::codec::tags::{online_game, online_key};
use crate::error::{Error, LibraryDefect};
use crate::game::{NewGame, StoredGame};
use crate::index::{self, Run};
use crate::schema::set_meta;
use crate::snapshot::{CHUNK, Snapshot, Summaries};
use crate::summary::{SIZE, Summary};

/// Maximum number of cached names.
const MAX_NAMES: usize = 1 << 17;

/// Inserts a game with its encoded summary and the number of its site. `stored` has its changes, if it existed before.
pub(crate) fn insert_row(
    transaction: &Transaction<'_>,
    id: u32,
    (summary, site): ([u8; SIZE], u32),
    game: &NewGame,
    stored: Option<&StoredGame>,
) -> Result<(), Error> {
    transaction
        .prepare_cached(
            "INSERT INTO game
             (id, summary, site, added, changed, changed_before, revision, start, moves, tags,
             annotations, layer, play, online)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
        )?
        .execute(params![
            id,
            summary,
            site,
            game.added_ms,
            stored.map_or(game.added_ms, |stored| stored.changed_ms),
            stored.map_or(id, |stored| stored.changed_before),
            stored.map_or(0, |stored| stored.revision),
            game.start,
            game.moves,
            none_if_empty(&game.tags),
            none_if_empty(&game.annotations),
            none_if_empty(&game.layer),
            game.play,
            online_of(game),
        ])?;
    Ok(())
}

/// The key of the online game.
pub(super) fn online_of(game: &NewGame) -> Option<u32> {
    online_game(&game.tags).as_deref().map(online_key)
}

/// The summaries and runs after a transaction.
pub(super) type Change = (Summaries, Arc<[Run]>);

/// Makes games visible whose rows are stored.
pub(super) fn show(
    transaction: &Transaction<'_>,
    state: &Snapshot,
    games: &[StoredGame],
) -> Result<Change, Error> {
    let summaries: Vec<_> = games.iter().map(|game| (game.id, game.summary.to_bytes())).collect();
    let ids: Vec<u32> = games.iter().map(|game| game.id).collect();
    change(transaction, state, &summaries, &ids)
}

/// Stores changed summaries, and marks games whose moves changed to be indexed again.
pub(super) fn change(
    transaction: &Transaction<'_>,
    state: &Snapshot,
    games: &[(u32, [u8; SIZE])],
    moved: &[u32],
) -> Result<Change, Error> {
    let mut summaries = state.summaries.clone();
    for (game, summary) in games {
        summaries.set(*game, *summary);
    }
    let mut chunks: BTreeSet<usize> =
        games.iter().map(|(game, _)| *game as usize / CHUNK).collect();
    // A game after numbers without games completes the chunks before it.
    chunks.extend(state.summaries.len() / CHUNK..summaries.len() / CHUNK);
    for chunk in chunks {
        store_chunks(transaction, &summaries, chunk..chunk + 1)?;
    }
    for game in moved {
        transaction
            .prepare_cached("INSERT OR IGNORE INTO unindexed VALUES (?1)")?
            .execute([game])?;
    }
    if !moved.is_empty() {
        // Postings of a deleted game may exist.
        index::void_games(transaction, moved)?;
    }
    set_meta(transaction, "generation", state.generation + 1)?;
    Ok((summaries, index::runs(transaction)?.into()))
}

/// Commits a change of runs and returns them.
pub(super) fn commit(
    transaction: Transaction<'_>,
    generation: &mut i64,
) -> Result<Arc<[Run]>, Error> {
    set_meta(&transaction, "generation", *generation + 1)?;
    let runs = index::runs(&transaction)?.into();
    transaction.commit()?;
    *generation += 1;
    Ok(runs)
}

/// Numbers of names and openings.
#[derive(Debug, Default)]
pub(crate) struct Names {
    known: HashMap<Box<str>, u32>,
    openings: HashMap<(String, String), u16>,
}

impl Names {
    /// Drops the names if there are too many.
    pub(super) fn limit(&mut self) {
        if self.known.len() > MAX_NAMES {
            self.known.clear();
        }
    }

    /// The complete summary of a game, and the number of its site.
    pub(crate) fn resolve(
        &mut self,
        transaction: &Transaction<'_>,
        game: &NewGame,
    ) -> Result<(Summary, u32), Error> {
        let [first, second] = &game.players;
        let players = [self.name(transaction, first)?, self.name(transaction, second)?];
        let opening = match &game.opening {
            Some(opening) => self.opening(transaction, opening)?,
            None => 0,
        };
        let event = self.name(transaction, &game.event)?;
        let summary = Summary { players, event, opening, exists: true, ..game.summary };
        Ok((summary, self.name(transaction, &game.site)?))
    }

    pub(crate) fn name(&mut self, transaction: &Transaction<'_>, text: &str) -> Result<u32, Error> {
        if text.is_empty() {
            return Ok(0);
        }
        if let Some(id) = self.known.get(text) {
            return Ok(*id);
        }
        let mut find = transaction.prepare_cached("SELECT id FROM name WHERE text = ?1")?;
        let found = find.query_row([text], |row| row.get(0)).optional()?;
        let id = if let Some(id) = found {
            id
        } else {
            transaction
                .prepare_cached("INSERT INTO name (text, folded) VALUES (?1, ?2)")?
                .execute([text, &fold(text)])?;
            u32::try_from(transaction.last_insert_rowid())
                .map_err(|_| Error::Defect(LibraryDefect::LibraryFull))?
        };
        self.known.insert(text.into(), id);
        Ok(id)
    }

    /// The number of an opening; 0 if there are too many.
    fn opening(
        &mut self,
        transaction: &Transaction<'_>,
        opening: &(String, String),
    ) -> Result<u16, Error> {
        if let Some(id) = self.openings.get(opening) {
            return Ok(*id);
        }
        let (eco, text) = opening;
        let mut find =
            transaction.prepare_cached("SELECT id FROM opening WHERE eco = ?1 AND text = ?2")?;
        let found: Option<i64> = find.query_row([eco, text], |row| row.get(0)).optional()?;
        let id = if let Some(id) = found {
            id
        } else {
            let count: i64 =
                transaction.query_row("SELECT count(*) FROM opening", [], |row| row.get(0))?;
            if count >= i64::from(u16::MAX) {
                return Ok(0);
            }
            transaction
                .prepare_cached("INSERT INTO opening (eco, text, folded) VALUES (?1, ?2, ?3)")?
                .execute([eco, text, &fold(&format!("{eco} {text}"))])?;
            transaction.last_insert_rowid()
        };
        let id = u16::try_from(id).unwrap_or(0);
        self.openings.insert(opening.clone(), id);
        Ok(id)
    }
}

pub(super) fn none_if_empty(bytes: &[u8]) -> Option<&[u8]> {
    (!bytes.is_empty()).then_some(bytes)
}

/// Writes complete chunks of summaries.
pub(crate) fn store_chunks(
    transaction: &Transaction<'_>,
    summaries: &Summaries,
    chunks: Range<usize>,
) -> Result<(), Error> {
    for no in chunks {
        if let Some(data) = summaries.complete_chunk(no) {
            transaction
                .prepare_cached("INSERT OR REPLACE INTO summaries (no, data) VALUES (?1, ?2)")?
                .execute(params![i64::try_from(no).unwrap_or(i64::MAX), data])?;
        }
    }
    Ok(())
}
