//! The command line.

mod generate;
mod show;
mod tune;

use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};

use crate::games::GameKind;

/// Play games of Narikin against itself, and fit its evaluation to them.
#[derive(Debug, Parser)]
#[command(name = "narikin-train", version)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Generate(generate::Args),
    Tune(tune::Args),
    Show(show::ShowArgs),
    Stats(show::StatsArgs),
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
        Verb::Generate(args) => generate::run(&args),
        Verb::Tune(args) => tune::run(&args),
        Verb::Show(args) => show::show(&args),
        Verb::Stats(args) => show::stats(&args),
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
