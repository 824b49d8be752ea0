//! The position index: runs of sorted postings, stored as blocks in `SQLite` and merged in levels (an LSM tree).
//!
//! A run is valid for a range of keys. A merge moves the bound between its inputs and its output step by step, and
//! deletes the blocks that were merged: a killed merge is continued, and no second copy of the index is needed.

use rusqlite::{Connection, OptionalExtension, params};

use crate::bitset::BitSet;
use crate::error::Error;
use crate::postings::{Block, BlockReader, BlockWriter, Key, Posting};
use crate::varint::{Corrupt, get, get_u32, put};

/// Number of runs of a level that are merged into one of the next level.
const FAN_IN: usize = 16;

/// Number of blocks that one transaction of a merge writes: bounds the write-ahead log.
const STEP: i64 = 64;

/// The bound of a run that is valid for all keys.
const NO_BOUND: i64 = i64::MAX;

/// A run of sorted postings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    id: i64,
    level: i64,
    /// Not larger than any game of the run.
    base: u32,
    /// Postings of keys from `low` up to, but not including, `high` are valid.
    low: i64,
    high: i64,
    /// The run that this one is being merged into.
    target: Option<i64>,
    /// Sorted games whose postings are void: their moves were changed.
    dead: Vec<u32>,
}

/// All runs.
pub(crate) fn runs(connection: &Connection) -> Result<Vec<Run>, Error> {
    let mut statement = connection
        .prepare_cached("SELECT id, level, base, low, high, target, dead FROM run ORDER BY id")?;
    let mut rows = statement.query([])?;
    let mut runs = Vec::new();
    while let Some(row) = rows.next()? {
        runs.push(Run {
            id: row.get(0)?,
            level: row.get(1)?,
            base: row.get(2)?,
            low: row.get(3)?,
            high: row.get(4)?,
            target: row.get(5)?,
            dead: decode_games(&row.get::<_, Option<Vec<u8>>>(6)?.unwrap_or_default())?,
        });
    }
    Ok(runs)
}

/// Calls `visit` with move and game of each posting of a key.
pub(crate) fn find(
    connection: &Connection,
    runs: &[Run],
    key: Key,
    mut visit: impl FnMut(u16, u32),
) -> Result<(), Error> {
    let mut before = connection.prepare_cached(
        "SELECT no, first FROM block_key WHERE run = ?1 AND first < ?2
         ORDER BY first DESC, no DESC LIMIT 1",
    )?;
    let mut at = connection
        .prepare_cached("SELECT no FROM block_key WHERE run = ?1 AND first = ?2 ORDER BY no")?;
    let mut data = connection.prepare_cached("SELECT data FROM block WHERE id = ?1")?;
    for run in runs.iter().filter(|run| (run.low..run.high).contains(&key.to_sql())) {
        let mut blocks: Vec<(i64, Key)> = Vec::new();
        let first = before.query_row(params![run.id, key.to_sql()], |row| {
            Ok((row.get(0)?, Key::from_sql(row.get(1)?)))
        });
        blocks.extend(first.optional()?);
        for no in at.query_map(params![run.id, key.to_sql()], |row| row.get(0))? {
            blocks.push((no?, key));
        }
        for (no, first) in blocks {
            data.query_row([block_id(run.id, no)], |row| {
                let bytes = row.get_ref(0)?.as_blob()?;
                let mut reader = BlockReader::new(first, run.base, bytes);
                Ok(reader.find(key, |mv, game| {
                    if run.dead.is_empty() || run.dead.binary_search(&game).is_err() {
                        visit(mv, game);
                    }
                }))
            })??;
        }
    }
    Ok(())
}

/// Calls `visit` with key, move and game of each valid posting from a key on; games can be deleted ones.
pub(crate) fn scan(
    connection: &Connection,
    runs: &[Run],
    from: Key,
    mut visit: impl FnMut(Key, u16, u32),
) -> Result<(), Error> {
    let mut blocks = connection.prepare_cached(
        "SELECT key.first, block.data FROM block_key AS key JOIN block ON block.id = (key.run << 32 | key.no)
         WHERE key.run = ?1 AND key.first >= coalesce(
             (SELECT max(first) FROM block_key WHERE run = ?1 AND first < ?2), 0)
         ORDER BY key.first, key.no",
    )?;
    for run in runs {
        let low = Key::from_sql(run.low.max(from.to_sql()));
        let mut rows = blocks.query(params![run.id, low.to_sql()])?;
        while let Some(row) = rows.next()? {
            let first = Key::from_sql(row.get(0)?);
            if first.to_sql() >= run.high {
                break;
            }
            let bytes = row.get_ref(1)?.as_blob().map_err(|_| Corrupt)?;
            BlockReader::new(first, run.base, bytes).visit_from(low, |key, mv, game| {
                let is_void = || !run.dead.is_empty() && run.dead.binary_search(&game).is_ok();
                if key.to_sql() < run.high && !is_void() {
                    visit(key, mv, game);
                }
            })?;
        }
    }
    Ok(())
}

/// Writes sorted batches of postings as a run.
pub(crate) fn write_run(
    connection: &Connection,
    batches: &[impl AsRef<[Posting]>],
) -> Result<(), Error> {
    let mut batches: Vec<&[Posting]> = batches.iter().map(AsRef::as_ref).collect();
    let Some(base) = batches.iter().copied().flatten().map(|posting| posting.game()).min() else {
        return Ok(());
    };
    let id = insert_run(connection, 0, base, NO_BOUND)?;
    let mut writer = BlockWriter::new(base);
    let mut no = 0;
    let mut merged = Vec::new();
    // Parts of the key space bound the memory.
    for bound in Key::bounds() {
        merged.clear();
        for batch in &mut batches {
            let (before, after) =
                batch.split_at(batch.partition_point(|posting| posting.key() < bound));
            merged.extend_from_slice(before);
            *batch = after;
        }
        // A stable sort merges the sorted batches.
        merged.sort();
        merged.dedup();
        for posting in &merged {
            if let Some(block) = writer.push(*posting) {
                insert_block(connection, id, &mut no, &block)?;
            }
        }
    }
    if let Some(block) = writer.finish() {
        insert_block(connection, id, &mut no, &block)?;
    }
    Ok(())
}

/// Marks the postings of games as void in all runs.
pub(crate) fn void_games(connection: &Connection, games: &[u32]) -> Result<(), Error> {
    for mut run in runs(connection)? {
        let before = run.dead.len();
        run.dead.extend(games.iter().filter(|game| **game >= run.base));
        run.dead.sort_unstable();
        run.dead.dedup();
        if run.dead.len() == before {
            continue;
        }
        let dead = encode_games(&run.dead);
        connection.execute("UPDATE run SET dead = ?2 WHERE id = ?1", params![run.id, dead])?;
    }
    Ok(())
}

/// A merge in progress. Each step is a transaction of the caller.
#[derive(Debug)]
pub(crate) struct Merge {
    id: i64,
    inputs: Vec<Input>,
    base: u32,
    next_no: i64,
    /// Games whose postings are omitted.
    deleted: BitSet,
}

impl Merge {
    /// Continues or starts the merge that is due: [`FAN_IN`] runs of one level, or any two or more if `all`.
    pub(crate) fn due(
        connection: &Connection,
        all: bool,
        deleted: impl FnOnce() -> BitSet,
    ) -> Result<Option<Self>, Error> {
        let mut runs = runs(connection)?;
        let target = runs.iter().find_map(|run| run.target);
        if target.is_some() {
            runs.retain(|run| run.target == target);
        } else if !all || runs.len() < 2 {
            let full = |level| runs.iter().filter(|run| run.level == level).count() >= FAN_IN;
            let Some(level) = runs.iter().map(|run| run.level).filter(|run| full(*run)).min()
            else {
                return Ok(None);
            };
            runs.retain(|run| run.level == level);
        }
        let (base, level) =
            (runs.iter().map(|run| run.base).min(), runs.iter().map(|run| run.level).max());
        let (Some(base), Some(level)) = (base, level) else { return Ok(None) };
        let id = if let Some(id) = target {
            id
        } else {
            let id = insert_run(connection, level + 1, base, 0)?;
            for run in &runs {
                let values = params![run.id, id];
                connection.execute("UPDATE run SET target = ?2 WHERE id = ?1", values)?;
            }
            id
        };
        let next_no = connection.query_row(
            "SELECT coalesce(max(no) + 1, 0) FROM block_key WHERE run = ?1",
            [id],
            |row| row.get(0),
        )?;
        let inputs = runs.into_iter().map(Input::new).collect();
        Ok(Some(Self { id, inputs, base, next_no, deleted: deleted() }))
    }

    /// Merges the postings of some keys. Returns true when the inputs are gone.
    pub(crate) fn step(&mut self, connection: &Connection) -> Result<bool, Error> {
        let mut writer = BlockWriter::new(self.base);
        let last_no = self.next_no + STEP;
        let mut merged: Vec<Posting> = Vec::new();
        let mut last = None;
        let bound = loop {
            for input in &mut self.inputs {
                input.fill(connection)?;
            }
            let next = self.inputs.iter().filter_map(|input| input.rest().first()).min();
            let Some(next) = next else { break NO_BOUND };
            // All postings of a key are merged in the same step.
            let is_complete = last != Some(next.key());
            if self.next_no >= last_no && is_complete {
                break next.key().to_sql();
            }
            // Up to the first end of a block: what follows can precede postings of the next block.
            let end = self.inputs.iter().filter_map(|input| input.rest().last()).min().copied();
            merged.clear();
            for input in &mut self.inputs {
                let rest = input.rest();
                let taken = rest.partition_point(|posting| Some(*posting) <= end);
                merged.extend_from_slice(&rest[..taken]);
                input.next += taken;
            }
            // A stable sort merges the sorted inputs.
            merged.sort();
            last = merged.last().map(|posting| posting.key());
            if !self.deleted.is_empty() {
                merged.retain(|posting| !self.deleted.contains(posting.game()));
            }
            for posting in &merged {
                if let Some(block) = writer.push(*posting) {
                    insert_block(connection, self.id, &mut self.next_no, &block)?;
                }
            }
        };
        if let Some(block) = writer.finish() {
            insert_block(connection, self.id, &mut self.next_no, &block)?;
        }
        connection.execute("UPDATE run SET high = ?2 WHERE id = ?1", params![self.id, bound])?;
        for input in &mut self.inputs {
            input.remove_merged(connection, bound)?;
        }
        Ok(bound == NO_BOUND)
    }
}

/// An input run of a merge, read block by block.
#[derive(Debug)]
struct Input {
    run: Run,
    /// First key and number of the current block.
    current: (i64, i64),
    /// The postings of the current block.
    postings: Vec<Posting>,
    /// Index of the next posting.
    next: usize,
}

impl Input {
    fn new(run: Run) -> Self {
        Self { run, current: (-1, -1), postings: Vec::new(), next: 0 }
    }

    /// The postings of the current block that are not merged yet.
    fn rest(&self) -> &[Posting] {
        self.postings.get(self.next..).unwrap_or_default()
    }

    /// Reads the next block if the current one is merged.
    fn fill(&mut self, connection: &Connection) -> Result<(), Error> {
        while self.rest().is_empty() && self.current.1 != NO_BOUND {
            let mut next = connection.prepare_cached(
                "SELECT first, no FROM block_key WHERE run = ?1 AND (first, no) > (?2, ?3)
                 ORDER BY first, no LIMIT 1",
            )?;
            let mut data = connection.prepare_cached("SELECT data FROM block WHERE id = ?1")?;
            let after = params![self.run.id, self.current.0, self.current.1];
            let block = next.query_row(after, |row| Ok((row.get(0)?, row.get(1)?)));
            self.current = block.optional()?.unwrap_or((NO_BOUND, NO_BOUND));
            let (first, no) = self.current;
            self.postings.clear();
            self.next = 0;
            if no == NO_BOUND {
                break;
            }
            let Run { id, base, low, dead, .. } = &self.run;
            let postings = &mut self.postings;
            data.query_row([block_id(*id, no)], |row| {
                let bytes = row.get_ref(0)?.as_blob()?;
                let mut reader = BlockReader::new(Key::from_sql(first), *base, bytes);
                Ok(loop {
                    match reader.read_group(postings) {
                        Ok(true) => (),
                        end => break end,
                    }
                })
            })??;
            if !dead.is_empty() {
                postings.retain(|posting| dead.binary_search(&posting.game()).is_err());
            }
            self.next = postings.partition_point(|posting| posting.key().to_sql() < *low);
        }
        Ok(())
    }

    /// Deletes the blocks before the current one, and the run itself if all keys were merged.
    fn remove_merged(&mut self, connection: &Connection, bound: i64) -> Result<(), Error> {
        let (run, (first, no)) = (self.run.id, self.current);
        self.run.low = bound;
        connection.prepare_cached("DELETE FROM block WHERE id >= ?1 AND id < ?2")?.execute([
            block_id(run, 0),
            if no == NO_BOUND { block_id(run + 1, 0) } else { block_id(run, no) },
        ])?;
        connection
            .prepare_cached("DELETE FROM block_key WHERE run = ?1 AND (first, no) < (?2, ?3)")?
            .execute([run, first, no])?;
        if bound == NO_BOUND {
            connection.prepare_cached("DELETE FROM run WHERE id = ?1")?.execute([run])?;
        } else {
            connection
                .prepare_cached("UPDATE run SET low = ?2 WHERE id = ?1")?
                .execute([run, bound])?;
        }
        Ok(())
    }
}

/// Deletes all runs.
pub(crate) fn clear(connection: &Connection) -> Result<(), Error> {
    Ok(connection.execute_batch("DELETE FROM run; DELETE FROM block; DELETE FROM block_key;")?)
}

fn insert_run(connection: &Connection, level: i64, base: u32, high: i64) -> Result<i64, Error> {
    let values = params![level, base, high];
    connection.execute("INSERT INTO run (level, base, high) VALUES (?1, ?2, ?3)", values)?;
    Ok(connection.last_insert_rowid())
}

fn insert_block(
    connection: &Connection,
    run: i64,
    no: &mut i64,
    block: &Block,
) -> Result<(), Error> {
    connection
        .prepare_cached("INSERT INTO block (id, data) VALUES (?1, ?2)")?
        .execute(params![block_id(run, *no), block.bytes])?;
    connection
        .prepare_cached("INSERT INTO block_key (run, first, no) VALUES (?1, ?2, ?3)")?
        .execute(params![run, block.first.to_sql(), *no])?;
    *no += 1;
    Ok(())
}

fn block_id(run: i64, no: i64) -> i64 {
    run << 32 | no
}

fn encode_games(games: &[u32]) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, games.len() as u64);
    let mut last = 0;
    for game in games {
        put(&mut out, (game - last).into());
        last = *game;
    }
    out
}

fn decode_games(mut bytes: &[u8]) -> Result<Vec<u32>, Corrupt> {
    let mut games = Vec::new();
    if bytes.is_empty() {
        return Ok(games);
    }
    let mut last = 0u32;
    for _ in 0..get(&mut bytes)? {
        last = last.checked_add(get_u32(&mut bytes)?).ok_or(Corrupt)?;
        games.push(last);
    }
    Ok(games)
}
