//! The queue of distributed matches.

use readyok_arena::event::Rating;
use readyok_arena::queue::status::{Control, MatchStatus, Phase, WorkerStatus};
use readyok_arena::stats::Verdict;
use serde::{Deserialize, Serialize};
#[cfg(test)]
use ts_rs::TS;

use super::{EncounterScore, MatchConditions, MatchGame, MatchLogEntry, MatchPlan, Variant};

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
    /// Tests that wait for approval, the oldest first.
    pub proposals: Vec<Proposal>,
    pub user: QueueUser,
    /// Whether the user may change the queue.
    pub writable: bool,
}

/// What a user of a farm may do.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum QueueRole {
    /// See everything.
    Reader,
    /// Propose tests of commits, and stop their own.
    Author,
    /// Also approve proposals, and control all matches.
    Approver,
    /// Also start programs and plans.
    Owner,
}

/// A user of a farm.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct QueueUser {
    pub role: QueueRole,
    /// The name of the account; none for the owner and for readers with the common password.
    pub name: Option<String>,
    /// Whether tests of the user wait for approval.
    pub waits: bool,
    /// The repositories whose commits authors may test.
    pub repositories: Vec<String>,
}

/// The number of a proposal.
pub type ProposalId = u32;

/// A test of an author that waits for approval.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Proposal {
    pub id: ProposalId,
    pub author: String,
    /// In milliseconds since 1970.
    pub created_ms: u64,
    pub test: QueuePlan,
}

/// The body of `POST /api/queue/proposals/ID`.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[cfg_attr(test, derive(TS))]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum ProposalAction {
    /// The test starts, and later tests of its author need no approval.
    Approve,
    /// The test is removed: by an approver, or by its author.
    Remove,
}

/// The summary of a match of the queue.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct QueueLine {
    pub id: String,
    pub name: String,
    pub phase: Phase,
    pub priority: i32,
    /// The number of games of complete pairs.
    pub games: u64,
    /// The number of games of the plan; 0 without a limit.
    pub total: u64,
    /// The score of two engines.
    pub score: Option<EncounterScore>,
    /// Elo of the first of two engines.
    pub elo: Option<Rating>,
    /// The log-likelihood ratio of a test.
    pub llr: Option<f64>,
    pub variant: Variant,
    /// The number of engines.
    pub engines: usize,
    /// The hypotheses of its sequential test, in Elo.
    pub bounds: Option<[f64; 2]>,
    /// The decision of the test.
    pub verdict: Option<Verdict>,
    /// Whether options are tuned.
    pub tunes: bool,
    /// The time of the latest change in milliseconds since 1970.
    pub updated_ms: u64,
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
    pub conditions: MatchConditions,
    pub status: MatchStatus,
    /// The latest games.
    pub games: Vec<MatchGame>,
    /// The latest events.
    pub log: Vec<MatchLogEntry>,
    /// Whether this server has the results, which can be downloaded.
    pub has_results: bool,
    /// Whether the user may change the queue.
    pub writable: bool,
}

/// The body of `POST /api/queue`: a new match.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum NewQueueMatch {
    /// Of a text.
    Text {
        /// A `readyok match` command, or a plan in TOML.
        text: String,
        /// The name of an uploaded file of openings.
        #[serde(default)]
        openings: Option<String>,
    },
    /// Of a form.
    Plan(Box<QueuePlan>),
}

/// A match of a form, and the result of `GET /api/queue/ID/plan`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct QueuePlan {
    /// Its concurrency has no meaning.
    pub plan: MatchPlan,
    pub priority: i32,
    /// The name of an uploaded file of openings, which replaces those of the plan.
    #[serde(default)]
    pub openings: Option<String>,
    /// The match of which it is a copy: what the form does not show stays as it is there.
    #[serde(default)]
    pub base: Option<String>,
    /// The maximum number of workers at the same time.
    #[serde(default)]
    pub max_workers: Option<u32>,
    /// The maximum number of threads of all engines that search at the same time.
    #[serde(default)]
    pub max_threads: Option<u32>,
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
    /// The limits change.
    Limit { max_workers: Option<u32>, max_threads: Option<u32> },
    /// Results of a worker do not count.
    Exclude { worker: String },
    /// Results of a worker count again.
    Include { worker: String },
}

/// The result of a change: the match to show next, or the test that waits for approval.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct QueuedId {
    pub id: String,
    /// Whether it is the number of a proposal.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits: bool,
}

/// The result of `GET /api/queue/openings`, and of an upload.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct OpeningFiles {
    /// The names of the uploaded files, sorted.
    pub files: Vec<String>,
}

/// The result of a request for the address of a download.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct DownloadAddress {
    /// Relative to the page. It is valid for some hours, and needs no session.
    pub address: String,
}
