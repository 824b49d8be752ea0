//! `narikin-train evaluate`.

use std::path::PathBuf;
use std::sync::Arc;

use narikin::network::{Activation, Features, embedded};

use crate::cli::train::TargetName;
use crate::cli::{Done, read_network, send};
use crate::games::{Chess, GameKind, Shogi, TrainGame};
use crate::nnue::gradient::Objective;
use crate::nnue::source::Source;
use crate::samples::Filter;

/// Compare networks with the one in the executable on validation games
#[derive(Debug, clap::Args)]
pub(super) struct EvaluateArgs {
    game: GameKind,
    /// Files of games; one of 16 games is a validation game
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    data: Vec<PathBuf>,
    /// Networks
    #[arg(long, value_name = "FILE", num_args = 1..)]
    net: Vec<PathBuf>,
    /// Scores to compare with
    #[arg(long, default_value = "searches")]
    targets: TargetName,
    /// With static targets, the number of random legal moves from each position
    #[arg(long, value_name = "N", default_value_t = 8)]
    siblings: u8,
    /// Weight of the later scores of the game in the score of a position, from 0 to 1: the λ of TD(λ)
    #[arg(long, value_name = "LAMBDA", default_value_t = 0.0, value_parser = super::train::weight)]
    td_lambda: f32,
    /// Weight of the result in the target, from 0 to 1; the rest is the score
    #[arg(long, default_value_t = 0.3, value_parser = super::train::weight)]
    wdl: f32,
    /// Score with an expected result of 73 %, in centipawns [default: fitted to the games]
    #[arg(long)]
    scale: Option<f32>,
    /// Maximum number of positions
    #[arg(long, value_name = "N", default_value_t = 262_144)]
    validation: usize,
}

pub(super) fn run(args: &EvaluateArgs) -> Done {
    match args.game {
        GameKind::Chess => evaluate::<Chess>(args),
        GameKind::Shogi => evaluate::<Shogi>(args),
    }
}

#[expect(clippy::cast_precision_loss, reason = "means and scores")]
fn evaluate<G: TrainGame + Sync>(args: &EvaluateArgs) -> Done {
    let mut networks = Vec::from_iter(embedded(G::Board::GAME));
    for path in &args.net {
        let network = read_network(path)?;
        if network.architecture().game() != G::Board::GAME {
            return Err(format!("`{}` is a network of another game", path.display()).into());
        }
        networks.push(Arc::new(network));
    }
    let targets = args.targets.targets(args.td_lambda, args.siblings);
    let source = Source::<G>::load(&args.data, Filter::usual(G::KIND), targets)?;
    let scale = args.scale.unwrap_or_else(|| source.scores().scale());
    let mut values = vec![Vec::new(); networks.len()];
    let positions = source.validation(args.validation, |board| {
        for (values, network) in values.iter_mut().zip(&networks) {
            values.push(network.evaluate(board).unwrap_or(0));
        }
    });
    // The activation only matters for gradients.
    let wdl = if args.targets == TargetName::Static { 0.0 } else { args.wdl };
    let objective = Objective { activation: Activation::ClippedRelu, centipawns: 1.0, scale, wdl };
    send(&format!("{} positions, scale {scale:.0}", positions.len()));
    send("loss      name");
    for (network, values) in networks.iter().zip(values) {
        let losses = values
            .iter()
            .enumerate()
            .map(|(index, &value)| objective.loss(&positions.get(index), value as f32));
        let mean = losses.sum::<f64>() / positions.len().max(1) as f64;
        send(&format!("{mean:.6}  {}", network.name()));
    }
    Ok(())
}
