//! Online services: what the user has switched on, and accounts with their games.

use std::collections::BTreeSet;

use readyok_protocol::texts;
use serde::{Deserialize, Serialize};
#[cfg(test)]
use ts_rs::TS;

use super::Sides;

texts! {
    /// A service that receives requests only if the user has switched it on. The text is its host.
    #[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
    #[cfg_attr(test, derive(TS))]
    #[serde(rename_all = "snake_case")]
    pub enum OnlineService {
        LichessGames => "lichess.org",
        ChesscomGames => "api.chess.com",
        LichessExplorer => "explorer.lichess.org",
        LichessTablebase => "tablebase.lichess.org",
    }
}

/// What the user has permitted.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(default)]
pub struct OnlineSettings {
    /// The services that are switched on.
    pub services: BTreeSet<OnlineService>,
    /// Whether an API token of Lichess is stored. [`Command::SetLichessToken`](super::Command) changes it.
    pub lichess_token: bool,
    /// Changed by commands of their own.
    pub accounts: Vec<Account>,
}

/// A site with accounts of players.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum AccountSite {
    Lichess,
    Chesscom,
}

impl AccountSite {
    /// The service that sends the games of accounts.
    pub fn service(self) -> OnlineService {
        match self {
            Self::Lichess => OnlineService::LichessGames,
            Self::Chesscom => OnlineService::ChesscomGames,
        }
    }
}

/// The name of an account.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct AccountName {
    pub site: AccountSite,
    /// Upper and lower case are equal.
    pub name: String,
}

impl AccountName {
    /// Whether both are one account.
    pub fn is_same(&self, other: &Self) -> bool {
        self.site == other.site && self.name.eq_ignore_ascii_case(&other.name)
    }
}

/// An account whose games are imported.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Account {
    #[serde(flatten)]
    pub account: AccountName,
    /// The first day of the games, `2026-11-21`; all by default.
    pub since: Option<String>,
    /// Unix time of the last complete import in milliseconds.
    pub imported: Option<u64>,
    /// What the next import continues after.
    pub cursor: AccountCursor,
}

/// The end of the games that were imported.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(default)]
pub struct AccountCursor {
    /// Unix time of the last game in milliseconds: of its start on Lichess, of its end on chess.com. The next import
    /// requests games since then.
    pub time: Option<u64>,
    /// The address of the last game.
    pub game: Option<String>,
    /// The last monthly archive of chess.com, `2026/11`, and its version.
    pub archive: Option<(String, String)>,
}

/// A database of the explorer of Lichess.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum LichessDatabase {
    Masters,
    Players,
}

/// A game of a database of Lichess.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct LichessGame {
    /// Its page.
    pub address: String,
    pub names: Sides<String>,
    pub ratings: Sides<Option<u16>>,
    /// `1-0`, `0-1` or `1/2-1/2`.
    pub result: String,
    pub year: Option<u16>,
}
