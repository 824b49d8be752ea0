//! Statistics of a file of games.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::Path;
use std::{fmt, fs};

use narikin::network::Features;
use readyok_rules::Side;
use sha2::{Digest as _, Sha256};

use crate::data::{DataError, End, GameReader, Header, Record};
use crate::games::{Chess, GameKind, Shogi, TrainGame};
use crate::rng;
use crate::samples::{self, Filter, LoadError, Scores};

/// Statistics of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Stats {
    /// The settings of the games.
    pub header: Header,
    /// The number of games.
    pub games: u64,
    /// Wins of the second side, draws, wins of the first side.
    pub results: [u64; 3],
    /// Ends by checkmate or stalemate, by another rule, by scores, by length, by endgame tables.
    pub ends: [u64; 5],
    /// Positions with scores.
    pub positions: u64,
    /// Positions that pass the default filter.
    pub filtered: u64,
    /// Different positions among them; mirrored ones count as equal.
    pub distinct: u64,
    /// The score for which the expected result is 73 %, in centipawns.
    pub scale: f32,
}

/// Computes the statistics of a file.
///
/// # Errors
/// See [`LoadError`].
pub fn stats(path: &Path) -> Result<Stats, LoadError> {
    let reader = GameReader::open(path)?;
    let header = reader.header().clone();
    match header.game {
        GameKind::Chess => count::<Chess>(path, header, reader),
        GameKind::Shogi => count::<Shogi>(path, header, reader),
    }
}

fn count<G: TrainGame>(path: &Path, header: Header, games: GameReader) -> Result<Stats, LoadError> {
    let mut stats = Stats {
        header,
        games: 0,
        results: [0; 3],
        ends: [0; 5],
        positions: 0,
        filtered: 0,
        distinct: 0,
        scale: 0.0,
    };
    let filter = Filter::usual(G::KIND);
    let mut scores = Scores::default();
    let mut seen = HashSet::new();
    for game in games {
        let game = game?;
        samples::each::<G>(&game, &filter, |sample| {
            scores.add(sample.score, game.winner);
            seen.insert(key(sample.board));
        })
        .map_err(|why| LoadError::Replay {
            path: path.to_owned(),
            game: stats.games,
            why,
        })?;
        stats.add(&game);
    }
    stats.filtered = scores.count();
    stats.distinct = seen.len() as u64;
    stats.scale = scores.scale();
    Ok(stats)
}

/// The origin and the content of a file as a table of TOML. The command generates the same games with
/// the same version of the program.
///
/// # Errors
/// See [`LoadError`].
pub fn manifest(path: &Path) -> Result<String, LoadError> {
    let bytes = fs::read(path).map_err(|error| DataError::unreadable(path, error))?;
    let hash = Sha256::digest(&bytes).iter().fold(String::new(), |mut hash, byte| {
        // Writing to a string does not fail.
        let _ = write!(hash, "{byte:02x}");
        hash
    });
    let Stats { header, games, positions, filtered, distinct, .. } = stats(path)?;
    let Header { game, seed, nodes, random_plies, extra_plies, chess960, syzygy, engine } = header;
    let mut command = format!(
        "narikin-train generate {} --nodes {nodes} --seed {seed} --random-plies {random_plies} \
         --extra-plies {extra_plies} --games {games}",
        game.name()
    );
    if game == GameKind::Chess {
        let _ = write!(command, " --chess960 {chess960}");
    }
    if syzygy > 0 {
        command.push_str(" --syzygy PATH");
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Ok(format!(
        "[[file]]\nname = {name:?}\nengine = {engine:?}\ncommand = {command:?}\nseed = {seed}\n\
         games = {games}\npositions = {positions}\nfiltered = {filtered}\ndistinct = {distinct}\n\
         sha256 = \"{hash}\"\n"
    ))
}

/// A hash of the features of a position from the perspective of the side to move.
fn key(board: &impl Features) -> u64 {
    let mut key = 0_u64;
    board.features(board.turn(), |feature| {
        // The order of the features does not matter.
        key = key.wrapping_add(rng::of(0, feature as u64).u64(..));
    });
    key
}

impl Stats {
    fn add(&mut self, game: &Record) {
        self.games += 1;
        self.positions += game.plies.len() as u64;
        let [second, none, first] = &mut self.results;
        *match game.winner {
            Some(Side::Second) => second,
            None => none,
            Some(Side::First) => first,
        } += 1;
        let [board, rule, scores, length, tables] = &mut self.ends;
        *match game.end {
            End::Board => board,
            End::Rule => rule,
            End::Scores => scores,
            End::Length => length,
            End::Tables => tables,
        } += 1;
    }
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Header { game, seed, nodes, random_plies, extra_plies, chess960, syzygy, engine } =
            &self.header;
        let games = self.games.max(1);
        let percent =
            |count: u64| format!("{}.{} %", count * 100 / games, count * 1000 / games % 10);
        let [second, none, first] = self.results.map(percent);
        let [board, rule, scores, length, tables] = self.ends.map(percent);
        write!(f, "game       {}", game.name())?;
        if *game == GameKind::Chess {
            write!(f, ", Chess960 {chess960} %")?;
        }
        writeln!(f)?;
        writeln!(f, "engine     {engine}, {nodes} nodes")?;
        let max_plies = u16::from(*random_plies) + u16::from(*extra_plies);
        writeln!(f, "seed       {seed}, {random_plies} to {max_plies} random plies")?;
        if *syzygy > 0 {
            writeln!(f, "tables     {syzygy} pieces")?;
        }
        writeln!(f, "games      {}", self.games)?;
        writeln!(f, "results    first {first}, draw {none}, second {second}")?;
        writeln!(
            f,
            "ends       board {board}, rule {rule}, scores {scores}, length {length}, tables {tables}"
        )?;
        writeln!(f, "positions  {}, {} to a game", self.positions, self.positions / games)?;
        let repeated = self.filtered - self.distinct;
        let part = repeated * 1000 / self.filtered.max(1);
        writeln!(
            f,
            "filtered   {}, {}.{} % of them repeated",
            self.filtered,
            part / 10,
            part % 10
        )?;
        write!(f, "scale      {:.0}", self.scale)
    }
}
