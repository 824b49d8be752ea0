//! Statistics of a file of games.

use std::fmt;
use std::path::Path;

use crate::data::{End, Header, Reader, Record, Winner};
use crate::games::{Chess, GameKind, Shogi, TrainGame};
use crate::samples::Scores;
use crate::samples::{self, Filter};
use crate::tune::LoadError;

/// Statistics of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Stats {
    /// The settings of the games.
    pub header: Header,
    /// The number of games.
    pub games: u64,
    /// Wins of the second side, draws, wins of the first side.
    pub results: [u64; 3],
    /// Ends by checkmate or stalemate, by another rule, by scores, by length.
    pub ends: [u64; 4],
    /// Positions with scores.
    pub positions: u64,
    /// Positions that pass the default filter.
    pub filtered: u64,
    /// The score for which the expected result is 73 %, in centipawns.
    pub scale: f32,
}

/// Computes the statistics of a file.
///
/// # Errors
/// See [`LoadError`].
pub fn stats(path: &Path) -> Result<Stats, LoadError> {
    let reader = Reader::open(path)?;
    let header = reader.header().clone();
    match header.game {
        GameKind::Chess => count::<Chess>(path, header, reader),
        GameKind::Shogi => count::<Shogi>(path, header, reader),
    }
}

fn count<G: TrainGame>(path: &Path, header: Header, games: Reader) -> Result<Stats, LoadError> {
    let mut stats = Stats {
        header,
        games: 0,
        results: [0; 3],
        ends: [0; 4],
        positions: 0,
        filtered: 0,
        scale: 0.0,
    };
    let filter = Filter::usual(G::KIND);
    let mut scores = Scores::default();
    for game in games {
        let game = game?;
        samples::each::<G>(&game, &filter, |sample| scores.add(sample.score, game.winner))
            .map_err(|why| LoadError::Replay { path: path.to_owned(), game: stats.games, why })?;
        stats.add(&game);
    }
    stats.filtered = scores.count();
    stats.scale = scores.scale();
    Ok(stats)
}

impl Stats {
    fn add(&mut self, game: &Record) {
        self.games += 1;
        self.positions += game.plies.len() as u64;
        let [second, none, first] = &mut self.results;
        *match game.winner {
            Winner::Second => second,
            Winner::None => none,
            Winner::First => first,
        } += 1;
        let [board, rule, scores, length] = &mut self.ends;
        *match game.end {
            End::Board => board,
            End::Rule => rule,
            End::Scores => scores,
            End::Length => length,
        } += 1;
    }
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Header { game, seed, nodes, random_plies, chess960, engine } = &self.header;
        let games = self.games.max(1);
        let percent =
            |count: u64| format!("{}.{} %", count * 100 / games, count * 1000 / games % 10);
        let [second, none, first] = self.results.map(percent);
        let [board, rule, scores, length] = self.ends.map(percent);
        write!(f, "game       {}", game.name())?;
        if *game == GameKind::Chess {
            write!(f, ", Chess960 {chess960} %")?;
        }
        writeln!(f)?;
        writeln!(f, "engine     {engine}, {nodes} nodes")?;
        writeln!(f, "seed       {seed}, {random_plies} random plies")?;
        writeln!(f, "games      {}", self.games)?;
        writeln!(f, "results    first {first}, draw {none}, second {second}")?;
        writeln!(f, "ends       board {board}, rule {rule}, scores {scores}, length {length}")?;
        writeln!(f, "positions  {}, {} to a game", self.positions, self.positions / games)?;
        writeln!(f, "filtered   {}", self.filtered)?;
        write!(f, "scale      {:.0}", self.scale)
    }
}
