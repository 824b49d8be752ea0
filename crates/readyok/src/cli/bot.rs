//! `readyok bot`.

use std::path::PathBuf;
use std::sync::Arc;

use readyok_rules::Game;

use super::lichess::LichessArgs;
use crate::bot::{Bot, Config, Known, State, http};
use crate::connect::start_guard;
use crate::exit::{Code, Failure, stop_after};
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
    #[command(flatten)]
    lichess: LichessArgs,
    /// Read the rules from this TOML file
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Check the token, the account, the configuration and the engine without playing
    #[arg(long)]
    check: bool,
    /// Make the account a bot, which is irreversible
    #[arg(long)]
    upgrade: bool,
}

pub(super) fn run(args: Args) -> Result<Code, Failure> {
    let token = args.lichess.token()?;
    let config = args.config.as_deref().map(Config::read).transpose();
    let mut config = config.map_err(Failure::usage)?.unwrap_or_default();
    let known = Known::open(&config).map_err(Failure::usage)?;
    let (address, options) = (args.lichess.address()?, args.lichess.options);
    let (shares, ponders) = (config.shares(), config.ponder);
    let player = PlayerSettings { address, options, shares, ponders };
    let stop = stop_after("the running games").map_err(Failure::failed)?;
    let guard = start_guard().map_err(Failure::failed)?;
    let mut tried = Player::new(&player, Game::Chess, &guard).map_err(Failure::failed)?;
    let engine = tried.start().map_err(Failure::failed)?;
    let has_chess960 = engine.option_value("UCI_Chess960").is_some();
    let engine = printable(engine.name());
    drop(tried);
    if !has_chess960 {
        print_error("the engine has no option UCI_Chess960: challenges of Chess960 are declined");
        config.accept.variants.retain(|variant| variant != "chess960");
    }
    let http = Arc::new(http(args.lichess.server, token));
    let bot = Bot { http, config, player, guard: &guard, known, stop, state: State::default() };
    if args.upgrade {
        bot.upgrade().map_err(Failure::failed)?;
    }
    if args.check {
        let name = bot.check().map_err(Failure::failed)?;
        let variants = if has_chess960 { "chess and Chess960" } else { "chess" };
        print(&printable(&format!("account: `{name}`, a bot\nengine: `{engine}`, {variants}")));
        return Ok(Code::Done);
    }
    print(&format!("readyok: `{engine}` plays on Lichess; Ctrl-C ends"));
    bot.run().map(|()| Code::Done).map_err(Failure::failed)
}
