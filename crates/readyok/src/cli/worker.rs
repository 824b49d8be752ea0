//! `readyok worker`.

use std::path::PathBuf;
use std::time::Duration;

use readyok_arena::queue::nats::Permissions;
use readyok_arena::store::ContentHash;

use crate::cli::complain;
use crate::cli::queue::AccessArgs;
use crate::dirs;
use crate::exit::{Code, Failure};
use crate::guardian;
use crate::matches::{Worker, engine_plan};

const HELP: &str = "\
A worker runs nothing that its owner has not allowed: programs of this machine (--engine), programs of
a known content (--allow), or whatever a match brings (--allow-any, for machines that are there for
nothing else). A program gets no arguments but those that are named with it, no environment, and no
options that could name a file but those of --allow-option.

Examples:
  readyok worker --queue nats://10.0.0.1 --slots 4 --engine /usr/games/stockfish --engine ./new
  readyok worker --queue nats://10.0.0.1 --engine narikin --engine \"./old --uci\" --allow-option SyzygyPath
  readyok worker --queue tls://matches.example.org --creds me.creds --slots 16 --allow-any
  readyok worker --queue nats://10.0.0.1 --user me --password-file nats.password --engine narikin";

/// Play games for matches of other machines
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    /// The server of NATS where matches are
    #[arg(long, value_name = "nats://HOST[:PORT]")]
    queue: String,
    #[command(flatten)]
    access: AccessArgs,
    /// Play so many pairings at once; 0: as many as the processors carry, with threads and pondering
    #[arg(long, value_name = "N", default_value_t = 1)]
    slots: u16,
    /// Bind engines to processors: to these, or to all that there are; no more slots than these carry
    #[arg(long, value_name = "CPU", value_delimiter = ',', num_args = 0..)]
    pin: Option<Vec<usize>>,
    /// Allow an engine of this machine, with these arguments and no others
    #[arg(long, value_name = "PROGRAM [ARGS]")]
    engine: Vec<String>,
    /// Allow programs with this SHA-256, with these arguments and no others, wherever they come from
    #[arg(long, value_name = "SHA256 [ARGS]")]
    allow: Vec<String>,
    /// Allow any value of this option, although it is a text or could name a file
    #[arg(long, value_name = "NAME")]
    allow_option: Vec<String>,
    /// Allow whatever a match brings
    #[arg(long)]
    allow_any: bool,
    /// Put delivered programs here
    #[arg(long, value_name = "FOLDER")]
    cache: Option<PathBuf>,
    /// What this worker is called [the name of the machine]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Go home after so many seconds without a match
    #[arg(long, value_name = "SECONDS")]
    idle: Option<u64>,
}

pub(super) fn run(args: Args) -> Result<Code, Failure> {
    let mut permissions =
        if args.allow_any { Permissions::anything() } else { Permissions::default() };
    for text in &args.allow {
        let (content, args) = content(text)?;
        permissions.allow_content(content, &args);
    }
    for name in &args.allow_option {
        permissions.allow_option(name);
    }
    let engines = args.engine.iter().map(|text| program(text)).collect::<Result<_, _>>()?;
    let cache = args.cache.or_else(|| Some(dirs::state(&dirs::env)?.join("programs")));
    let cache = cache.ok_or_else(|| Failure::usage("there is no folder for programs: --cache"))?;
    let worker = Worker {
        access: args.access.access(args.queue, &dirs::env)?,
        permissions,
        engines,
        cache,
        slots: usize::from(args.slots),
        pin: args.pin,
        name: args.name.unwrap_or_else(name),
        idle: args.idle.map(Duration::from_secs),
        guard: guardian::start().map_err(Failure::failed)?,
    };
    worker.work(complain).map_err(Failure::failed)?;
    Ok(Code::Done)
}

/// A program of this machine and its arguments.
fn program(text: &str) -> Result<(PathBuf, Vec<String>), Failure> {
    let engine = engine_plan(text, &dirs::env).map_err(Failure::usage)?;
    if engine.command.contains("://") {
        return Err(Failure::usage(format!("`{text}` is no program of this machine")));
    }
    Ok((engine.command.into(), engine.args))
}

/// What a program contains, and its arguments.
fn content(text: &str) -> Result<(ContentHash, Vec<String>), Failure> {
    let words = shlex::split(text).unwrap_or_default();
    let Some((content, args)) = words.split_first() else {
        return Err(Failure::usage(format!("`{text}` is no SHA-256 with arguments")));
    };
    Ok((content.parse().map_err(Failure::usage)?, args.to_vec()))
}

/// Different for each worker: the machine and the process.
fn name() -> String {
    let machine = std::fs::read_to_string("/etc/hostname").unwrap_or_default();
    let machine = machine.trim();
    let machine = if machine.is_empty() { "worker" } else { machine };
    format!("{machine}-{}", std::process::id())
}
