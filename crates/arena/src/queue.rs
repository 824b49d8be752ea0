//! The queue between the coordinator of a match and its workers: threads of this process, or processes on other hosts.
//!
//! ```text
//!               offer(Job), stop(Stop)                        take() ──> Lease
//!  coordinator ────────────────────────> Dispatcher  ···  Jobs ────────────────> worker
//!       ^                                                                           │
//!       └──────────────────────────── Report <──────────────────────────────────────┘
//!                                           report(Progress), finish(PairResult)
//! ```
//!
//! A [`Job`] is a pairing. Everything that all jobs of a match share is in its [`MatchSpec`], which a worker receives
//! once. A worker holds a job by a [`Lease`]. Invariants of all queues:
//! - A lease that ends without a result (its worker panicked, crashed or left) requeues the job. After [`DELIVERIES`]
//!   attempts the job is reported as failed.
//! - Each offered job has exactly one final report: done or returned.
//! - A job can be done twice, since a worker considered lost may still answer. The coordinator uses the first result of
//!   each index.
//! - A stop reaches all workers: no job is started, and the [`StopToken`] determines whether running games are
//!   finished.
//! - Workers may join and leave at any time.

mod local;
#[cfg(feature = "nats")]
pub mod nats;
mod report;
mod spec;
mod stop;

use std::{error, fmt};

pub use crate::pairing::WorkerId;
pub use local::{LocalDispatcher, LocalJobs, local};
pub use report::{NoStart, Progress, Rejection, Report, ReturnReason, WarningContext};
pub use spec::{Job, MAX_FILE_BYTES, MatchSpec, SpecError, SpecFile};
pub use stop::{OnAbort, Stop, StopToken};

use crate::pairing::PairResult;

/// The maximum number of times that a job is delivered to a worker.
pub const DELIVERIES: u32 = 3;

/// The coordinator's end of a queue. [`Report`]s arrive in a channel.
pub trait Dispatcher: Send {
    /// Adds a job. Jobs are taken in the order of their addition.
    ///
    /// # Errors
    /// The queue has failed.
    fn offer(&mut self, job: Job) -> Result<(), QueueError>;

    /// Marks the queue as complete: no job will be added. Idle workers may exit; a job that is given back is played by
    /// another worker.
    fn complete(&mut self) {}

    /// Stops the match for all workers. Jobs without a worker are withdrawn.
    ///
    /// # Errors
    /// The queue has failed.
    fn stop(&mut self, how: Stop) -> Result<(), QueueError>;
}

/// A worker's end of a queue.
pub trait Jobs: Send {
    /// Waits for a job; `None` at the end of the match.
    ///
    /// # Errors
    /// The queue has failed.
    fn take(&mut self) -> Result<Option<Box<dyn Lease>>, QueueError>;

    /// The stop state of the match.
    fn stop_token(&self) -> &StopToken;
}

/// A job held by a worker, regardless of its duration. Dropping the lease gives the job back.
pub trait Lease: Send {
    /// The job.
    fn job(&self) -> &Job;

    /// Reports progress. Delivery is not guaranteed.
    fn report(&mut self, progress: Progress);

    /// Ends the job with a result.
    ///
    /// # Errors
    /// The result could not be sent.
    fn finish(self: Box<Self>, result: PairResult) -> Result<(), QueueError>;

    /// Ends the job without a result: it cannot be played on any host.
    fn fail(self: Box<Self>, why: String);

    /// Gives the job back. This worker takes no further job of the match.
    fn decline(self: Box<Self>);
}

/// A failure of the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueError {
    /// The description.
    pub text: String,
}

impl fmt::Display for QueueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the queue of games is out of order: {}", self.text)
    }
}

impl error::Error for QueueError {}
