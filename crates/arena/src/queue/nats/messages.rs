//! The messages and stored values of the queue, in JSON, and the names of streams and subjects.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::game::{Agreement, Replay};
use crate::pairing::{PairResult, Pairing};
use crate::queue::nats::permissions::is_worker_name;
use crate::queue::status::QuarantinedResult;
use crate::queue::{MatchSpec, Progress, QueueError, Rejection, Speed, Stop};
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

/// The end of a job, in the stream of results. Its sender is in the subject.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(clippy::large_enum_variant, reason = "a value is handled once")]
pub(super) enum Ended {
    Done {
        grant: Grant,
        result: PairResult,
        /// The measured speed by which times were scaled.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        speed: Option<Speed>,
    },
    /// The recorded games of a pairing were replayed.
    Replayed { grant: Grant, agreement: Agreement },
    /// The pairing could not be played on this host.
    Failed { grant: Grant, why: String },
}

impl Ended {
    pub(super) fn grant(&self) -> &Grant {
        let (Self::Done { grant, .. } | Self::Replayed { grant, .. } | Self::Failed { grant, .. }) =
            self;
        grant
    }
}

/// Proof that a coordinator has given a pairing to a worker. Only coordinators of the match can create it. It does not
/// reveal whether the job is an audit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Grant {
    /// The index of the pairing.
    pub(super) index: u64,
    /// The term of the coordinator: later ones are higher.
    pub(super) term: u64,
    /// Its number in the term.
    pub(super) serial: u64,
    /// The time of the grant in milliseconds since the start of the term.
    pub(super) at_ms: u64,
    /// The message authentication code of the other fields, the match, and the worker.
    pub(super) mac: String,
}

/// A result that counts, in the stream of results.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StoredResult {
    pub(super) result: PairResult,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) speed: Option<Speed>,
}

/// A request of a worker, which the coordinator answers. The sender is in the subject.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TakeRequest {
    /// [`PROTOCOL`] of the worker.
    pub(super) protocol: u32,
    pub(super) want: Want,
}

/// What a worker asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Want {
    /// The permission to download the files of the match and to probe its engines.
    Preparation,
    /// A job for a slot, and more of them if they are short.
    Jobs,
}

/// The answer of a coordinator.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum TakeAnswer {
    /// The jobs.
    Jobs(Vec<GrantedJob>),
    /// The worker may prepare the match.
    Prepare,
    /// Not now. The worker asks again after this time, or after an announcement of jobs.
    Wait { ms: u64 },
    /// The worker cannot play the match, for this reason.
    Denied { why: String },
}

/// A pairing for a worker.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct GrantedJob {
    pub(super) grant: Grant,
    pub(super) pairing: Pairing,
    /// The recorded games, if the job replays them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) replay: Option<Box<Replay>>,
}

/// A message of a worker whose delivery is not guaranteed. The sender is in the subject.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Note {
    /// The worker still plays these jobs.
    Playing { grants: Vec<Grant> },
    /// The worker still prepares the match.
    Preparing,
    /// The worker rejects the match.
    Rejected { why: Rejection },
    /// The worker gives these jobs back.
    Returned { grants: Vec<Grant> },
    /// Progress of a job.
    Progress { grant: Grant, progress: Progress },
}

/// The state of a match for workers, which its coordinator publishes after each change and regularly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Announcement {
    /// [`PROTOCOL`] of the coordinator.
    pub(super) protocol: u32,
    /// Distinguishes announced specifications of the match.
    pub(super) revision: u64,
    /// Workers take jobs of matches with a higher priority first.
    pub(super) priority: i32,
    /// Whether workers may take jobs.
    pub(super) is_open: bool,
    /// Whether there are jobs now.
    pub(super) has_jobs: bool,
    /// The state of the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stop: Option<Stop>,
    /// A worker that is silent for this time loses its jobs, and a coordinator its match.
    pub(super) lease_ms: u64,
}

/// The version of the messages between workers and coordinators. Others are rejected.
pub(super) const PROTOCOL: u32 = 3;

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

/// The stream of programs and files.
pub(super) const FILES: &str = "READYOK_FILES";

/// The bucket of the keys of matches, which only coordinators may read.
pub(super) const KEYS: &str = "READYOK_KEYS";

/// The durable consumer of a coordinator.
pub(super) const COORDINATOR: &str = "coordinator";

/// The subject of the announcements of all matches. The identifier is the last token.
pub(super) const STATES: &str = "readyok.state.*";

/// The subject of a new worker, to which coordinators respond with their announcements.
pub(super) fn hello_subject(worker: &str) -> String {
    format!("readyok.hello.{worker}")
}

/// The names of one match.
#[derive(Clone, Debug)]
pub(super) struct Names {
    /// The key in the bucket.
    pub(super) id: String,
    /// The stream of results that workers have sent, until the coordinator has read them.
    pub(super) inbox: String,
    /// The stream of results that count, which only coordinators may write.
    pub(super) results: String,
    /// The key of [`Control`](crate::queue::status::Control) in the bucket.
    pub(super) control: String,
    /// The key of the [record of audits](crate::queue::nats::audits::AuditRecord) in the bucket of keys.
    pub(super) audits: String,
    /// The subject of [`QuarantinedResult`]s.
    pub(super) quarantine: String,
    /// The subject of the [`Announcement`].
    pub(super) state: String,
}

impl Names {
    pub(super) fn of(plan: ContentHash) -> Self {
        // Half of the hash is unique enough.
        Self::of_id(plan.to_string().chars().take(32).collect())
    }

    pub(super) fn of_id(id: String) -> Self {
        Self {
            inbox: format!("READYOK_INBOX_{id}"),
            results: format!("READYOK_RESULTS_{id}"),
            control: format!("{id}{CONTROL}"),
            audits: format!("{id}.audits"),
            quarantine: format!("readyok.quarantine.{id}"),
            state: format!("readyok.state.{id}"),
            id,
        }
    }

    /// The subject of the [`TakeRequest`]s of a worker; `*` for all workers.
    pub(super) fn take(&self, worker: &str) -> String {
        format!("readyok.take.{}.{worker}", self.id)
    }

    /// The subject of the [`Note`]s of a worker.
    pub(super) fn note(&self, worker: &str) -> String {
        format!("readyok.note.{}.{worker}", self.id)
    }

    /// The subject of the result of a pairing in the stream of results; `*` for all of them.
    pub(super) fn stored(&self, index: impl fmt::Display) -> String {
        format!("readyok.stored.{}.{index}", self.id)
    }

    /// The subject of the [`Ended`] messages of a worker.
    pub(super) fn ended(&self, worker: &str) -> String {
        format!("readyok.results.{}.{worker}", self.id)
    }
}

/// The last token of a subject: the worker that has sent a message. The server of a farm has checked it.
pub(super) fn last_token(subject: &str) -> &str {
    subject.rsplit('.').next().unwrap_or_default()
}

/// The worker that has sent a message; `None` for an invalid name.
pub(super) fn sender_of(subject: &str) -> Option<&str> {
    Some(last_token(subject)).filter(|name| is_worker_name(name))
}

/// Whether a reply subject belongs to a worker. Otherwise a worker could make the coordinator, which may publish
/// everywhere, speak for another one.
pub(super) fn is_inbox_of(worker: &str, reply: &str) -> bool {
    let rest = reply.strip_prefix("_INBOX.").and_then(|rest| rest.strip_prefix(worker));
    rest.is_some_and(|rest| rest.starts_with('.'))
}

/// The end of the keys of [`Control`](crate::queue::status::Control).
pub(super) const CONTROL: &str = ".control";
