//! Games as they are written and read. Moves, tags and annotations are encoded by the caller.

use std::ops::Deref;

use rusqlite::{Connection, OptionalExtension, Row};

use crate::error::Error;
use crate::postings::Key;
use crate::summary::{SIZE, Summary};

/// A game to add.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewGame {
    /// Names and opening are numbered when the game is added.
    pub summary: Summary,
    /// Names of the first and the second player; empty if unknown.
    pub players: [String; 2],
    /// Event; empty if unknown.
    pub event: String,
    /// Site; empty if unknown.
    pub site: String,
    /// ECO code and name of the opening.
    pub opening: Option<(String, String)>,
    /// Start position as FEN or SFEN; none for that of the variant.
    pub start: Option<String>,
    /// Encoded moves.
    pub moves: Vec<u8>,
    /// Encoded tags.
    pub tags: Vec<u8>,
    /// Encoded annotations.
    pub annotations: Vec<u8>,
    /// Encoded ids of nodes and notes of engines.
    pub layer: Vec<u8>,
    /// Data of the app for games that were played in it.
    pub play: Option<String>,
    /// The position before each move of the main line with that move, and the last one; then the material.
    pub postings: Vec<(Key, u16)>,
    /// Time of the addition or change in ms since 1970.
    pub added_ms: i64,
}

/// A game that was read. It has the fields and methods of [`NewGame`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredGame {
    /// Number of the game.
    pub id: u32,
    /// The game, without its postings.
    pub game: NewGame,
    /// Time of the last change.
    pub changed_ms: i64,
    /// Number of changes.
    pub revision: u32,
    /// The number of the next game at the time of the last change.
    pub changed_before: u32,
}

impl Deref for StoredGame {
    type Target = NewGame;

    fn deref(&self) -> &NewGame {
        &self.game
    }
}

/// A game in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GameEntry {
    /// Number of the game.
    pub id: u32,
    /// Summary.
    pub summary: Summary,
    /// Names of the players; empty if unknown.
    pub players: [String; 2],
    /// Event; empty if unknown.
    pub event: String,
    /// ECO code and name of the opening.
    pub opening: Option<(String, String)>,
    /// Time of the addition in ms since 1970.
    pub added_ms: i64,
    /// Time of the last change.
    pub changed_ms: i64,
    /// Labels set by the user.
    pub labels: Vec<String>,
    /// Whether a position has an evaluation, of the record or of an engine.
    pub evaluated: bool,
    /// Whether there are comments.
    pub commented: bool,
}

/// Computes the postings of a game that is indexed again. None if its moves cannot be read.
pub type Indexer = fn(&StoredGame) -> Option<Vec<(Key, u16)>>;

pub(crate) fn name(connection: &Connection, id: u32) -> Result<String, Error> {
    if id == 0 {
        return Ok(String::new());
    }
    let mut statement = connection.prepare_cached("SELECT text FROM name WHERE id = ?1")?;
    Ok(statement.query_row([id], |row| row.get(0)).optional()?.unwrap_or_default())
}

pub(crate) fn opening(connection: &Connection, id: u16) -> Result<Option<(String, String)>, Error> {
    if id == 0 {
        return Ok(None);
    }
    let mut statement = connection.prepare_cached("SELECT eco, text FROM opening WHERE id = ?1")?;
    Ok(statement.query_row([id], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}

/// The columns of [`StoredGame::of_row`].
pub(crate) const COLUMNS: &str = "id, summary, site, added, changed, revision, start, moves, tags,
     annotations, play, changed_before, layer";

impl StoredGame {
    pub(crate) fn read(connection: &Connection, id: u32) -> Result<Option<Self>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM game WHERE id = ?1");
        let mut statement = connection.prepare_cached(&sql)?;
        let row = statement.query_row([id], Self::of_row).optional()?;
        let Some((mut stored, site)) = row else { return Ok(None) };
        let game = &mut stored.game;
        let [first, second] = game.summary.players;
        game.players = [name(connection, first)?, name(connection, second)?];
        game.event = name(connection, game.summary.event)?;
        game.site = name(connection, site)?;
        game.opening = opening(connection, game.summary.opening)?;
        Ok(Some(stored))
    }

    /// The game of a row without its names and opening, and the number of its site.
    pub(crate) fn of_row(row: &Row<'_>) -> rusqlite::Result<(Self, u32)> {
        let summary = Summary::from_bytes(&row.get::<_, [u8; SIZE]>(1)?);
        let blob = |at| Ok::<_, rusqlite::Error>(row.get::<_, Option<_>>(at)?.unwrap_or_default());
        let game = NewGame {
            summary,
            players: [String::new(), String::new()],
            event: String::new(),
            site: String::new(),
            opening: None,
            added_ms: row.get(3)?,
            start: row.get(6)?,
            moves: row.get(7)?,
            tags: blob(8)?,
            annotations: blob(9)?,
            play: row.get(10)?,
            layer: blob(12)?,
            postings: Vec::new(),
        };
        let (id, changed_ms, revision) = (row.get(0)?, row.get(4)?, row.get(5)?);
        let changed_before = row.get(11)?;
        Ok((Self { id, game, changed_ms, revision, changed_before }, row.get(2)?))
    }
}
