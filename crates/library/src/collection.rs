//! Collections: named, ordered lists of games. A game of a collection is a chapter, which has a name of its own.
//!
//! The chapters of a deleted game remain hidden until the file is opened again, and return with a restored game.

use std::collections::{BTreeSet, HashSet};

use readyok_rules::record::is_known_name;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};
use serde::{Deserialize, Serialize};

use crate::codec::tags;
use crate::error::{Error, Item};
use crate::game::StoredGame;

/// Maximum number of collections.
const MAX_COLLECTIONS: u32 = 1000;

/// Maximum number of chapters of a collection.
pub const MAX_CHAPTERS: u32 = 5000;

/// Maximum size of a name, in bytes.
const MAX_NAME: usize = 400;

/// Places order the chapters of a collection; hidden and removed ones leave gaps.
pub(crate) const SCHEMA: &str = "
    CREATE TABLE collection (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL,
        added INTEGER NOT NULL,
        changed INTEGER NOT NULL
    );
    CREATE TABLE chapter (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        collection INTEGER NOT NULL REFERENCES collection ON DELETE CASCADE,
        place INTEGER NOT NULL,
        game INTEGER NOT NULL,
        name TEXT NOT NULL
    );
    CREATE INDEX chapter_by_place ON chapter (collection, place);
    CREATE VIEW listed AS SELECT * FROM chapter WHERE game IN (SELECT id FROM game);
";

/// A named, ordered list of games.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collection {
    /// Number of the collection.
    pub id: u32,
    /// Name.
    pub name: String,
    /// Number of chapters.
    pub chapters: u32,
    /// Time of the creation in ms since 1970.
    pub added_ms: i64,
    /// Time of the last change.
    pub changed_ms: i64,
}

/// A game of a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chapter {
    /// Number of the chapter, unique among all collections.
    pub id: u32,
    /// Number of the game.
    pub game: u32,
    /// Name.
    pub name: String,
}

/// A change of a collection. Places are counted from 0; one behind the last is the end.
/// `Games` are the games to add: their numbers, or a selection of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[expect(missing_docs, reason = "the names are those of the types above")]
pub enum CollectionEdit<Games = Vec<u32>> {
    /// Creates a collection with chapters. A file of several games becomes one by
    /// [`Imported::order`](crate::Imported::order). A name that is too long is cut.
    Create { name: String, of: Games },
    /// Renames a collection.
    Rename { collection: u32, name: String },
    /// Deletes a collection. Its games remain.
    Delete { collection: u32 },
    /// Adds games as chapters, at the end by default. Their names are those of the study in their headers, or those
    /// of the players.
    Add { collection: u32, of: Games, place: Option<u32> },
    /// Renames a chapter.
    RenameChapter { chapter: u32, name: String },
    /// Moves a chapter to a place among the other chapters of its collection, or among those of another one.
    MoveChapter {
        chapter: u32,
        place: u32,
        #[serde(default)]
        #[cfg_attr(feature = "ts", ts(optional))]
        collection: Option<u32>,
    },
    /// Removes a chapter. Its game remains.
    RemoveChapter { chapter: u32 },
}

/// Changes a collection. Returns its number, or that of the collection to which a chapter was moved.
pub(crate) fn apply(
    connection: &mut Connection,
    edit: &CollectionEdit,
    at: i64,
) -> Result<u32, Error> {
    use CollectionEdit as Edit;
    let transaction = connection.transaction()?;
    let id = match *edit {
        Edit::Create { ref name, .. } => create(&transaction, name, at)?,
        Edit::Rename { collection, .. }
        | Edit::Delete { collection }
        | Edit::Add { collection, .. } => collection,
        Edit::RenameChapter { chapter, .. }
        | Edit::MoveChapter { chapter, .. }
        | Edit::RemoveChapter { chapter } => {
            let sql = "SELECT collection FROM listed WHERE id = ?1";
            let found = transaction.query_row(sql, [chapter], |row| row.get(0)).optional()?;
            found.ok_or(Error::NotFound(Item::Chapter, chapter))?
        }
    };
    touch(&transaction, id, at)?;
    let mut changed = id;
    match *edit {
        Edit::Create { ref of, .. } => add(&transaction, id, of, None)?,
        Edit::Add { ref of, place, .. } => add(&transaction, id, of, place)?,
        Edit::Rename { ref name, .. } => {
            let name = checked(name, Item::Collection)?;
            let sql = "UPDATE collection SET name = ?2 WHERE id = ?1";
            transaction.execute(sql, params![id, name])?;
        }
        Edit::Delete { .. } => {
            transaction.execute("DELETE FROM collection WHERE id = ?1", [id])?;
        }
        Edit::RenameChapter { chapter, ref name } => {
            let name = checked(name, Item::Chapter)?;
            let sql = "UPDATE chapter SET name = ?2 WHERE id = ?1";
            transaction.execute(sql, params![chapter, name])?;
        }
        Edit::MoveChapter { chapter, place, collection } => {
            if let Some(other) = collection.filter(|other| *other != id) {
                touch(&transaction, other, at)?;
                check_room(&transaction, other, 1)?;
                changed = other;
            }
            let place = make_room(&transaction, changed, (place, 1), chapter)?;
            let sql = "UPDATE chapter SET collection = ?2, place = ?3 WHERE id = ?1";
            transaction.execute(sql, params![chapter, changed, place])?;
        }
        Edit::RemoveChapter { chapter } => {
            transaction.execute("DELETE FROM chapter WHERE id = ?1", [chapter])?;
        }
    }
    transaction.commit()?;
    Ok(changed)
}

/// Marks a collection as changed.
fn touch(transaction: &Transaction<'_>, id: u32, at: i64) -> Result<(), Error> {
    let sql = "UPDATE collection SET changed = ?2 WHERE id = ?1";
    if transaction.execute(sql, params![id, at])? == 0 {
        return Err(Error::NotFound(Item::Collection, id));
    }
    Ok(())
}

/// The number of chapters of a collection that has room for more.
fn check_room(transaction: &Transaction<'_>, collection: u32, more: u32) -> Result<u32, Error> {
    let sql = "SELECT count(*) FROM listed WHERE collection = ?1";
    let count: u32 = transaction.query_row(sql, [collection], |row| row.get(0))?;
    if MAX_CHAPTERS < count.saturating_add(more) {
        return Err(Error::TooMany(Item::Chapter));
    }
    Ok(count)
}

fn create(transaction: &Transaction<'_>, name: &str, at: i64) -> Result<u32, Error> {
    let sql = "SELECT count(*) FROM collection";
    if MAX_COLLECTIONS <= transaction.query_row(sql, [], |row| row.get::<_, u32>(0))? {
        return Err(Error::TooMany(Item::Collection));
    }
    let name = cut(name);
    let name = checked(&name, Item::Collection)?;
    let sql = "INSERT INTO collection (name, added, changed) VALUES (?1, ?2, ?2) RETURNING id";
    Ok(transaction.query_row(sql, params![name, at], |row| row.get(0))?)
}

fn add(
    transaction: &Transaction<'_>,
    collection: u32,
    games: &[u32],
    place: Option<u32>,
) -> Result<(), Error> {
    let more = u32::try_from(games.len()).unwrap_or(u32::MAX);
    let count = check_room(transaction, collection, more)?;
    let first = place.unwrap_or(count).min(count);
    let place = make_room(transaction, collection, (first, more), 0)?;
    let sql = "INSERT INTO chapter (collection, place, game, name) VALUES (?1, ?2, ?3, ?4)";
    let mut insert = transaction.prepare_cached(sql)?;
    for ((place, number), game) in (place..).zip(first + 1..).zip(games) {
        let stored = StoredGame::read(transaction, *game)?.filter(|stored| stored.summary.exists);
        let stored = stored.ok_or(Error::NotFound(Item::Game, *game))?;
        insert.execute(params![collection, place, game, default_name(&stored, number)])?;
    }
    Ok(())
}

/// Makes room for chapters before the one at an index, or behind the last one. Returns the place of the first. The
/// chapter `moved` is not counted.
fn make_room(
    transaction: &Transaction<'_>,
    collection: u32,
    (index, count): (u32, u32),
    moved: u32,
) -> Result<i64, Error> {
    let sql = "SELECT place FROM listed WHERE collection = ?1 AND id <> ?2
               ORDER BY place LIMIT 1 OFFSET ?3";
    let next = transaction.query_row(sql, params![collection, moved, index], |row| row.get(0));
    let Some(place) = next.optional()? else {
        let sql = "SELECT ifnull(max(place), 0) + 1 FROM chapter WHERE collection = ?1";
        return Ok(transaction.query_row(sql, [collection], |row| row.get(0))?);
    };
    let sql = "UPDATE chapter SET place = place + ?3 WHERE collection = ?1 AND place >= ?2";
    transaction.execute(sql, params![collection, place, count])?;
    Ok(place)
}

/// The name of the chapter of a study, those of the players, the event, or else a number.
fn default_name(game: &StoredGame, number: u32) -> String {
    let headers = tags::decode(&game.tags, game.known()).unwrap_or_default();
    let players =
        game.players.each_ref().map(|player| if is_known_name(player) { player } else { "?" });
    let players = if players == ["?", "?"] { String::new() } else { players.join(" – ") };
    let event = if is_known_name(&game.event) { &game.event } else { "" };
    let chapter = headers.study().map_or("", |(_, chapter)| chapter);
    let names = [chapter, &players, event].map(cut);
    let known = names.into_iter().find(|name| checked(name, Item::Chapter).is_ok());
    known.unwrap_or_else(|| number.to_string())
}

/// A name out of a file without control characters. The end of one that is too long is replaced by `…`.
fn cut(name: &str) -> String {
    let name: String =
        name.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    let name = name.trim();
    if name.len() <= MAX_NAME {
        return name.to_owned();
    }
    format!("{}…", &name[..name.floor_char_boundary(MAX_NAME - '…'.len_utf8())])
}

/// The name without spaces around it.
fn checked(name: &str, item: Item) -> Result<&str, Error> {
    let name = name.trim();
    if name.is_empty() || MAX_NAME < name.len() || name.chars().any(char::is_control) {
        return Err(Error::InvalidName(item));
    }
    Ok(name)
}

const COLLECTIONS: &str = "SELECT id, name, added, changed,
    (SELECT count(*) FROM listed WHERE collection = collection.id) FROM collection";

fn collection_of(row: &Row<'_>) -> rusqlite::Result<Collection> {
    let (id, name, added_ms, changed_ms) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
    Ok(Collection { id, name, chapters: row.get(4)?, added_ms, changed_ms })
}

/// All collections, the last changed one first.
pub(crate) fn all(connection: &Connection) -> Result<Vec<Collection>, Error> {
    let sql = format!("{COLLECTIONS} ORDER BY changed DESC, id DESC");
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map([], collection_of)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// A collection with its chapters in their order.
pub(crate) fn read(connection: &Connection, id: u32) -> Result<(Collection, Vec<Chapter>), Error> {
    let sql = format!("{COLLECTIONS} WHERE id = ?1");
    let found = connection.query_row(&sql, [id], collection_of).optional()?;
    let collection = found.ok_or(Error::NotFound(Item::Collection, id))?;
    let sql = "SELECT id, game, name FROM listed WHERE collection = ?1 ORDER BY place";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([id], |row| {
        Ok(Chapter { id: row.get(0)?, game: row.get(1)?, name: row.get(2)? })
    })?;
    Ok((collection, rows.collect::<Result<_, _>>()?))
}

/// A collection that has a game, with its chapters and the place of the game.
pub(crate) fn place_of(
    connection: &Connection,
    game: u32,
    preferred: Option<u32>,
) -> Result<Option<(Collection, Vec<Chapter>, usize)>, Error> {
    let sql = "SELECT collection FROM listed JOIN collection ON collection.id = collection
               WHERE game = ?1 ORDER BY collection = ?2 DESC, changed DESC, collection LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row(params![game, preferred], |row| row.get(0)).optional()?;
    let Some(found) = found else { return Ok(None) };
    let (collection, chapters) = read(connection, found)?;
    let place = chapters.iter().position(|chapter| chapter.game == game);
    Ok(place.map(|place| (collection, chapters, place)))
}

/// The number of collections that have at least one of the games.
pub(crate) fn count_of(connection: &Connection, games: &BTreeSet<u32>) -> Result<usize, Error> {
    let mut statement = connection.prepare_cached("SELECT collection, game FROM listed")?;
    let mut rows = statement.query([])?;
    let mut found = HashSet::new();
    while let Some(row) = rows.next()? {
        if games.contains(&row.get(1)?) {
            found.insert(row.get::<_, u32>(0)?);
        }
    }
    Ok(found.len())
}

/// Deletes the chapters of deleted games, whose numbers are never used again.
pub(crate) fn forget_deleted(connection: &Connection) -> Result<(), Error> {
    let sql = "DELETE FROM chapter WHERE game NOT IN (SELECT id FROM game)";
    connection.execute(sql, [])?;
    Ok(())
}
