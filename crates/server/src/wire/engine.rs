//! Registered engines, their options, processes and logs.

use std::collections::BTreeMap;

pub use readyok_client::{EngineProgram, EngineSource};
pub use readyok_protocol::Dialect as Protocol;
use serde::{Deserialize, Serialize};
#[cfg(test)]
use ts_rs::TS;

use super::{ErrorInfo, ExerciseId, GameId, Variant};

/// The number of a registered engine.
pub type EngineId = u32;
/// The number of a process and its log. It is not the process id of the system.
pub type ProcessId = u32;

/// All engines and processes.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct EnginesState {
    /// The first one is the built-in engine.
    pub engines: Vec<EngineState>,
    /// Running processes and the last exited ones, by number.
    pub processes: Vec<ProcessState>,
    pub machine: Machine,
    /// The last search for engines.
    pub search: Option<EngineSearch>,
}

/// Changes of the engines and processes.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct EnginesDelta {
    /// New or changed engines.
    pub engines: Vec<EngineState>,
    pub removed: Vec<EngineId>,
    /// New or changed processes.
    pub processes: Vec<ProcessState>,
    /// Removed processes, whose logs no longer exist.
    pub forgotten: Vec<ProcessId>,
    /// None if the search has not changed.
    pub search: Option<EngineSearch>,
}

/// The machine of the server: the resources of engines, and where they can be installed from.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Machine {
    /// The number of logical CPU cores.
    pub cores: u32,
    /// In MiB, if it is known.
    pub memory: Option<u64>,
    /// The operating system: `linux`, `macos`, `windows` or another name of Rust.
    pub system: String,
    /// The distribution of Linux, followed by those that it is like: `ubuntu`, `debian`.
    pub distributions: Vec<String>,
}

/// A registered engine.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct EngineState {
    pub id: EngineId,
    /// With the name to show, and the protocol of the last handshake if the user has set none.
    #[serde(flatten)]
    pub entry: EngineEntry,
    #[serde(flatten)]
    pub values: EngineValues,
    /// The built-in engine cannot be changed or removed.
    pub built_in: bool,
    /// The identity of the last handshake.
    pub identity: Option<Identity>,
    /// The supported variants, by protocol and options.
    pub variants: Vec<Variant>,
    /// The options of the last handshake.
    pub options: Vec<EngineOption>,
    /// Option values that suit the machine.
    pub recommended: BTreeMap<String, String>,
    /// None if the strength cannot be limited.
    pub strength: Option<StrengthRange>,
    /// The same in shogi, for which the engine may use another protocol.
    pub strength_in_shogi: Option<StrengthRange>,
    /// The error of the last probe.
    pub error: Option<ErrorInfo>,
    pub registration: Option<Approval>,
    pub copy_protection: Option<Approval>,
    /// The response to a required registration; none for `register later`.
    pub registered_as: Option<String>,
    /// The last run of the conformance checker.
    pub check: Option<CheckRun>,
}

/// The status of registration or copy protection, in the letter case of the page; `readyok_protocol::Status` is a part of
/// messages in JSON.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// `checking`
    Checking,
    /// `ok`
    Ok,
    /// `error`
    Error,
}

/// The identity of an engine. The texts are untrusted.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Identity {
    /// `id name`.
    pub name: String,
    /// `id author`.
    pub author: String,
}

/// An option that an engine has declared.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct EngineOption {
    pub name: String,
    pub kind: OptionKind,
    /// The label by language (`en`, `ja`), from the engine's translation file or the server.
    pub labels: BTreeMap<String, String>,
    /// The help text by language.
    pub help: BTreeMap<String, String>,
    /// Who sets it: the user, or the server by itself (such as `UCI_AnalyseMode`, `Ponder`, `MultiPV`), which the
    /// dialog shows as such and does not offer to change.
    pub set_by_server: bool,
}

/// The kinds of options as the dialog shows them: unlike `readyok_protocol::OptionKind`, choices have labels and texts can be
/// lists of directories.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum OptionKind {
    /// `true` or `false`.
    Check {
        default: Option<bool>,
    },
    Spin {
        default: Option<i64>,
        min: Option<i64>,
        max: Option<i64>,
    },
    Combo {
        default: Option<String>,
        choices: Vec<Choice>,
    },
    Button,
    /// A text. The empty text is sent as `<empty>`.
    String {
        default: Option<String>,
        /// Whether it is a list of directories, such as `SyzygyPath`.
        directories: bool,
    },
    Filename {
        default: Option<String>,
    },
    /// An unknown type.
    Other {
        text: String,
    },
}

#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Choice {
    pub value: String,
    /// The label by language.
    pub labels: BTreeMap<String, String>,
}

/// A named set of values.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Preset {
    /// Unique for the engine.
    pub name: String,
    pub values: BTreeMap<String, String>,
}

/// The range of an engine's strength limit.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum StrengthRange {
    /// By Elo: `UCI_LimitStrength` and `UCI_Elo`.
    Elo { min: i64, max: i64 },
    /// By a level: `USI_LimitStrength` with `USI_Strength`, or `Skill Level`.
    Level { option: String, min: i64, max: i64 },
}

/// A strength within the [`StrengthRange`] of an engine.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Strength {
    /// Elo or level.
    pub value: i64,
}

/// A process of an engine, or a connection to it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct ProcessState {
    pub id: ProcessId,
    pub engine: EngineId,
    pub purpose: Purpose,
    pub status: ProcessStatus,
    /// The process id; none for a connection, and before the start.
    pub pid: Option<u32>,
    pub started: u64,
    /// The identity of its handshake.
    pub identity: Option<Identity>,
    /// The reason for a failure or for a rejected command.
    pub error: Option<ErrorInfo>,
    /// The last lines of the error output, after the exit.
    pub stderr: Vec<String>,
    /// The number of protocol violations.
    pub breaches: u32,
}

/// The purpose of a process.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Purpose {
    /// Reports its options.
    Inspect,
    Play {
        game: GameId,
    },
    /// Analyzes at the cursor of a game.
    Analyse {
        game: GameId,
    },
    Hint {
        game: GameId,
    },
    Report {
        game: GameId,
    },
    /// Evaluates a move in place of a mistake of a game.
    Learn {
        game: GameId,
    },
    /// Evaluates a move of an exercise, or solves it.
    Exercise {
        exercise: ExerciseId,
    },
    /// Receives commands of the user.
    Console,
}

/// The status of a process.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum ProcessStatus {
    Starting,
    Idle,
    Searching,
    Pondering,
    /// `quit` was sent.
    Leaving,
    /// Exited after `quit`.
    Ended,
    /// Failed: see `error` and `stderr`.
    Dead,
}

/// The option values of the user for an engine, by the name of the option.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(default)]
pub struct EngineValues {
    /// They override the defaults.
    #[serde(rename = "values")]
    pub all: BTreeMap<String, String>,
    /// Values for play, which override `values`.
    #[serde(rename = "play_values")]
    pub play: BTreeMap<String, String>,
    /// Values for analysis, which override `values`.
    #[serde(rename = "analyse_values")]
    pub analyse: BTreeMap<String, String>,
    pub presets: Vec<Preset>,
}

/// The registration of an engine.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct EngineEntry {
    /// Empty for the name that the engine reports.
    pub name: String,
    pub source: EngineSource,
    /// None for detection by the handshake.
    pub protocol: Option<Protocol>,
}

/// A search for engines.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct EngineSearch {
    pub running: bool,
    /// Number of programs whose handshakes have ended.
    pub done: usize,
    /// Number of programs; 0 until the directories are read.
    pub total: usize,
    /// Engines and other programs so far, as they were found.
    pub found: FoundEngines,
}

/// The evaluation file of a shogi engine, without which it cannot search.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct EvaluationFile {
    /// Where it is, or where the engine expects it.
    pub path: String,
    pub exists: bool,
}

/// Engines for selection, which are not registered yet.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct FoundEngines {
    pub engines: Vec<FoundEngine>,
    pub rejected: Vec<RejectedProgram>,
}

/// An engine for selection.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct FoundEngine {
    /// With the name that the engine or the list reports.
    pub entry: EngineEntry,
    /// Empty if it is unknown.
    pub author: String,
    /// The option values of the list.
    pub values: BTreeMap<String, String>,
    /// Option values that suit the machine.
    pub recommended: BTreeMap<String, String>,
    /// None if the engine needs none, or is unknown.
    pub evaluation: Option<EvaluationFile>,
    /// The list of the engine; none for one that was found in a directory.
    pub list: Option<EngineList>,
    /// Whether the program is registered.
    pub registered: bool,
}

/// A program that is not an engine, or cannot be used.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct RejectedProgram {
    /// Its path, or its name in the list.
    pub name: String,
    pub error: ErrorInfo,
}

/// The format of an engine list.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum EngineList {
    CuteChess,
    EnCroissant,
    Arena,
    ShogiHome,
}

/// The scope of option values.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum ValuesFor {
    /// All purposes.
    All,
    /// Play only.
    Play,
    /// Analysis only.
    Analyse,
}

/// A run of the conformance checker.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CheckRun {
    Running {
        since: u64,
        /// Number of checks that have ended.
        done: usize,
        /// Number of checks; 0 until the handshake.
        total: usize,
        /// The failed checks so far.
        failed: Vec<CheckResult>,
    },
    /// Ended by the user.
    Canceled {
        at: u64,
        done: usize,
        total: usize,
        failed: Vec<CheckResult>,
    },
    Done {
        at: u64,
        /// Whether no check of severity `must` has failed.
        conforms: bool,
        checks: Vec<CheckResult>,
    },
    Failed {
        error: ErrorInfo,
    },
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct CheckResult {
    pub id: String,
    /// `must`, `should` or `may`.
    pub severity: String,
    /// `pass`, `fail`, `skip` or `inconclusive`.
    pub verdict: String,
    pub english: CheckText,
    pub japanese: CheckText,
}

/// The text of a check and its result in a language.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct CheckText {
    pub rule: String,
    /// The observation, or the reason for a skipped check. Empty for a pass.
    pub detail: String,
    /// The clauses of the rule, by the names of the documents.
    pub clauses: Vec<String>,
}

/// A directory of the file picker, by `GET /api/files?path=…` (without a path: the roots).
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Directory {
    /// The absolute path; none for the list of roots.
    pub path: Option<String>,
    /// The parent directory, unless the directory is a root.
    pub parent: Option<String>,
    /// At most 2000 entries: directories first, by name.
    pub entries: Vec<DirectoryEntry>,
    /// Whether entries were omitted.
    pub truncated: bool,
}

/// An entry of a directory.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct DirectoryEntry {
    pub name: String,
    /// The absolute path.
    pub path: String,
    pub directory: bool,
    /// Whether it is an executable file.
    pub program: bool,
    /// In bytes.
    pub size: u64,
}

/// The log of a process.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct LogState {
    pub process: ProcessId,
    /// The last 2000 lines. `GET /api/log/{process}` returns up to 10,000, with `?language=ja` in Japanese.
    pub lines: Vec<LogLine>,
    /// The number of all lines.
    pub total: u64,
}

/// New lines of a log.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct LogDelta {
    pub lines: Vec<LogLine>,
    /// The number of omitted lines before them.
    pub skipped: u64,
    /// The number of all lines.
    pub total: u64,
}

/// A line of a log.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct LogLine {
    /// From 1.
    pub number: u64,
    pub at: u64,
    /// The sender.
    pub by: Speaker,
    /// The text of the line, at most 4096 characters. Control characters are escaped; it is untrusted.
    pub text: String,
    /// The violated rules.
    pub breaches: Vec<Breach>,
}

/// The sender of a line.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    Client,
    Engine,
    /// The error output of the engine.
    Stderr,
    /// The user.
    User,
}

/// A violated rule.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Breach {
    /// Whether it makes the line invalid.
    pub serious: bool,
    pub english: BreachText,
    pub japanese: BreachText,
    /// The start and the end of the violation, in characters of the line.
    pub span: Option<(u32, u32)>,
}

/// A violated rule in a language.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct BreachText {
    pub text: String,
    /// The clause of the rule.
    pub clause: String,
}
