//! `readyok engine`.

use crate::exit::{Code, Failure};

const HELP: &str = "\
Set this command as the engine in any GUI, or the program `narikin`, which is the same. It plays chess,
Chess960 and shogi.";

/// Be Narikin, the engine of this project, on standard input and output (UCI and USI)
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {}

pub(super) fn run(Args {}: &Args) -> Result<Code, Failure> {
    let runner = narikin::runner().map_err(Failure::failed)?;
    runner.run_stdio().map(|()| Code::Done).map_err(Failure::failed)
}
