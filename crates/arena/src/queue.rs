//! Between the coordinator of a match and those who play its games, who may be threads here or
//! programs on other machines.
//!
//! ```text
//!               offer(Job), stop(Stop)                        take() ──> Lease
//!  coordinator ────────────────────────> Dispatcher  ···  Jobs ────────────────> worker
//!       ^                                                                           │
//!       └──────────────────────────── Report <──────────────────────────────────────┘
//!                                             tell(Progress), finish(PairResult)
//! ```
//!
//! A [`Job`] is a pairing; everything that all jobs of a match share is in its [`Order`], which a
//! worker gets once. A worker holds a job by a [`Lease`]. What always holds, whatever carries jobs:
//! - A lease that ends without a result, since its worker has panicked, died or gone, puts the job
//!   up again, at most [`DELIVERIES`] times in all: a job that kills its workers is told as such.
//! - Of every job that was offered, a report tells the end: it is done, or will not be.
//! - A job can be done twice, as a worker that was given up may answer after all. The coordinator
//!   takes the first result of each index.
//! - A stop reaches everybody: nobody takes a job any more, and [`StopToken`]s say whether games
//!   that are being played are played to their end.
//! - Workers may come and go at any time.

mod local;
#[cfg(feature = "nats")]
pub mod nats;
mod rejection;
mod report;
mod spec;
mod stop;

use std::{error, fmt};

pub use local::{LocalDispatcher, LocalJobs, local};
pub use rejection::{NoStart, Rejection};
pub use report::{Progress, Report, ReturnReason, WarningContext};
pub use spec::{Job, MAX_FILE_BYTES, MatchSpec, SpecError, SpecFile};
pub use stop::{OnAbort, Stop, StopToken};

use crate::pairing::PairResult;
pub use crate::pairing::WorkerId;

/// How often a job is given out before it is told to be dead.
pub const DELIVERIES: u32 = 3;

/// The coordinator's end of a queue. What comes back are [`Report`]s in a channel.
pub trait Dispatcher: Send {
    /// Puts a job up. Jobs are taken in the order in which they were offered.
    ///
    /// # Errors
    /// The queue is out of order.
    fn offer(&mut self, job: Job) -> Result<(), QueueError>;

    /// Says that every job has been offered. Workers for whom nothing is left may go home with
    /// their engines; a job that is given back is still there for whoever gave it back.
    fn complete(&mut self) {}

    /// Ends the match for all workers. Jobs that nobody has taken are withdrawn.
    ///
    /// # Errors
    /// The queue is out of order.
    fn stop(&mut self, how: Stop) -> Result<(), QueueError>;
}

/// A worker's end of a queue.
pub trait Jobs: Send {
    /// Waits for a job. None when there will be no more.
    ///
    /// # Errors
    /// The queue is out of order.
    fn take(&mut self) -> Result<Option<Box<dyn Lease>>, QueueError>;

    /// Tells whether the match was stopped.
    fn stop_token(&self) -> &StopToken;
}

/// A job that a worker holds. While it exists the job is the worker's, however long a game takes;
/// dropping it gives the job back.
pub trait Lease: Send {
    /// What is to be played.
    fn job(&self) -> &Job;

    /// Tells how it goes. Nothing depends on it, and it may get lost.
    fn report(&mut self, progress: Progress);

    /// Ends the job with a result.
    ///
    /// # Errors
    /// The result does not reach the coordinator.
    fn finish(self: Box<Self>, result: PairResult) -> Result<(), QueueError>;

    /// Ends the job without a result for good: it cannot be played anywhere.
    fn fail(self: Box<Self>, why: String);

    /// Gives the job back for others: nobody on this machine takes one of the match any more.
    fn decline(self: Box<Self>);
}

/// A queue is out of order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueError {
    /// What has happened.
    pub text: String,
}

impl fmt::Display for QueueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the queue of games is out of order: {}", self.text)
    }
}

impl error::Error for QueueError {}
