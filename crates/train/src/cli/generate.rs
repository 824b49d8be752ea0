//! `narikin-train generate`.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::{Done, GameName, send};
use crate::data::Header;
use crate::generate::{Progress, Until, run as generate};

/// The interval between progress reports.
const INTERVAL: Duration = Duration::from_secs(10);

const HELP: &str = "\
With the same arguments, an existing file is resumed. A larger number of games or positions extends it.

Example:
  narikin-train generate chess --out chess.bin --games 10000 --seed 1 --threads 2";

/// Play games and write them to a file
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    game: GameName,
    /// Output file; an existing file is resumed
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Approximate nodes per move
    #[arg(long, default_value_t = 1000)]
    nodes: u32,
    /// Number of games in the file
    #[arg(long, value_name = "N")]
    games: Option<u64>,
    /// Number of positions in the file
    #[arg(long, value_name = "N", conflicts_with = "games", required_unless_present = "games")]
    positions: Option<u64>,
    /// Random seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of games to play in parallel
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Number of random plies at the start of a game; half of the games have one more
    #[arg(long, value_name = "N", default_value_t = 8)]
    random_plies: u8,
    /// Percentage of games with a Chess960 start position
    #[arg(
        long,
        value_name = "PERCENT",
        default_value_t = 25,
        value_parser = clap::value_parser!(u8).range(0..=100)
    )]
    chess960: u8,
    /// Text to append to the engine's name in the file, such as a commit
    #[arg(long, value_name = "TEXT", default_value = "")]
    note: String,
}

#[expect(clippy::disallowed_methods, reason = "measures the speed for progress reports")]
pub(super) fn run(args: &Args) -> Done {
    let header = Header {
        game: args.game.kind(),
        seed: args.seed,
        nodes: args.nodes,
        random_plies: args.random_plies,
        chess960: args.chess960,
        engine: Header::name(format!("Narikin {} {}", env!("CARGO_PKG_VERSION"), args.note).trim()),
    };
    let until = match (args.games, args.positions) {
        (_, Some(positions)) => Until::Positions(positions),
        (games, None) => Until::Games(games.unwrap_or(0)),
    };
    let started = Instant::now();
    let mut before = None;
    let mut reported = started;
    let end = generate(&args.out, &header, until, args.threads, |progress| {
        let before = *before.get_or_insert(progress);
        if reported.elapsed() >= INTERVAL {
            reported = Instant::now();
            report(before, progress, started.elapsed());
        }
    })?;
    report(before.unwrap_or(end), end, started.elapsed());
    Ok(())
}

fn report(before: Progress, now: Progress, time: Duration) {
    let new = now.positions - before.positions;
    let rate = u128::from(new) * 1000 / time.as_millis().max(1);
    let (games, positions) = (now.games, now.positions);
    send(&format!("games {games} positions {positions} per second {rate}"));
}
