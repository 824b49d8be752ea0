//! The command line.

mod average;
mod evaluate;
mod train;

use std::error::Error;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{fs, io};

use clap::{Parser, Subcommand};
use narikin::network::Network;
use narikin::tablebase::Tablebases;

use crate::data::{GameReader, Header, Writer};
use crate::games::GameKind;
use crate::generate::{GenerateError, Progress, Until};
use crate::{generate, stats};

/// Play games of Narikin against itself, and train its networks on them.
#[derive(Debug, Parser)]
#[command(name = "narikin-train", version)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Generate(GenerateArgs),
    Train(train::TrainArgs),
    Evaluate(evaluate::EvaluateArgs),
    Average(average::AverageArgs),
    Stats(StatsArgs),
    Manifest(ManifestArgs),
    Pack(PackArgs),
}

/// Runs the program. The first argument is its name.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Standard error may be closed.
            let _ = error.print();
            return u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from);
        }
    };
    let done = match cli.verb {
        Verb::Generate(args) => run_generate(&args),
        Verb::Train(args) => train::run(&args),
        Verb::Evaluate(args) => evaluate::run(&args),
        Verb::Average(args) => average::run(&args),
        Verb::Stats(args) => run_stats(&args),
        Verb::Manifest(args) => manifest(&args),
        Verb::Pack(args) => pack(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Standard error may be closed.
            let _ = writeln!(io::stderr(), "narikin-train: {error}");
            ExitCode::FAILURE
        }
    }
}

type Done = Result<(), Box<dyn Error>>;

fn send(line: &str) {
    // The work continues even if standard output is closed.
    let _ = writeln!(io::stdout(), "{line}");
}

fn read_network(path: &Path) -> Result<Network, String> {
    let bytes = fs::read(path).map_err(|error| format!("`{}`: {error}", path.display()))?;
    Network::read(&bytes).map_err(|error| format!("`{}`: {error}", path.display()))
}

/// The interval between progress reports.
const INTERVAL: Duration = Duration::from_secs(10);

const GENERATE_HELP: &str = "\
With the same arguments, an existing file is resumed. A larger number of games or positions extends it.

Example:
  narikin-train generate chess --out chess.bin --games 10000 --seed 1 --threads 2";

/// Play games and write them to a file
#[derive(Debug, clap::Args)]
#[command(after_help = GENERATE_HELP)]
struct GenerateArgs {
    game: GameKind,
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
    /// Minimum number of random plies at the start of a game
    #[arg(long, value_name = "N", default_value_t = 8)]
    random_plies: u8,
    /// Maximum number of additional random plies
    #[arg(long, value_name = "N", default_value_t = 1)]
    extra_plies: u8,
    /// Directories of Syzygy tables, which adjudicate chess games
    #[arg(long, value_name = "PATH")]
    syzygy: Option<String>,
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
fn run_generate(args: &GenerateArgs) -> Done {
    let tables = args.syzygy.as_deref().map(Tablebases::open).transpose();
    let tables = tables.map_err(GenerateError::Tables)?;
    let pieces = tables.as_ref().map_or(0, Tablebases::max_pieces);
    let header = Header {
        game: args.game,
        seed: args.seed,
        nodes: args.nodes,
        random_plies: args.random_plies,
        extra_plies: args.extra_plies,
        syzygy: u8::try_from(pieces).unwrap_or(u8::MAX),
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
    let end =
        generate::run(&args.out, &header, until, args.threads, tables.as_ref(), |progress| {
            let before = *before.get_or_insert(progress);
            if reported.elapsed() >= INTERVAL {
                reported = Instant::now();
                report_progress(before, progress, started.elapsed());
            }
        })?;
    report_progress(before.unwrap_or(end), end, started.elapsed());
    Ok(())
}

fn report_progress(before: Progress, now: Progress, time: Duration) {
    let new = now.positions - before.positions;
    let rate = u128::from(new) * 1000 / time.as_millis().max(1);
    let (games, positions) = (now.games, now.positions);
    send(&format!("games {games} positions {positions} per second {rate}"));
}

/// Compress a file of games of an older version
#[derive(Debug, clap::Args)]
struct PackArgs {
    /// The file
    file: PathBuf,
    /// New file
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

fn pack(args: &PackArgs) -> Done {
    if args.out.exists() {
        return Err(format!("`{}` exists", args.out.display()).into());
    }
    let games = GameReader::open(&args.file)?;
    let mut writer = Writer::open(&args.out, &games.header().clone(), |_| ())?;
    for game in games {
        writer.append(game?)?;
    }
    Ok(writer.finish()?)
}

/// Print the origin and the hash of files of games, as TOML
#[derive(Debug, clap::Args)]
struct ManifestArgs {
    /// The files
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

fn manifest(args: &ManifestArgs) -> Done {
    for file in &args.files {
        send(&stats::manifest(file)?);
    }
    Ok(())
}

/// Print statistics of a file of games
#[derive(Debug, clap::Args)]
struct StatsArgs {
    /// The file
    file: PathBuf,
}

fn run_stats(args: &StatsArgs) -> Done {
    send(&stats::stats(&args.file)?.to_string());
    Ok(())
}
