//! The row of a game: all that the library keeps of it, computed without the connection.

use readyok_rules::record::RecordMove;
use readyok_rules::{Move, Termination};
use rusqlite::{Connection, params};

use super::{StoreError, dated, moves, search, variant_name};
use crate::game::GameSnapshot;
use crate::time::Moment;
use crate::wire::{GameId, LibraryGame, Sides};

/// All columns of a game but its number and times.
pub(crate) struct Row {
    /// The columns that a search returns.
    columns: LibraryGame,
    start: String,
    opening: String,
    engines: Sides<Option<bool>>,
    moves: Vec<u8>,
    /// The game as JSON.
    kept: String,
    /// The keys of the positions of the main line; none if they stay as they are.
    positions: Option<Vec<i64>>,
}

impl Row {
    /// The row of a game. With `index`, searches find the positions of its main line.
    pub(crate) fn of(game: &GameSnapshot, index: bool) -> Result<Self, StoreError> {
        let GameSnapshot { line, outcome, tree, .. } = game;
        let last = tree.main_line().last().copied().unwrap_or(0);
        let moves: Vec<Move> =
            tree.moves_to(last).into_iter().map_while(RecordMove::legal).collect();
        let moves = moves::encoded(&moves);
        let header = |names: &[&str]| {
            let found = names.iter().find_map(|name| tree.headers.get(name));
            found.map(str::to_owned)
        };
        let mut opening: Vec<&str> = ["ECO", "Opening", "Variation", "戦型"]
            .into_iter()
            .filter_map(|name| tree.headers.get(name))
            .collect();
        let known = tree.opening(last);
        if let Some(known) = known {
            for text in [known.eco, known.name] {
                if !opening.contains(&text) {
                    opening.push(text);
                }
            }
        }
        let kept = game.to_stored();
        Ok(Self {
            columns: LibraryGame {
                id: line.id,
                variant: line.variant,
                names: line.names.clone(),
                result: line.result.clone(),
                termination: outcome.as_ref().map(|outcome| outcome.termination),
                date: header(&["Date", "開始日時"]),
                event: header(&["Event", "棋戦"]),
                plies: line.plies,
                added: 0,
                source: String::new(),
            },
            start: tree.start().to_string(),
            opening: opening.join(" "),
            engines: kept.engines(),
            moves,
            kept: serde_json::to_string(&kept)?,
            positions: index.then(|| search::positions(tree)),
        })
    }

    /// Replaces the termination that the record states.
    pub(crate) fn set_termination(&mut self, termination: Termination) {
        self.columns.termination = Some(termination);
    }

    /// Approximate number of bytes written for it.
    pub(crate) fn size(&self) -> usize {
        self.kept.len()
    }

    /// The game as a search returns it.
    pub(crate) fn into_found(self, id: GameId, source: &str, at: Moment) -> LibraryGame {
        let added = u64::try_from(dated(at)).unwrap_or(0);
        LibraryGame { id, added, source: source.to_owned(), ..self.columns }
    }

    /// Writes it over the row of a game.
    pub(super) fn update(&self, db: &Connection, id: GameId, at: Moment) -> Result<(), StoreError> {
        let columns = &self.columns;
        let mut update = db.prepare_cached(
            "UPDATE game SET changed = ?2, variant = ?3, start = ?4, first = ?5, second = ?6,
                result = ?7, reason = ?8, date = ?9, event = ?10, plies = ?11, moves = ?12, kept = ?13,
                opening = ?14, first_engine = coalesce(?15, first_engine),
                second_engine = coalesce(?16, second_engine)
                WHERE id = ?1",
        )?;
        update.execute(params![
            id,
            dated(at),
            variant_name(columns.variant),
            self.start,
            columns.names.first,
            columns.names.second,
            columns.result,
            columns.termination.map(Termination::name),
            columns.date,
            columns.event,
            columns.plies,
            self.moves,
            self.kept,
            self.opening,
            self.engines.first,
            self.engines.second,
        ])?;
        match &self.positions {
            Some(positions) => search::index(db, id, positions),
            None => Ok(()),
        }
    }
}

/// A row for a new game. Its number is never used again.
pub(super) fn insert(
    db: &Connection,
    source: &str,
    open: bool,
    at: Moment,
) -> Result<GameId, StoreError> {
    // Those of matches are between engines.
    let engine = (source == "match").then_some(true);
    let mut insert = db.prepare_cached(
        "INSERT INTO game (source, added, changed, open, first_engine, second_engine)
            VALUES (?1, ?2, ?2, ?3, ?4, ?4)",
    )?;
    let id = insert.insert(params![source, dated(at), open, engine])?;
    Ok(GameId::try_from(id).unwrap_or(GameId::MAX))
}

/// Adds whole games.
pub(super) fn add(
    db: &Connection,
    rows: &[Row],
    source: &str,
    open: bool,
    at: Moment,
) -> Result<Vec<GameId>, StoreError> {
    let add = |row: &Row| {
        let id = insert(db, source, open, at)?;
        row.update(db, id, at)?;
        Ok(id)
    };
    rows.iter().map(add).collect()
}
