//! Command line arguments and commands.

mod analyse;
mod annotate;
mod bot;
mod check;
mod convert;
mod csa;
mod engine;
mod execution;
mod farm;
mod filter;
mod help;
mod library;
mod lichess;
mod match_plan;
mod matches;
mod provide;
mod queue;
mod results;
mod serve;
mod tap;
mod tune;
mod version;
mod worker;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{FromArgMatches as _, Parser, Subcommand};

use crate::connect::{GUARD_COMMAND, run_guard};
use crate::exit::{Code, Failure};
use crate::terminal::print_error;

/// Analyse with chess and shogi engines (UCI and USI), play matches, and check and log the protocol
#[derive(Debug, Parser)]
#[command(name = "readyok", version = version::version(), max_term_width = 80, disable_help_subcommand = true)]
struct Cli {
    /// Command to run; without one, serve the app and open it in the browser
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::Args),
    Analyse(analyse::Args),
    Annotate(Box<annotate::Args>),
    Convert(Box<convert::Args>),
    Library(Box<library::Args>),
    Csa(Box<csa::Args>),
    Options(engine::OptionsArgs),
    Provide(Box<provide::Args>),
    Bot(Box<bot::Args>),
    Match(Box<matches::Args>),
    Tune(Box<tune::Args>),
    Worker(worker::Args),
    Queue(queue::Args),
    Farm(farm::Args),
    Report(results::ReportArgs),
    Elo(results::EloArgs),
    Engine(engine::EngineArgs),
    Tap(tap::Args),
    Check(check::Args),
    Completions(help::CompletionsArgs),
    #[command(hide = true)]
    Man(help::ManArgs),
    Help(help::HelpArgs),
}

/// Options that only fastchess and cutechess have.
const FASTCHESS_OPTIONS: [&str; 4] = ["-engine", "-each", "-quick", "-openings"];

/// Runs the command in the arguments, of which the first is the name of the program.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    // `readyok --app` is `readyok serve --app`, for entries of menus.
    if arguments.get(1).is_some_and(|first| first == "--app") {
        arguments.insert(1, "serve".into());
    }
    if let [_, command, mode, rest @ ..] = arguments.as_slice()
        && (command == "match" && mode == "--fastchess")
    {
        // clap cannot parse the option syntax of fastchess.
        return matches::run_fastchess(rest).into();
    }
    if let [_, command, rest @ ..] = arguments.as_slice()
        && command == "match"
        && rest.iter().any(|arg| FASTCHESS_OPTIONS.iter().any(|option| arg == option))
    {
        print_error(
            "arguments in the syntax of fastchess follow `readyok match --fastchess`, \
             for example `readyok match --fastchess -engine cmd=a -engine cmd=b -each tc=8+0.08`",
        );
        return Code::Usage.into();
    }
    if arguments.get(1).is_some_and(|command| command == GUARD_COMMAND) {
        // The command line of an engine follows.
        return exit_code(run_guard());
    }
    if let [_, argument] = arguments.as_slice()
        && argument == "--version"
    {
        return exit_code(version::print_version());
    }
    let parsed = help::command().try_get_matches_from(&arguments);
    let cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => {
            print_usage_error(&error);
            return u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from);
        }
    };
    let done = match cli.command.unwrap_or_else(|| Command::Serve(serve::Args::default())) {
        Command::Serve(args) => serve::run(args),
        Command::Analyse(args) => analyse::run(args),
        Command::Annotate(args) => annotate::run(*args),
        Command::Convert(args) => convert::run(*args),
        Command::Library(args) => library::run(*args),
        Command::Csa(args) => csa::run(*args),
        Command::Options(args) => engine::print_options(&args),
        Command::Engine(args) => engine::run_engine(&args),
        Command::Tap(args) => tap::run(args),
        Command::Check(args) => check::run(&args),
        Command::Provide(args) => provide::run(*args),
        Command::Bot(args) => bot::run(*args),
        Command::Match(args) => matches::run(*args),
        Command::Tune(args) => tune::run(*args),
        Command::Worker(args) => worker::run(args),
        Command::Queue(args) => queue::run(&args),
        Command::Farm(args) => farm::run(args),
        Command::Report(args) => results::write_report(&args),
        Command::Elo(args) => results::print_elo(&args),
        Command::Completions(args) => help::print_completions(&args),
        Command::Man(args) => help::write_man_pages(&args),
        Command::Help(args) => help::print_help(&args),
    };
    exit_code(done)
}

/// Prints an error of the arguments, or a requested help text.
fn print_usage_error(error: &clap::Error) {
    // Standard error may be closed.
    let _ = if error.kind() == clap::error::ErrorKind::ValueValidation {
        io::stderr().write_all(explain_numbers(&error.render().to_string()).as_bytes())
    } else {
        error.print()
    };
}

/// Replaces the messages of number parsers, which do not state what is expected.
fn explain_numbers(error: &str) -> String {
    let unit = if error.contains("<MS>'") { " of milliseconds" } else { "" };
    let mut text = error.to_owned();
    for parser in ["invalid digit found in string", "cannot parse integer from empty string"] {
        text = text.replace(parser, &format!("a whole number{unit} is expected"));
    }
    for parser in ["invalid float literal", "cannot parse float from empty string"] {
        text = text.replace(parser, "a number is expected");
    }
    text
}

fn exit_code(done: Result<Code, Failure>) -> ExitCode {
    let code = done.unwrap_or_else(|failure| {
        print_error(&failure.to_string());
        failure.code
    });
    // The type of the standard library has 8 bits. Codes of crashed engines on Windows have 32.
    #[expect(clippy::exit, reason = "all values of the command are dropped")]
    if cfg!(windows) && u8::try_from(code.number()).is_err() {
        std::process::exit(code.number());
    }
    code.into()
}
