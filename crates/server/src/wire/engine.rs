//! Registered engines, their options, processes and logs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{ErrorInfo, GameId, Variant};

/// A registered engine by its number.
pub type EngineId = u32;
/// A process by the server's number for it, which is also that of its log. Not the system's.
pub type ProcessId = u32;

/// The protocol that an engine speaks.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// The Universal Chess Interface.
    Uci,
    /// The Universal Shogi Interface.
    Usi,
}

/// All engines and processes.
#[derive(Clone, Debug, Default, Serialize, TS)]
pub struct EnginesState {
    /// In the user's order. The first is the built-in one.
    pub engines: Vec<EngineState>,
    /// Those that run, and the last that have ended, by number.
    pub processes: Vec<ProcessState>,
    /// What the machine has, to judge `Threads` and `Hash` by.
    pub machine: Machine,
}

/// Changes of the engines and processes.
#[derive(Clone, Debug, Default, Serialize, TS)]
pub struct EnginesDelta {
    /// New or changed engines.
    pub engines: Vec<EngineState>,
    /// Engines that were removed.
    pub removed: Vec<EngineId>,
    /// New or changed processes.
    pub processes: Vec<ProcessState>,
    /// Processes whose logs are forgotten.
    pub forgotten: Vec<ProcessId>,
}

/// What the machine has.
#[derive(Clone, Copy, Debug, Default, Serialize, TS)]
pub struct Machine {
    /// The number of logical CPU cores.
    pub cores: u32,
    /// Memory in MiB, if it is known.
    pub memory: Option<u64>,
}

/// A registered engine.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
pub struct EngineState {
    pub id: EngineId,
    /// What the user calls it.
    pub name: String,
    /// How it is reached.
    pub source: EngineSource,
    /// The protocol; none before the first handshake, unless the user has set it.
    pub protocol: Option<Protocol>,
    /// The built-in one cannot be changed or removed.
    pub built_in: bool,
    /// The identity from its last handshake, if there was one.
    pub identity: Option<Identity>,
    /// The games that it can play, by its protocol and options.
    pub variants: Vec<Variant>,
    /// The options it declared the last time.
    pub options: Vec<EngineOption>,
    /// Values that the user has set, over the defaults, by the name of the option.
    pub values: BTreeMap<String, String>,
    /// Values for games only, over these.
    pub play_values: BTreeMap<String, String>,
    /// Values for analysis only, over these.
    pub analyse_values: BTreeMap<String, String>,
    /// Named sets of values.
    pub presets: Vec<Preset>,
    /// How its strength can be set; none if it cannot.
    pub strength: Option<StrengthRange>,
    /// How its strength can be set in shogi, of which it may speak in another protocol.
    pub strength_in_shogi: Option<StrengthRange>,
    /// Why it could not be asked the last time.
    pub error: Option<ErrorInfo>,
    /// The status of its registration, if it reports one.
    pub registration: Option<Approval>,
    /// The status of its copy protection, if it reports one.
    pub copy_protection: Option<Approval>,
    /// What to answer it when it wants to be registered; none for `register later`.
    pub registered_as: Option<String>,
    /// The last run of the conformance checker.
    pub check: Option<CheckRun>,
}

/// A status that an engine reports.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// It is looking.
    Checking,
    /// All is well.
    Ok,
    /// It is not.
    Error,
}

/// How an engine is reached.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EngineSource {
    /// A program.
    Program {
        /// Its absolute path.
        path: String,
        /// Its arguments, as they are; no shell is involved.
        #[serde(default)]
        args: Vec<String>,
        /// Its working directory; none for its own directory.
        dir: Option<String>,
        /// Environment variables in addition to those of the server.
        #[serde(default)]
        env: BTreeMap<String, String>,
    },
    /// A connection, `host:port`.
    Tcp {
        /// The address.
        address: String,
    },
    /// Narikin, as a program of its own.
    BuiltIn,
}

/// The identity of an engine. Text from outside: show it, never interpret it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct Identity {
    /// `id name`.
    pub name: String,
    /// `id author`.
    pub author: String,
}

/// An option that an engine has declared.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct EngineOption {
    /// Its name, as the engine writes it.
    pub name: String,
    /// Its kind with what goes with it.
    pub kind: OptionKind,
    /// What to call it, by language (`en`, `ja`), where the engine's translation file or this server
    /// knows.
    pub labels: BTreeMap<String, String>,
    /// What it does, by language.
    pub help: BTreeMap<String, String>,
    /// Who sets it: the user, or the server by itself (such as `UCI_AnalyseMode`, `Ponder`, `MultiPV`), which the
    /// dialog shows as such and does not offer to change.
    pub set_by_server: bool,
}

/// The kinds of options.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum OptionKind {
    /// On or off. Values are `true` and `false`.
    Check {
        /// The default.
        default: Option<bool>,
    },
    /// A whole number.
    Spin {
        /// The default.
        default: Option<i64>,
        /// The least.
        min: Option<i64>,
        /// The most.
        max: Option<i64>,
    },
    /// One of several values.
    Combo {
        /// The default.
        default: Option<String>,
        /// The choices.
        choices: Vec<Choice>,
    },
    /// Something to press.
    Button,
    /// A text. Empty is written as `<empty>`.
    String {
        /// The default.
        default: Option<String>,
        /// Whether it is a list of directories, by its name (`SyzygyPath`).
        directories: bool,
    },
    /// A path of a file.
    Filename {
        /// The default.
        default: Option<String>,
    },
    /// Of a type that no protocol knows.
    Other {
        /// The type as the engine reports it.
        text: String,
    },
}

/// A choice of a combo.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct Choice {
    /// The value.
    pub value: String,
    /// The text to show, by language, if there is one.
    pub labels: BTreeMap<String, String>,
}

/// A named set of values.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct Preset {
    /// Its name, one of its kind in the engine.
    pub name: String,
    /// Its values.
    pub values: BTreeMap<String, String>,
}

/// The range of an engine's strength limit.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum StrengthRange {
    /// By Elo: `UCI_LimitStrength` and `UCI_Elo`.
    Elo {
        /// The weakest.
        min: i64,
        /// The strongest.
        max: i64,
    },
    /// By a level: `USI_LimitStrength` with `USI_Strength`, or `Skill Level`.
    Level {
        /// The name of the option.
        option: String,
        /// The weakest.
        min: i64,
        /// The strongest.
        max: i64,
    },
}

/// How strongly an engine is to play, within its [`StrengthRange`].
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct Strength {
    /// Elo or level.
    pub value: i64,
}

/// A process, or connection, of an engine.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
pub struct ProcessState {
    /// The server's number for it.
    pub id: ProcessId,
    /// The engine it is one of.
    pub engine: EngineId,
    /// What it is for.
    pub purpose: Purpose,
    /// What it does.
    pub status: ProcessStatus,
    /// The system's number; none for a connection, and before it has started.
    pub pid: Option<u32>,
    /// When it was started.
    pub started: u64,
    /// The identity from its handshake.
    pub identity: Option<Identity>,
    /// Why it has failed, or rejected a command.
    pub error: Option<ErrorInfo>,
    /// The last lines of its error output, when it has ended.
    pub stderr: Vec<String>,
    /// How often it broke its protocol.
    pub breaches: u32,
}

/// What a process is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Purpose {
    /// To learn what it can do.
    Inspect,
    /// To play a game.
    Play { game: GameId },
    /// To analyse at the cursor of a game.
    Analyse { game: GameId },
    /// For a hint in a game.
    Hint { game: GameId },
    /// For the report of a game.
    Report { game: GameId },
    /// To evaluate another attempt at a mistake of a game.
    Learn { game: GameId },
    /// For the user's own commands.
    Console,
}

/// What a process does.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ProcessStatus {
    /// It is being started.
    Starting,
    /// It waits.
    Idle,
    /// It searches.
    Searching,
    /// It thinks on the opponent's time.
    Pondering,
    /// It was asked to leave.
    Leaving,
    /// It has left as it was asked to.
    Ended,
    /// It has failed: see `error` and `stderr`.
    Dead,
}

/// An engine to be registered, or changed.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, TS)]
pub struct EngineEntry {
    /// What the user calls it; empty for what it calls itself.
    pub name: String,
    /// How it is reached. A program is given by its absolute path.
    pub source: EngineSource,
    /// What it speaks; none to find out.
    pub protocol: Option<Protocol>,
}

/// Which values of options are meant.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ValuesFor {
    /// Those for everything.
    All,
    /// Those for games.
    Play,
    /// Those for analysis.
    Analyse,
}

/// A run of the conformance checker.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CheckRun {
    /// It runs.
    Running {
        /// Since when.
        since: u64,
    },
    /// It is done.
    Done {
        /// When.
        at: u64,
        /// Whether the engine keeps every must.
        conforms: bool,
        /// One for each check.
        checks: Vec<CheckResult>,
    },
    /// The engine could not be checked.
    Failed {
        /// Why.
        error: ErrorInfo,
    },
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
pub struct CheckResult {
    pub id: String,
    /// `must`, `should` or `may`.
    pub severity: String,
    /// `pass`, `fail`, `skip` or `inconclusive`.
    pub verdict: String,
    /// The rule and what was seen, in English.
    pub english: CheckText,
    /// The same in Japanese.
    pub japanese: CheckText,
}

/// A check and its result, in a language.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
pub struct CheckText {
    /// The rule.
    pub rule: String,
    /// What was seen, or why nothing was. Empty for a pass.
    pub detail: String,
    /// Where the rule stands. Documents are cited by their own names.
    pub clauses: Vec<String>,
}

/// A directory for the file picker. `GET /api/files?path=…` (no path: the roots).
#[derive(Clone, Debug, Deserialize, Serialize, TS)]
pub struct Directory {
    /// Its absolute path; none for the list of roots.
    pub path: Option<String>,
    /// The directory above, if it may be seen.
    pub parent: Option<String>,
    /// What is in it: directories first, by name, at most 2000.
    pub entries: Vec<DirectoryEntry>,
    /// Whether there were more.
    pub truncated: bool,
}

/// Something in a directory.
#[derive(Clone, Debug, Deserialize, Serialize, TS)]
pub struct DirectoryEntry {
    pub name: String,
    /// Its absolute path.
    pub path: String,
    /// Whether it is a directory.
    pub directory: bool,
    /// Whether it is a file that may be run.
    pub program: bool,
    /// Bytes.
    pub size: u64,
}

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
