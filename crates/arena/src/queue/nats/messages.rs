//! What goes over the wire, as JSON.

use serde::{Deserialize, Serialize};

use crate::pairing::PairResult;
use crate::queue::{MatchSpec, Progress, QueueError, Rejection, Stop, WorkerId};

/// A match, as its key in the bucket of open matches holds it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct OpenMatch {
    pub(super) spec: MatchSpec,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stop: Option<Stop>,
}

/// How a job has ended: on the stream of results.
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
    /// Nobody has brought it to an end, though it was given out as often as it may be. Who would have had it next
    /// says so here, where it waits for a coordinator that is away.
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

/// What a worker tells in passing.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WorkerMessage {
    pub(super) worker: WorkerId,
    pub(super) news: WorkerUpdate,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum WorkerUpdate {
    /// It is there.
    Alive,
    /// It tries the engines of the match before it takes a job.
    ProbeNotice,
    /// It does not play the match.
    Rejected { why: Rejection },
    /// It goes home.
    Left,
    /// It has taken a job.
    Taken { index: u64 },
    /// It has given a job back.
    Returned { index: u64 },
    /// A game goes on.
    Progress { index: u64, progress: Progress },
}

/// The longest message that is read: a pairing of two very long games is far below.
const LONGEST: usize = 16 << 20;

pub(super) fn read<'a, T: Deserialize<'a>>(payload: &'a [u8]) -> Option<T> {
    if payload.len() > LONGEST {
        return None;
    }
    // Whoever may write here can write nonsense, which is no message.
    serde_json::from_slice(payload).ok()
}

pub(super) fn write(value: &impl Serialize) -> Result<Vec<u8>, QueueError> {
    serde_json::to_vec(value).map_err(broken)
}

pub(super) fn broken(error: impl std::fmt::Display) -> QueueError {
    QueueError { text: error.to_string() }
}
