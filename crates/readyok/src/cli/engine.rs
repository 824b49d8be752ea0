//! `readyok engine` and `readyok options`, and the arguments that are common to commands with an engine.

use std::io::{self, Write};

use readyok_client::Engine;
use readyok_protocol::Dialect;
use readyok_protocol::translation::{LanguageTag, Translation};

use crate::address::{Address, Registration, Timeout};
use crate::connect::{Messages, start_guard};
use crate::dirs;
use crate::exit::{Code, Failure, Interrupts, on_interrupt};
use crate::options::{Report, translation};
use crate::terminal::print_error;

const ENGINE_HELP: &str = "\
Set this command, or the program `narikin`, as the engine in a GUI. It plays chess, Chess960 and shogi.";

/// Run the engine Narikin on standard input and output (UCI and USI)
#[derive(Debug, clap::Args)]
#[command(after_help = ENGINE_HELP)]
pub(super) struct EngineArgs {}

pub(super) fn run_engine(EngineArgs {}: &EngineArgs) -> Result<Code, Failure> {
    let runner = narikin::runner().map_err(Failure::failed)?;
    runner.run_stdio().map(|()| Code::Done).map_err(Failure::failed)
}

#[derive(Debug, clap::Args)]
pub(super) struct StartArgs {
    /// Set the timeout of the handshake and of `isready`, in seconds [default: 30 and 60]
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<Timeout>,
    /// Reply to `registration error` with `later` or `name NAME code CODE` [default: later]
    #[arg(long, value_name = "REGISTRATION")]
    register: Option<Registration>,
}

impl StartArgs {
    /// Applies the arguments to an address. They override the engine list.
    pub(super) fn apply(&self, address: Address) -> Address {
        Address {
            timeout: self.timeout.or(address.timeout),
            registration: self.register.clone().or(address.registration),
            ..address
        }
    }
}

/// Prints the status of the engine and its bare lines, except a line that another error reports.
pub(super) fn print_messages(messages: &mut Messages, engine: &Engine, reported: Option<&str>) {
    for line in messages.drain_lines(reported) {
        print_error(&format!("engine `{}` printed `{line}`", engine.name()));
    }
    for status in messages.status(engine) {
        print_error(&status);
    }
}

const OPTIONS_HELP: &str = "\
ENGINE is a name from engines.toml, `narikin`, tcp://host:port, a path, a program in PATH, or a quoted command line.

Examples:
  readyok options stockfish
  readyok options fairy-stockfish --protocol usi --lang ja
  readyok options 'gnuchess --uci' --json

Labels and descriptions come from the file `<program>.lang.json` next to the program, if it exists. Otherwise well-known options have labels and descriptions in English (en) and Japanese (ja).";

/// Print the identity and the options of an engine
#[derive(Debug, clap::Args)]
#[command(after_help = OPTIONS_HELP)]
pub(super) struct OptionsArgs {
    /// Engine to inspect
    engine: String,
    /// Use this protocol [default: that of engines.toml, otherwise UCI and then USI]
    #[arg(long, value_enum)]
    protocol: Option<Dialect>,
    /// Print labels in this language, such as `ja` or `en-GB`; the first available one of several
    #[arg(long, value_name = "TAG")]
    lang: Vec<LanguageTag>,
    #[command(flatten)]
    start: StartArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn print_options(args: &OptionsArgs) -> Result<Code, Failure> {
    let address = Address::find(&args.engine, &dirs::env).map_err(Failure::usage)?;
    let address = args.start.apply(address);
    let translation = translation(&address.source).unwrap_or_else(|error| {
        print_error(&error.to_string());
        Translation::default()
    });
    let dialect = args.protocol.or(address.dialect);
    let interrupts = Interrupts::default();
    on_interrupt(move || interrupts.interrupt()).map_err(Failure::failed)?;
    let guard = start_guard().map_err(Failure::failed)?;
    let mut engine = address.open(dialect, &guard).map_err(Failure::failed)?;
    let mut messages = Messages::of(&address);
    messages.collect_status(&mut engine);
    let report = Report::new(&engine, &translation, &args.lang);
    let printed = print_report(&report, args.json);
    print_messages(&mut messages, &engine, None);
    let code = if messages.is_copy_protected() { Code::Failed } else { Code::Done };
    match printed {
        // The reader has closed the pipe.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(code),
        done => done.map(|()| code).map_err(Failure::failed),
    }
}

fn print_report(report: &Report, json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if json {
        serde_json::to_writer_pretty(&mut out, report)?;
        writeln!(out)
    } else {
        write!(out, "{report}")
    }
}
