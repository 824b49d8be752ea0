//! `readyok report`.

use std::path::PathBuf;

use crate::exit::{Code, Failure};
use crate::matches::write_report;

/// Write a report about the results of a match, as one page of HTML
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The file with the results
    #[arg(value_name = "RESULTS.jsonl")]
    results: PathBuf,
    /// Where the report goes
    #[arg(value_name = "REPORT.html")]
    report: PathBuf,
}

pub(super) fn run(args: &Args) -> Result<Code, Failure> {
    write_report(&args.results, &args.report).map_err(Failure::failed)?;
    Ok(Code::Done)
}
