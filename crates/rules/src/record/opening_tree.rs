//! One tree of the moves of many games, with results.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use super::{AddError, GameRecord, NodeId, Tag, is_known_name};
use crate::{GameResult, Move, Position, Side};

/// Numbers of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ResultCounts {
    /// Wins of the first player.
    pub first: u32,
    /// Draws.
    pub draws: u32,
    /// Wins of the second player.
    pub second: u32,
    /// Games without a result.
    pub unknown: u32,
}

impl ResultCounts {
    /// The number of games.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.first + self.draws + self.second + self.unknown
    }

    /// Counts a game.
    pub fn add(&mut self, result: GameResult) {
        match result {
            GameResult::Win(Side::First) => self.first += 1,
            GameResult::Win(Side::Second) => self.second += 1,
            GameResult::Draw => self.draws += 1,
            GameResult::Unknown => self.unknown += 1,
        }
    }

    /// The score of a side, from 0 to 1, over the games with a result. None without such a game.
    #[must_use]
    pub fn score(&self, side: Side) -> Option<f64> {
        let games = self.first + self.draws + self.second;
        let wins = if side == Side::First { self.first } else { self.second };
        (games > 0).then(|| (f64::from(wins) + f64::from(self.draws) / 2.0) / f64::from(games))
    }
}

/// What an [`OpeningTree`] keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpeningTreeOptions {
    /// The number of moves of a game, at most 100: lines of PGN are not nested deeper.
    pub plies: usize,
    /// The smallest number of games of a move.
    pub min_games: u32,
    /// The largest number of moves of the record.
    pub moves: usize,
}

impl Default for OpeningTreeOptions {
    /// 40 moves of each player, of all games, at most 50,000.
    fn default() -> Self {
        Self { plies: 80, min_games: 1, moves: 50_000 }
    }
}

/// The largest number of positions that are kept, of games that were added first: bounds the memory.
const MAX_POSITIONS: usize = 2_000_000;

/// The largest number of plies.
const MAX_PLIES: usize = 100;

/// A move of a position, with the games that continued with it.
#[derive(Debug)]
struct TreeMove {
    mv: Move,
    counts: ResultCounts,
    /// The last game with it.
    game: usize,
}

/// The main lines of many games with one start position, as one tree: moves with their numbers of games and results.
/// Positions that are reached by several orders of moves are one.
///
/// ```
/// use readyok_rules::record::{Format, OpeningTree, OpeningTreeOptions, read};
///
/// let games = "1. d4 d5 2. c4 1-0\n\n1. c4 d5 2. d4 1/2-1/2\n\n1. d4 f5 0-1";
/// let mut tree: Option<OpeningTree> = None;
/// for game in read(games.as_bytes(), Format::PGN) {
///     let game = game?;
///     let tree = tree.get_or_insert_with(|| OpeningTree::new(game.start(), Default::default()));
///     assert!(tree.add(&game));
/// }
/// let (record, omitted) = tree.ok_or("a game")?.record()?;
/// assert_eq!((record.len(), omitted), (7, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct OpeningTree {
    start: Position,
    options: OpeningTreeOptions,
    /// The moves of each position.
    positions: HashMap<u64, Vec<TreeMove>>,
    /// Players, year and result of each game.
    games: Vec<String>,
    counts: ResultCounts,
    /// The number of games whose moves were cut because there were too many positions.
    cut: usize,
}

impl OpeningTree {
    /// A tree without games.
    pub fn new(start: &Position, options: OpeningTreeOptions) -> Self {
        Self {
            start: start.clone(),
            options: OpeningTreeOptions { plies: options.plies.min(MAX_PLIES), ..options },
            positions: HashMap::new(),
            games: Vec::new(),
            counts: ResultCounts::default(),
            cut: 0,
        }
    }

    /// Adds the main line of a game. Returns false if its start position is another one.
    pub fn add(&mut self, record: &GameRecord) -> bool {
        if record.game() != self.start.game() || record.start().key() != self.start.key() {
            return false;
        }
        let game = self.games.len();
        self.games.push(name_of(record));
        self.counts.add(record.result);
        let mut position = self.start.clone();
        // A game counts once for a position and a move, although it can reach them again.
        let mut visited: HashSet<(u64, Move)> = HashSet::new();
        for mv in record.mainline().map_while(|node| node.mv()?.legal()).take(self.options.plies) {
            let key = position.key();
            if !self.positions.contains_key(&key) && self.positions.len() >= MAX_POSITIONS {
                self.cut += 1;
                break;
            }
            if visited.insert((key, mv)) {
                let moves = self.positions.entry(key).or_default();
                let at = moves.iter().position(|known| known.mv == mv).unwrap_or_else(|| {
                    moves.push(TreeMove { mv, counts: ResultCounts::default(), game });
                    moves.len() - 1
                });
                if let Some(known) = moves.get_mut(at) {
                    known.counts.add(record.result);
                    known.game = game;
                }
            }
            if position.play(mv).is_err() {
                break;
            }
        }
        true
    }

    /// The start position.
    pub fn start(&self) -> &Position {
        &self.start
    }

    /// The number of games.
    pub fn len(&self) -> usize {
        self.games.len()
    }

    /// Whether there is no game.
    pub fn is_empty(&self) -> bool {
        self.games.is_empty()
    }

    /// The number of games whose last moves were left out because there were too many positions.
    pub fn cut_games(&self) -> usize {
        self.cut
    }

    /// The tree as a record, the most frequent moves first, and the number of moves that are left out because too few
    /// games have them or the record would be too long. Comments have the numbers of games, the score of the player
    /// of the move and the results; where only one game remains, its players. A position that another order of moves
    /// has reached refers to that line.
    ///
    /// # Errors
    /// The record cannot hold the moves.
    pub fn record(mut self) -> Result<(GameRecord, usize), AddError> {
        for moves in self.positions.values_mut() {
            moves.sort_by_key(|mv| (std::cmp::Reverse(mv.counts.total()), mv.game));
        }
        let min_games = self.min_games();
        let mut record = GameRecord::new(self.start.clone());
        record.set_header(Tag::Event, format!("{} games", self.games.len()));
        if let Some(notes) = record.annotations_mut(NodeId::ROOT) {
            notes.comments.push(statistics(self.counts, self.start.turn()));
        }
        // Where a position was reached first: the moves of the line, as text.
        let mut lines: HashMap<u64, String> = HashMap::new();
        let mut omitted = 0;
        let mut open = vec![(NodeId::ROOT, self.start.clone(), String::new(), self.counts.total())];
        while let Some((at, position, line, before)) = open.pop() {
            let key = position.key();
            if let Some(known) = lines.get(&key) {
                if self.positions.contains_key(&key)
                    && let Some(notes) = record.annotations_mut(at)
                {
                    notes.comments.push(format!("continues as after {known}"));
                }
                continue;
            }
            let number = if line.is_empty() { "the start".to_owned() } else { line.clone() };
            lines.insert(key, number);
            let mut children = Vec::new();
            for mv in self.positions.get(&key).into_iter().flatten() {
                if mv.counts.total() < min_games {
                    omitted += 1;
                    continue;
                }
                let mut after = position.clone();
                let id = record.add_at(at, &mut after, mv.mv)?;
                let games = mv.counts.total();
                let comment = match (games, before) {
                    (1, 1) => None,
                    (1, _) => self.games.get(mv.game).cloned(),
                    _ => Some(statistics(mv.counts, position.turn())),
                };
                if let (Some(comment), Some(notes)) = (comment, record.annotations_mut(id)) {
                    notes.comments.push(comment);
                }
                let mut line = line.clone();
                if !line.is_empty() {
                    line.push(' ');
                }
                line.push_str(&position.notation(mv.mv, crate::Notation::Western));
                children.push((id, after, line, games));
            }
            open.extend(children.into_iter().rev());
        }
        Ok((record, omitted))
    }

    /// The smallest number of games of a move so that the record is not too long.
    fn min_games(&self) -> u32 {
        let mut counts: Vec<u32> =
            self.positions.values().flatten().map(|mv| mv.counts.total()).collect();
        counts.sort_unstable_by_key(|games| std::cmp::Reverse(*games));
        let first_omitted = counts.get(self.options.moves).copied().unwrap_or_default();
        self.options.min_games.max(first_omitted.saturating_add(u32::from(first_omitted > 0)))
    }
}

/// Players, year and result of a game.
fn name_of(record: &GameRecord) -> String {
    let player = |side| record.player(side).filter(|name| is_known_name(name)).unwrap_or("?");
    let mut name = format!("{} – {}", player(Side::First), player(Side::Second));
    if let Some(year) = record.date().year() {
        let _ = write!(name, ", {year}");
    }
    let _ = write!(name, ", {}", record.result.as_str());
    name
}

/// The number of games, and the score and the results of a side.
fn statistics(counts: ResultCounts, side: Side) -> String {
    let games = counts.total();
    let mut text = if games == 1 { "1 game".to_owned() } else { format!("{games} games") };
    if let Some(score) = counts.score(side) {
        let (won, lost) = match side {
            Side::First => (counts.first, counts.second),
            Side::Second => (counts.second, counts.first),
        };
        let _ = write!(text, ", {:.0} %: +{won} ={} -{lost}", 100.0 * score, counts.draws);
    }
    text
}
