//! `readyok --version`.

use narikin::Searcher;
use readyok_rules::Game;

use crate::exit::{Code, Failure};
use crate::terminal::print;

/// The commit of the sources, if known: see `build.rs`.
const COMMIT: Option<&str> = option_env!("READYOK_COMMIT");

/// The version, with the commit of the sources if it is known.
pub(super) fn version() -> String {
    let version = env!("CARGO_PKG_VERSION");
    COMMIT.map_or_else(|| version.to_owned(), |commit| format!("{version} ({commit})"))
}

/// Prints the versions of the program and of the engine, with its networks.
pub(super) fn print_version() -> Result<Code, Failure> {
    let searcher = Searcher::new(0).map_err(Failure::failed)?;
    print(&format!("readyok {}", version()));
    for (game, name) in [(Game::Chess, "chess"), (Game::Shogi, "shogi")] {
        print(&format!("Narikin, evaluation of {name}: {}", searcher.evaluation_name(game)));
    }
    Ok(Code::Done)
}
