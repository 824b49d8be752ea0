//! The queue of distributed matches.

use std::collections::BTreeMap;

use readyok_arena::event::Rating;
use readyok_arena::queue::status::{Control, MatchStatus, Phase, WorkerStatus};
use serde::{Deserialize, Serialize};
#[cfg(test)]
use ts_rs::TS;

use super::EncounterScore;

/// The result of `GET /api/queue`; null without a queue.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct QueueOverview {
    /// The address of the server.
    pub server: String,
    /// Open matches by priority and age.
    pub open: Vec<QueueLine>,
    /// Finished matches that contain the text of the search, the latest first.
    pub finished: Vec<QueueLine>,
    pub workers: Vec<WorkerStatus>,
    /// Whether the user may change the queue.
    pub writable: bool,
}

/// The summary of a match of the queue.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct QueueLine {
    pub id: String,
    pub name: String,
    pub phase: Phase,
    pub priority: i32,
    /// The number of complete pairs.
    pub pairs: u64,
    /// The number of pairs of the plan; 0 without a limit.
    pub total: u64,
    /// The score of two engines.
    pub score: Option<EncounterScore>,
    /// Elo of the first of two engines.
    pub elo: Option<Rating>,
    /// The log-likelihood ratio of a test.
    pub llr: Option<f64>,
    /// The number of anomalous workers.
    pub flagged: usize,
}

/// The result of `GET /api/queue/ID`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct QueueMatch {
    pub id: String,
    pub name: String,
    pub phase: Phase,
    pub control: Control,
    /// None if it is not alive.
    pub coordinator: Option<String>,
    /// The names of the engines, in the order of the plan.
    pub engines: Vec<String>,
    /// The settings that a copy can change.
    pub settings: QueueClone,
    pub status: MatchStatus,
    /// Whether the user may change the queue.
    pub writable: bool,
}

/// The body of `POST /api/queue`: a new match.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct NewQueueMatch {
    /// A `readyok match` command, or a plan in TOML.
    pub text: String,
    /// The name of an uploaded file of openings.
    #[serde(default)]
    pub openings: Option<String>,
}

/// The body of `POST /api/queue/ID`: a change of a match by a user.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(test, derive(TS))]
#[serde(tag = "action", rename_all = "kebab-case")]
pub enum QueueAction {
    /// Workers take no jobs.
    Pause,
    /// Workers take jobs again.
    Resume,
    /// The match ends.
    Stop,
    /// This server coordinates the match.
    Start,
    /// The match is deleted.
    Remove,
    /// The priority changes.
    Priority { priority: i32 },
    /// Results of a worker do not count.
    Exclude { worker: String },
    /// Results of a worker count again.
    Include { worker: String },
    /// A new match with other settings.
    Clone(Box<QueueClone>),
}

/// The settings of a match that is a copy of another one. Absent ones are those of the original.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(default)]
pub struct QueueClone {
    pub name: Option<String>,
    pub rounds: Option<u32>,
    /// The time control of all engines.
    pub tc: Option<String>,
    /// Elo under H0 and H1 of the sequential test.
    pub sprt: Option<[f64; 2]>,
    pub priority: Option<i32>,
    /// Options by engine, in the order of the plan.
    pub options: Vec<BTreeMap<String, String>>,
}

/// The result of a change: the match to show next.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct QueuedId {
    pub id: String,
}

/// The result of `GET /api/queue/openings`, and of an upload.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct OpeningFiles {
    /// The names of the uploaded files, sorted.
    pub files: Vec<String>,
}
