//! `narikin-train average`.

use std::fs;
use std::path::PathBuf;

use crate::cli::{Done, read_network, send};
use crate::nnue::average::average;

const HELP: &str = "\
The networks must be trained from the same start.

Example:
  narikin-train average a.net b.net c.net --name chess-256 --out chess.net";

/// Average the parameters of networks
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct AverageArgs {
    /// Networks of the same architecture
    #[arg(value_name = "FILE", num_args = 2.., required = true)]
    nets: Vec<PathBuf>,
    /// Name of the network
    #[arg(long)]
    name: String,
    /// Where to write the network
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub(super) fn run(args: &AverageArgs) -> Done {
    let networks = args.nets.iter().map(|path| read_network(path));
    let network = average(&networks.collect::<Result<Vec<_>, _>>()?, &args.name)?;
    fs::write(&args.out, network.write())
        .map_err(|error| format!("`{}`: {error}", args.out.display()))?;
    send(&format!("{}: average of {} networks", network.name(), args.nets.len()));
    Ok(())
}
