//! What engines think at the cursor of a game.

use readyok_protocol::{Bound, Score, Wdl};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{EngineId, Failure, LineMove, NodeId, ProcessId};

/// All engines that analyse at the cursor of a game.
#[derive(Clone, Debug, Default, Serialize, TS)]
pub struct AnalysisState {
    /// In the order in which they were added.
    pub lanes: Vec<EngineAnalysis>,
}

/// Changes of the analysis.
#[derive(Clone, Debug, Default, Serialize, TS)]
pub struct AnalysisDelta {
    /// New or changed lanes, whole.
    pub lanes: Vec<EngineAnalysis>,
    /// Engines that were taken away.
    pub removed: Vec<EngineId>,
}

/// One engine that analyses.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
pub struct EngineAnalysis {
    /// Which.
    pub engine: EngineId,
    /// What it is to do.
    pub settings: AnalysisSettings,
    /// What it does.
    pub status: AnalysisStatus,
    /// Its process, if it has one.
    pub process: Option<ProcessId>,
    /// The node that everything below is about. Show nothing of it at another node.
    pub node: NodeId,
    /// What the engine has told about that position.
    pub told: SearchInfo,
    /// What went wrong.
    pub error: Option<Failure>,
}

/// What a lane does.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum AnalysisStatus {
    /// The engine is being started.
    Starting,
    /// The old search ends, the new one has told nothing yet.
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
    /// So many variations, 0 to 20. With 0 the engine runs with one, and none is shown.
    pub lines: u32,
    /// When to stop.
    pub goal: AnalysisGoal,
    /// Only these moves, by their words, and only at the node where they were chosen; empty for all.
    #[serde(default)]
    pub only: Vec<String>,
    /// Shows what the other side threatens: the side to move passes, which it cannot do in check.
    #[serde(default)]
    pub threat: bool,
    /// Stays at the node where it is, whatever the cursor does.
    #[serde(default)]
    pub locked: bool,
}

/// When analysis stops.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AnalysisGoal {
    /// When it is told to.
    Infinite,
    /// At a depth in plies.
    Depth {
        /// Plies.
        depth: u32,
    },
    /// After so many nodes.
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

/// What an engine has told about one position.
#[derive(Clone, Debug, Default, PartialEq, Serialize, TS)]
pub struct SearchInfo {
    /// Its variations, the best first.
    pub lines: Vec<Line>,
    /// In plies, the latest that was told.
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
    /// Processor load in thousandths.
    pub cpuload: Option<u32>,
    /// Milliseconds.
    pub time: Option<u64>,
    /// The move it looks at now, with its number.
    pub current: Option<CurrentMove>,
    /// Refutations of moves, if it tells them (`UCI_ShowRefutations`): the latest of each move.
    pub refutations: Vec<Vec<LineMove>>,
    /// The lines its processors are at, if it tells them (`UCI_ShowCurrLine`).
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
    /// The moves; the words as the engine wrote them from the first one on that is not legal.
    pub pv: Vec<LineMove>,
}

/// The move that is being searched.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, TS)]
pub struct CurrentMove {
    /// Which.
    pub it: LineMove,
    /// Which of how many, from 1.
    pub number: Option<u32>,
}

/// The line that a processor is at.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, TS)]
pub struct CurrentLine {
    /// Which processor, from 1.
    pub processor: u32,
    /// The moves.
    pub moves: Vec<LineMove>,
}

/// What came of a search for a mate.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum MateAnswer {
    /// There is one: the first line.
    Found,
    /// There is none.
    None,
    /// It was not found in time.
    Unknown,
    /// The engine cannot do it.
    NotImplemented,
}
