//! `readyok tap`.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::cli::complain;
use crate::dirs;
use crate::exit::{Code, Failure};
use crate::guardian;
use crate::signals::on_interrupt;
use crate::tap::{Log, Tap};
use crate::timeout::Timeout;

const HELP: &str = "\
Set this command as the “engine” in any GUI:
  readyok tap --log /tmp/stockfish.log -- stockfish

Without --log, each start writes a file of its own in $XDG_STATE_HOME/readyok, which is
~/.local/state/readyok if that variable is not set.

The exit code is the engine's. If that is 0, it is 3 if --strict is given and one of the sides broke
a must.";

/// Log what a GUI and an engine say to each other, and report which rules they break
///
/// Every byte is passed on unchanged and at once.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    /// Add the log to this file
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Report broken rules on standard error, too, and end with 3 if one was a must
    #[arg(long)]
    strict: bool,
    /// Maximum time for the engine to answer and exit after the GUI has closed its end, in seconds (default: 5)
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<Timeout>,
    /// The command that starts the engine
    #[arg(last = true, required = true, value_name = "ENGINE COMMAND")]
    engine: Vec<OsString>,
}

pub(super) fn run(args: Args) -> Result<Code, Failure> {
    let Some((program, arguments)) = args.engine.split_first() else {
        return Err(Failure::usage("no engine command was given"));
    };
    let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let path = match args.log {
        Some(path) => path,
        None => default_log(Path::new(program), started),
    };
    let file = open(&path)
        .map_err(|error| Failure::failed(format!("cannot write `{}`: {error}", path.display())))?;
    let mut log = Log::new(file, &title(&args.engine, started)).map_err(Failure::failed)?;
    if args.strict {
        log = log.reporting_to(io::stderr()).map_err(Failure::failed)?;
    }
    let mut engine = Command::new(program);
    engine.args(arguments);
    let mut tap = Tap::default().guarded(guardian::start().map_err(Failure::failed)?);
    if let Some(timeout) = args.timeout {
        tap = tap.timeout(timeout.duration());
    }
    let interrupt = tap.interrupt();
    on_interrupt(move || interrupt.interrupt()).map_err(Failure::failed)?;
    let status = tap.run(engine, io::stdin(), io::stdout(), &mut log).map_err(Failure::failed)?;
    if let Some(error) = log.failure() {
        complain(&format!("the log `{}` is not complete: {error}", path.display()));
    }
    Ok(match status.map_or(Code::Failed, Code::of) {
        Code::Done if args.strict && log.must_broken() => Code::MustBroken,
        Code::Done if log.failure().is_some() => Code::Failed,
        code => code,
    })
}

/// A name that no other running tap uses.
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
    let words: Vec<_> = engine.iter().map(|word| word.to_string_lossy()).collect();
    let version = env!("CARGO_PKG_VERSION");
    format!("readyok {version} tap, started at Unix time {started}: {}", words.join(" "))
}
