//! `readyok tap`.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::address::Timeout;
use crate::clock::unix_seconds;
use crate::connect::start_guard;
use crate::dirs;
use crate::exit::{Code, Failure, on_interrupt};
use crate::tap::{Log, LogFormat, Tap};
use crate::terminal::print_error;

const HELP: &str = "\
Set this command as the engine in a GUI:
  readyok tap --log /tmp/stockfish.log -- stockfish

Without --log, each start writes a new file in $XDG_STATE_HOME/readyok (default: ~/.local/state/readyok).

The exit code is that of the engine. If it is 0, --strict changes it to 3 after a violation of a must.";

/// Log the session between a GUI and an engine, and report protocol violations
///
/// Every byte is relayed unchanged and immediately.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    /// Append the log to this file
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Write the log as JSON: one object per line
    #[arg(long)]
    json: bool,
    /// Also report violations on standard error, and exit with 3 after a violation of a must
    #[arg(long)]
    strict: bool,
    /// Set the time of the engine to exit after the GUI has closed its output, in seconds [default: 5]
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<Timeout>,
    /// Command that starts the engine
    #[arg(last = true, required = true, value_name = "ENGINE COMMAND")]
    engine: Vec<OsString>,
}

pub(super) fn run(args: Args) -> Result<Code, Failure> {
    let Some((program, arguments)) = args.engine.split_first() else {
        return Err(Failure::usage("missing engine command"));
    };
    let started = unix_seconds();
    let path = match args.log {
        Some(path) => path,
        None => default_log(Path::new(program), started),
    };
    let file = open(&path)
        .map_err(|error| Failure::failed(format!("cannot write `{}`: {error}", path.display())))?;
    let format = if args.json { LogFormat::Json } else { LogFormat::Text };
    let mut log = Log::new(file, &title(&args.engine, started), format).map_err(Failure::failed)?;
    if args.strict {
        log = log.reporting_to(io::stderr()).map_err(Failure::failed)?;
    }
    let mut engine = Command::new(program);
    engine.args(arguments);
    let mut tap = Tap::default().guarded(start_guard().map_err(Failure::failed)?);
    if let Some(timeout) = args.timeout {
        tap = tap.exit_timeout(timeout.duration());
    }
    let interrupt = tap.interrupt();
    on_interrupt(move || interrupt.interrupt()).map_err(Failure::failed)?;
    let status = tap.run(engine, io::stdin(), io::stdout(), &mut log).map_err(Failure::failed)?;
    if let Some(error) = log.failure() {
        print_error(&format!("the log `{}` is incomplete: {error}", path.display()));
    }
    Ok(match status.map_or(Code::Failed, Code::of) {
        Code::Done if args.strict && log.must_violated() => Code::MustViolated,
        Code::Done if log.failure().is_some() => Code::Failed,
        code => code,
    })
}

/// A unique name among running taps.
fn default_log(program: &Path, started: u64) -> PathBuf {
    let dir = dirs::state(&dirs::env).unwrap_or_else(std::env::temp_dir);
    let engine = dirs::stem(program);
    dir.join(format!("tap-{engine}-{started}-{}.log", std::process::id()))
}

fn open(path: &Path) -> io::Result<File> {
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir)?;
    }
    OpenOptions::new().create(true).append(true).open(path)
}

fn title(engine: &[OsString], started: u64) -> String {
    let command: Vec<_> = engine.iter().map(|argument| argument.to_string_lossy()).collect();
    let version = env!("CARGO_PKG_VERSION");
    format!("readyok {version} tap, started at Unix time {started}: {}", command.join(" "))
}
