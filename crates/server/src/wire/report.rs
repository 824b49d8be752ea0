//! The whole-game report: every move judged by an engine.

use readyok_protocol::Score;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{EngineId, ErrorInfo, GameId, Limits, LineMove, NodeId, Sides};

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
