//! Messages in JSON, and the names of streams and subjects.

use serde::{Deserialize, Serialize};

use crate::pairing::PairResult;
use crate::queue::{MatchSpec, Progress, QueueError, Rejection, Stop, WorkerId};
use crate::store::ContentHash;

/// The value of a match in the bucket of open matches.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct OpenMatch {
    pub(super) spec: MatchSpec,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stop: Option<Stop>,
}

/// The end of a job, in the stream of results.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Ended {
    Done {
        worker: WorkerId,
        result: PairResult,
    },
    Failed {
        index: u64,
        why: String,
    },
    /// The maximum of deliveries is reached. The next worker publishes this message: it is stored for a coordinator
    /// that is offline.
    Lost {
        index: u64,
    },
}

impl Ended {
    pub(super) fn index(&self) -> u64 {
        match self {
            Self::Done { result, .. } => result.pairing.index,
            Self::Failed { index, .. } | Self::Lost { index } => *index,
        }
    }
}

/// A message of a worker whose delivery is not guaranteed.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WorkerMessage {
    pub(super) worker: WorkerId,
    pub(super) update: WorkerUpdate,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum WorkerUpdate {
    /// A heartbeat.
    Alive,
    /// The worker probes the engines of the match before its first job.
    Probing,
    /// The worker rejects the match.
    Rejected { why: Rejection },
    /// The worker leaves.
    Left,
    /// The worker has taken a job.
    Taken { index: u64 },
    /// The worker has given a job back.
    Returned { index: u64 },
    /// Progress of a job.
    Progress { index: u64, progress: Progress },
}

/// Maximum length of messages. A pairing of two very long games is far below.
const MAX_LEN: usize = 16 << 20;

pub(super) fn read<'a, T: Deserialize<'a>>(payload: &'a [u8]) -> Option<T> {
    if payload.len() > MAX_LEN {
        return None;
    }
    // Malformed messages are ignored.
    serde_json::from_slice(payload).ok()
}

pub(super) fn write(value: &impl Serialize) -> Result<Vec<u8>, QueueError> {
    serde_json::to_vec(value).map_err(broken)
}

pub(super) fn broken(error: impl std::fmt::Display) -> QueueError {
    QueueError { text: error.to_string() }
}

/// The bucket of open matches.
pub(super) const MATCHES: &str = "READYOK_MATCHES";

/// The object store of programs and files.
pub(super) const FILES: &str = "READYOK_FILES";

/// The durable consumer shared by all workers.
pub(super) const WORKERS: &str = "workers";

/// The names of one match.
#[derive(Clone, Debug)]
pub(super) struct Names {
    /// The key in the bucket.
    pub(super) id: String,
    /// The stream of jobs, and its subject.
    pub(super) jobs: String,
    pub(super) jobs_subject: String,
    /// The stream of results, and its subject.
    pub(super) results: String,
    pub(super) results_subject: String,
    /// The subject of [`WorkerMessage`]s.
    pub(super) updates: String,
}

impl Names {
    pub(super) fn of(plan: ContentHash) -> Self {
        // Half of the hash is unique enough.
        let id: String = plan.to_string().chars().take(32).collect();
        let jobs = format!("READYOK_JOBS_{id}");
        Self {
            jobs_subject: format!("readyok.{id}.jobs"),
            results: format!("READYOK_RESULTS_{id}"),
            results_subject: format!("readyok.{id}.results"),
            updates: format!("readyok.{id}.updates"),
            jobs,
            id,
        }
    }
}
