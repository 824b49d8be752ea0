//! `readyok csa`.

use std::collections::BTreeMap;
use std::net::{TcpListener, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use readyok_protocol::Dialect;

use super::engine::StartArgs;
use super::worker::read_secret;
use crate::address::Address;
use crate::connect::start_guard;
use crate::csa::{Client, ClientSettings, DEFAULT_PORT, Login, ServerSettings, TimeRules, serve};
use crate::dirs;
use crate::exit::{Code, Failure, stop_after};
use crate::play::Resign;
use crate::player::PlayerSettings;
use crate::secrets::CSA_PASSWORD;
use crate::terminal::print;

const HELP: &str = "\
The client logs in, plays with the engine, saves the record, and logs in again for the next game. After a lost connection it waits a second, then twice as long, up to 5 minutes. The first Ctrl-C ends it after the current game, the second one immediately.

On floodgate, the password names the time control: `floodgate-300-10F,SECRET`. Add --floodgate to send evaluations and PVs.

With --serve, the command hosts a server for local matches on 127.0.0.1:4081. It pairs any two players that log in; colors alternate.

Examples:
  readyok csa wdoor.c.u-tokyo.ac.jp --engine yaneuraou --user Me \\
      --password-file floodgate.password --floodgate -o games
  readyok csa --serve --time 300 --increment 5 --games 10 -o games
  readyok csa localhost --engine narikin --user a --games 10";

/// Play on a shogi server with an engine, or serve local matches (CSA protocol 1.2.1)
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    /// Server to play on; the port is 4081 by default. With --serve, the address to listen on [default: 127.0.0.1]
    #[arg(value_name = "HOST[:PORT]", required_unless_present = "serve")]
    address: Option<String>,
    #[command(flatten)]
    client: ClientArgs,
    #[command(flatten)]
    server: ServerArgs,
    /// End after N games [default: no limit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    games: Option<u64>,
    /// Save a CSA record of each game in this directory
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
#[group(id = "client_args", multiple = true, conflicts_with = "server_args")]
struct ClientArgs {
    /// Engine to play with: a name from engines.toml, `narikin`, a path, or a program in PATH
    #[arg(short, long, required_unless_present = "serve")]
    engine: Option<String>,
    /// Use this protocol [default: that of engines.toml, otherwise USI]
    #[arg(long, value_enum)]
    protocol: Option<Dialect>,
    /// Set an engine option, or push a button; repeatable
    #[arg(long = "option", value_name = "NAME[=VALUE]")]
    options: Vec<String>,
    #[command(flatten)]
    start: StartArgs,
    /// Log in with this name: up to 32 letters, digits, `_` and `-`
    #[arg(long, required_unless_present = "serve")]
    user: Option<String>,
    /// Read the password from this file, which only its owner can access [default: `CSA_PASSWORD` in the environment, or `x`]
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// Send the evaluation and the PV with each move (extension of floodgate)
    #[arg(long)]
    floodgate: bool,
    /// Do not search on the opponent's time
    #[arg(long)]
    no_ponder: bool,
    /// Restart the engine after each game
    #[arg(long)]
    restart: bool,
    /// Keep this time of each move in reserve for the network, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 500)]
    margin: u32,
    /// Resign at this score or below, in centipawns [default: the engine decides]
    #[arg(long, value_name = "CENTIPAWNS", allow_negative_numbers = true)]
    resign: Option<i32>,
}

#[derive(Debug, clap::Args)]
#[group(id = "server_args", multiple = true)]
struct ServerArgs {
    /// Serve local matches instead of playing
    #[arg(long)]
    serve: bool,
    /// Set the main time of each player, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300, requires = "serve")]
    time: u32,
    /// Set the byoyomi, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 0, requires = "serve")]
    byoyomi: u32,
    /// Add time for each move (Fischer clock), in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 0, requires = "serve")]
    increment: u32,
    /// Count time in milliseconds instead of whole seconds
    #[arg(long, requires = "serve")]
    milliseconds: bool,
    /// End a game without a winner after N moves; 0 for no limit
    #[arg(long, value_name = "N", default_value_t = 512, requires = "serve")]
    max_moves: u32,
    /// Accept only the users in this file, which has a name and a password on each line
    #[arg(long, value_name = "FILE", requires = "serve")]
    users: Option<PathBuf>,
}

pub(super) fn run(args: Args) -> Result<Code, Failure> {
    let stop = stop_after("the current game").map_err(Failure::failed)?;
    if args.server.serve { run_server(args, &stop) } else { run_client(args, stop) }
}

fn run_client(args: Args, stop: Arc<AtomicBool>) -> Result<Code, Failure> {
    let ClientArgs { engine, user, .. } = args.client;
    let (Some(address), Some(engine), Some(user)) = (args.address, engine, user) else {
        return Err(Failure::usage("HOST, --engine and --user are required"));
    };
    let engine =
        args.client.start.apply(Address::find(&engine, &dirs::env).map_err(Failure::usage)?);
    let dialect = args.client.protocol.or(engine.dialect);
    let login = Login::new(user, password(args.client.password_file.as_deref())?);
    let settings = ClientSettings {
        address: with_port(&address),
        login: login.map_err(Failure::usage)?,
        player: PlayerSettings {
            address: Address { dialect, ..engine },
            options: args.client.options,
            shares: Vec::new(),
            ponders: !args.client.no_ponder,
        },
        resign: Resign { score: args.client.resign, moves: 1 },
        restarts: args.client.restart,
        margin: Duration::from_millis(args.client.margin.into()),
        comments: args.client.floodgate,
        games: args.games,
        output: args.output,
    };
    let guard = start_guard().map_err(Failure::failed)?;
    let client = Client::new(&settings, &guard, stop).map_err(Failure::failed)?;
    client.run().map(|()| Code::Done).map_err(Failure::failed)
}

fn run_server(args: Args, stop: &Arc<AtomicBool>) -> Result<Code, Failure> {
    let ServerArgs { time, byoyomi, increment, milliseconds, max_moves, users, .. } = args.server;
    let seconds = |number: u32| Duration::from_secs(number.into());
    let unit = if milliseconds { Duration::from_millis(1) } else { seconds(1) };
    let times = TimeRules {
        unit,
        total: seconds(time),
        byoyomi: seconds(byoyomi),
        increment: seconds(increment),
        ..TimeRules::default()
    };
    if times.total.is_zero() && times.byoyomi.is_zero() && times.increment.is_zero() {
        return Err(Failure::usage("the players have no time"));
    }
    let address = with_port(args.address.as_deref().unwrap_or("127.0.0.1"));
    let listener = address.to_socket_addrs().and_then(|addresses| {
        let addresses: Vec<_> = addresses.collect();
        TcpListener::bind(addresses.as_slice())
    });
    let listener = listener
        .map_err(|error| Failure::failed(format!("cannot listen on {address}: {error}")))?;
    let bound = listener.local_addr().map_err(Failure::failed)?;
    print(&format!("readyok: shogi server on {bound}"));
    let settings = ServerSettings {
        times,
        max_moves: (max_moves > 0).then_some(max_moves),
        users: users.as_deref().map(read_users).transpose()?,
        games: args.games,
        output: args.output,
    };
    serve(listener, settings, stop).map(|()| Code::Done).map_err(Failure::failed)
}

/// The address with the port of the protocol, if it has none.
fn with_port(address: &str) -> String {
    match address.rsplit_once(':') {
        None => format!("{address}:{DEFAULT_PORT}"),
        Some((host, _)) if host.ends_with(']') || !host.contains(':') => address.to_owned(),
        Some(_) if address.ends_with(']') => format!("{address}:{DEFAULT_PORT}"),
        // An IPv6 address without brackets.
        Some(_) => format!("[{address}]:{DEFAULT_PORT}"),
    }
}

fn password(file: Option<&Path>) -> Result<String, Failure> {
    match file {
        Some(file) => read_secret(file),
        None => Ok(dirs::env(CSA_PASSWORD)
            .and_then(|value| value.into_string().ok())
            .filter(|value| !value.is_empty())
            .unwrap_or_else(|| "x".to_owned())),
    }
}

fn read_users(file: &Path) -> Result<BTreeMap<String, String>, Failure> {
    let text = read_secret(file)?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let user = |line: &str| {
        let (name, password) = line.trim().split_once(' ')?;
        Some((name.to_owned(), password.trim().to_owned()))
    };
    lines
        .map(|line| {
            user(line).ok_or_else(|| {
                Failure::usage(format!("`{}`: a line has no password", file.display()))
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::with_port;

    #[test]
    fn adds_the_port() {
        for (address, expected) in [
            ("localhost", "localhost:4081"),
            ("localhost:5000", "localhost:5000"),
            ("127.0.0.1", "127.0.0.1:4081"),
            ("::1", "[::1]:4081"),
            ("[::1]", "[::1]:4081"),
            ("[::1]:5000", "[::1]:5000"),
        ] {
            assert_eq!(with_port(address), expected);
        }
    }
}
