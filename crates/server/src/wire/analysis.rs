//! Analysis at the cursor of a game, and reports on whole games.

use readyok_protocol::{Bound, Score, Wdl};
pub use readyok_rules::judgement::{MoveLabel as Label, SideAccuracy as SideReport};
use serde::{Deserialize, Serialize};
#[cfg(test)]
use ts_rs::TS;

use super::{EngineId, ErrorInfo, GameId, LineMove, NodeId, ProcessId, SearchLimits, Sides};

/// The engines that analyze the position at the cursor of a game.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct AnalysisState {
    pub engines: Vec<EngineAnalysis>,
}

/// Changes of the analysis.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct AnalysisDelta {
    /// New or changed engines, with their complete states.
    pub engines: Vec<EngineAnalysis>,
    pub removed: Vec<EngineId>,
}

/// An engine that analyzes a game.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct EngineAnalysis {
    pub engine: EngineId,
    pub settings: AnalysisSettings,
    pub status: AnalysisStatus,
    pub process: Option<ProcessId>,
    /// The node of the fields below. They must not be shown at another node.
    pub node: NodeId,
    pub info: SearchInfo,
    pub error: Option<ErrorInfo>,
}

/// The status of an engine that analyzes.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum AnalysisStatus {
    /// The engine is being started.
    Starting,
    /// The previous search stops; the next one has no output yet.
    Turning,
    Searching,
    /// The limit is reached, or the position has no legal move.
    Done,
    /// Stopped by the user.
    Stopped,
    Failed,
}

/// The settings of an analysis.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct AnalysisSettings {
    /// The number of variations, 0 to 20. With 0, the engine searches one, which is not shown.
    pub lines: u32,
    pub goal: AnalysisGoal,
    /// Only these moves, in UCI or USI notation, and only at the node where they were chosen; empty for all.
    #[serde(default)]
    pub only: Vec<String>,
    /// Analyzes the position after a null move, which is not possible in check.
    #[serde(default)]
    pub threat: bool,
    /// The node of the analysis does not follow the cursor.
    #[serde(default)]
    pub locked: bool,
}

/// The end of an analysis.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AnalysisGoal {
    /// No limit.
    Infinite,
    Depth {
        /// In plies.
        depth: u32,
    },
    Nodes {
        nodes: u64,
    },
    Time {
        /// In milliseconds.
        time: u64,
    },
    /// A search for a mate (`go mate`).
    Mate {
        /// In moves in chess, in milliseconds in shogi (0: no limit).
        limit: u64,
    },
}

/// The output of a search.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct SearchInfo {
    /// The variations, the best first.
    pub lines: Vec<Line>,
    /// In plies.
    pub depth: Option<u32>,
    /// In plies.
    pub seldepth: Option<u32>,
    pub nodes: Option<u64>,
    pub nps: Option<u64>,
    /// The use of the transposition table, in permille.
    pub hashfull: Option<u32>,
    pub tbhits: Option<u64>,
    /// CPU load in permille.
    pub cpuload: Option<u32>,
    /// In milliseconds.
    pub time: Option<u64>,
    pub current: Option<CurrentMove>,
    /// The latest refutation of each move (`UCI_ShowRefutations`).
    pub refutations: Vec<Vec<LineMove>>,
    /// The current lines of the threads (`UCI_ShowCurrLine`).
    pub current_lines: Vec<CurrentLine>,
    /// The latest `info string`.
    pub text: Option<String>,
    /// The result of a search for a mate.
    pub mate: Option<MateAnswer>,
    /// The best move of a finished search.
    pub best: Option<LineMove>,
}

/// A variation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Line {
    /// 1 is the best.
    pub number: u32,
    /// In plies.
    pub depth: Option<u32>,
    /// In plies.
    pub seldepth: Option<u32>,
    /// From the side to move.
    pub score: Option<Score>,
    pub bound: Bound,
    /// Of the side to move.
    pub wdl: Option<Wdl>,
    /// From the first illegal move on, the moves are as the engine sent them.
    pub pv: Vec<LineMove>,
}

/// The move that is searched at the root (`currmove`).
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct CurrentMove {
    pub it: LineMove,
    /// From 1.
    pub number: Option<u32>,
}

/// The current line of a thread (`currline`).
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct CurrentLine {
    /// From 1.
    pub cpu: u32,
    pub moves: Vec<LineMove>,
}

/// The result of a search for a mate.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum MateAnswer {
    /// The mate is the first line.
    Found,
    /// The game has no report.
    None,
    /// No mate was found within the limit.
    Unknown,
    /// The engine does not support the search for a mate.
    NotImplemented,
}

/// The settings of a report.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct ReportSettings {
    pub engine: EngineId,
    /// For each position; half a second if no limit is set.
    pub limits: SearchLimits,
    /// Searches from the last position to the first, which profits from the transposition table.
    #[serde(default)]
    pub backwards: bool,
    /// Adds evaluations, NAGs and better lines to the game.
    #[serde(default)]
    pub annotate: bool,
}

/// The report of a game.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct ReportState {
    /// None if the game has no report.
    pub settings: Option<ReportSettings>,
    pub status: ReportStatus,
    /// The number of judged positions.
    pub done: u32,
    /// The number of positions.
    pub total: u32,
    /// The positions of the main line, from the root; null if not judged yet.
    pub positions: Vec<Option<Judged>>,
    /// The statistics of the judged positions.
    pub sides: Sides<SideReport>,
    pub error: Option<ErrorInfo>,
}

/// Changes of a report.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct ReportDelta {
    pub status: ReportStatus,
    /// The number of judged positions.
    pub done: u32,
    /// New judgements, by ply of the main line.
    pub positions: Vec<Judged>,
    /// The statistics of the judged positions.
    pub sides: Sides<SideReport>,
    pub error: Option<ErrorInfo>,
}

/// The status of a report.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum ReportStatus {
    /// The game has no report.
    #[default]
    None,
    /// Other reports are processed first.
    Queued,
    Running,
    /// Stopped; it can be resumed.
    Stopped,
    Done,
    Failed,
}

/// A judged position of the main line, with the move before it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Judged {
    /// From the root.
    pub ply: u32,
    pub node: NodeId,
    /// For the first side.
    pub score: Score,
    /// The winning chances of the first side, 0 to 100 percent.
    pub winning: f64,
    /// The principal variation.
    pub best: Vec<LineMove>,
    /// In plies.
    pub depth: Option<u32>,
    /// What the move that led here cost its player, in percent of winning chances; none at the root and where
    /// the position before is not judged yet.
    pub loss: Option<f64>,
    pub label: Option<Label>,
}

/// The games to report on.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ReportOn {
    /// Open games or games of the library, one after another.
    Games { games: Vec<GameId> },
    /// All games of a directory, which are imported into the library first.
    Directory {
        /// A path below a root of the file picker.
        path: String,
    },
}
