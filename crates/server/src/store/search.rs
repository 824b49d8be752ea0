//! Searches of the library, over a connection of their own: they delay no other work.

use std::path::{Path, PathBuf};

use readyok_rules::{Game, Position, Termination};
use rusqlite::functions::FunctionFlags;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, params, params_from_iter};

use super::{StoreError, file_in, moves, variant_name};
use crate::errors::{illegal, invalid_position};
use crate::game::{Tree, parse_move};
use crate::wire::{
    ApiError, ErrorCode, ErrorSubject, GameId, LibraryGame, LibraryPage, LibraryQuery, Sides,
    Variant,
};

/// Default and maximum number of games on a page.
const PAGE: u32 = 50;
const MAX_PAGE: u32 = 200;
/// No text of a query is longer.
pub(super) const LONGEST: usize = 4096;

/// The library, for those who only read.
#[derive(Clone, Debug)]
pub(crate) struct LibraryFile(PathBuf);

/// Why a search was not made.
#[derive(Debug)]
pub(crate) enum SearchError {
    /// The query makes no sense.
    Query(ApiError),
    /// The library failed.
    Store(StoreError),
}

impl From<rusqlite::Error> for SearchError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error.into())
    }
}

/// The keys of the positions of the main line.
pub(super) fn positions(tree: &Tree) -> Vec<i64> {
    let mut position = tree.start().clone();
    let mut keys = vec![position.key().cast_signed()];
    let last = tree.main_line().last().copied().unwrap_or(0);
    for mv in tree.moves_to(last) {
        if mv.play(&mut position).is_err() {
            break;
        }
        keys.push(position.key().cast_signed());
    }
    keys
}

/// Keeps the positions of a game, to be searched for.
pub(super) fn index(db: &Connection, id: GameId, positions: &[i64]) -> Result<(), StoreError> {
    db.prepare_cached("DELETE FROM position WHERE game = ?1")?.execute([id])?;
    let mut insert =
        db.prepare_cached("INSERT OR IGNORE INTO position (key, game, ply) VALUES (?1, ?2, ?3)")?;
    for (ply, key) in positions.iter().enumerate() {
        insert.execute(params![key, id, i64::try_from(ply).unwrap_or(i64::MAX)])?;
    }
    Ok(())
}

impl LibraryFile {
    pub(crate) fn in_directory(directory: &Path) -> Self {
        Self(file_in(directory))
    }

    /// What fits a query. It may take a while.
    pub(crate) fn search(&self, query: &LibraryQuery) -> Result<LibraryPage, SearchError> {
        let (wanted, values) = condition(query)?;
        page(&self.open()?, (&wanted, &values), query)
    }

    /// Opens a connection of its own.
    pub(super) fn open(&self) -> Result<Connection, SearchError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db = Connection::open_with_flags(&self.0, flags)?;
        db.busy_timeout(std::time::Duration::from_secs(5))?;
        // What SQLite compares without regard to capitals is ASCII alone.
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
        db.create_scalar_function("folded", 1, flags, |context| {
            Ok(context.get::<String>(0)?.to_lowercase())
        })?;
        Ok(db)
    }
}

/// The games that match a condition. Only the offset and the limit of the query are used.
pub(super) fn page(
    db: &Connection,
    (wanted, values): (&str, &[Value]),
    query: &LibraryQuery,
) -> Result<LibraryPage, SearchError> {
    let total: i64 = db.query_row(
        &format!("SELECT count(*) FROM game WHERE {wanted}"),
        params_from_iter(values),
        |row| row.get(0),
    )?;
    let limit = query.limit.unwrap_or(PAGE).clamp(1, MAX_PAGE);
    let mut select = db.prepare(&format!(
        "SELECT id, variant, first, second, result, reason, date, event, plies, added, source
             FROM game WHERE {wanted} ORDER BY changed DESC, id DESC LIMIT {limit} OFFSET {}",
        query.offset
    ))?;
    let rows = select.query_map(params_from_iter(values), |row| {
        Ok(LibraryGame {
            id: row.get(0)?,
            variant: match row.get::<_, String>(1)?.as_str() {
                "chess960" => Variant::Chess960,
                "shogi" => Variant::Shogi,
                _ => Variant::Chess,
            },
            names: Sides { first: row.get(2)?, second: row.get(3)? },
            result: row.get(4)?,
            termination: row
                .get::<_, Option<String>>(5)?
                .as_deref()
                .and_then(Termination::from_name),
            date: row.get(6)?,
            event: row.get(7)?,
            plies: row.get(8)?,
            added: row.get::<_, i64>(9)?.try_into().unwrap_or(0),
            source: row.get(10)?,
        })
    })?;
    let games = rows.collect::<Result<_, _>>()?;
    Ok(LibraryPage { games, total: u32::try_from(total).unwrap_or(u32::MAX) })
}

pub(super) fn too_long() -> SearchError {
    let why = ErrorCode::TooLong { subject: ErrorSubject::Query };
    SearchError::Query(ApiError::invalid_request(why))
}

/// Finds a text anywhere, in capitals or not.
pub(super) fn pattern(text: &str) -> String {
    format!(
        "%{}%",
        text.to_lowercase().replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
    )
}

/// The conditions of the query: texts are bound as values.
pub(super) fn condition(query: &LibraryQuery) -> Result<(String, Vec<Value>), SearchError> {
    let texts = [
        &query.player,
        &query.engine,
        &query.result,
        &query.opening,
        &query.named,
        &query.position,
    ];
    if texts.into_iter().flatten().any(|text| LONGEST < text.len()) {
        return Err(too_long());
    }
    let mut wanted = vec!["kept IS NOT NULL".to_owned()];
    let mut values: Vec<Value> = Vec::new();
    let mut add = |sql: &str, value: Value| {
        values.push(value);
        wanted.push(sql.replace('?', &format!("?{}", values.len())));
    };
    if let Some(variant) = query.variant {
        add("variant = ?", variant_name(variant).to_owned().into());
    }
    if let Some(name) = &query.player {
        add(
            "(folded(first) LIKE ? ESCAPE '\\' OR folded(second) LIKE ? ESCAPE '\\')",
            pattern(name).into(),
        );
    }
    if let Some(name) = &query.engine {
        // A player that is not known to be human may be an engine.
        add(
            "((folded(first) LIKE ? ESCAPE '\\' AND first_engine IS NOT 0)
                OR (folded(second) LIKE ? ESCAPE '\\' AND second_engine IS NOT 0))",
            pattern(name).into(),
        );
    }
    if let Some(name) = &query.named {
        // Dots within katakana names are optional.
        add(
            "replace(folded(opening), '・', '') LIKE ? ESCAPE '\\'",
            pattern(&name.replace('・', "")).into(),
        );
    }
    if let Some(result) = &query.result {
        add("result = ?", result.clone().into());
    }
    // Dates of records have dots, hyphens or slashes.
    for (sign, day) in [(">=", &query.from), ("<=", &query.until)] {
        if let Some(day) = day {
            let sql = format!("replace(replace(substr(date, 1, 10), '.', '-'), '/', '-') {sign} ?");
            add(&sql, day.clone().into());
        }
    }
    // Who names no game means whichever can be meant.
    let games = match query.variant {
        Some(variant) => vec![Game::from(variant)],
        None => vec![Game::Chess, Game::Chess960, Game::Shogi],
    };
    if let Some(opening) = query.opening.as_ref().filter(|text| !text.trim().is_empty()) {
        let found = in_any(&games, |game| line(game, opening))?;
        let mut either = Vec::new();
        for (start, moves) in found {
            values.push(start.into());
            let start = values.len();
            let length = moves.len();
            values.push(moves.into());
            let moves = values.len();
            either.push(format!("(start = ?{start} AND substr(moves, 1, {length}) = ?{moves})"));
        }
        wanted.push(format!("({})", either.join(" OR ")));
    }
    if let Some(text) = query.position.as_ref().filter(|text| !text.trim().is_empty()) {
        let found = in_any(&games, |game| {
            Position::from_text(game, text).map_err(|error| (0, invalid_position(game, &error)))
        })?;
        let keys: Vec<_> =
            found.iter().map(|position| position.key().cast_signed().to_string()).collect();
        wanted
            .push(format!("id IN (SELECT game FROM position WHERE key IN ({}))", keys.join(", ")));
    }
    Ok((wanted.join(" AND "), values))
}

/// What a text means in each of the games in which it means something; in none, why not in the one that
/// understood most of it.
fn in_any<T>(
    games: &[Game],
    read: impl Fn(Game) -> Result<T, (usize, ApiError)>,
) -> Result<Vec<T>, SearchError> {
    let mut found = Vec::new();
    let mut failed: Option<(usize, ApiError)> = None;
    for &game in games {
        match read(game) {
            Ok(it) => found.push(it),
            Err(error) => {
                if failed.as_ref().is_none_or(|before| before.0 < error.0) {
                    failed = Some(error);
                }
            }
        }
    }
    match failed {
        Some((_, error)) if found.is_empty() => Err(SearchError::Query(error)),
        _ => Ok(found),
    }
}

/// Moves from the start position of a game: where it starts, and the moves as they are kept. If they are
/// none of this game: how many were, and why the next is not.
fn line(game: Game, text: &str) -> Result<(String, Vec<u8>), (usize, ApiError)> {
    let mut position = Position::start(game);
    let start = position.to_string();
    let mut played = Vec::new();
    for token in text.split_whitespace() {
        let token = without_number(token);
        if token.is_empty() {
            continue;
        }
        let mv = parse_move(&position, token).map_err(|error| (played.len(), error))?;
        position.play(mv).map_err(|error| (played.len(), illegal(&error)))?;
        played.push(mv);
    }
    Ok((start, moves::encoded(&played)))
}

/// A move without the number before it: `1.e4`, `12...Nf6`, `3.`. The digits of `7g7f` are no number.
fn without_number(token: &str) -> &str {
    let rest = token.trim_start_matches(|letter: char| letter.is_ascii_digit());
    if rest.is_empty() {
        rest
    } else {
        rest.strip_prefix('.').map_or(token, |rest| rest.trim_start_matches('.'))
    }
}
