//! `readyok check`.

use std::ffi::OsString;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use readyok_check::{ClientSuite, Profile, Progress, Report, Suite, Target};
use readyok_protocol::{Dialect, Party};

use crate::address::{Address, Reach};
use crate::canvas::Canvas;
use crate::cli::terminal_size;
use crate::dirs;
use crate::exit::{Code, Failure};
use crate::guardian;
use crate::timeout::Timeout;

const HELP: &str = "\
ENGINE is a name from engines.toml, `narikin`, tcp://host:port, a path, a program in PATH, or a quoted
command line.

Examples:
  readyok check ./my-engine
  readyok check 'gnuchess --uci' --only search. --only ending.
  readyok check ./my-engine --soak --only soak.
  readyok check fairy-stockfish --usi --junit check.xml --markdown check.md
  readyok check --list
  readyok check --gui -- my-gui --engine {engine}
  readyok check --gui -- sh -c 'printf \"new\\nsd 1\\ngo\\n\" | polyglot -noini -ec {engine}'

With --gui the command starts a client, with {engine} in the place of its engine: a program without
arguments, which plays its part by a script. The client is started once for each check, and gets no
input.

The exit code is 0 if the engine or client conforms, 1 if it breaks a must, and 2 if it could not be
judged.";

/// Look whether an engine, or a GUI, keeps to the rules of UCI or USI
///
/// Each failure is shown with the rule and where it stands, a dialogue that shows it, and what to
/// change.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
#[expect(clippy::struct_excessive_bools, reason = "independent flags of a command")]
pub(super) struct Args {
    /// Which engine
    #[arg(required_unless_present_any = ["list", "gui"], conflicts_with = "gui")]
    engine: Option<String>,
    /// Judge a client: a GUI, a match runner, a library
    #[arg(long, conflicts_with = "profile")]
    gui: bool,
    /// A client in which nothing has happened for so many seconds waits for ever
    #[arg(long, value_name = "SECONDS", default_value_t = 12.0, requires = "gui")]
    patience: f64,
    /// The command that starts the client
    #[arg(last = true, value_name = "CLIENT COMMAND", requires = "gui")]
    client: Vec<OsString>,
    /// Speak USI; by default UCI is tried before it
    #[arg(long, conflicts_with = "profile")]
    usi: bool,
    /// Judge by this edition of the protocol only
    #[arg(long, value_enum)]
    profile: Option<Edition>,
    /// List the checks
    #[arg(long)]
    list: bool,
    /// Run only checks whose names start so
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Leave out checks whose names start so
    #[arg(long, value_name = "NAME")]
    skip: Vec<String>,
    /// How many conversations to have at once; by default one for each processor, and one with an engine
    /// behind tcp://
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Multiply all limits of time
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    timeout_scale: f64,
    /// How long the engine may take to answer `uci` or `usi`, and `isready`
    #[arg(long, value_name = "SECONDS", conflicts_with = "gui")]
    timeout: Option<Timeout>,
    /// Play so many games in a row with the engine, and look whether its memory, threads and open files
    /// stay as they are
    #[arg(
        long, value_name = "GAMES", conflicts_with = "gui", require_equals = true, num_args = 0..=1,
        default_missing_value = "200"
    )]
    soak: Option<usize>,
    /// Where random games and commands start from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Write JUnit XML to this file
    #[arg(long, value_name = "FILE", conflicts_with = "list")]
    junit: Option<PathBuf>,
    /// Write Markdown to this file
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

/// An edition of a protocol by its name.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Edition {
    /// UCI of April 2006
    #[value(name = "uci-2006")]
    Uci2006,
    /// The modern description of UCI
    UciModern,
    /// The first draft of USI
    #[value(name = "usi-draft1")]
    UsiDraft1,
    /// USI as shogi programs speak it today
    UsiDeployed,
}

pub(super) fn run(args: &Args) -> Result<Code, Failure> {
    if args.list {
        return list(args);
    }
    let report = match &args.engine {
        Some(engine) => of_engine(args, engine)?,
        None => of_client(args)?,
    };
    if let Some(path) = &args.junit {
        write(path, &report.to_junit())?;
    }
    if let Some(path) = &args.markdown {
        write(path, &report.to_markdown())?;
    }
    print(&if args.json { report.to_json() } else { report.to_string() })?;
    Ok(match report.exit_status() {
        0 => Code::Done,
        1 => Code::Nonconforming,
        _ => Code::Unjudged,
    })
}

fn of_engine(args: &Args, engine: &str) -> Result<Report, Failure> {
    let address = Address::find(engine, &dirs::env).map_err(Failure::usage)?;
    let timeout = args.timeout.or(address.timeout);
    let mut suite = Suite::new(subject(address)?)
        .only(&args.only)
        .skip(&args.skip)
        .timeout_scale(args.timeout_scale)
        .seed(args.seed)
        .on_progress(progress());
    if args.usi {
        suite = suite.dialect(Dialect::Usi);
    }
    if let Some(profile) = args.profile {
        suite = suite.profile(profile.into());
    }
    if let Some(jobs) = args.jobs {
        suite = suite.jobs(jobs);
    }
    if let Some(timeout) = timeout {
        suite = suite.start_timeout(timeout.duration());
    }
    if let Some(games) = args.soak {
        suite = suite.soak(games);
    }
    suite.run().map_err(Failure::usage)
}

fn of_client(args: &Args) -> Result<Report, Failure> {
    let partner = std::env::current_exe().map_err(Failure::usage)?;
    let patience = Duration::try_from_secs_f64(args.patience)
        .map_err(|error| Failure::usage(format!("--patience: {error}")))?;
    let guard = guardian::start().map_err(Failure::usage)?;
    let mut suite = ClientSuite::new(&args.client, partner)
        .guarded(&guard)
        .only(&args.only)
        .skip(&args.skip)
        .timeout_scale(args.timeout_scale)
        .idle_timeout(patience)
        .seed(args.seed)
        .on_progress(progress());
    if args.usi {
        suite = suite.dialect(Dialect::Usi);
    }
    if let Some(jobs) = args.jobs {
        suite = suite.jobs(jobs);
    }
    suite.run().map_err(Failure::usage)
}

/// The length of the bar.
const BAR: usize = 24;

/// A bar on a terminal, which goes away with the last check.
pub(super) fn progress() -> impl Fn(Progress<'_>) + Send + Sync {
    let shown = io::stderr().is_terminal();
    let canvas = Mutex::new(Canvas::new(io::stderr(), terminal_size));
    move |now: Progress<'_>| {
        if !shown {
            return;
        }
        let full = BAR * now.done / now.total.max(1);
        let bar = "#".repeat(full) + &"-".repeat(BAR - full);
        let row = format!("[{bar}] {}/{} {}", now.done, now.total, now.last.check.id);
        let rows = (now.done < now.total).then_some(row);
        let mut canvas = canvas.lock().unwrap_or_else(PoisonError::into_inner);
        // Without a terminal to draw on the report is all there is.
        let _ = canvas.draw(rows);
    }
}

fn list(args: &Args) -> Result<Code, Failure> {
    let of = if args.gui { Party::Client } else { Party::Engine };
    if let Some(path) = &args.markdown {
        write(path, &readyok_check::list_markdown(of))?;
    } else {
        let list = if args.json { readyok_check::list_json } else { readyok_check::list_text };
        print(&list(of))?;
    }
    Ok(Code::Done)
}

/// The engine of an address, to be started as often as needed.
pub(super) fn subject(address: Address) -> Result<Target, Failure> {
    match address.reach {
        Reach::Narikin => Ok(Target::in_process("narikin", |input, output| {
            // If it cannot go on, its output ends, and that is what the checks see.
            if let Ok(narikin) = narikin::runner() {
                let _ = narikin.run(input, output);
            }
        })),
        Reach::Program { file, arguments, directory, environment } => {
            // Engines look for their books and networks beside themselves.
            let beside = file.parent().filter(|_| file.is_absolute()).map(Path::to_path_buf);
            let guard = guardian::start().map_err(Failure::usage)?;
            let subject =
                Target::program(file, arguments).with_environment(environment).guarded(&guard);
            Ok(match directory.or(beside) {
                Some(directory) => subject.in_directory(directory),
                None => subject,
            })
        }
        Reach::Tcp(address) => Ok(Target::tcp(address)),
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text)
        .map_err(|error| Failure::usage(format!("cannot write `{}`: {error}", path.display())))
}

fn print(text: &str) -> Result<(), Failure> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        // Whoever read the output has seen enough.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::usage(error)),
        _ => Ok(()),
    }
}

impl From<Edition> for Profile {
    fn from(edition: Edition) -> Self {
        match edition {
            Edition::Uci2006 => Self::Uci2006,
            Edition::UciModern => Self::UciModern,
            Edition::UsiDraft1 => Self::UsiDraft1,
            Edition::UsiDeployed => Self::UsiDeployed,
        }
    }
}
