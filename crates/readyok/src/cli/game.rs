//! The game that a command is about.

use clap::ValueEnum;
use readyok_rules::Game;

/// A game, as arguments name it.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum GameArg {
    Chess,
    Chess960,
    Shogi,
}

impl From<GameArg> for Game {
    fn from(game: GameArg) -> Self {
        match game {
            GameArg::Chess => Self::Chess,
            GameArg::Chess960 => Self::Chess960,
            GameArg::Shogi => Self::Shogi,
        }
    }
}
