//! Receipts of batches: a batch that is repeated after a crash is not added twice.

use rusqlite::{Connection, OptionalExtension, params};

use crate::codec::hash;
use crate::error::Error;
use crate::game::NewGame;
use crate::outcome::Outcome;
use crate::varint::{Corrupt, get_u32, put};

/// The last batch of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The source.
    pub source: String,
    /// The number of the batch.
    pub batch: u64,
    /// The outcomes of its games.
    pub outcomes: Vec<Outcome>,
}

/// A hash of the games: a source can have changed in the meantime.
fn content(games: &[NewGame]) -> u32 {
    hash(games.iter().flat_map(|game| [game.summary.moves_hash.into(), game.moves.len() as u64]))
}

/// The outcomes of a batch that was added.
pub(crate) fn find(
    connection: &Connection,
    (source, batch): &(String, u64),
    games: &[NewGame],
) -> Result<Option<Vec<Outcome>>, Error> {
    let mut statement = connection.prepare_cached(
        "SELECT outcomes FROM receipt WHERE source = ?1 AND batch = ?2 AND content = ?3",
    )?;
    let values = params![source, batch.cast_signed(), content(games)];
    let outcomes = statement.query_row(values, |row| row.get::<_, Vec<u8>>(0)).optional()?;
    let outcomes = outcomes.map(|bytes| decode(&bytes)).transpose()?;
    Ok(outcomes.filter(|game| game.len() == games.len()))
}

/// Stores the outcomes of a batch, in its transaction.
pub(crate) fn store(
    connection: &Connection,
    (source, batch): &(String, u64),
    games: &[NewGame],
    outcomes: &[Outcome],
) -> Result<(), Error> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO receipt (source, batch, content, outcomes)
             VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![source, batch.cast_signed(), content(games), encode(outcomes)])?;
    Ok(())
}

pub(crate) fn all(connection: &Connection) -> Result<Vec<Receipt>, Error> {
    let mut statement = connection.prepare_cached("SELECT source, batch, outcomes FROM receipt")?;
    let mut rows = statement.query([])?;
    let mut receipts = Vec::new();
    while let Some(row) = rows.next()? {
        receipts.push(Receipt {
            source: row.get(0)?,
            batch: row.get::<_, i64>(1)?.cast_unsigned(),
            outcomes: decode(&row.get::<_, Vec<u8>>(2)?)?,
        });
    }
    Ok(receipts)
}

pub(crate) fn forget(connection: &Connection, source: &str) -> Result<(), Error> {
    connection.prepare_cached("DELETE FROM receipt WHERE source = ?1")?.execute([source])?;
    Ok(())
}

/// For each outcome its kind and number.
fn encode(outcomes: &[Outcome]) -> Vec<u8> {
    let mut out = Vec::new();
    for outcome in outcomes {
        out.push(match outcome {
            Outcome::Added(_) => 0,
            Outcome::Duplicate(_) => 1,
            Outcome::Replaced(_) => 2,
            Outcome::Undecided(_) => 3,
        });
        put(&mut out, outcome.game().into());
    }
    out
}

fn decode(mut bytes: &[u8]) -> Result<Vec<Outcome>, Corrupt> {
    let mut outcomes = Vec::new();
    while let Some((kind, rest)) = bytes.split_first() {
        bytes = rest;
        let game = get_u32(&mut bytes)?;
        outcomes.push(match kind {
            0 => Outcome::Added(game),
            1 => Outcome::Duplicate(game),
            2 => Outcome::Replaced(game),
            3 => Outcome::Undecided(game),
            _ => return Err(Corrupt),
        });
    }
    Ok(outcomes)
}
