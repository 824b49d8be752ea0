//! The arguments of the program, and which of them call what.

mod analyse;
mod engine;
mod options;
mod tap;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::text::printable;

/// Analyse with, look into and listen to chess and shogi engines (UCI and USI).
#[derive(Debug, Parser)]
#[command(name = "readyok", version)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Analyse(analyse::Args),
    Options(options::Args),
    Engine(engine::Args),
    Tap(tap::Args),
}

/// Does what the arguments say. The first of them is the name of the program.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // With its output closed there is nobody left to tell.
            let _ = error.print();
            return u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from);
        }
    };
    let done = match cli.verb {
        Verb::Analyse(args) => analyse::run(args),
        Verb::Options(args) => options::run(&args),
        Verb::Engine(args) => engine::run(&args),
        Verb::Tap(args) => tap::run(args),
    };
    let code = done.unwrap_or_else(|failure| {
        complain(&failure.to_string());
        failure.code
    });
    code.into()
}

/// Tells the person at the terminal what went wrong.
fn complain(text: &str) {
    // With standard error closed there is nobody left to tell.
    let _ = writeln!(io::stderr(), "readyok: {}", printable(text));
}
