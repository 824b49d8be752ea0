//! The command line.

mod average;
mod evaluate;
mod train;

use std::error::Error;
use std::ffi::OsString;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{fs, io};

use clap::{Parser, Subcommand, ValueEnum};
use narikin::eval::shogi::{self, GROUPS, initial_weights};
use narikin::eval::{Model, Weight};
use narikin::network::Network;
use narikin::tablebase::Tablebases;

use crate::data::{Header, Reader, Writer};
use crate::games::{GameKind, Shogi};
use crate::generate::{GenerateError, Progress, Until};
use crate::samples::Filter;
use crate::tune::{self, Settings};
use crate::{generate, stats, weights};

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
    Tune(TuneArgs),
    Show(ShowArgs),
    Stats(StatsArgs),
    Manifest(ManifestArgs),
    Pack(PackArgs),
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum GameName {
    /// Chess, with some games of Chess960
    Chess,
    /// Shogi
    Shogi,
}

impl GameName {
    fn kind(self) -> GameKind {
        match self {
            Self::Chess => GameKind::Chess,
            Self::Shogi => GameKind::Shogi,
        }
    }
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
        Verb::Tune(args) => run_tune(&args),
        Verb::Show(args) => show(&args),
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
        game: args.game.kind(),
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

const TUNE_HELP: &str = "\
Example:
  narikin-train tune --data shogi.bin --out crates/narikin/weights/shogi.bin";

/// Fit the weights of the hand-written evaluation of shogi to games
#[derive(Debug, clap::Args)]
#[command(after_help = TUNE_HELP)]
struct TuneArgs {
    /// Files of games
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    data: Vec<PathBuf>,
    /// Where to write the weights
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// A file of weights to start from, `hand` for the initial ones, or `zero`
    #[arg(long, value_name = "FILE", default_value = "hand")]
    start: String,
    /// Number of passes through all positions
    #[arg(long, default_value_t = 10)]
    epochs: u32,
    /// Weight of the scores in the target, from 0 to 1; the rest is the results
    #[arg(long, default_value_t = 0.7)]
    lambda: f32,
    /// Score with an expected result of 73 %, in centipawns [default: fitted to the games]
    #[arg(long)]
    scale: Option<f32>,
    /// Prior standard deviation of the weights from their start, in centipawns
    #[arg(long, default_value_t = 5.0)]
    spread: f32,
    /// Initial learning rate, in centipawns
    #[arg(long, default_value_t = 1.0)]
    rate: f32,
    /// Batch size in positions
    #[arg(long, default_value_t = 8192)]
    batch: usize,
    /// Random seed of the order of the positions
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of threads
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Group of weights to fix at zero, to measure its effect; repeatable
    #[arg(long, value_name = "GROUP")]
    without: Vec<String>,
    /// Group of weights to fix at its start value; repeatable
    #[arg(long, value_name = "GROUP")]
    keep: Vec<String>,
}

fn run_tune(args: &TuneArgs) -> Done {
    for (name, number) in [("scale", args.scale.unwrap_or(1.0)), ("spread", args.spread)] {
        if !(number.is_finite() && number > 0.0) {
            return Err(format!("the {name} `{number}` is not above 0").into());
        }
    }
    if !(0.0..=1.0).contains(&args.lambda) {
        return Err(format!("lambda is `{}`, which is not from 0 to 1", args.lambda).into());
    }
    let count = shogi::Shogi::WEIGHTS;
    let mut start = match args.start.as_str() {
        "hand" => initial_weights(),
        "zero" => vec![Weight::default(); count],
        file => weights::read(file.as_ref(), count)?,
    };
    let mut frozen = Vec::new();
    for name in &args.keep {
        frozen.push(group_range(name)?);
    }
    for name in &args.without {
        let range = group_range(name)?;
        if let Some(group) = start.get_mut(range.clone()) {
            group.fill(Weight::default());
        }
        frozen.push(range);
    }
    let split = tune::load::<Shogi, shogi::Shogi>(&args.data, &Filter::usual(GameKind::Shogi))?;
    let (training, validation) = (&split.training, &split.validation);
    let scale = args.scale.unwrap_or_else(|| split.scores.scale());
    send(&format!(
        "{} positions to fit to and {} to test on, {} terms each, scale {scale:.0}",
        training.len(),
        validation.len(),
        training.terms_each()
    ));
    let settings = Settings {
        epochs: args.epochs,
        lambda: args.lambda,
        scale,
        spread: args.spread,
        rate: args.rate,
        batch: args.batch,
        seed: args.seed,
        threads: args.threads,
    };
    let fitted = tune::fit(training, validation, &start, &frozen, &settings, |epoch| {
        let (number, fitted, tested) = (epoch.number, epoch.training, epoch.validation);
        send(&format!("epoch {number:>3}  training {fitted:.6}  validation {tested:.6}"));
    });
    fs::write(&args.out, weights::bytes(&fitted))
        .map_err(|error| format!("`{}` cannot be written: {error}", args.out.display()))?;
    Ok(())
}

fn group_range(name: &str) -> Result<Range<usize>, String> {
    let found = GROUPS.iter().find(|group| group.name == name);
    found.map(|group| group.range.clone()).ok_or_else(|| {
        let names: Vec<&str> = GROUPS.iter().map(|group| group.name).collect();
        format!("`{name}` is not one of the groups: {}", names.join(", "))
    })
}

/// Print weights of the hand-written evaluation of shogi by their groups, in centipawns
#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// The file, or `hand` for the initial weights
    #[arg(value_name = "FILE")]
    weights: String,
}

fn show(args: &ShowArgs) -> Done {
    let weights = match args.weights.as_str() {
        "hand" => initial_weights(),
        file => weights::read(file.as_ref(), shogi::Shogi::WEIGHTS)?,
    };
    send(weights::table(&weights, GROUPS).trim_end());
    Ok(())
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
    let games = Reader::open(&args.file)?;
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
