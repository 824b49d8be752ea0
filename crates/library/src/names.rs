//! Names of players, events and sites: spelling variants, and merges of several names into one.

pub(crate) mod merges;
pub(crate) mod proposals;
mod spelling;

use std::collections::HashMap;

use rusqlite::Connection;

use crate::error::Error;
use crate::snapshot::Snapshot;
use crate::summary::NameId;

pub use proposals::{NameProposal, ProposalReason};
pub use spelling::SpellingFile;

/// What is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NameKind {
    /// A player, on either side.
    Player,
    /// An event.
    Event,
    /// A site.
    Site,
}

/// A name with its number of games.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameCount {
    /// The name.
    pub name: String,
    /// Number of games.
    pub games: u32,
}

/// A merge that can be undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameMerge {
    /// Its number.
    pub merge: u32,
    /// Time in ms since 1970.
    pub at_ms: i64,
    /// What is named.
    pub kind: NameKind,
    /// The names that were replaced.
    pub from: Vec<String>,
    /// The name that replaced them.
    pub to: String,
    /// Number of games that were changed.
    pub games: u32,
}

/// All names that games have, each with its number of games, in alphabetical order.
pub(crate) fn all(
    connection: &Connection,
    snapshot: &Snapshot,
    kind: NameKind,
) -> Result<Vec<NameCount>, Error> {
    let counts = counts(connection, snapshot, kind)?;
    let mut names: Vec<NameCount> = texts(connection)?
        .into_iter()
        .filter_map(|(id, name)| Some(NameCount { games: *counts.get(&id)?, name }))
        .collect();
    names.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(names)
}

/// Numbers of games by the numbers of names.
fn counts(
    connection: &Connection,
    snapshot: &Snapshot,
    kind: NameKind,
) -> Result<HashMap<NameId, u32>, Error> {
    let mut counts: HashMap<NameId, u32> = HashMap::new();
    let mut add = |id: NameId| {
        if id > 0 {
            *counts.entry(id).or_default() += 1;
        }
    };
    match kind {
        NameKind::Player => {
            for (_, it) in snapshot.summaries.iter_rev() {
                let [first, second] = it.players();
                add(first);
                if first != second {
                    add(second);
                }
            }
        }
        NameKind::Event => snapshot.summaries.iter_rev().for_each(|(_, it)| add(it.event())),
        NameKind::Site => {
            let mut statement = connection.prepare("SELECT id, site FROM game WHERE site > 0")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                if snapshot.summaries.raw(row.get(0)?).is_some() {
                    add(row.get(1)?);
                }
            }
        }
    }
    Ok(counts)
}

/// All texts of the table of names.
fn texts(connection: &Connection) -> Result<Vec<(NameId, String)>, Error> {
    let mut statement = connection.prepare("SELECT id, text FROM name")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
