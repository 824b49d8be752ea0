//! The opening explorer over the games of the library.

use std::collections::BTreeMap;

use readyok_rules::Position;
use rusqlite::params_from_iter;
use rusqlite::types::Value;

use super::moves;
use super::search::{LibraryFile, SearchError, condition, page, pattern};
use crate::game::position_view::move_text;
use crate::wire::{Explorer, ExplorerFilter, ExplorerMove, LibraryQuery, ResultCounts, Side};

/// Maximum number of listed games.
const MAX_GAMES: u32 = 10;

#[derive(Default)]
struct MoveSums {
    counts: ResultCounts,
    last_played: Option<String>,
}

impl ResultCounts {
    pub(crate) fn total(self) -> u32 {
        [self.first, self.draws, self.second, self.unknown].into_iter().fold(0, u32::saturating_add)
    }

    fn add(&mut self, result: &str, games: u32) {
        let count = match result {
            "1-0" => &mut self.first,
            "0-1" => &mut self.second,
            "1/2-1/2" => &mut self.draws,
            _ => &mut self.unknown,
        };
        *count = count.saturating_add(games);
    }
}

impl LibraryFile {
    /// The moves of all games in a position, including transpositions. Slow for large libraries.
    pub(crate) fn explore(
        &self,
        position: &Position,
        filter: &ExplorerFilter,
    ) -> Result<Explorer, SearchError> {
        let (wanted, values) = matching(filter)?;
        let key = position.key().cast_signed();
        let db = self.open()?;
        // A move has two bytes. A game counts once for each of its moves in the position.
        let mut select = db.prepare(&format!(
            "SELECT substr(moves, 2 * ply + 1, 2) AS move, result, count(DISTINCT id), max(date)
             FROM position JOIN game ON game.id = position.game
             WHERE position.key = {key} AND {wanted} GROUP BY move, result"
        ))?;
        let mut rows = select.query(params_from_iter(&values))?;
        let mut sums: BTreeMap<Vec<u8>, MoveSums> = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let sum = sums.entry(row.get(0)?).or_default();
            sum.counts.add(&row.get::<_, String>(1)?, row.get(2)?);
            sum.last_played = sum.last_played.take().max(row.get(3)?);
        }
        let mut moves: Vec<_> = position
            .legal_moves()
            .into_iter()
            .filter_map(|mv| {
                let sum = sums.remove(&moves::encode(mv)?.to_le_bytes()[..])?;
                Some(ExplorerMove {
                    uci: mv.to_uci(position.game().castling_form()),
                    text: move_text(position, mv),
                    counts: sum.counts,
                    rating: None,
                    performance: None,
                    last_played: sum.last_played,
                })
            })
            .collect();
        moves.sort_by_key(|it| std::cmp::Reverse(it.counts.total()));
        let wanted = format!("{wanted} AND id IN (SELECT game FROM position WHERE key = {key})");
        let mut select = db.prepare(&format!(
            "SELECT result, count(*) FROM game WHERE {wanted} GROUP BY result"
        ))?;
        let mut rows = select.query(params_from_iter(&values))?;
        let mut counts = ResultCounts::default();
        while let Some(row) = rows.next()? {
            counts.add(&row.get::<_, String>(0)?, row.get(1)?);
        }
        let latest = LibraryQuery { limit: Some(MAX_GAMES), ..LibraryQuery::default() };
        let games = page(&db, (&wanted, &values), &latest)?.games;
        Ok(Explorer::Library { counts, moves, games })
    }
}

fn matching(filter: &ExplorerFilter) -> Result<(String, Vec<Value>), SearchError> {
    let ExplorerFilter { player, side, result, from, until } = filter.clone();
    let player = player.filter(|name| !name.is_empty());
    let query =
        LibraryQuery { player: player.clone(), result, from, until, ..LibraryQuery::default() };
    let (mut wanted, mut values) = condition(&query)?;
    if let (Some(player), Some(side)) = (player, side) {
        let column = match side {
            Side::First => "first",
            Side::Second => "second",
        };
        values.push(pattern(&player).into());
        wanted = format!("{wanted} AND folded({column}) LIKE ?{} ESCAPE '\\'", values.len());
    }
    Ok((wanted, values))
}
