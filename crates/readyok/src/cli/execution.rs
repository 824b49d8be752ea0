//! The arguments that `readyok match` and `readyok tune` share.

use std::path::{Path, PathBuf};

use crate::clock::unix_seconds;
use crate::matches::{Changes, Extension, Name, Results};

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Execution and output")]
pub(super) struct ExecutionArgs {
    /// Number of game pairs to play in parallel; 0: as many as fit the CPU cores, including engine
    /// threads and pondering
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) concurrency: u16,
    /// Pin engines to CPU cores: these, or all available ones
    #[arg(long, value_name = "CPU", value_delimiter = ',', num_args = 0..)]
    pub(super) pin: Option<Vec<usize>>,
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "resume",
        help = "File for the results [default: match-<time>.jsonl or tune-<time>.jsonl]"
    )]
    pub(super) results: Option<PathBuf>,
    /// Resume from this results file; a plan may have more rounds
    #[arg(long, value_name = "FILE")]
    pub(super) resume: Option<PathBuf>,
    /// Resume although engines or openings have changed
    #[arg(long, requires = "resume")]
    ignore_changes: bool,
    /// Write games as PGN (chess); an existing file with other content is renamed to .old
    #[arg(long, value_name = "FILE")]
    pub(super) pgn: Option<PathBuf>,
    /// Write a report at the end
    #[arg(long, value_name = "FILE.html")]
    pub(super) report: Option<PathBuf>,
    /// Write events as JSON lines; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(super) events: Option<PathBuf>,
}

impl ExecutionArgs {
    /// The results file of a match that continues.
    pub(super) fn resumed(&self, path: &Path, extension: Extension) -> Results {
        let changes = if self.ignore_changes { Changes::Ignore } else { Changes::Reject };
        Results::Resume(path.to_owned(), extension, changes)
    }

    /// The name of a new results file, which starts with the command by default.
    pub(super) fn name(&self, command: &str) -> Name {
        let default =
            || Name::Default(PathBuf::from(format!("{command}-{}.jsonl", unix_seconds())));
        self.results.clone().map_or_else(default, Name::Given)
    }
}
