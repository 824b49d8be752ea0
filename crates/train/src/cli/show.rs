//! `narikin-train show` and `narikin-train stats`.

use std::path::PathBuf;

use narikin::eval::Model;

use super::{Done, GameName, send};
use crate::games::{Chess, GameKind, Shogi, TrainGame};
use crate::{stats, weights};

/// Print the weights of a file by their groups, in centipawns
#[derive(Debug, clap::Args)]
pub(super) struct ShowArgs {
    game: GameName,
    /// The file, or `hand` for the hand-written ones
    #[arg(value_name = "FILE")]
    weights: String,
}

pub(super) fn show(args: &ShowArgs) -> Done {
    match args.game.kind() {
        GameKind::Chess => show_of::<Chess>(args),
        GameKind::Shogi => show_of::<Shogi>(args),
    }
}

fn show_of<G: TrainGame>(args: &ShowArgs) -> Done {
    let weights = match args.weights.as_str() {
        "hand" => G::hand_written(),
        file => weights::read(file.as_ref(), <G::Model as Model>::WEIGHTS)?,
    };
    send(weights::table(&weights, &G::groups()).trim_end());
    Ok(())
}

/// Print statistics of a file of games
#[derive(Debug, clap::Args)]
pub(super) struct StatsArgs {
    /// The file
    file: PathBuf,
}

pub(super) fn stats(args: &StatsArgs) -> Done {
    send(&stats::stats(&args.file)?.to_string());
    Ok(())
}
