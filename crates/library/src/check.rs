//! Examination of a database file: whether it can be read, and whether its parts agree.

use std::fmt;
use std::ops::ControlFlow;
use std::path::Path;

use rusqlite::Connection;

use crate::error::{Error, LibraryDefect};
use crate::game::{NewGame, StoredGame};
use crate::index;
use crate::postings::Key;
use crate::schema;
use crate::snapshot::Snapshot;
use crate::summary::Summary;

/// Number of defects that are listed of each kind.
const MAX_DEFECTS: usize = 1000;

/// A defect of a database file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defect {
    /// The game, if only one is affected.
    pub game: Option<u32>,
    /// What is wrong.
    pub kind: DefectKind,
}

/// What is wrong with a database file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DefectKind {
    /// `SQLite` has found damage.
    File(String),
    /// The game cannot be read.
    Unreadable(String),
    /// What lists and searches know of the game is not what its record has.
    Summary,
    /// The name of a player or an event is missing.
    Name,
    /// The index has other positions than the game.
    Index,
    /// A part of the file cannot be read.
    Part(&'static str, String),
}

impl fmt::Display for DefectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(text) => write!(f, "the file is damaged: {text}"),
            Self::Unreadable(text) => write!(f, "the game cannot be read: {text}"),
            Self::Summary => f.write_str("its entry in the lists differs from its record"),
            Self::Name => f.write_str("the name of a player or an event is missing"),
            Self::Index => f.write_str("searches by position do not find it correctly"),
            Self::Part(part, text) => write!(f, "{part} cannot be read: {text}"),
        }
    }
}

/// What an examination has found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Examined {
    /// Number of games.
    pub games: u64,
    /// Number of defects.
    pub total: u64,
    /// The first defects.
    pub defects: Vec<Defect>,
    /// Whether it was cancelled.
    pub cancelled: bool,
}

impl Examined {
    fn add(&mut self, game: Option<u32>, kind: DefectKind) {
        self.total += 1;
        if self.defects.len() < MAX_DEFECTS {
            self.defects.push(Defect { game, kind });
        }
    }
}

/// The postings of a game, in any order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Sum {
    count: u32,
    hash: u64,
}

impl Sum {
    fn add(&mut self, key: Key, mv: u16) {
        // Sums do not depend on the order. Different factors keep key and move apart.
        let value =
            key.to_sql().cast_unsigned() ^ u64::from(mv).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (value ^ value >> 31).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        self.hash = self.hash.wrapping_add(mixed ^ mixed >> 29);
        self.count += 1;
    }
}

/// Examines a file, which is not changed. `progress` gets the number of examined games, and cancels with
/// [`ControlFlow::Break`].
///
/// # Errors
/// The file is no database of games of this version, or so damaged that nothing can be read.
pub fn examine(
    path: &Path,
    mut progress: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<Examined, Error> {
    let connection = schema::open_reader(path)?;
    let transaction = connection.unchecked_transaction()?;
    let mut found = Examined::default();
    {
        let mut statement = transaction.prepare("PRAGMA integrity_check(100)")?;
        let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
        for line in rows {
            match line {
                Ok(line) if line == "ok" => (),
                Ok(line) => found.add(None, DefectKind::File(line)),
                Err(error) => {
                    found.add(None, DefectKind::File(error.to_string()));
                    break;
                }
            }
        }
    }
    let snapshot = match Snapshot::load(&transaction) {
        Ok(snapshot) => snapshot,
        Err(error) => {
            found.add(None, DefectKind::Part("the list of games", error.to_string()));
            return Ok(found);
        }
    };
    let mut indexed: Vec<Sum> = vec![Sum::default(); snapshot.summaries.len()];
    let runs = index::runs(&transaction);
    let is_index_readable = runs.and_then(|runs| {
        index::scan(&transaction, &runs, Key::MIN, |key, mv, game| {
            if let Some(sum) = indexed.get_mut(game as usize) {
                sum.add(key, mv);
            }
        })
    });
    if let Err(error) = &is_index_readable {
        found.add(None, DefectKind::Part("the index of positions", error.to_string()));
    }
    let waiting = Waiting::read(&transaction)?;
    let last = u32::try_from(snapshot.summaries.len()).unwrap_or(u32::MAX);
    for id in 1..last {
        let Some(summary) = snapshot.summaries.get(id) else { continue };
        found.games += 1;
        if progress(found.games).is_break() {
            found.cancelled = true;
            break;
        }
        let stored = match StoredGame::read(&transaction, id) {
            Ok(Some(stored)) => stored,
            Ok(None) => {
                found.add(Some(id), DefectKind::Unreadable("its row is missing".to_owned()));
                continue;
            }
            Err(error) => {
                found.add(Some(id), DefectKind::Unreadable(error.to_string()));
                continue;
            }
        };
        let document = match stored.document() {
            Ok(document) => document,
            Err(error) => {
                found.add(Some(id), DefectKind::Unreadable(error.to_string()));
                continue;
            }
        };
        let again = NewGame::from_document(&document, summary.source, stored.added_ms);
        if summary != stored.summary || !agrees(&again.summary, &summary) {
            found.add(Some(id), DefectKind::Summary);
        }
        let names = stored.players.iter().chain([&stored.event]);
        let ids = summary.players.into_iter().chain([summary.event]);
        if names.zip(ids).any(|(name, id)| id > 0 && name.is_empty()) {
            found.add(Some(id), DefectKind::Name);
        }
        if is_index_readable.is_ok() && !waiting.has(id) {
            let mut expected = Sum::default();
            if summary.is_indexed() {
                let mut postings = stored.postings().unwrap_or_default();
                // A run has each posting once.
                postings.sort_unstable();
                postings.dedup();
                for (key, mv) in postings {
                    expected.add(key, mv);
                }
            }
            if indexed.get(id as usize) != Some(&expected) {
                found.add(Some(id), DefectKind::Index);
            }
        }
    }
    Ok(found)
}

/// Whether a summary is that of a record. Openings and classes can be those of an earlier version.
pub(crate) fn agrees(record: &Summary, stored: &Summary) -> bool {
    let of = |it: &Summary| {
        (it.variant, it.plies, it.moves_hash, it.result, it.date, it.custom_start, it.variations)
    };
    of(record) == of(stored)
}

/// Games that are indexed when the file is opened.
struct Waiting {
    from: i64,
    games: Vec<u32>,
}

impl Waiting {
    fn read(connection: &Connection) -> Result<Self, Error> {
        let from = schema::meta(connection, "indexed")?;
        let mut statement = connection.prepare("SELECT game FROM unindexed ORDER BY game")?;
        let games = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>();
        let games = games.map_err(|_| Error::Defect(LibraryDefect::LibraryDamaged))?;
        Ok(Self { from, games })
    }

    fn has(&self, game: u32) -> bool {
        i64::from(game) >= self.from || self.games.binary_search(&game).is_ok()
    }
}
