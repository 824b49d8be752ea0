//! `narikin-train tune`.

use std::fs;
use std::ops::Range;
use std::path::PathBuf;

use narikin::eval::{Model, Weight};

use super::{Done, GameName, send};
use crate::games::{Chess, GameKind, Shogi, TrainGame};
use crate::samples::Filter;
use crate::tune::{Settings, fit, load};
use crate::weights;

const HELP: &str = "\
Example:
  narikin-train tune chess --data chess.bin --out crates/narikin/weights/chess.bin";

/// Fit the weights of the evaluation to games
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    game: GameName,
    /// Files of games
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    data: Vec<PathBuf>,
    /// Where to write the weights
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// A file of weights to start from, `hand` for the hand-written ones, or `zero`
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

pub(super) fn run(args: &Args) -> Done {
    for (name, number) in [("scale", args.scale.unwrap_or(1.0)), ("spread", args.spread)] {
        if !(number.is_finite() && number > 0.0) {
            return Err(format!("the {name} `{number}` is not above 0").into());
        }
    }
    if !(0.0..=1.0).contains(&args.lambda) {
        return Err(format!("lambda is `{}`, which is not from 0 to 1", args.lambda).into());
    }
    match args.game.kind() {
        GameKind::Chess => tune::<Chess>(args),
        GameKind::Shogi => tune::<Shogi>(args),
    }
}

fn tune<G: TrainGame>(args: &Args) -> Done {
    let count = <G::Model as Model>::WEIGHTS;
    let mut start = match args.start.as_str() {
        "hand" => G::hand_written(),
        "zero" => vec![Weight::default(); count],
        file => weights::read(file.as_ref(), count)?,
    };
    let groups = G::groups();
    let mut frozen = Vec::new();
    for name in &args.keep {
        frozen.push(range(&groups, name)?);
    }
    for name in &args.without {
        let range = range(&groups, name)?;
        if let Some(group) = start.get_mut(range.clone()) {
            group.fill(Weight::default());
        }
        frozen.push(range);
    }
    let split = load::<G, G::Model>(&args.data, &Filter::usual(G::KIND))?;
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
    let fitted = fit(training, validation, &start, &frozen, &settings, |epoch| {
        let (number, fitted, tested) = (epoch.number, epoch.training, epoch.validation);
        send(&format!("epoch {number:>3}  training {fitted:.6}  validation {tested:.6}"));
    });
    fs::write(&args.out, weights::bytes(&fitted))
        .map_err(|error| format!("`{}` cannot be written: {error}", args.out.display()))?;
    Ok(())
}

fn range(groups: &[(&str, Range<usize>)], name: &str) -> Result<Range<usize>, String> {
    let found = groups.iter().find(|(group, _)| *group == name);
    found.map(|(_, range)| range.clone()).ok_or_else(|| {
        let names: Vec<&str> = groups.iter().map(|&(name, _)| name).collect();
        format!("`{name}` is not one of the groups: {}", names.join(", "))
    })
}
