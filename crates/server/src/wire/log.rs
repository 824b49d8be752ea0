//! The logs of processes.

use serde::Serialize;
use ts_rs::TS;

use super::ProcessId;

/// The log of a process.
#[derive(Clone, Debug, Serialize, TS)]
pub struct LogState {
    pub process: ProcessId,
    /// The last lines, at most 2000 of those that are kept (10000; all with `GET /api/log/{process}`, `?language=ja` for Japanese).
    pub lines: Vec<LogLine>,
    /// How many lines there were in all.
    pub total: u64,
}

/// New lines.
#[derive(Clone, Debug, Default, Serialize, TS)]
pub struct LogDelta {
    /// They follow the last ones, unless `skipped` is set.
    pub lines: Vec<LogLine>,
    /// Number of omitted lines before them, which arrived too fast to be shown.
    pub skipped: u64,
    /// How many lines there were in all.
    pub total: u64,
}

/// One line.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, TS)]
pub struct LogLine {
    /// The number of the line, from 1.
    pub number: u64,
    /// When it was written or read.
    pub at: u64,
    /// The sender.
    pub by: Speaker,
    /// The text of the line, at most 4096 characters. Control characters are escaped; it is untrusted.
    pub text: String,
    /// The rules that it breaks.
    pub breaches: Vec<Breach>,
}

/// The sender of a line.
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
    /// Whether it makes the line invalid.
    pub serious: bool,
    /// In English.
    pub english: BreachText,
    /// In Japanese.
    pub japanese: BreachText,
    /// The range that the violation is about: start and end in characters of the line.
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
