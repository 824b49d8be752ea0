//! Rows of tables that match a text, cached until a text is added.

use std::sync::{Arc, Mutex, PoisonError};

use readyok_rules::record::TextPattern;
use rusqlite::Connection;

use crate::bitset::BitSet;
use crate::error::Error;
use crate::pattern_cache::PatternCache;

/// Results of scans of the texts, which change only when a text is added.
#[derive(Debug, Default)]
pub(crate) struct Caches {
    pub(crate) patterns: PatternCache,
    sets: Mutex<Vec<(Lookup, Arc<BitSet>)>>,
}

/// Table, number of its last row and text.
type Lookup = (&'static str, i64, TextPattern);

/// Maximum number of cached sets.
const MAX_SETS: usize = 16;

/// Rows of a table that match a pattern; none if all match, also a missing text.
pub(crate) type Texts = Option<Arc<BitSet>>;

pub(crate) fn contains(set: &Texts, number: u32) -> bool {
    set.as_ref().is_none_or(|set| set.contains(number))
}

impl Caches {
    /// Rows of `name` or `opening` that match a pattern.
    pub(crate) fn matching(
        &self,
        connection: &Connection,
        table: &'static str,
        pattern: &TextPattern,
    ) -> Result<Texts, Error> {
        let Some(longest) = pattern.parts().iter().max_by_key(|part| part.len()) else {
            return Ok(None);
        };
        let lookup = (table, last_row(connection, table)?, pattern.clone());
        let mut sets = self.sets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, set)) = sets.iter().find(|(known, _)| *known == lookup) {
            return Ok(Some(Arc::clone(set)));
        }
        drop(sets);
        let sql = format!("SELECT id, folded FROM {table} WHERE instr(folded, ?1)");
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query([longest])?;
        let mut set = BitSet::default();
        while let Some(row) = rows.next()? {
            if pattern.matches_folded(row.get_ref(1)?.as_str().unwrap_or_default()) {
                set.insert(row.get(0)?);
            }
        }
        let set = Arc::new(set);
        sets = self.sets.lock().unwrap_or_else(PoisonError::into_inner);
        sets.retain(|((name, last, _), _)| *name != lookup.0 || *last == lookup.1);
        if sets.len() >= MAX_SETS {
            sets.remove(0);
        }
        sets.push((lookup, Arc::clone(&set)));
        Ok(Some(set))
    }
}

pub(crate) fn last_row(connection: &Connection, table: &str) -> Result<i64, Error> {
    let sql = format!("SELECT coalesce(max(id), 0) FROM {table}");
    Ok(connection.prepare_cached(&sql)?.query_row([], |row| row.get(0))?)
}

/// The numbers that a query with one text returns.
pub(crate) fn numbers(connection: &Connection, sql: &str, text: &str) -> Result<BitSet, Error> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([text])?;
    let mut set = BitSet::default();
    while let Some(row) = rows.next()? {
        set.insert(row.get(0)?);
    }
    Ok(set)
}
