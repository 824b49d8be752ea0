//! `readyok options`.

use std::io::{self, Write};

use readyok_protocol::Dialect;
use readyok_protocol::translation::{LanguageTag, Translation};

use crate::address::{Address, Protocol};
use crate::cli::complain;
use crate::cli::start::{self, StartArgs};
use crate::dirs;
use crate::exit::{Code, Failure};
use crate::guardian;
use crate::messages::Messages;
use crate::options::{Report, translation};
use crate::signals::{Interrupts, on_interrupt};

const HELP: &str = "\
ENGINE is a name from engines.toml, `narikin`, tcp://host:port, a path, a program in PATH, or a
quoted command line.

Examples:
  readyok options stockfish
  readyok options fairy-stockfish --protocol usi --lang ja
  readyok options 'gnuchess --uci' --json

If a file `<program>.lang.json` lies beside the program, the names come from it; `narikin` has one
in itself. Otherwise well-known options have names and descriptions in English (en) and Japanese
(ja).";

/// Show who an engine is, and which options it has
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    /// Which engine
    engine: String,
    /// The protocol to speak; by default that of engines.toml, or whichever the engine answers to
    #[arg(long, value_enum)]
    protocol: Option<Protocol>,
    /// The language to show names in, such as `ja` or `en-GB`; of several the first one counts
    /// that there is
    #[arg(long, value_name = "TAG")]
    lang: Vec<LanguageTag>,
    #[command(flatten)]
    start: StartArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Code, Failure> {
    let address = Address::find(&args.engine, &dirs::env).map_err(Failure::usage)?;
    let address = args.start.apply(address);
    let translation = translation(&address.reach).unwrap_or_else(|error| {
        complain(&error.to_string());
        Translation::default()
    });
    let dialect = args.protocol.map(Dialect::from).or(address.dialect);
    let interrupts = Interrupts::default();
    on_interrupt(move || interrupts.interrupt()).map_err(Failure::failed)?;
    let guard = guardian::start().map_err(Failure::failed)?;
    let mut engine = address.open(dialect, &guard).map_err(Failure::failed)?;
    let mut messages = Messages::default();
    messages.collect_status(&mut engine);
    let report = Report::new(&engine, &translation, &args.lang);
    let printed = print(&report, args.json);
    start::report(&mut messages, &engine, None);
    let code = if messages.is_copy_protected() { Code::Failed } else { Code::Done };
    match printed {
        // The reader has closed the pipe.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(code),
        done => done.map(|()| code).map_err(Failure::failed),
    }
}

fn print(report: &Report, json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if json {
        serde_json::to_writer_pretty(&mut out, report)?;
        writeln!(out)
    } else {
        write!(out, "{report}")
    }
}
