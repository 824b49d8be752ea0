//! Merges of names, and their log.
//!
//! Headers follow from the numbers of names, so a merge changes only these numbers. The log has the games whose number
//! was changed: an undo changes those that still have the new one.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::{NameKind, NameMerge};
use crate::error::Error;
use crate::game::{NewGame, StoredGame};
use crate::snapshot::Snapshot;
use crate::summary::{NameId, SIZE, Summary};
use crate::varint::{Corrupt, get, put};

/// Maximum number of names in the log; the oldest merges are forgotten.
const MAX_NAMES: i64 = 10_000;

/// Maximum size of the games in the log, in bytes.
const MAX_BYTES: i64 = 32 << 20;

/// The table exists since the first merge.
const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS name_merge (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        -- The first row of the merge.
        merge INTEGER NOT NULL,
        at INTEGER NOT NULL,
        kind INTEGER NOT NULL,
        source INTEGER NOT NULL,
        target INTEGER NOT NULL,
        games BLOB NOT NULL
    );";

/// Summaries that changed.
pub(crate) type Changed = BTreeMap<u32, [u8; SIZE]>;

fn code(kind: NameKind) -> i64 {
    match kind {
        NameKind::Player => 0,
        NameKind::Event => 1,
        NameKind::Site => 2,
    }
}

fn kind_of(code: i64) -> Result<NameKind, Corrupt> {
    [NameKind::Player, NameKind::Event, NameKind::Site]
        .into_iter()
        .find(|kind| self::code(*kind) == code)
        .ok_or(Corrupt)
}

/// Replaces names by another, and logs it. Returns the number of the merge and the changed summaries.
pub(crate) fn merge(
    transaction: &Transaction<'_>,
    state: &Snapshot,
    kind: NameKind,
    (from, to): (&[NameId], NameId),
    at_ms: i64,
) -> Result<(u32, Changed), Error> {
    transaction.execute_batch(SCHEMA)?;
    let mut changed = Changed::new();
    let mut merge = 0;
    for &source in from {
        let places = places(transaction, state, kind, source)?;
        changed.extend(set(transaction, (state, &changed), kind, &places, to)?);
        transaction.execute(
            "INSERT INTO name_merge (merge, at, kind, source, target, games)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![merge, at_ms, code(kind), source, to, encode(&places)],
        )?;
        if merge == 0 {
            merge = transaction.last_insert_rowid();
            transaction.execute("UPDATE name_merge SET merge = id WHERE id = ?1", [merge])?;
        }
    }
    forget(transaction)?;
    Ok((u32::try_from(merge).unwrap_or(u32::MAX), changed))
}

/// Restores the names of a merge in the games that still have its new name. Returns none if it is not in the log.
pub(crate) fn undo(
    transaction: &Transaction<'_>,
    state: &Snapshot,
    merge: u32,
) -> Result<Option<Changed>, Error> {
    if !exists(transaction)? {
        return Ok(None);
    }
    let rows: Vec<(i64, NameId, NameId, Vec<u8>)> = {
        let sql = "SELECT kind, source, target, games FROM name_merge WHERE merge = ?1 ORDER BY id";
        let mut statement = transaction.prepare(sql)?;
        let rows = statement
            .query_map([merge], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
        rows.collect::<Result<_, _>>()?
    };
    if rows.is_empty() {
        return Ok(None);
    }
    let mut changed = Changed::new();
    for (kind, source, target, games) in rows {
        let kind = kind_of(kind)?;
        let mut kept = Vec::new();
        for (game, side) in decode(&games)? {
            if name_at(transaction, (state, &changed), kind, (game, side))? == Some(target) {
                kept.push((game, side));
            }
        }
        changed.extend(set(transaction, (state, &changed), kind, &kept, source)?);
    }
    transaction.execute("DELETE FROM name_merge WHERE merge = ?1", [merge])?;
    Ok(Some(changed))
}

pub(crate) fn all(connection: &Connection) -> Result<Vec<NameMerge>, Error> {
    if !exists(connection)? {
        return Ok(Vec::new());
    }
    let mut statement = connection.prepare(
        "SELECT merge, at, kind, source.text, target.text, games FROM name_merge
         JOIN name AS source ON source.id = name_merge.source
         JOIN name AS target ON target.id = name_merge.target
         ORDER BY merge DESC, name_merge.id",
    )?;
    let mut rows = statement.query([])?;
    let mut merges: Vec<NameMerge> = Vec::new();
    while let Some(row) = rows.next()? {
        let merge = row.get(0)?;
        let games = decode(&row.get::<_, Vec<u8>>(5)?)?.len();
        let games = u32::try_from(games).unwrap_or(u32::MAX);
        match merges.last_mut().filter(|last| last.merge == merge) {
            Some(last) => {
                last.from.push(row.get(3)?);
                last.games = last.games.saturating_add(games);
            }
            None => merges.push(NameMerge {
                merge,
                at_ms: row.get(1)?,
                kind: kind_of(row.get(2)?)?,
                from: vec![row.get(3)?],
                to: row.get(4)?,
                games,
            }),
        }
    }
    Ok(merges)
}

fn exists(connection: &Connection) -> Result<bool, Error> {
    let sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'name_merge'";
    Ok(connection.query_row(sql, [], |_| Ok(())).optional()?.is_some())
}

/// Drops the oldest merges while the log is too large.
fn forget(connection: &Connection) -> Result<(), Error> {
    loop {
        let (rows, bytes, merges): (i64, i64, i64) = connection.query_row(
            "SELECT count(*), coalesce(sum(length(games)), 0), count(DISTINCT merge) FROM name_merge",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )?;
        // The last one can always be undone.
        if merges <= 1 || (rows <= MAX_NAMES && bytes <= MAX_BYTES) {
            return Ok(());
        }
        connection.execute(
            "DELETE FROM name_merge WHERE merge = (SELECT min(merge) FROM name_merge)",
            [],
        )?;
    }
}

/// Games with a name, ascending, each with the side of a player.
fn places(
    connection: &Connection,
    state: &Snapshot,
    kind: NameKind,
    name: NameId,
) -> Result<Vec<(u32, u8)>, Error> {
    let mut found = Vec::new();
    match kind {
        NameKind::Player => {
            for (game, it) in state.summaries.iter_rev() {
                let sides = [0, 1].into_iter().zip(it.players());
                found.extend(sides.filter(|(_, id)| *id == name).map(|(side, _)| (game, side)));
            }
        }
        NameKind::Event => {
            let games = state.summaries.iter_rev().filter(|(_, it)| it.event() == name);
            found.extend(games.map(|(game, _)| (game, 0)));
        }
        NameKind::Site => {
            let mut statement = connection.prepare("SELECT id FROM game WHERE site = ?1")?;
            for id in statement.query_map([name], |row| row.get(0))? {
                found.push((id?, 0));
            }
            found.retain(|(game, _)| state.summaries.raw(*game).is_some());
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// The summary of a game after earlier changes.
fn summary_of(game: u32, (state, changed): (&Snapshot, &Changed)) -> Option<Summary> {
    match changed.get(&game) {
        Some(bytes) => Some(Summary::from_bytes(bytes)),
        None => state.summaries.get(game),
    }
}

fn name_at(
    connection: &Connection,
    state: (&Snapshot, &Changed),
    kind: NameKind,
    (game, side): (u32, u8),
) -> Result<Option<NameId>, Error> {
    let Some(summary) = summary_of(game, state) else { return Ok(None) };
    Ok(match kind {
        NameKind::Player => summary.players.get(usize::from(side)).copied(),
        NameKind::Event => Some(summary.event),
        NameKind::Site => {
            let sql = "SELECT site FROM game WHERE id = ?1";
            connection.prepare_cached(sql)?.query_row([game], |row| row.get(0)).optional()?
        }
    })
}

/// Sets the name of games.
fn set(
    transaction: &Transaction<'_>,
    state: (&Snapshot, &Changed),
    kind: NameKind,
    places: &[(u32, u8)],
    name: NameId,
) -> Result<Changed, Error> {
    let mut changed = Changed::new();
    for of_game in places.chunk_by(|a, b| a.0 == b.0) {
        let Some(&(game, _)) = of_game.first() else { continue };
        let Some(mut summary) = summary_of(game, state) else { continue };
        match kind {
            NameKind::Player => {
                for (_, side) in of_game {
                    if let Some(player) = summary.players.get_mut(usize::from(*side)) {
                        *player = name;
                    }
                }
            }
            NameKind::Event => {
                summary.event = name;
                // The hash of a short game depends on its event.
                if let Some(hash) = moves_hash(transaction, game, name)? {
                    summary.moves_hash = hash;
                }
            }
            NameKind::Site => {
                let sql = "UPDATE game SET site = ?2 WHERE id = ?1";
                transaction.prepare_cached(sql)?.execute([game, name])?;
            }
        }
        // Who has read the game before must not write the old names.
        transaction
            .prepare_cached("UPDATE game SET summary = ?2, revision = revision + 1 WHERE id = ?1")?
            .execute(params![game, summary.to_bytes()])?;
        changed.insert(game, summary.to_bytes());
    }
    Ok(changed)
}

fn moves_hash(connection: &Connection, game: u32, event: NameId) -> Result<Option<u32>, Error> {
    let Some(stored) = StoredGame::read(connection, game)? else { return Ok(None) };
    let Some(postings) = stored.postings() else { return Ok(None) };
    let event = crate::game::name(connection, event)?;
    Ok(Some(NewGame { event, postings, ..stored.game }.moves_hash()))
}

/// Differences of the numbers, each with the side in its lowest bit.
fn encode(places: &[(u32, u8)]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut last = 0;
    for (game, side) in places {
        put(&mut out, u64::from(game - last) << 1 | u64::from(*side));
        last = *game;
    }
    out
}

fn decode(mut bytes: &[u8]) -> Result<Vec<(u32, u8)>, Corrupt> {
    let mut places = Vec::new();
    let mut game = 0_u32;
    while !bytes.is_empty() {
        let value = get(&mut bytes)?;
        let step = u32::try_from(value >> 1).map_err(|_| Corrupt)?;
        game = game.checked_add(step).ok_or(Corrupt)?;
        places.push((game, u8::from(value & 1 == 1)));
    }
    Ok(places)
}
