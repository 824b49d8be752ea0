//! The messages and stored values of the queue, in JSON, and the names of streams and subjects.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::pairing::PairResult;
use crate::queue::status::{QuarantinedResult, bounded_speed_if_known};
use crate::queue::{MatchSpec, Progress, QueueError, Rejection, Stop, WorkerId};
use crate::store::ContentHash;

/// The value of a match in the bucket of open matches.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct OpenMatch {
    pub(super) spec: MatchSpec,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stop: Option<Stop>,
    /// The time of its first announcement in milliseconds since 1970.
    #[serde(default)]
    pub(super) created_ms: u64,
}

/// The lease of a coordinator. The server deletes it if it is not renewed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CoordinatorLease {
    /// The name of the coordinator, for users.
    pub(super) coordinator: String,
    /// Distinguishes coordinators with the same name.
    pub(super) nonce: String,
}

/// The stored form of an invalid result with its original message.
pub(super) fn quarantine_text(
    entry: &QuarantinedResult,
    original: Option<&[u8]>,
) -> Result<Vec<u8>, QueueError> {
    #[derive(Serialize)]
    struct Stored<'a> {
        #[serde(flatten)]
        entry: &'a QuarantinedResult,
        #[serde(skip_serializing_if = "Option::is_none")]
        original: Option<serde_json::Value>,
    }
    let original = original.and_then(|text| serde_json::from_slice(text).ok());
    write(&Stored { entry, original })
}

/// The name of the worker process of a slot: `host-1234` of `host-1234/0`.
pub(super) fn machine_of(worker: &WorkerId) -> &str {
    worker.0.rsplit_once('/').map_or(worker.0.as_str(), |(machine, _)| machine)
}

/// The end of a job, in the stream of results.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(clippy::large_enum_variant, reason = "a value is moved once")]
pub(super) enum Ended {
    Done {
        worker: WorkerId,
        result: PairResult,
        /// The measured speed of the host, by which times were scaled.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "bounded_speed_if_known"
        )]
        speed: Option<f64>,
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

/// [`read`] for values that do not borrow from the message.
pub(super) fn read_owned<T: DeserializeOwned>(payload: &[u8]) -> Option<T> {
    read(payload)
}

pub(super) fn write(value: &impl Serialize) -> Result<Vec<u8>, QueueError> {
    serde_json::to_vec(value).map_err(broken)
}

pub(super) fn broken(error: impl fmt::Display) -> QueueError {
    QueueError { text: error.to_string() }
}

/// The bucket of open matches.
pub(super) const MATCHES: &str = "READYOK_MATCHES";

/// The bucket of the leases of coordinators.
pub(super) const LEASES: &str = "READYOK_LEASES";

/// The bucket of the states of matches.
pub(super) const STATUS: &str = "READYOK_STATUS";

/// The bucket of finished matches.
pub(super) const HISTORY: &str = "READYOK_HISTORY";

/// The bucket of the states of workers.
pub(super) const WORKER_STATUS: &str = "READYOK_WORKERS";

/// The stream of invalid results of all matches.
pub(super) const QUARANTINE: &str = "READYOK_QUARANTINE";

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
    /// The key of [`Control`](crate::queue::status::Control) in the bucket.
    pub(super) control: String,
    /// The subject of [`QuarantinedResult`]s.
    pub(super) quarantine: String,
}

impl Names {
    pub(super) fn of(plan: ContentHash) -> Self {
        // Half of the hash is unique enough.
        Self::of_id(plan.to_string().chars().take(32).collect())
    }

    pub(super) fn of_id(id: String) -> Self {
        let jobs = format!("READYOK_JOBS_{id}");
        Self {
            jobs_subject: format!("readyok.{id}.jobs"),
            results: format!("READYOK_RESULTS_{id}"),
            results_subject: format!("readyok.{id}.results"),
            updates: format!("readyok.{id}.updates"),
            control: format!("{id}{CONTROL}"),
            quarantine: format!("readyok.{id}.quarantine"),
            jobs,
            id,
        }
    }
}

/// The end of the keys of [`Control`](crate::queue::status::Control).
pub(super) const CONTROL: &str = ".control";
