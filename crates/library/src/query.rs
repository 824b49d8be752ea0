//! Searches by summary and position, and the opening explorer.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

use readyok_rules::record::{Date, ResultCounts as Counts};
use readyok_rules::{GameResult, Side};
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};

use crate::bitset::BitSet;
use crate::error::Error;
use crate::game::GameEntry;
use crate::matcher::{Filter, matching};
use crate::postings::{END_OF_GAME, Key};
use crate::snapshot::Snapshot;
use crate::summary::{Digest, Raw};
use crate::text_cache::{Caches, last_row};

/// A column to sort by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "LibraryColumn"))]
pub enum Column {
    /// Order of the last change or addition.
    #[default]
    Changed,
    /// Order of addition.
    Added,
    /// Date.
    Date,
    /// Name of the first player.
    First,
    /// Name of the second player.
    Second,
    /// Average rating.
    Rating,
    /// Result.
    Result,
    /// Length.
    Plies,
    /// Event.
    Event,
    /// Opening.
    Opening,
}

/// A page of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Games of the page.
    pub games: Vec<GameEntry>,
    /// Number of all games found.
    pub total: usize,
}

/// Statistics of a move in the explorer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MoveStatistics {
    /// The encoded move, or [`END_OF_GAME`] for games that end in the position.
    pub mv: u16,
    /// Results.
    pub counts: Counts,
    /// Average rating of the player of the move over the games in which it is known.
    pub rating: Option<f64>,
    /// Performance rating: average rating of the opponents + 400 · (wins − losses) / games, over the games in
    /// which both are known (the approximation of the USCF and FIDE's linear rule).
    pub performance: Option<f64>,
    /// Latest date.
    pub last_played: Date,
    /// The latest game by number.
    pub game: u32,
}

/// What was played in a position.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Explorer {
    /// Moves by descending number of games, without [`END_OF_GAME`].
    pub moves: Vec<MoveStatistics>,
    /// Results of all games that reached the position.
    pub counts: Counts,
    /// Number of games that reached the position.
    pub total: usize,
    /// The latest of these games by date, at most 10.
    pub latest: Vec<u32>,
}

/// Maximum number of games in [`Explorer::latest`].
const MAX_LATEST: usize = 10;

/// The first games in the order of their keys, of any number of games. Equal keys are listed with the latest game first.
struct FirstGames {
    end: usize,
    /// Number of games at which those that cannot be on the page are dropped: bounds the memory.
    capacity: usize,
    games: Vec<(u64, Reverse<u32>)>,
    /// The key of the last game on the page, if known.
    bound: u64,
    total: usize,
}

impl FirstGames {
    fn new(end: usize) -> Self {
        let capacity = end.saturating_mul(2).max(1 << 14);
        Self { end, capacity, games: Vec::new(), bound: u64::MAX, total: 0 }
    }

    #[inline]
    fn push(&mut self, key: u64, game: u32) {
        self.total += 1;
        if key <= self.bound {
            self.games.push((key, Reverse(game)));
            if self.games.len() >= self.capacity {
                let (.., last, _) = self.games.select_nth_unstable(self.end);
                self.bound = last.0;
                self.games.truncate(self.end);
            }
        }
    }

    fn skip(mut self, offset: usize) -> Vec<u32> {
        self.games.sort_unstable();
        self.games.truncate(self.end);
        self.games.into_iter().skip(offset).map(|(_, Reverse(game))| game).collect()
    }
}

/// Games that match a filter, sorted; `offset` of them are skipped.
pub(crate) fn search(
    connection: &Connection,
    caches: &Caches,
    snapshot: &Snapshot,
    filter: Filter<'_>,
    (column, descending): (Column, bool),
    (offset, limit): (usize, usize),
) -> Result<Page, Error> {
    let matching = matching(connection, caches, snapshot, filter)?;
    let is_match = |game: u32| matching.as_ref().is_none_or(|set| set.contains(game));
    let found = || snapshot.summaries.iter_rev().filter(|(game, _)| is_match(*game));
    let end = offset.saturating_add(limit);
    let (games, total) = if let Some(texts) = Texts::of(column) {
        let page = texts.page(
            connection,
            found().map(|(_, summary)| summary),
            (offset, end),
            descending,
        )?;
        let mut first = FirstGames::new(end - page.before);
        for (game, summary) in found() {
            match page.rank(texts.number(summary)) {
                0 => (),
                rank => first.push(rank.into(), game),
            }
        }
        (first.skip(offset - page.before), page.total)
    } else {
        let keys = Keys::of(connection, column)?;
        let mut first = FirstGames::new(end);
        for (game, it) in found() {
            let key = keys.key(game, it);
            first.push(if descending { !key } else { key }, game);
        }
        let total = first.total;
        (first.skip(offset), total)
    };
    let games = games.into_iter().filter_map(|game| Some((game, snapshot.summaries.get(game)?)));
    let games = games.map(|(game, summary)| GameEntry::read(connection, game, summary));
    Ok(Page { games: games.collect::<Result<_, _>>()?, total })
}

/// All games that match a filter, in the order of their numbers.
pub(crate) fn all(
    connection: &Connection,
    caches: &Caches,
    snapshot: &Snapshot,
    filter: Filter<'_>,
) -> Result<Vec<u32>, Error> {
    let matching = matching(connection, caches, snapshot, filter)?;
    let games = snapshot.summaries.iter_rev().map(|(game, _)| game);
    let is_match = |game: &u32| matching.as_ref().is_none_or(|set| set.contains(*game));
    let mut games: Vec<u32> = games.filter(is_match).collect();
    games.reverse();
    Ok(games)
}

/// Number of texts up to which they are read and sorted, instead of following the index.
const FEW: usize = 2048;

/// A column of texts.
struct Texts {
    table: &'static str,
    column: Column,
}

/// The texts of a page of games that are sorted by text.
struct TextPage {
    /// Ranks from 1 by the numbers of the texts; 0 for texts of other pages.
    ranks: Vec<u32>,
    /// Number of games before those of the first rank.
    before: usize,
    total: usize,
}

impl TextPage {
    #[inline]
    fn rank(&self, number: u32) -> u32 {
        self.ranks.get(number as usize).copied().unwrap_or(0)
    }
}

impl Texts {
    fn of(column: Column) -> Option<Self> {
        let table = match column {
            Column::First | Column::Second | Column::Event => "name",
            Column::Opening => "opening",
            _ => return None,
        };
        Some(Self { table, column })
    }

    /// The number of a game's text; 0 if it has none.
    #[inline]
    fn number(&self, it: Raw<'_>) -> u32 {
        match self.column {
            Column::First => it.players()[0],
            Column::Second => it.players()[1],
            Column::Event => it.event(),
            _ => it.opening().into(),
        }
    }

    /// Counts the games of each text, and follows the order of the texts to the end of the page.
    fn page<'a>(
        &self,
        connection: &Connection,
        games: impl Iterator<Item = Raw<'a>>,
        (offset, end): (usize, usize),
        descending: bool,
    ) -> Result<TextPage, Error> {
        let last = usize::try_from(last_row(connection, self.table)?).unwrap_or(0);
        let mut counts = vec![0_u32; last + 1];
        let mut total = 0;
        for it in games {
            total += 1;
            if let Some(count) = counts.get_mut(self.number(it) as usize) {
                *count += 1;
            }
        }
        let (mut before, mut games, mut numbers) = (0, 0, Vec::new());
        // Returns true at the end of the page.
        let mut push = |number: u32| {
            let count = counts.get(number as usize).map_or(0, |count| *count as usize);
            games += count;
            if games <= offset {
                before = games;
            } else if count > 0 {
                numbers.push(number);
            }
            games >= end
        };
        // Games without a text are first.
        if descending || !push(0) {
            let is_complete = self.for_each(connection, &counts, descending, &mut push)?;
            if descending && !is_complete {
                push(0);
            }
        }
        counts.fill(0);
        for (rank, number) in (1..).zip(numbers) {
            if let Some(it) = counts.get_mut(number as usize) {
                *it = rank;
            }
        }
        Ok(TextPage { ranks: counts, before, total })
    }

    /// Calls `visit` with the numbers of the texts that have games, in alphabetical order, until it returns true.
    fn for_each(
        &self,
        connection: &Connection,
        counts: &[u32],
        descending: bool,
        mut visit: impl FnMut(u32) -> bool,
    ) -> Result<bool, Error> {
        let table = self.table;
        if counts.iter().filter(|count| **count > 0).count() <= FEW {
            let sql = format!("SELECT folded FROM {table} WHERE id = ?1");
            let mut statement = connection.prepare_cached(&sql)?;
            let mut texts: Vec<(String, u32)> = Vec::new();
            for (number, _) in (0..).zip(counts).skip(1).filter(|(_, count)| **count > 0) {
                let text = statement.query_row([number], |row| row.get(0)).optional()?;
                texts.push((text.unwrap_or_default(), number));
            }
            texts.sort_unstable();
            if descending {
                texts.reverse();
            }
            return Ok(texts.into_iter().any(|(_, number)| visit(number)));
        }
        let order = if descending { "DESC" } else { "ASC" };
        let sql = format!("SELECT id FROM {table} ORDER BY folded {order}, id {order}");
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            if visit(row.get(0)?) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Keys of the columns without texts.
struct Keys {
    column: Column,
    /// Changed games with the number of the next game at that time.
    changes: HashMap<u32, u32>,
    /// The same games.
    changed: BitSet,
}

impl Keys {
    fn of(connection: &Connection, column: Column) -> Result<Self, Error> {
        let (mut changes, mut changed) = (HashMap::new(), BitSet::default());
        if column == Column::Changed {
            let sql = "SELECT id, changed_before FROM game WHERE revision > 0";
            let mut statement = connection.prepare_cached(sql)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let game = row.get(0)?;
                changed.insert(game);
                changes.insert(game, row.get(1)?);
            }
        }
        Ok(Self { column, changes, changed })
    }

    #[inline]
    fn key(&self, game: u32, it: Raw<'_>) -> u64 {
        match self.column {
            Column::Added => game.into(),
            // A changed game is between the games that were added before and after the change.
            Column::Changed => {
                let next = self.changed.contains(game).then(|| self.changes.get(&game)).flatten();
                let key = 2 * u64::from(game) + 1;
                next.map_or(key, |next| 2 * u64::from(*next))
            }
            Column::Date => it.date().to_bits().into(),
            Column::First | Column::Second | Column::Event | Column::Opening => 0,
            Column::Rating => u64::from(it.ratings()[0]) + u64::from(it.ratings()[1]),
            Column::Plies => it.plies().into(),
            Column::Result => match it.result() {
                GameResult::Unknown => 0,
                GameResult::Win(Side::First) => 3,
                GameResult::Draw => 2,
                GameResult::Win(Side::Second) => 1,
            },
        }
    }
}

#[derive(Debug, Default)]
struct Sums {
    counts: Counts,
    rating: (u64, u32),
    opponents: (u64, u32),
    points: i64,
    last_played: Date,
    game: u32,
}

/// Statistics of the moves in a position, over the games that match a filter.
pub(crate) fn explore(
    connection: &Connection,
    caches: &Caches,
    snapshot: &Snapshot,
    key: Key,
    turn: Side,
    filter: Filter<'_>,
) -> Result<Explorer, Error> {
    // One scan in the order of memory is faster than access by posting.
    let matching = matching(connection, caches, snapshot, filter)?;
    let mut explorer = Explorer::default();
    let mut moves: BTreeMap<u16, Sums> = BTreeMap::new();
    let mut current: Option<(u16, Sums)> = None;
    let mut seen = BitSet::default();
    let mut latest = BinaryHeap::with_capacity(MAX_LATEST + 1);
    snapshot.find(connection, key, |mv, game| {
        if matching.as_ref().is_some_and(|set| !set.contains(game)) {
            return;
        }
        let Some(it) = snapshot.summaries.digest(game) else { return };
        // A game can reach the position several times.
        if seen.insert(game) {
            explorer.counts.add(it.result());
            explorer.total += 1;
            let entry = Reverse((it.date().to_bits(), game));
            if latest.len() < MAX_LATEST || latest.peek().is_some_and(|least| entry < *least) {
                latest.push(entry);
                if latest.len() > MAX_LATEST {
                    latest.pop();
                }
            }
        }
        if current.as_ref().is_none_or(|(last, _)| *last != mv) {
            if let Some((last, sums)) = current.take() {
                moves.insert(last, sums);
            }
            current = Some((mv, moves.remove(&mv).unwrap_or_default()));
        }
        if let Some((_, sums)) = &mut current {
            sums.add(it, game, turn);
        }
    })?;
    moves.extend(current);
    moves.remove(&END_OF_GAME);
    explorer.moves = moves.into_iter().map(|(mv, sums)| sums.finish(mv)).collect();
    explorer.moves.sort_by_key(|found| (Reverse(found.counts.total()), found.mv));
    explorer.latest = latest.into_sorted_vec().into_iter().map(|Reverse((_, game))| game).collect();
    Ok(explorer)
}

impl Sums {
    fn add(&mut self, digest: Digest, game: u32, turn: Side) {
        let (result, ratings) = (digest.result(), digest.ratings());
        self.counts.add(result);
        let (own, opponent) = match turn {
            Side::First => (ratings[0], ratings[1]),
            Side::Second => (ratings[1], ratings[0]),
        };
        if own > 0 {
            self.rating.0 += u64::from(own);
            self.rating.1 += 1;
        }
        if opponent > 0 && result != GameResult::Unknown {
            self.opponents.0 += u64::from(opponent);
            self.opponents.1 += 1;
            self.points += match result {
                GameResult::Win(side) if side == turn => 1,
                GameResult::Win(_) => -1,
                GameResult::Draw | GameResult::Unknown => 0,
            };
        }
        self.last_played = self.last_played.max(digest.date());
        self.game = self.game.max(game);
    }

    #[expect(clippy::cast_precision_loss, reason = "sums of ratings")]
    fn finish(self, mv: u16) -> MoveStatistics {
        let average = |(sum, count): (u64, u32)| (count > 0).then(|| sum as f64 / f64::from(count));
        let performance = average(self.opponents)
            .map(|rating| rating + 400.0 * self.points as f64 / f64::from(self.opponents.1));
        MoveStatistics {
            mv,
            counts: self.counts,
            rating: average(self.rating),
            performance,
            last_played: self.last_played,
            game: self.game,
        }
    }
}
