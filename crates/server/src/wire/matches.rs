//! Engines against each other: matches and tournaments of the arena.

use std::collections::BTreeMap;

use readyok_protocol::Score;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{EngineId, ErrorInfo, LineMove, OutcomeView, Sides, Time, Variant};

/// A match by its number.
pub type MatchId = u32;

/// All matches.
#[derive(Clone, Debug, Default, Serialize, TS)]
pub struct MatchesState {
    /// The latest first.
    pub matches: Vec<MatchLine>,
}

/// Changes of the list of matches.
#[derive(Clone, Debug, Default, Serialize, TS)]
pub struct MatchesDelta {
    /// New or changed ones.
    pub changed: Vec<MatchLine>,
    /// Those that were deleted.
    pub removed: Vec<MatchId>,
}

/// One line about a match.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
pub struct MatchLine {
    pub id: MatchId,
    pub name: String,
    pub variant: Variant,
    /// Where it stands.
    pub status: MatchStatus,
    /// Games played.
    pub played: u32,
    /// The total number, if it is known.
    pub total: Option<u32>,
}

/// Where a match stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum MatchStatus {
    /// It is played.
    Running,
    /// The games that are on are played to their ends.
    Finishing,
    /// It was stopped and can be resumed.
    Paused,
    /// It is over.
    Over,
    /// It failed and can be resumed.
    Failed,
}

/// A match to be played.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, TS)]
pub struct MatchPlan {
    pub name: String,
    pub variant: Variant,
    /// Who plays, at least two.
    pub engines: Vec<MatchEngine>,
    /// The pairing of engines.
    pub format: MatchFormat,
    /// The number of rounds.
    pub rounds: u32,
    /// Number of game pairs, each with reversed colors, in an encounter.
    pub pairs: u32,
    /// Where games start.
    pub openings: MatchOpenings,
    /// Number of concurrent games.
    pub concurrency: u32,
    /// A draw when both scores were this close to 0 (centipawns) for a number of moves, from a move on.
    pub draw: Option<DrawRule>,
    /// A loss when the score was this bad for a number of moves.
    pub resign: Option<ResignRule>,
    /// A draw after this number of moves.
    pub max_moves: Option<u32>,
    /// A test of two engines that can end the match early.
    pub sprt: Option<SprtSettings>,
    /// The seed of random choices.
    #[serde(default)]
    pub seed: u64,
}

/// An engine of a match.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, TS)]
pub struct MatchEngine {
    pub engine: EngineId,
    /// Its name in the table; empty for its own. Must differ from the others'.
    #[serde(default)]
    pub name: String,
    /// Its time.
    pub time: Time,
    /// Nodes for each move.
    pub nodes: Option<u64>,
    /// Depth of each search.
    pub depth: Option<u32>,
    /// Whether it thinks on its opponent's time.
    #[serde(default)]
    pub ponder: bool,
    /// Options over those for games.
    #[serde(default)]
    pub options: BTreeMap<String, String>,
}

/// The pairing of engines.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum MatchFormat {
    /// Round robin; with two engines a head-to-head match.
    RoundRobin,
    /// The first engine plays all others.
    Gauntlet,
    /// Who loses is out.
    Knockout,
    /// Engines with similar scores are paired.
    Swiss,
}

/// Where the games of a match start.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum MatchOpenings {
    /// The start position.
    Start,
    /// All start positions of Chess960, in random order.
    Chess960,
    /// A handicap of shogi.
    Handicap { name: String },
    /// Positions, FEN or SFEN.
    Positions {
        /// The texts.
        list: Vec<String>,
    },
    /// A file: PGN, EPD, SFEN lines, KIF, Polyglot.
    File {
        /// A path that the file picker can show.
        path: String,
        /// Maximum number of plies of each.
        plies: Option<u32>,
        /// In random order.
        shuffled: bool,
    },
}

/// When a game is drawn by scores.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct DrawRule {
    /// Not before this move.
    pub from_move: u32,
    /// Number of successive moves.
    pub moves: u32,
    /// Maximum distance from 0, in centipawns.
    pub score: u32,
}

/// When a game is lost by scores.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct ResignRule {
    /// Number of successive moves.
    pub moves: u32,
    /// Maximum score, in negative centipawns.
    pub score: u32,
}

/// A sequential test.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, TS)]
pub struct SprtSettings {
    /// The hypothesis H0.
    pub elo0: f64,
    /// The hypothesis H1.
    pub elo1: f64,
    /// The probability to accept H1 when H0 is true.
    pub alpha: f64,
    /// The probability to accept H0 when H1 is true.
    pub beta: f64,
}

/// A match.
#[derive(Clone, Debug, Serialize, TS)]
pub struct MatchState {
    pub id: MatchId,
    /// What is played.
    pub plan: MatchPlan,
    /// Where it stands.
    pub status: MatchStatus,
    /// The engines' names, in the order of the plan.
    pub names: Vec<String>,
    /// Games played, and of how many.
    pub played: u32,
    /// None if unknown.
    pub total: Option<u32>,
    /// The table, best first.
    pub standings: Vec<Standing>,
    /// `crosstable[a][b]`: what a has against b, by their places in the plan.
    pub crosstable: Vec<Vec<Wins>>,
    /// Elo after each pair (first engine of two).
    pub curve: Vec<CurvePoint>,
    /// Games that are on.
    pub boards: Vec<MatchBoard>,
    /// Games that are over, the latest last, at most 500.
    pub games: Vec<MatchGame>,
    /// Why it ended, or what went wrong.
    pub note: Option<ErrorInfo>,
}

/// Changes of a match: what is absent is as it was.
#[derive(Clone, Debug, Default, Serialize, TS)]
pub struct MatchDelta {
    /// Where it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub status: Option<MatchStatus>,
    /// Games played, the table, the crosstable.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub score: Option<MatchScore>,
    /// New points of the curve.
    pub curve: Vec<CurvePoint>,
    /// New or changed boards, whole.
    pub boards: Vec<MatchBoard>,
    /// Boards that are gone.
    pub ended: Vec<u32>,
    /// Games that are over.
    pub games: Vec<MatchGame>,
    /// Why it ended, or what went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub note: Option<ErrorInfo>,
}

/// The score of a match.
#[derive(Clone, Debug, Serialize, TS)]
pub struct MatchScore {
    /// Games played.
    pub played: u32,
    /// The total number.
    pub total: Option<u32>,
    /// The table, best first.
    pub standings: Vec<Standing>,
    /// As in the state.
    pub crosstable: Vec<Vec<Wins>>,
}

/// One line of a table.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
pub struct Standing {
    /// The place in the plan.
    pub engine: u32,
    /// Its games.
    pub wins: Wins,
    /// Points: a win is 1, a draw a half.
    pub points: f64,
    /// Elo against the field with the half width of its 95 % interval; none if undefined.
    pub elo: Option<Elo>,
}

/// Wins, draws and losses.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, TS)]
pub struct Wins {
    /// Won.
    pub won: u32,
    /// Drawn.
    pub drawn: u32,
    /// Lost.
    pub lost: u32,
}

/// A difference in Elo.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, TS)]
pub struct Elo {
    /// The difference.
    pub elo: f64,
    /// Half the 95 % interval.
    pub error: f64,
}

/// A point of the curves of a match of two.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, TS)]
pub struct CurvePoint {
    /// The number of games.
    pub games: u32,
    /// Of the first engine against the second.
    pub elo: Option<Elo>,
    /// The log-likelihood ratio of the test, with its bounds; none without a test.
    pub llr: Option<Llr>,
}

/// Where a sequential test stands.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, TS)]
pub struct Llr {
    /// The ratio.
    pub llr: f64,
    /// H0 is accepted below.
    pub lower: f64,
    /// H1 is accepted above.
    pub upper: f64,
}

/// A game of a match that is on.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
pub struct MatchBoard {
    /// The id of a board of a match.
    pub board: u32,
    /// Who plays, by their places in the plan.
    pub engines: Sides<u32>,
    /// FEN or SFEN.
    pub text: String,
    /// Squares of the last move: from, if it has one, and to.
    pub last: Vec<String>,
    /// The moves so far.
    pub moves: Vec<LineMove>,
    /// The last scores of the sides, from their own point of view.
    pub scores: Sides<Option<Score>>,
}

/// A game of a match that is over.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
pub struct MatchGame {
    /// Its number in the match, from 1.
    pub number: u32,
    /// The round, from 1.
    pub round: u32,
    /// Who played, by their places in the plan.
    pub engines: Sides<u32>,
    /// How it ended.
    pub outcome: OutcomeView,
    /// Moves played.
    pub plies: u32,
}
