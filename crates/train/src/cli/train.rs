//! `narikin-train train`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use fastrand::Rng;
use narikin::network::{Activation, Features, Network, NetworkInfo};
use rayon::ThreadPoolBuilder;

use crate::cli::{Done, send};
use crate::games::{self, Chess, GameKind, Shogi, TrainGame};
use crate::nnue::checkpoint::{Checkpoint, CheckpointError};
use crate::nnue::curve::Curve;
use crate::nnue::parameters::{BLOCK, Shape, widened};
use crate::nnue::quantization::{dequantize, quantize};
use crate::nnue::source::{Source, Targets};
use crate::nnue::training::{Settings, Trainer};
use crate::samples::Filter;

const HELP: &str = "\
Writes the network with the lowest validation loss, and next to it a checkpoint (.checkpoint) and the learning curve
(.csv, .svg). One of 16 games is a validation game.

Examples:
  narikin-train train chess --data games/*.bin --targets static --out static.net
  narikin-train train chess --data games/*.bin --start static.checkpoint --epochs 20 --out chess.net";

/// Train a network on games
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct TrainArgs {
    game: GameKind,
    /// Files of games
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    data: Vec<PathBuf>,
    /// Where to write the network
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Number of hidden units per perspective, a multiple of 32
    #[arg(long, value_name = "N", default_value_t = 128)]
    hidden: usize,
    /// Activation function of the hidden layer
    #[arg(long, default_value = "crelu")]
    activation: ActivationName,
    /// Scores to train on
    #[arg(long, default_value = "searches")]
    targets: TargetName,
    /// With static targets, the number of random legal moves from each position
    #[arg(long, value_name = "N", default_value_t = 8)]
    siblings: u8,
    /// Weight of the later scores of the game in the score of a position, from 0 to 1: the λ of TD(λ)
    #[arg(long, value_name = "LAMBDA", default_value_t = 0.0, value_parser = weight)]
    td_lambda: f32,
    /// Number of passes through all games
    #[arg(long, value_name = "N", default_value_t = 10)]
    epochs: u32,
    /// First and last learning rate, on a cosine
    #[arg(long, value_name = "FIRST:LAST", default_value = "0.001:0.00001", value_parser = pair)]
    rate: [f32; 2],
    /// First and last weight of the result in the target, from 0 to 1; the rest is the score
    #[arg(long, value_name = "FIRST:LAST", default_value = "0.3", value_parser = pair)]
    wdl: [f32; 2],
    /// Score with an expected result of 73 %, in centipawns [default: fitted to the games]
    #[arg(long)]
    scale: Option<f32>,
    /// Centipawns per output of 1, 1 to 4000; the same as in the run of --start [default: the rounded scale]
    #[arg(long, value_name = "CENTIPAWNS", value_parser = clap::value_parser!(i16).range(1..=4000))]
    output_scale: Option<i16>,
    /// Weight decay
    #[arg(long, default_value_t = 0.01)]
    decay: f32,
    /// Batch size in positions
    #[arg(long, value_name = "N", default_value_t = 16_384)]
    batch: usize,
    /// Number of positions that are shuffled together
    #[arg(long, value_name = "N", default_value_t = 2_097_152)]
    buffer: usize,
    /// Maximum number of validation positions
    #[arg(long, value_name = "N", default_value_t = 262_144)]
    validation: usize,
    /// Number of points of the learning curve
    #[arg(long, value_name = "N", default_value_t = 40)]
    reports: u32,
    /// Checkpoint or network to start from, with the same activation; a network with fewer hidden units is widened by
    /// copies of its units, which differ a little
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    start: Option<PathBuf>,
    /// Continue from the checkpoint of an interrupted run with the same arguments
    #[arg(long)]
    resume: bool,
    /// Name of the network [default: the name of the file]
    #[arg(long)]
    name: Option<String>,
    /// Commit of the program, stored in the network
    #[arg(long, default_value = "unknown")]
    commit: String,
    /// Random seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of threads, which does not affect the result
    #[arg(long, default_value_t = 1)]
    threads: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum TargetName {
    /// Scores of searches and results of games
    Searches,
    /// Static evaluations by the network in the executable
    Static,
}

impl TargetName {
    pub(super) fn targets(self, td_lambda: f32, siblings: u8) -> Targets {
        match self {
            Self::Searches => Targets::Searches { td_lambda },
            Self::Static => Targets::Static { siblings },
        }
    }
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum ActivationName {
    /// Clipped to 0 and 1
    Crelu,
    /// The square of `CReLU`
    Screlu,
}

/// A scale as a whole number that networks support.
#[expect(clippy::cast_possible_truncation, reason = "clamped before")]
fn rounded(scale: f32) -> i16 {
    scale.round().clamp(1.0, 4000.0) as i16
}

/// Parses two numbers, or one for both.
fn pair(text: &str) -> Result<[f32; 2], String> {
    let (first, last) = text.split_once(':').unwrap_or((text, text));
    let number = |text: &str| match text.parse::<f32>() {
        Ok(number) if number.is_finite() && number >= 0.0 => Ok(number),
        _ => Err(format!("`{text}` is not a positive number")),
    };
    Ok([number(first)?, number(last)?])
}

/// Parses a number from 0 to 1.
pub(super) fn weight(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
        _ => Err(format!("`{text}` is not a number from 0 to 1")),
    }
}

pub(super) fn run(args: &TrainArgs) -> Done {
    if args.hidden == 0 || !args.hidden.is_multiple_of(BLOCK) {
        return Err(format!("{} hidden units are not a multiple of {BLOCK}", args.hidden).into());
    }
    if args.wdl.iter().any(|&wdl| wdl > 1.0) {
        return Err("the weight of the results is above 1".into());
    }
    let pool = ThreadPoolBuilder::new().num_threads(args.threads.max(1)).build()?;
    pool.install(|| match args.game {
        GameKind::Chess => train::<Chess>(args),
        GameKind::Shogi => train::<Shogi>(args),
    })
    // A `dyn Error` does not leave the pool.
    .map_err(Into::into)
}

#[expect(clippy::disallowed_methods, reason = "measures the speed for progress reports")]
#[expect(clippy::cast_precision_loss, reason = "speeds and scores")]
fn train<G: TrainGame + Sync>(args: &TrainArgs) -> Result<(), String> {
    let failed = |error: &dyn std::error::Error| error.to_string();
    let started = Instant::now();
    let targets = args.targets.targets(args.td_lambda, args.siblings);
    let source = Source::<G>::load(&args.data, Filter::usual(G::KIND), targets)
        .map_err(|error| failed(&error))?;
    let scale = args.scale.unwrap_or_else(|| source.scores().scale());
    let settings = Settings {
        hidden: args.hidden,
        activation: match args.activation {
            ActivationName::Crelu => Activation::ClippedRelu,
            ActivationName::Screlu => Activation::SquaredClippedRelu,
        },
        epochs: args.epochs,
        batch: args.batch.max(1),
        buffer: args.buffer.max(1),
        rate: args.rate,
        decay: args.decay,
        // Results do not depend on static evaluations.
        wdl: if args.targets == TargetName::Static { [0.0; 2] } else { args.wdl },
        scale,
        centipawns: f32::from(args.output_scale.unwrap_or_else(|| rounded(scale))),
        seed: args.seed,
        reports: args.reports.max(1),
    };
    let objective = settings.objective(1.0);
    let mut evaluations = Vec::new();
    let validation =
        source.validation(args.validation, |board| evaluations.push(games::evaluate(board)));
    let reference: f64 = evaluations
        .iter()
        .enumerate()
        .map(|(index, &value)| objective.loss(&validation.get(index), value as f32))
        .sum::<f64>()
        / evaluations.len().max(1) as f64;
    send(&format!(
        "{} games with {} positions per epoch, {} validation positions, scale {scale:.0}, loaded in {:.1} s",
        source.games(),
        source.positions(),
        validation.len(),
        started.elapsed().as_secs_f64()
    ));
    send(&format!("validation loss of the network in the executable: {reference:.6}"));
    let shape = Shape { features: G::Board::INPUTS, hidden: args.hidden };
    let described = format!("{targets:?} {settings:?} games {}", source.games());
    let checkpoint_file = args.out.with_extension("checkpoint");
    let mut curve = Curve { points: Vec::new(), reference };
    let mut trainer = if args.resume {
        let checkpoint = Checkpoint::read(&checkpoint_file).map_err(|error| failed(&error))?;
        if checkpoint.settings != described {
            let (path, found) = (checkpoint_file, checkpoint.settings);
            let error = CheckpointError::Settings { path, found, wanted: described };
            return Err(error.to_string());
        }
        curve = checkpoint.curve;
        Trainer::resume(&source, validation, settings, checkpoint.state)
    } else {
        let start = args.start.as_deref().map(|path| start(path, shape, &settings));
        let start = start.transpose().map_err(|error| failed(&error))?;
        Trainer::new(&source, validation, settings, start)
    };
    let stem = args.out.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let info = NetworkInfo {
        name: args.name.clone().or(stem).unwrap_or_default(),
        commit: args.commit.clone(),
        data: source.hashes().to_vec(),
    };
    let begun = Instant::now();
    let before = trainer.state().positions;
    send(" million   rate      training  validation  positions/s");
    while let Some(point) = trainer.advance() {
        let speed = (point.positions - before) as f64 / begun.elapsed().as_secs_f64();
        send(&format!(
            "{:>8.2}   {:.6}  {:.6}  {:.6}    {speed:.0}",
            point.positions as f64 / 1e6,
            point.rate,
            point.training,
            point.validation
        ));
        curve.points.push(point);
        let network = quantize(G::Board::GAME, &settings, info.clone(), &trainer.state().best)
            .map_err(|error| failed(&error))?;
        write(&args.out, &network.write())?;
        let state = trainer.state().clone();
        let checkpoint = Checkpoint { settings: described.clone(), state, curve: curve.clone() };
        checkpoint.write(&checkpoint_file).map_err(|error| failed(&error))?;
        write(&args.out.with_extension("csv"), curve.csv().as_bytes())?;
        write(&args.out.with_extension("svg"), curve.svg().as_bytes())?;
    }
    send(&format!("lowest validation loss: {:.6}", trainer.state().best_loss));
    Ok(())
}

/// The parameters of a checkpoint or network.
fn start(path: &Path, shape: Shape, settings: &Settings) -> Result<Vec<f32>, CheckpointError> {
    let bytes = fs::read(path).map_err(|error| CheckpointError::Io(path.to_owned(), error))?;
    let parameters = if let Ok(network) = Network::read(&bytes) {
        if network.architecture().activation() != settings.activation {
            return Err(CheckpointError::Shape(path.to_owned()));
        }
        let from = Shape { hidden: network.architecture().hidden(), ..shape };
        widened(from, &dequantize(&network), shape, &mut Rng::with_seed(settings.seed))
            .ok_or_else(|| CheckpointError::Shape(path.to_owned()))?
    } else {
        Checkpoint::read(path)?.state.best
    };
    if parameters.len() != shape.parameters() {
        return Err(CheckpointError::Shape(path.to_owned()));
    }
    Ok(parameters)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    fs::write(path, bytes)
        .map_err(|error| format!("`{}` cannot be written: {error}", path.display()))
}
