//! Engines against each other: matches and tournaments of the arena.

use std::collections::BTreeMap;

pub use readyok_arena::conditions::{MatchConditions, MatchSource};
pub use readyok_arena::event::Score as EncounterScore;
use readyok_arena::event::{End, Rating};
pub use readyok_arena::match_state::{MatchStrength, Point as CurvePoint, Standing};
pub use readyok_arena::plan::{DrawAdjudication, GitSource, ResignAdjudication, SprtPlan};
pub use readyok_arena::stats::SprtStatus;
use readyok_arena::stats::Verdict;
pub use readyok_arena::takes::{TakesPoint, TakesStatus};
pub use readyok_arena::worker_stats::WorkerRow;
use readyok_protocol::Score;
use readyok_rules::Termination;
use serde::{Deserialize, Serialize};
#[cfg(test)]
use ts_rs::TS;

use crate::time::Moment;

use super::{ClockState, EngineId, ErrorInfo, LineMove, OutcomeView, Sides, Time, Variant};

/// The number of a match.
pub type MatchId = u32;

#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct MatchesState {
    /// The latest first.
    pub matches: Vec<MatchLine>,
}

/// Changes of the list of matches.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct MatchesDelta {
    pub changed: Vec<MatchLine>,
    pub removed: Vec<MatchId>,
}

/// The summary of a match.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct MatchLine {
    pub id: MatchId,
    pub name: String,
    pub variant: Variant,
    pub status: MatchStatus,
    /// The number of finished games.
    pub played: u32,
    /// The number of all games, if it is known.
    pub total: Option<u32>,
    /// The number of engines.
    pub engines: usize,
    /// The hypotheses of its sequential test, in Elo.
    pub bounds: Option<[f64; 2]>,
    /// Elo of the first of two engines.
    pub elo: Option<Rating>,
    /// The decision of the test.
    pub verdict: Option<Verdict>,
}

/// The status of a match.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum MatchStatus {
    Running,
    /// The match stops after the games in progress.
    Finishing,
    /// Stopped; it can be resumed.
    #[serde(alias = "unfinished")]
    Paused,
    Over,
    /// Failed; it can be resumed.
    Failed,
}

/// The plan of a match.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct MatchPlan {
    pub name: String,
    pub variant: Variant,
    /// At least two.
    pub engines: Vec<MatchEngine>,
    pub format: MatchFormat,
    pub rounds: u32,
    /// The number of game pairs with reversed colors of each encounter.
    pub pairs: u32,
    pub openings: MatchOpenings,
    /// The number of concurrent games.
    pub concurrency: u32,
    pub draw: Option<DrawAdjudication>,
    pub resign: Option<ResignAdjudication>,
    /// The game is drawn after this number of moves.
    pub max_moves: Option<u32>,
    /// A test of two engines, which can end the match early.
    pub sprt: Option<SprtPlan>,
    #[serde(default)]
    pub seed: u64,
}

/// An engine of a match.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct MatchEngine {
    pub engine: MatchProgram,
    /// The unique name in the table; empty for the name of the engine.
    #[serde(default)]
    pub name: String,
    pub time: Time,
    /// For each move.
    pub nodes: Option<u64>,
    /// In plies.
    pub depth: Option<u32>,
    #[serde(default)]
    pub ponder: bool,
    /// Values that override the engine's values for play.
    #[serde(default)]
    pub options: BTreeMap<String, String>,
}

/// The program of an engine of a match.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(untagged)]
pub enum MatchProgram {
    /// A registered engine.
    Registered(EngineId),
    /// A program on the computer of the server.
    Program {
        /// The path, or a name in `PATH`.
        command: String,
        #[serde(default)]
        args: Vec<String>,
    },
    /// A commit of a Git repository, which is built.
    Git {
        /// Without a commit, it is that of the revision.
        source: GitSource,
    },
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum MatchFormat {
    /// Round robin; with two engines a head-to-head match.
    RoundRobin,
    /// The first engine plays all others.
    Gauntlet,
    /// Knockout.
    Knockout,
    /// Swiss system.
    Swiss,
    /// The other engines are takes of one idea against the first one. The test is required.
    Takes,
}

/// The openings of a match.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum MatchOpenings {
    /// The start position.
    Start,
    /// The built-in list of chess or shogi, in random order.
    BuiltIn,
    /// All start positions of Chess960, in random order.
    Chess960,
    /// A handicap of shogi.
    Handicap { name: String },
    /// Positions, FEN or SFEN.
    Positions { list: Vec<String> },
    /// A file: PGN, EPD, SFEN lines, KIF, Polyglot.
    File {
        /// A path that the file picker can show.
        path: String,
        /// Maximum number of plies of an opening.
        plies: Option<u32>,
        shuffled: bool,
    },
}

/// A match.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct MatchState {
    pub id: MatchId,
    pub plan: MatchPlan,
    pub status: MatchStatus,
    /// The names of the engines, in the order of the plan.
    pub names: Vec<String>,
    /// The number of finished games.
    pub played: u32,
    /// The number of all games, if it is known.
    pub total: Option<u32>,
    /// The standings, best first.
    pub standings: Vec<Standing>,
    /// The scores of all encounters.
    pub scores: Vec<EncounterScore>,
    /// The state of the SPRT of two engines.
    pub test: Option<SprtStatus>,
    /// The state of the test of several takes.
    pub takes: Option<TakesStatus>,
    /// The strength of the first of two engines.
    pub strength: Option<MatchStrength>,
    /// Games per minute of the last minutes.
    pub games_per_minute: Option<f64>,
    /// The expected number of further games.
    pub remaining_games: Option<u64>,
    /// The counts of this computer.
    pub workers: Vec<WorkerRow>,
    pub conditions: MatchConditions,
    /// The results of two engines after each pair.
    pub curve: Vec<CurvePoint>,
    /// The LLRs of several takes after each pair.
    pub takes_curve: Vec<TakesPoint>,
    /// Games in progress.
    pub boards: Vec<MatchBoard>,
    /// The last 500 finished games.
    pub games: Vec<MatchGame>,
    /// The last 200 events.
    pub log: Vec<MatchLogEntry>,
    /// The reason for the end of the match, or an error.
    pub note: Option<ErrorInfo>,
}

/// Changes of a match. Absent fields are unchanged.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct MatchDelta {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub status: Option<MatchStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub score: Option<MatchScore>,
    pub curve: Vec<CurvePoint>,
    /// The LLRs of several takes after each pair.
    pub takes_curve: Vec<TakesPoint>,
    /// New or changed boards, with their complete states.
    pub boards: Vec<MatchBoard>,
    /// Removed boards.
    pub ended: Vec<u32>,
    /// New finished games.
    pub games: Vec<MatchGame>,
    /// New events.
    pub log: Vec<MatchLogEntry>,
    /// The reason for the end of the match, or an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub note: Option<ErrorInfo>,
}

/// The score of a match.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct MatchScore {
    /// The number of finished games.
    pub played: u32,
    /// The number of all games, if it is known.
    pub total: Option<u32>,
    /// The standings, best first.
    pub standings: Vec<Standing>,
    /// The scores of all encounters.
    pub scores: Vec<EncounterScore>,
    /// The state of the SPRT of two engines.
    pub test: Option<SprtStatus>,
    /// The state of the test of several takes.
    pub takes: Option<TakesStatus>,
    /// The strength of the first of two engines.
    pub strength: Option<MatchStrength>,
    /// Games per minute of the last minutes.
    pub games_per_minute: Option<f64>,
    /// The expected number of further games.
    pub remaining_games: Option<u64>,
    /// The counts of this computer.
    pub workers: Vec<WorkerRow>,
}

/// An event of a match.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct MatchLogEntry {
    pub at: Moment,
    #[serde(flatten)]
    pub what: MatchLogged,
}

/// What has happened in a match.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum MatchLogged {
    /// It was started, or resumed after this number of pairs.
    Started { pairs: u64 },
    /// A warning, or an error.
    Note { note: ErrorInfo },
    /// An engine has lost a game by a failure.
    Failure {
        engine: u32,
        /// On a farm.
        worker: Option<String>,
        /// The number of the game in the match, from 1.
        game: u32,
        termination: Termination,
        detail: Option<ErrorInfo>,
    },
    /// A result does not count.
    InvalidResult { worker: String, pair: u64, why: String },
    /// A worker takes part.
    Joined { worker: String },
    /// A worker has sent no message for a minute.
    Left { worker: String },
    /// The match is over, or was interrupted.
    Ended { end: End },
}

/// A game in progress.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct MatchBoard {
    pub board: u32,
    /// The engines, by their indices in the plan.
    pub engines: Sides<u32>,
    /// FEN or SFEN.
    pub text: String,
    /// The squares of the last move.
    pub last: Vec<String>,
    pub moves: Vec<LineMove>,
    /// The last score of each side, for that side.
    pub scores: Sides<Option<Score>>,
    pub clocks: ClockState,
}

/// A finished game.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct MatchGame {
    /// From 1.
    pub number: u32,
    /// From 1.
    pub round: u32,
    /// The engines, by their indices in the plan.
    pub engines: Sides<u32>,
    pub outcome: OutcomeView,
    pub plies: u32,
}
