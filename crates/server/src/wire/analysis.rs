//! Analysis at the cursor of a game, and reports on whole games.

use readyok_protocol::{Bound, Score, Wdl};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{EngineId, ErrorInfo, GameId, Limits, LineMove, NodeId, ProcessId, Sides};

/// All engines that analyse at the cursor of a game.
#[derive(Clone, Debug, Default, Serialize, TS)]
pub struct AnalysisState {
    /// In the order in which they were added.
    pub engines: Vec<EngineAnalysis>,
}

/// Changes of the analysis.
#[derive(Clone, Debug, Default, Serialize, TS)]
pub struct AnalysisDelta {
    /// New or changed engines, with their complete states.
    pub engines: Vec<EngineAnalysis>,
    /// Engines that were taken away.
    pub removed: Vec<EngineId>,
}

/// One engine that analyses.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
pub struct EngineAnalysis {
    pub engine: EngineId,
    /// What it is to do.
    pub settings: AnalysisSettings,
    /// What it does.
    pub status: AnalysisStatus,
    /// Its process, if it has one.
    pub process: Option<ProcessId>,
    /// The node that everything below is about. Show nothing of it at another node.
    pub node: NodeId,
    /// The output of the search of that position.
    pub info: SearchInfo,
    /// What went wrong.
    pub error: Option<ErrorInfo>,
}

/// The status of an engine that analyses.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum AnalysisStatus {
    /// The engine is being started.
    Starting,
    /// The old search ends; the new one has no output yet.
    Turning,
    /// It searches.
    Searching,
    /// It has reached its limit, or there is nothing to search.
    Done,
    /// The user has stopped it.
    Stopped,
    /// The engine has failed.
    Failed,
}

/// What an engine that analyses is to do.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct AnalysisSettings {
    /// Number of variations, 0 to 20. With 0 the engine runs with one, and none is shown.
    pub lines: u32,
    /// When to stop.
    pub goal: AnalysisGoal,
    /// Only these moves, in UCI or USI notation, and only at the node where they were chosen; empty for all.
    #[serde(default)]
    pub only: Vec<String>,
    /// Shows what the other side threatens: the side to move passes, which it cannot do in check.
    #[serde(default)]
    pub threat: bool,
    /// Stays at its node when the cursor moves.
    #[serde(default)]
    pub locked: bool,
}

/// When analysis stops.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AnalysisGoal {
    /// When it is stopped.
    Infinite,
    /// At a depth in plies.
    Depth {
        /// Plies.
        depth: u32,
    },
    /// At a number of nodes.
    Nodes {
        /// Nodes.
        nodes: u64,
    },
    /// After some time.
    Time {
        /// Milliseconds.
        time: u64,
    },
    /// When a mate is found (`go mate`), or the limit is reached.
    Mate {
        /// Moves of the mate in chess, milliseconds in shogi (0: without limit).
        limit: u64,
    },
}

/// The output of a search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, TS)]
pub struct SearchInfo {
    /// Its variations, the best first.
    pub lines: Vec<Line>,
    /// The latest depth in plies.
    pub depth: Option<u32>,
    /// Selective depth.
    pub seldepth: Option<u32>,
    /// Nodes searched.
    pub nodes: Option<u64>,
    /// Nodes per second.
    pub nps: Option<u64>,
    /// How full its table is, in thousandths.
    pub hashfull: Option<u32>,
    /// Hits in tablebases.
    pub tbhits: Option<u64>,
    /// CPU load in permille.
    pub cpuload: Option<u32>,
    /// Milliseconds.
    pub time: Option<u64>,
    /// The move that is being searched, with its number.
    pub current: Option<CurrentMove>,
    /// Refutations of moves, if it reports them (`UCI_ShowRefutations`): the latest of each move.
    pub refutations: Vec<Vec<LineMove>>,
    /// The current lines of its threads, if it reports them (`UCI_ShowCurrLine`).
    pub current_lines: Vec<CurrentLine>,
    /// The latest `info string`.
    pub text: Option<String>,
    /// The answer to a search for a mate.
    pub mate: Option<MateAnswer>,
    /// The move it would play, when the search is over.
    pub best: Option<LineMove>,
}

/// One variation.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
pub struct Line {
    /// 1 is the best.
    pub number: u32,
    /// In plies.
    pub depth: Option<u32>,
    /// Selective depth.
    pub seldepth: Option<u32>,
    /// From the side to move.
    pub score: Option<Score>,
    /// How exact it is.
    pub bound: Bound,
    /// Chances of the side to move.
    pub wdl: Option<Wdl>,
    /// The moves; from the first illegal one on, as the engine wrote them.
    pub pv: Vec<LineMove>,
}

/// The move that is being searched.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, TS)]
pub struct CurrentMove {
    pub it: LineMove,
    /// Which of how many, from 1.
    pub number: Option<u32>,
}

/// The current line of a thread.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, TS)]
pub struct CurrentLine {
    /// The number of the CPU, from 1.
    pub cpu: u32,
    /// The moves.
    pub moves: Vec<LineMove>,
}

/// The result of a search for a mate.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum MateAnswer {
    /// There is one: the first line.
    Found,
    /// The game has no report.
    None,
    /// It was not found in time.
    Unknown,
    /// The engine cannot do it.
    NotImplemented,
}

/// How to judge a game.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, TS)]
pub struct ReportSettings {
    /// By whom.
    pub engine: EngineId,
    /// For each position; none of them set means half a second.
    pub limits: Limits,
    /// From the last move to the first, so that the engine knows what comes.
    #[serde(default)]
    pub backwards: bool,
    /// Writes evaluations, signs and better lines into the game.
    #[serde(default)]
    pub annotate: bool,
}

/// The report of a game.
#[derive(Clone, Debug, Default, Serialize, TS)]
pub struct ReportState {
    /// How it is, or was, made; none if it never was.
    pub settings: Option<ReportSettings>,
    /// Where it stands.
    pub status: ReportStatus,
    /// Positions judged.
    pub done: u32,
    /// The total number.
    pub total: u32,
    /// The positions of the main line, from the root on; null if not judged yet.
    pub positions: Vec<Option<Judged>>,
    /// The statistics of both sides so far.
    pub sides: Sides<SideReport>,
    /// What went wrong.
    pub error: Option<ErrorInfo>,
}

/// Changes of a report: what is absent is as it was.
#[derive(Clone, Debug, Default, Serialize, TS)]
pub struct ReportDelta {
    /// Where it stands now.
    pub status: ReportStatus,
    /// Positions judged.
    pub done: u32,
    /// New judgements, by ply of the main line.
    pub positions: Vec<Judged>,
    /// The statistics of both sides so far.
    pub sides: Sides<SideReport>,
    /// What went wrong.
    pub error: Option<ErrorInfo>,
}

/// Where a report stands.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ReportStatus {
    /// The game has no report.
    #[default]
    None,
    /// It waits for others.
    Queued,
    /// It is being made.
    Running,
    /// It was stopped and can be resumed.
    Stopped,
    /// It is complete.
    Done,
    /// It failed.
    Failed,
}

/// A position of the main line, judged, with the move that led to it.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
pub struct Judged {
    /// Moves from the root.
    pub ply: u32,
    /// The node.
    pub node: NodeId,
    /// The score of the position, from the first side.
    pub score: Score,
    /// The same as winning chances of the first side in percent, 0 to 100.
    pub winning: f64,
    /// The principal variation.
    pub best: Vec<LineMove>,
    /// In plies.
    pub depth: Option<u32>,
    /// What the move that led here cost its player, in percent of winning chances; none at the root and where
    /// the position before is not judged yet.
    pub loss: Option<f64>,
    /// What to call it.
    pub label: Option<Label>,
}

/// What to call a move.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Label {
    /// `?!`: more than 5 percent lost.
    Inaccuracy,
    /// `?`: more than 10.
    Mistake,
    /// `??`: more than 20.
    Blunder,
    /// The engine's own first choice.
    Best,
    /// The only legal move.
    Forced,
}

/// One side of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, TS)]
pub struct SideReport {
    /// 0 to 100; none without a judged move.
    pub accuracy: Option<f64>,
    /// Average loss in centipawns.
    pub average_loss: Option<f64>,
    /// How many.
    pub inaccuracies: u32,
    /// How many.
    pub mistakes: u32,
    /// How many.
    pub blunders: u32,
}

/// The games of a report.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ReportOn {
    /// Open games or games of the library, one after another.
    Games {
        /// Their numbers.
        games: Vec<GameId>,
    },
    /// All games in the files of a directory, which are imported into the library first.
    Directory {
        /// A path that the file picker can show.
        path: String,
    },
}
