//! The arguments of the program, and which of them call what.

mod analyse;
mod check;
mod compliance;
mod elo;
mod engine;
mod game;
mod match_plan;
mod matches;
mod options;
mod queue;
mod report;
mod secret;
mod serve;
mod start;
mod tap;
mod worker;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::guardian;
use crate::text::printable;

/// Analyse with, match, look into and listen to chess and shogi engines (UCI and USI).
#[derive(Debug, Parser)]
#[command(name = "readyok", version)]
struct Cli {
    /// Without one the app is served, and opened in the browser.
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Serve(serve::Args),
    Analyse(analyse::Args),
    Options(options::Args),
    Match(Box<matches::Args>),
    Worker(worker::Args),
    Report(report::Args),
    Elo(elo::Args),
    Engine(engine::Args),
    Tap(tap::Args),
    Check(check::Args),
    /// Kill what is left of engines when the program that started this one is gone
    #[command(name = guardian::VERB, hide = true)]
    Guard,
}

/// Does what the arguments say. The first of them is the name of the program.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if let [_, verb, rest @ ..] = arguments.as_slice()
        && let [way, words @ ..] = rest
        && (verb == "match" && way == "--fastchess")
    {
        // Its options are not of the form that all others here have.
        return matches::run_fastchess(words).into();
    }
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Standard error may be closed.
            let _ = error.print();
            return u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from);
        }
    };
    let done = match cli.verb.unwrap_or_else(|| Verb::Serve(serve::Args::default())) {
        Verb::Serve(args) => serve::run(args),
        Verb::Analyse(args) => analyse::run(args),
        Verb::Options(args) => options::run(&args),
        Verb::Engine(args) => engine::run(&args),
        Verb::Tap(args) => tap::run(args),
        Verb::Check(args) => check::run(&args),
        Verb::Match(args) => matches::run(*args),
        Verb::Worker(args) => worker::run(args),
        Verb::Report(args) => report::run(&args),
        Verb::Elo(args) => elo::run(&args),
        Verb::Guard => guardian::serve(),
    };
    let code = done.unwrap_or_else(|failure| {
        complain(&failure.to_string());
        failure.code
    });
    code.into()
}

/// Prints a line of text from here.
fn print(line: &str) {
    // With standard output closed there is nobody left to tell.
    let _ = writeln!(io::stdout(), "{line}");
}

/// Columns and rows of the terminal.
fn terminal_size() -> (usize, usize) {
    let size = terminal_size::terminal_size();
    size.map_or((80, 24), |(columns, rows)| (columns.0.into(), rows.0.into()))
}

/// Tells the person at the terminal what went wrong.
fn complain(text: &str) {
    // With standard error closed there is nobody left to tell.
    let _ = writeln!(io::stderr(), "readyok: {}", printable(text));
}
