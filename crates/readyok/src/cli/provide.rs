//! `readyok provide`.

use super::lichess::LichessArgs;
use crate::connect::start_guard;
use crate::exit::{Code, Failure, stop_after};
use crate::http::Address as ServerAddress;
use crate::player::maximum;
use crate::provide::{Broker, Provided, Registration, provide};
use crate::terminal::print;

/// Default of the largest hash table, in mebibytes.
const DEFAULT_HASH: u32 = 512;

const HELP: &str = "\
The engine appears in the engine menu of the analysis board of Lichess. It runs on this machine, and only while this command runs. The server selects position and limits; positions and moves are checked before the engine receives them.

Create a token with the scopes engine:read and engine:write at https://lichess.org/account/oauth/token and store it in a file that only its owner can access, or in LICHESS_API_TOKEN.

Examples:
  readyok provide stockfish --token-file lichess.token
  readyok provide narikin --token-file lichess.token --max-threads 2

The first Ctrl-C ends the command after the current request, the second one immediately.";

/// Offer an engine to the analysis board of Lichess
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    #[command(flatten)]
    lichess: LichessArgs,
    /// Register the engine by this name [default: the name that the engine sends]
    #[arg(long)]
    name: Option<String>,
    /// Limit the threads of a search [default: the number of CPUs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    max_threads: Option<u32>,
    /// Limit the hash table, in MiB
    #[arg(long, value_name = "MIB", default_value_t = DEFAULT_HASH, value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
    max_hash: u32,
    /// Set the depth of a search without a limit, in plies
    #[arg(long, value_name = "PLIES", default_value_t = 25, value_parser = clap::value_parser!(u32).range(1..=246))]
    default_depth: u32,
    /// Receive requests from this server
    #[arg(long, value_name = "URL", default_value = "https://engine.lichess.ovh")]
    broker: ServerAddress,
}

pub(super) fn run(args: Args) -> Result<Code, Failure> {
    let token = args.lichess.token()?;
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let cpus = u32::try_from(cpus).unwrap_or(1);
    let mut provided = Provided {
        address: args.lichess.address()?,
        options: args.lichess.options,
        max_threads: args.max_threads.unwrap_or(cpus),
        max_hash: args.max_hash,
        default_depth: args.default_depth,
    };
    let guard = start_guard().map_err(Failure::failed)?;
    let engine = provided.open(&guard).map_err(Failure::failed)?;
    // The limits of the engine apply, too.
    provided.max_threads = provided.max_threads.min(maximum(&engine, "Threads").unwrap_or(1));
    provided.max_hash = provided.max_hash.min(maximum(&engine, "Hash").unwrap_or(1));
    let secret = secret().map_err(Failure::failed)?;
    let name: String = args.name.unwrap_or_else(|| engine.identity().name.clone());
    let registration = Registration {
        // The protocol permits 3 to 200 characters.
        name: format!("{:<3}", name.chars().take(200).collect::<String>()),
        max_threads: provided.max_threads,
        max_hash: provided.max_hash,
        default_depth: provided.default_depth,
        variants: vec!["chess".to_owned()],
        provider_secret: secret.clone(),
    };
    let broker = Broker::new(args.lichess.server, token, args.broker, secret);
    let stop = stop_after("the current request").map_err(Failure::failed)?;
    broker.register(&registration).map_err(Failure::failed)?;
    print(&format!(
        "readyok: `{}` is registered with up to {} threads and {} MiB; Ctrl-C ends",
        crate::terminal::printable(&registration.name),
        registration.max_threads,
        registration.max_hash
    ));
    provide(&broker, &provided, engine, &guard, &stop);
    Ok(Code::Done)
}

/// A random secret between this process and the broker.
fn secret() -> Result<String, getrandom::Error> {
    let mut halves = [[0; 16]; 2];
    for half in &mut halves {
        getrandom::fill(half)?;
    }
    let [first, second] = halves.map(u128::from_ne_bytes);
    Ok(format!("{first:032x}{second:032x}"))
}
