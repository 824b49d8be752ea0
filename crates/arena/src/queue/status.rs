//! The states of matches and workers of a queue, for its users.

use std::collections::BTreeSet;
use std::fmt;

use readyok_rules::Side;
use serde::{Deserialize, Deserializer, Serialize};

use crate::event::{End, Rating, Score, TestState};
use crate::match_state::{MatchStrength, Point, Standing};
use crate::pairing::WorkerId;
use crate::plan::EngineId;
use crate::queue::speed::bounded;
use crate::result::GameEnd;
use crate::takes::{TakesPoint, TakesStatus};
use crate::tune::TuneStatus;
use crate::worker_stats::WorkerRow;

/// Reads the speed of a worker.
fn bounded_speed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    f64::deserialize(deserializer).map(bounded)
}

/// The published state of a match.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "QueueStatus"))]
pub struct MatchStatus {
    /// The number of game pairs of the plan; in a knockout, the maximum; 0 without a limit.
    pub total: u64,
    /// The number of complete pairs.
    pub pairs: u64,
    /// The number of games of these pairs.
    pub games: u64,
    /// The scores of all encounters.
    pub scores: Vec<Score>,
    /// The standings, best first.
    pub standings: Vec<Standing>,
    /// The state of the test, if the plan has one.
    pub test: Option<TestState>,
    /// The state of the test of several takes, if the match is one.
    pub takes: Option<TakesStatus>,
    /// Its LLRs by the number of pairs.
    pub takes_curve: Vec<TakesPoint>,
    /// Elo of the first engine, of a match of two.
    pub elo: Option<Rating>,
    /// Elo and LLR by the number of pairs, of a match of two.
    pub curve: Vec<Point>,
    /// The values of a tuning, which has no scores and no Elo.
    pub tune: Option<TuneStatus>,
    /// The strength of the first engine, of a match of two.
    pub strength: Option<MatchStrength>,
    /// Games per minute of the last minutes.
    pub games_per_minute: Option<f64>,
    /// The expected number of further games.
    pub remaining_games: Option<u64>,
    /// The number of games in progress.
    pub playing: u64,
    /// Games in progress, the longest first; not all of many.
    pub live: Vec<LiveGame>,
    /// The latest games of complete pairs.
    #[cfg_attr(feature = "ts", ts(skip))]
    pub games_played: Vec<PlayedGame>,
    /// The latest events.
    #[cfg_attr(feature = "ts", ts(skip))]
    pub log: Vec<LogEntry>,
    /// Whether the server proves the names of workers: it has the configuration of a farm.
    pub has_verified_names: bool,
    /// The workers with results.
    pub workers: Vec<WorkerRow>,
    /// The number of messages without effect: malformed ones, and those for jobs that their sender does not hold.
    pub ignored: u64,
    /// The number of pairings that no worker could play.
    pub skipped: u64,
    /// The number of invalid results.
    pub invalid: u64,
    /// The audits.
    pub audits: AuditStatus,
    /// The latest invalid results.
    pub quarantine: Vec<QuarantinedResult>,
    /// The latest failed builds, one for each worker and reason.
    pub failed_builds: Vec<FailedBuild>,
    /// The latest warnings.
    pub warnings: Vec<String>,
    /// The reason of the end.
    pub end: Option<End>,
    /// The time of the latest change in milliseconds since 1970.
    pub updated_ms: u64,
}

impl MatchStatus {
    /// The score of a match of two engines.
    pub fn score_of_two(&self) -> Option<&Score> {
        let scores = Some(self.scores.as_slice()).filter(|_| self.takes.is_none());
        if let Some([score]) = scores { Some(score) } else { None }
    }
}

/// A game in progress on a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct LiveGame {
    /// The worker.
    pub worker: WorkerId,
    /// The index of the pairing.
    pub pair: u64,
    /// The number of the game in its pairing, counted from 0.
    pub game: u32,
    /// The engine with the first move.
    pub first: EngineId,
    /// Its opponent.
    pub second: EngineId,
    /// The time at which the coordinator received its start, in milliseconds since 1970.
    pub since_ms: u64,
}

/// A game of a complete pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlayedGame {
    /// The index of the pairing.
    pub pair: u64,
    /// The number of the game in its pairing, counted from 0.
    pub game: u32,
    /// The round, counted from 1.
    pub round: u32,
    /// The engine with the first move.
    pub first: EngineId,
    /// Its opponent.
    pub second: EngineId,
    /// The winner; `None` for a draw.
    pub winner: Option<Side>,
    /// The reason.
    pub end: GameEnd,
    /// The number of plies, those of the opening included.
    pub plies: u32,
}

/// An event of a match for its readers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogEntry {
    /// Its time in milliseconds since 1970.
    pub at_ms: u64,
    /// What has happened.
    #[serde(flatten)]
    pub what: Logged,
}

/// What has happened in a match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Logged {
    /// A warning of the coordinator.
    Warning {
        /// The text.
        text: String,
    },
    /// An engine has lost a game by a failure.
    Failure {
        /// The engine.
        engine: EngineId,
        /// The worker, if it is known.
        worker: Option<WorkerId>,
        /// The index of the pairing.
        pair: u64,
        /// The number of the game in its pairing, counted from 0.
        game: u32,
        /// The failure.
        end: GameEnd,
    },
    /// A result is invalid.
    InvalidResult {
        /// The worker.
        worker: WorkerId,
        /// The index of the pairing.
        pair: u64,
        /// The contradiction.
        why: String,
    },
    /// A worker has taken its first jobs, or has come back.
    Joined {
        /// The worker.
        worker: WorkerId,
    },
    /// A worker has sent no message for some time.
    Left {
        /// The worker.
        worker: WorkerId,
    },
    /// The match is over.
    Ended {
        /// The reason.
        end: End,
    },
}

/// The audits of a match: pairs that workers of other owners have played again, or replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct AuditStatus {
    /// The number of audited pairs.
    pub made: u64,
    /// The number of open audits.
    pub open: u64,
    /// The number of audits in which the games of two workers have differed.
    pub differing: u64,
    /// The number of workers whose games are replayed with too few equal moves.
    pub flagged: u64,
    /// The number of audits that were due and were not made.
    pub not_made: u64,
    /// Why no audits are made.
    pub gap: Option<AuditGap>,
}

/// Why no audits are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum AuditGap {
    /// All workers have one owner.
    NoOtherOwner,
    /// There is one worker. Names are not verified.
    NoOtherWorker,
    /// The engines do not play the same moves again.
    NotDeterministic,
}

impl fmt::Display for AuditStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { made, open, differing, flagged, not_made, gap } = self;
        write!(f, "{made} made, {open} open, {differing} differing, {flagged} flagged")?;
        if *not_made > 0 {
            write!(f, ", {not_made} not made")?;
        }
        match gap {
            None => Ok(()),
            Some(AuditGap::NoOtherOwner) => f.write_str(" (all workers have one owner)"),
            Some(AuditGap::NoOtherWorker) => f.write_str(" (there is no other worker)"),
            Some(AuditGap::NotDeterministic) => f.write_str(" (the engines are not deterministic)"),
        }
    }
}

/// The published state of a worker. It is deleted a minute after its last update.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "QueueWorker"))]
pub struct WorkerStatus {
    /// The name.
    pub name: String,
    /// The version of the program.
    pub version: String,
    /// Operating system and architecture.
    pub system: String,
    /// The number of available CPUs.
    pub cores: usize,
    /// The number of parallel game pairs.
    pub slots: usize,
    /// The measured speed of the host, in perft nodes per second.
    #[serde(deserialize_with = "bounded_speed")]
    pub speed: f64,
    /// Start time in milliseconds since 1970.
    pub started_ms: u64,
    /// Time of this state in milliseconds since 1970.
    pub updated_ms: u64,
    /// What it does.
    pub activity: WorkerActivity,
    /// The pairs that it plays.
    pub playing: Vec<PlayedPair>,
    /// The number of finished pairs.
    pub finished: u64,
    /// The matches that it rejects, with the reasons.
    pub rejected: Vec<RejectedMatch>,
}

/// What a worker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum WorkerActivity {
    /// It plays, or prepares a match.
    Playing,
    /// It waits for jobs.
    Idle,
    /// It finishes or returns its pairs, and exits.
    Leaving,
}

/// A pair that a worker plays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct PlayedPair {
    /// The identifier of the match.
    #[serde(rename = "match")]
    pub id: String,
    /// The index of the pairing.
    pub pair: u64,
    /// Start time in milliseconds since 1970.
    pub since_ms: u64,
}

/// A match that a worker rejects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RejectedMatch {
    /// The identifier of the match.
    #[serde(rename = "match")]
    pub id: String,
    /// The reason.
    pub why: String,
}

/// A build of an engine that failed on a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct FailedBuild {
    /// The worker.
    pub worker: WorkerId,
    /// The name of the engine in the plan.
    pub engine: String,
    /// The reason.
    pub why: String,
    /// The last part of the output of git, the compiler or the program.
    pub output: String,
    /// The time of its arrival in milliseconds since 1970.
    pub at_ms: u64,
}

/// The phase of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "QueuePhase"))]
pub enum Phase {
    /// Workers play it.
    Running,
    /// Workers take no jobs of it.
    Paused,
    /// It is ending.
    Stopping,
    /// It has no coordinator: workers take no jobs of it until it is taken over.
    Orphaned,
    /// It is over.
    Finished,
}

/// The settings of a match by its users: a key of the bucket of open matches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "QueueControl"))]
pub struct Control {
    /// Workers take jobs of matches with a higher priority first.
    pub priority: i32,
    /// Workers take no jobs.
    pub paused: bool,
    /// The coordinator ends the match.
    pub stop: bool,
    /// Workers whose results do not count.
    pub excluded: BTreeSet<String>,
    /// The maximum number of workers at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_workers: Option<u32>,
    /// The maximum number of threads of all engines that search at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_threads: Option<u32>,
}

/// An invalid result, in the stream of quarantined results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct QuarantinedResult {
    /// The worker.
    pub worker: WorkerId,
    /// The index of the pairing.
    pub index: u64,
    /// The contradiction.
    pub why: String,
    /// The time of its arrival in milliseconds since 1970.
    pub at_ms: u64,
}
