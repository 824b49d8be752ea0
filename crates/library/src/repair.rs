//! A new file with all that can be read of a damaged one.
//!
//! Each row is read alone: damage of a page of the file costs only the rows on it. The index of positions is built again.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;

use readyok_rules::Side;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};

use crate::check::{DefectKind, agrees};
use crate::error::Error;
use crate::game::{COLUMNS, NewGame, StoredGame};
use crate::schema::{self, set_meta};
use crate::snapshot::{CHUNK, Snapshot, Summaries};
use crate::writer::rows::{Names, insert_row, store_chunks};

/// Number of games of a transaction.
const BATCH: usize = 2000;

/// Number of keys that are tried if the last one is unknown.
const MAX_TRIED: i64 = 1 << 22;

/// What a repair has copied and lost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repaired {
    /// Number of games in the new file.
    pub games: u64,
    /// Games that were lost as a whole, each with the reason.
    pub lost: Vec<(u32, String)>,
    /// Games that have lost a part, each with the part.
    pub damaged: Vec<(u32, &'static str)>,
    /// Other parts of the file that were lost.
    pub parts: Vec<DefectKind>,
    /// Whether it was cancelled. The new file is incomplete.
    pub cancelled: bool,
}

impl Repaired {
    /// Whether anything was lost.
    pub fn has_losses(&self) -> bool {
        !self.lost.is_empty() || !self.damaged.is_empty() || !self.parts.is_empty()
    }
}

/// Writes all that can be read of a file to a new one, which is missing or empty: games with their numbers, labels,
/// collections and receipts. The damaged file is not changed. `progress` gets the number of games, and cancels with
/// [`ControlFlow::Break`].
///
/// # Errors
/// The file is no database of games of this version, or nothing can be read, or the new file cannot be written.
pub fn repair(
    path: &Path,
    target: &Path,
    mut progress: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<Repaired, Error> {
    let source = schema::open_reader(path)?;
    let mut new = schema::open_writer(target, true)?;
    let mut repaired = Repaired::default();
    let texts = Texts::read(&source, &mut repaired);
    let known = Expected::read(&source);
    let last = match schema::meta(&source, "next_game") {
        Ok(next) => next - 1,
        Err(error) => {
            repaired.parts.push(DefectKind::Part("the number of the next game", error.to_string()));
            last_key(&source, "game")
        }
    };
    let last = known.games.iter().next_back().map_or(last, |known| last.max(i64::from(*known)));
    let sql = format!("SELECT {COLUMNS} FROM game");
    let mut rows = Rows::new(&source, &sql, last);
    let mut names = Names::default();
    let mut seen = BTreeSet::new();
    let mut is_finished = false;
    while !is_finished {
        let transaction = new.transaction()?;
        for _ in 0..BATCH {
            let Some((id, row)) = rows.next(StoredGame::of_row) else {
                is_finished = true;
                break;
            };
            let Ok(id) = u32::try_from(id) else { continue };
            let row = match row {
                Ok(row) => row,
                Err(error) if known.may_have(id) => {
                    repaired.lost.push((id, error.to_string()));
                    continue;
                }
                // It does not exist.
                Err(_) => continue,
            };
            seen.insert(id);
            match readable(row, &texts, &mut repaired) {
                Ok(stored) => {
                    let (mut summary, site) = names.resolve(&transaction, &stored)?;
                    summary.exists = stored.summary.exists;
                    insert_row(
                        &transaction,
                        id,
                        (summary.to_bytes(), site),
                        &stored,
                        Some(&stored),
                    )?;
                    repaired.games += u64::from(summary.exists);
                }
                Err(error) => repaired.lost.push((id, error.to_string())),
            }
        }
        transaction.commit()?;
        if progress(repaired.games).is_break() {
            repaired.cancelled = true;
            return Ok(repaired);
        }
    }
    let lost: BTreeSet<u32> = repaired.lost.iter().map(|(id, _)| *id).collect();
    let missing = known.games.difference(&seen).filter(|id| !lost.contains(id));
    let missing: Vec<_> = missing.map(|id| (*id, "its row is missing".to_owned())).collect();
    repaired.lost.extend(missing);
    repaired.lost.sort_unstable();
    let transaction = new.transaction()?;
    copy_tables(&source, &transaction, &mut repaired)?;
    let next = seen.iter().chain(&known.games).next_back().map_or(1, |last| i64::from(*last) + 1);
    set_meta(&transaction, "next_game", next.max(last + 1))?;
    let snapshot = Snapshot::load(&transaction)?;
    store_chunks(&transaction, &snapshot.summaries, 0..snapshot.summaries.len() / CHUNK)?;
    transaction.commit()?;
    Ok(repaired)
}

/// What the list of games has.
#[derive(Default)]
struct Expected {
    games: BTreeSet<u32>,
    /// Parts of the list that can be read; none if all can.
    parts: Option<BTreeSet<usize>>,
}

impl Expected {
    fn read(source: &Connection) -> Self {
        if let Ok(snapshot) = Snapshot::load(source) {
            let games = snapshot.summaries.iter_rev().map(|(game, _)| game).collect();
            return Self { games, parts: None };
        }
        let (mut games, mut parts) = (BTreeSet::new(), BTreeSet::new());
        let chunks = source.prepare("SELECT no, data FROM summaries").and_then(|mut statement| {
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let (no, data) = (row.get::<_, u32>(0)?, row.get::<_, Vec<u8>>(1)?);
                let mut part = Summaries::default();
                if part.push_chunk(&data).is_ok() {
                    parts.insert(no as usize);
                    let first = no.saturating_mul(u32::try_from(CHUNK).unwrap_or(u32::MAX));
                    games.extend(part.iter_rev().map(|(game, _)| game.saturating_add(first)));
                }
            }
            Ok(())
        });
        // What was read before the damage counts.
        drop(chunks);
        Self { games, parts: Some(parts) }
    }

    /// Whether a game exists, or may exist.
    fn may_have(&self, game: u32) -> bool {
        let is_listed = |parts: &BTreeSet<usize>| parts.contains(&(game as usize / CHUNK));
        self.games.contains(&game) || !self.parts.as_ref().is_none_or(is_listed)
    }
}

/// The texts of the tables that can be read.
struct Texts {
    names: BTreeMap<u32, String>,
    openings: BTreeMap<u16, (String, String)>,
}

impl Texts {
    fn read(source: &Connection, repaired: &mut Repaired) -> Self {
        let mut texts = Self { names: BTreeMap::new(), openings: BTreeMap::new() };
        let mut names = Rows::of(source, "SELECT id, text FROM name", "name");
        while let Some((id, text)) = names.next(|row| row.get::<_, String>(1)) {
            if let (Ok(id), Ok(text)) = (u32::try_from(id), text) {
                texts.names.insert(id, text);
            }
        }
        let mut openings = Rows::of(source, "SELECT id, eco, text FROM opening", "opening");
        while let Some((id, text)) = openings.next(|row| Ok((row.get(1)?, row.get(2)?))) {
            if let (Ok(id), Ok(text)) = (u16::try_from(id), text) {
                texts.openings.insert(id, text);
            }
        }
        for (rows, part) in [(names.failed, "names"), (openings.failed, "openings")] {
            if let Some(error) = rows {
                repaired.parts.push(DefectKind::Part(part, error));
            }
        }
        texts
    }
}

/// The rows of a table, whose first column is its key. Those that cannot be read are returned as errors.
struct Rows<'a> {
    source: &'a Connection,
    sql: &'a str,
    after: i64,
    last: i64,
    /// The first error.
    failed: Option<String>,
}

/// The last key of a table, or a large one if it cannot be found.
fn last_key(source: &Connection, table: &str) -> i64 {
    let sql = format!("SELECT max(id) FROM {table}");
    let last = source.query_row(&sql, [], |row| row.get::<_, Option<i64>>(0));
    last.map_or(MAX_TRIED, Option::unwrap_or_default)
}

impl<'a> Rows<'a> {
    fn new(source: &'a Connection, sql: &'a str, last: i64) -> Self {
        Self { source, sql, after: 0, last, failed: None }
    }

    /// All rows of a table, up to its last key that can be found.
    fn of(source: &'a Connection, sql: &'a str, table: &str) -> Self {
        Self::new(source, sql, last_key(source, table))
    }

    fn next<T>(
        &mut self,
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Option<(i64, rusqlite::Result<T>)> {
        loop {
            if self.last <= self.after {
                return None;
            }
            self.after += 1;
            let sql = format!("{} WHERE id = ?1", self.sql);
            let row = self.source.prepare_cached(&sql).and_then(|mut statement| {
                statement.query_row([self.after], |row| read(row)).optional()
            });
            match row {
                Ok(None) => (),
                Ok(Some(row)) => return Some((self.after, Ok(row))),
                Err(error) => {
                    self.failed.get_or_insert_with(|| error.to_string());
                    return Some((self.after, Err(error)));
                }
            }
        }
    }
}

/// Removes a part of a game.
type Removal = fn(&mut NewGame);

/// The game of a row, or what can be read of it.
fn readable(
    (mut stored, site): (StoredGame, u32),
    texts: &Texts,
    repaired: &mut Repaired,
) -> Result<StoredGame, Error> {
    let id = stored.id;
    let mut lost_name = false;
    let mut name = |id: u32| match texts.names.get(&id) {
        Some(name) => name.clone(),
        None if id == 0 => String::new(),
        None => {
            lost_name = true;
            "?".to_owned()
        }
    };
    let summary = stored.summary;
    stored.game.players = summary.players.map(&mut name);
    stored.game.event = name(summary.event);
    stored.game.site = name(site);
    if lost_name {
        repaired.damaged.push((id, "names"));
    }
    stored.game.opening = texts.openings.get(&summary.opening).cloned();
    if stored.game.opening.is_none() && summary.opening > 0 {
        stored.game.opening = Some((String::new(), String::new()));
    }
    if stored.document().is_err() {
        let mut lost = Vec::new();
        let mut rest = stored.game.clone();
        let steps: [(&str, Removal); 3] = [
            ("notes of engines", |game| game.layer.clear()),
            ("annotations", |game| game.annotations.clear()),
            ("headers", |game| game.tags.clear()),
        ];
        // Each part may be the damaged one alone.
        for (part, remove) in steps {
            let mut without = stored.game.clone();
            remove(&mut without);
            if without.document().is_ok() {
                (rest, lost) = (without, vec![part]);
                break;
            }
        }
        if lost.is_empty() {
            for (part, remove) in steps {
                remove(&mut rest);
                lost.push(part);
            }
        }
        // Without readable moves nothing remains.
        let mut document = rest.document()?;
        if lost.contains(&"headers") {
            for (side, name) in Side::BOTH.into_iter().zip(&stored.players) {
                document.record.set_player(side, name.clone());
            }
        }
        repaired.damaged.extend(lost.into_iter().map(|part| (id, part)));
        stored.game = rebuilt(&document, &stored.game);
        return Ok(stored);
    }
    let document = stored.document()?;
    let again = rebuilt(&document, &stored.game);
    if !agrees(&again.summary, &summary) {
        repaired.damaged.push((id, "the entry in lists or the moves, which differ"));
        stored.game = again;
    }
    Ok(stored)
}

/// The game of a document, with what the document does not have.
fn rebuilt(document: &readyok_rules::record::GameDocument, old: &NewGame) -> NewGame {
    let mut new = NewGame::from_document(document, old.summary.source, old.added_ms);
    new.summary.exists = old.summary.exists;
    new.summary.edited = old.summary.edited;
    new.play.clone_from(&old.play);
    new
}

/// Copies labels, collections, undecided duplicates and receipts.
fn copy_tables(
    source: &Connection,
    new: &Connection,
    repaired: &mut Repaired,
) -> Result<(), Error> {
    let tables = [
        ("labels", "label", &["game", "text"][..], "INDEXED BY label_by_text"),
        ("studies", "collection", &["id", "name", "added", "changed"], ""),
        (
            "chapters",
            "chapter",
            &["id", "collection", "place", "game", "name"],
            "ORDER BY collection, place",
        ),
        ("undecided duplicates", "undecided", &["game", "known"], ""),
        ("batches of imports", "receipt", &["source", "batch", "content", "outcomes"], ""),
    ];
    for (part, table, columns, other_order) in tables {
        let list = columns.join(", ");
        let marks = vec!["?"; columns.len()].join(", ");
        let insert = format!("INSERT OR IGNORE INTO {table} ({list}) VALUES ({marks})");
        let mut insert = new.prepare(&insert)?;
        let mut failed = None;
        // Another index can have what the first one has lost.
        for order in ["", other_order] {
            failed = copy_rows(source, &format!("SELECT {list} FROM {table} {order}"), |row| {
                let values = (0..columns.len()).map(|at| row.get::<_, Value>(at));
                let values = values.collect::<rusqlite::Result<Vec<_>>>()?;
                // A chapter of a lost study is lost with it.
                Ok(insert.execute(params_from_iter(values)))
            })?;
            if failed.is_none() {
                break;
            }
        }
        if let Some(error) = failed {
            repaired.parts.push(DefectKind::Part(part, error));
        }
    }
    new.execute("DELETE FROM label WHERE game NOT IN (SELECT id FROM game)", [])?;
    new.execute("DELETE FROM undecided WHERE game NOT IN (SELECT id FROM game)", [])?;
    Ok(())
}

/// Copies rows up to the first that cannot be read. Returns why one could not be read.
fn copy_rows(
    source: &Connection,
    sql: &str,
    mut copy: impl FnMut(&Row<'_>) -> rusqlite::Result<rusqlite::Result<usize>>,
) -> Result<Option<String>, Error> {
    let mut statement = match source.prepare(sql) {
        Ok(statement) => statement,
        Err(error) => return Ok(Some(error.to_string())),
    };
    let mut rows = match statement.query([]) {
        Ok(rows) => rows,
        Err(error) => return Ok(Some(error.to_string())),
    };
    let mut failed = None;
    loop {
        match rows.next() {
            Ok(None) => return Ok(failed),
            Ok(Some(row)) => match copy(row) {
                Ok(Ok(_)) => (),
                Ok(Err(error))
                    if error.sqlite_error_code()
                        == Some(rusqlite::ErrorCode::ConstraintViolation) =>
                {
                    failed = Some(error.to_string());
                }
                Ok(Err(error)) => return Err(error.into()),
                Err(error) => failed = Some(error.to_string()),
            },
            Err(error) => return Ok(Some(error.to_string())),
        }
    }
}
