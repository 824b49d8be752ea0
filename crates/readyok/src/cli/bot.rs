//! `readyok bot`.

use std::path::PathBuf;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use readyok_rules::Game;

use super::engine::StartArgs;
use super::worker::lichess_token;
use crate::address::Address;
use crate::bot::{Bot, Config, Lichess};
use crate::connect::start_guard;
use crate::dirs;
use crate::exit::{Code, Failure, on_interrupt};
use crate::http::Address as ServerAddress;
use crate::player::{Player, PlayerSettings};
use crate::terminal::{print, print_error, printable};

const HELP: &str = "\
The bot accepts challenges by the rules of the configuration, plays several games concurrently, and continues running games after a restart. It declines takebacks and does not chat, unless the configuration has texts.

Create a token with the scope bot:play at https://lichess.org/account/oauth/token and store it in a file that only its owner can access, or in LICHESS_API_TOKEN.

Examples:
  readyok bot stockfish --token-file lichess.token --check
  readyok bot stockfish --token-file lichess.token --config bot.toml

The first Ctrl-C ends the command after the running games, the second one immediately.";

/// Play on Lichess with an engine
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    /// UCI engine to play with: a name from engines.toml, `narikin`, a path, or a program in PATH
    engine: String,
    /// Read the token from this file, which only its owner can access [default: `LICHESS_API_TOKEN` in the environment]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Read the rules from this TOML file
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Set an engine option, or push a button; repeatable
    #[arg(long = "option", value_name = "NAME[=VALUE]")]
    options: Vec<String>,
    #[command(flatten)]
    start: StartArgs,
    /// Check the token, the account, the configuration and the engine without playing
    #[arg(long)]
    check: bool,
    /// Make the account a bot, which is irreversible
    #[arg(long)]
    upgrade: bool,
    /// Play on this server
    #[arg(long, value_name = "URL", default_value = "https://lichess.org")]
    server: ServerAddress,
}

pub(super) fn run(args: Args) -> Result<Code, Failure> {
    let token = lichess_token(args.token_file.as_deref())?;
    let config = args.config.as_deref().map(Config::read).transpose();
    let mut config = config.map_err(Failure::usage)?.unwrap_or_default();
    let files = config.open_files().map_err(Failure::usage)?;
    let address = Address::find(&args.engine, &dirs::env).map_err(Failure::usage)?;
    let settings = config.divide(PlayerSettings {
        address: args.start.apply(address),
        options: args.options,
        shares: Vec::new(),
        ponders: true,
        resign: None,
    });
    let stop = Arc::new(AtomicBool::new(false));
    let stopping = Arc::clone(&stop);
    #[expect(clippy::exit, reason = "the second interrupt does not wait for the games")]
    let interrupt = move || {
        if stopping.swap(true, Ordering::AcqRel) {
            process::exit(Code::Interrupted.number());
        }
        print("readyok: ends after the running games; press Ctrl-C again to exit now");
    };
    on_interrupt(interrupt).map_err(Failure::failed)?;
    let guard = start_guard().map_err(Failure::failed)?;
    let lichess = Lichess::new(args.server, token);
    if args.upgrade {
        lichess.upgrade().map_err(Failure::failed)?;
    }
    let player = Player::start(&settings, Game::Chess, &guard).map_err(Failure::failed)?;
    let engine = player.engine();
    let chess960 = engine.option_value("UCI_Chess960").is_some();
    if !chess960 {
        print_error("the engine has no option UCI_Chess960: challenges of Chess960 are declined");
        config.without_chess960();
    }
    let engine = printable(engine.name());
    if args.check {
        let name = lichess.check().map_err(Failure::failed)?;
        let variants = if chess960 { "chess and Chess960" } else { "chess" };
        print(&printable(&format!("account: `{name}`, a bot")));
        print(&format!("engine: `{engine}`, {variants}"));
        return Ok(Code::Done);
    }
    drop(player);
    let bot = Bot::new(lichess, config, settings, &guard, files, stop).map_err(Failure::failed)?;
    print(&format!("readyok: `{engine}` plays on Lichess; Ctrl-C ends"));
    bot.run().map(|()| Code::Done).map_err(Failure::failed)
}
