//! `narikin-train generate`.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::{Done, GameName, send};
use crate::data::Header;
use crate::generate::{Progress, Until, run as generate};

/// How often to report how far it is.
const INTERVAL: Duration = Duration::from_secs(10);

const HELP: &str = "\
The same arguments on the same file go on where they were broken off, and a larger number of games or
positions adds to a file.

Example:
  narikin-train generate chess --out chess.bin --games 10000 --seed 1 --threads 2";

/// Play games and write them to a file
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    game: GameName,
    /// The file; it goes on if it is there
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// About how many positions to search for each move
    #[arg(long, default_value_t = 1000)]
    nodes: u32,
    /// How many games the file is to have
    #[arg(long, value_name = "N")]
    games: Option<u64>,
    /// How many positions the file is to have
    #[arg(long, value_name = "N", conflicts_with = "games", required_unless_present = "games")]
    positions: Option<u64>,
    /// Other numbers give other games
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many games to play at once
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// How many random plies begin a game; in half of the games one more
    #[arg(long, value_name = "N", default_value_t = 8)]
    random_plies: u8,
    /// How many games of a hundred begin from a start of Chess960
    #[arg(
        long,
        value_name = "PERCENT",
        default_value_t = 25,
        value_parser = clap::value_parser!(u8).range(0..=100)
    )]
    chess960: u8,
    /// What to add to the engine's name in the file, such as a commit
    #[arg(long, value_name = "TEXT", default_value = "")]
    note: String,
}

#[expect(clippy::disallowed_methods, reason = "it tells a person how fast it is")]
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
