//! What the user has set for the app, the same in all tabs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::GameId;

/// The user's settings.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, TS)]
#[serde(default)]
pub struct Settings {
    /// What the page keeps: theme, language, piece style, keys, the last game's settings, … The server does not
    /// look into it. At most 64 KiB.
    pub page: BTreeMap<String, String>,
    /// What becomes of work when the last tab is closed.
    pub on_close: OnClose,
    /// The game that is on the screen when the app is opened without saying which.
    pub current_game: Option<GameId>,
}

/// What becomes of work when the last tab is closed.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct OnClose {
    /// Games against engines are paused (rather than going on).
    pub pause_games: bool,
    /// Analysis ends (rather than going on).
    pub stop_analysis: bool,
    /// The server ends when nothing is left to do.
    pub quit: bool,
}
