//! What an engine and the server said to each other.

use serde::Serialize;
use ts_rs::TS;

use super::ProcessId;

/// The log of a process.
#[derive(Clone, Debug, Serialize, TS)]
pub struct LogState {
    /// Which.
    pub process: ProcessId,
    /// The last lines, at most 2000 of those that are kept (10000; all with `GET /api/log/{process}`, `?language=ja` for Japanese).
    pub lines: Vec<LogLine>,
    /// How many lines there were in all.
    pub total: u64,
}

/// New lines.
#[derive(Clone, Debug, Default, Serialize, TS)]
pub struct LogDelta {
    /// They follow the last ones, except where `skipped` says so.
    pub lines: Vec<LogLine>,
    /// So many lines before them were left out, as they came too fast to be shown.
    pub skipped: u64,
    /// How many lines there were in all.
    pub total: u64,
}

/// One line.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, TS)]
pub struct LogLine {
    /// Its number in the conversation, from 1.
    pub number: u64,
    /// When it was written or read.
    pub at: u64,
    /// Who said it.
    pub by: Speaker,
    /// What was said. Text from outside: control characters are escaped; show it, never interpret it. At most 4096
    /// characters.
    pub text: String,
    /// The rules that it breaks.
    pub breaches: Vec<Breach>,
}

/// Who said a line.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// The server.
    Client,
    /// The engine.
    Engine,
    /// The engine on its error output.
    Stderr,
    /// The user, through the server.
    User,
}

/// A broken rule.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, TS)]
pub struct Breach {
    /// Whether the line has no meaning by it, rather than being merely odd.
    pub serious: bool,
    /// In English.
    pub english: BreachText,
    /// In Japanese.
    pub japanese: BreachText,
    /// The words that are meant: start and end in characters of the line.
    pub span: Option<(u32, u32)>,
}

/// A broken rule in a language.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, TS)]
pub struct BreachText {
    /// What is wrong.
    pub text: String,
    /// Where the rule stands.
    pub clause: String,
}
