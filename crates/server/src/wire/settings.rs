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
    /// What stops when the last tab is closed.
    pub on_close: OnClose,
    /// The game to show when the app is opened without another choice.
    pub current_game: Option<GameId>,
}

/// What stops when the last tab is closed.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct OnClose {
    /// Whether games against engines are paused.
    pub pause_games: bool,
    /// Whether analysis stops.
    pub stop_analysis: bool,
    /// The server ends when nothing is left to do.
    pub quit: bool,
}
