//! The queue between the coordinator of a match and its workers: threads of this process, or processes on other hosts.
//!
//! ```text
//!               offer(Job), stop(Stop)                           take() ──> Lease
//!  coordinator ────────────────────────> Dispatcher  ···  LocalWorker, Pool ──────> worker
//!       ^                                                                           │
//!       └──────────────────────────── Report <──────────────────────────────────────┘
//!                                           report(Progress), finish(PairResult)
//! ```
//!
//! A [`Job`] is a pairing. Everything that all jobs of a match share is in its [`MatchSpec`], which a worker receives
//! once. A worker holds a job by a [`Lease`]. Invariants of all queues:
//! - A lease that ends without a result (its worker panicked, crashed or left) requeues the job. Each queue limits the
//!   number of attempts.
//! - Each offered job has exactly one final report: done or returned.
//! - A job can be done twice, since a worker considered lost may still answer. The coordinator uses the first result of
//!   each index.
//! - A stop reaches all workers: no job is started, and the [`StopToken`] determines whether running games are
//!   finished.
//! - Workers may join and leave at any time.

mod local;
#[cfg(feature = "nats")]
pub mod nats;
mod scaling;
mod speed;
pub mod status;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use readyok_rules::Side;
use serde::{Deserialize, Serialize};

pub use crate::pairing::WorkerId;
pub use crate::queue::local::{DELIVERIES, LocalDispatcher, LocalJobs, LocalWorker, local};
pub use crate::queue::scaling::scale_times;
pub use crate::queue::speed::{MEASURED_ENGINES, Speed, SpeedMonitor, needs_speed};

use crate::build::BuildFailure;
pub use crate::event::{Stop, WarningContext};
use crate::export::Records;
use crate::game::{Agreement, Replay};
use crate::match_state::MatchState;
use crate::pairing::{PairResult, Pairing};
use crate::plan::EngineId;
use crate::result::{EngineInfo, GameEnd, MoveRecord};
pub use crate::spec::{MAX_FILE_BYTES, MatchSpec, SpecError, SpecFile};
use crate::store::ContentHash;

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

    /// Minimum number of jobs in progress, as long as the schedule has any.
    fn min_offered(&self) -> usize {
        1
    }

    /// All stored pairs are on disk.
    fn on_synced(&mut self) {}

    /// Whether the match may end, when all pairings are played. Otherwise a report follows.
    fn is_settled(&mut self) -> bool {
        true
    }

    /// A pair was stored, or was restored from the results file.
    fn on_stored(&mut self, _pair: &PairResult) {}

    /// Pairs of excluded workers were discarded. The remaining ones are restored again.
    fn on_discarded(&mut self, _indices: &[u64]) {}

    /// The results have changed.
    fn on_results(&mut self, _state: &MatchState) {}

    /// A warning was emitted.
    fn on_warning(&mut self, _text: &str) {}
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

    /// Ends the job of a replay.
    ///
    /// # Errors
    /// The result could not be sent.
    fn finish_replay(self: Box<Self>, _agreement: Agreement) -> Result<(), QueueError> {
        Err(QueueError { text: "this queue has no replays".to_owned() })
    }

    /// Ends the job without a result: it cannot be played on any host.
    fn fail(self: Box<Self>, why: String);

    /// Gives the job back. This worker takes no further job of the match.
    fn decline(self: Box<Self>);
}

/// A failure of the queue.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the queue of games is out of order: {}", .text)]
pub struct QueueError {
    /// The description.
    pub text: String,
}

/// The stop state of a match. Clones share it.
#[derive(Clone, Default)]
pub struct StopToken(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    stop: Option<Stop>,
    next: u64,
    on_abort: BTreeMap<u64, Box<dyn Fn() + Send>>,
}

/// Registration of an abort callback, until it is dropped.
#[must_use]
#[derive(Debug)]
pub struct OnAbort {
    token: StopToken,
    key: u64,
}

impl StopToken {
    /// Stops the match. A stop is never revoked or weakened.
    pub fn stop(&self, how: Stop) {
        let mut state = self.state();
        let is_new = state.stop < Some(how);
        if is_new {
            state.stop = Some(how);
        }
        if is_new && how == Stop::Abort {
            state.on_abort.values().for_each(|act| act());
        }
    }

    /// How the match was stopped, if it was.
    pub fn stopped(&self) -> Option<Stop> {
        self.state().stop
    }

    /// Waits for this time or until an abort.
    pub fn wait_for_abort(&self, time: Duration) {
        let (sender, aborted) = channel();
        let _registration = self.on_abort(move || {
            // The wait may be over.
            let _ = sender.send(());
        });
        // A timeout and an abort are equivalent.
        let _ = aborted.recv_timeout(time);
    }

    /// Whether running games must be aborted.
    pub fn is_aborted(&self) -> bool {
        self.stopped() == Some(Stop::Abort)
    }

    /// Calls a function on an abort, or immediately if the match is already aborted. The function must be short and must
    /// not use the token.
    pub fn on_abort(&self, act: impl Fn() + Send + 'static) -> OnAbort {
        let mut state = self.state();
        if state.stop == Some(Stop::Abort) {
            act();
        }
        let key = state.next;
        state.next += 1;
        state.on_abort.insert(key, Box::new(act));
        OnAbort { token: self.clone(), key }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OnAbort {
    fn drop(&mut self) {
        self.token.state().on_abort.remove(&self.key);
    }
}

impl fmt::Debug for StopToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StopToken").field(&self.stopped()).finish()
    }
}

/// A pairing for a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// The match.
    pub plan_hash: ContentHash,
    /// The pairing.
    pub pairing: Pairing,
    /// The recorded games of the pairing, if the job replays them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<Box<Replay>>,
}

impl MatchSpec {
    /// A job of the match.
    pub fn job(&self, pairing: Pairing) -> Job {
        Job { plan_hash: self.plan_hash, pairing, replay: None }
    }
}

/// A message to the coordinator.
#[derive(Clone, Debug, PartialEq)]
pub enum Report {
    /// Progress of a pairing.
    Progress {
        /// The worker.
        worker: WorkerId,
        /// The index of the pairing.
        index: u64,
        /// The progress.
        progress: Progress,
    },
    /// A pairing was played.
    Done {
        /// The worker.
        worker: WorkerId,
        /// The result.
        result: Box<PairResult>,
        /// Its game records, if the worker has created them.
        records: Option<Records>,
    },
    /// A lease has ended without a result, or a job was withdrawn.
    Returned {
        /// The index of the pairing.
        index: u64,
        /// The reason.
        why: ReturnReason,
    },
    /// Workers want more jobs.
    Wanted,
    /// Something that a user of the match should know, for example the rejection of the match by a worker.
    Warning {
        /// The text.
        text: String,
        /// The index of the pairing.
        pair: Option<u64>,
    },
    /// The results of these workers do not count any more.
    Excluded(BTreeSet<String>),
    /// The match was interrupted by the user.
    Interrupted,
    /// A user of the queue has ended the match.
    StopRequested,
    /// The queue has failed.
    QueueFailed(QueueError),
}

/// The reason why a lease has ended without a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReturnReason {
    /// The job was given back or lost, and is in the queue again.
    Requeued,
    /// The match was stopped.
    Withdrawn,
    /// The job was lost [`DELIVERIES`] times.
    TooManyDeliveries,
    /// The pairing cannot be played, for this reason.
    Failed(String),
    /// The pairing is not played, for this reason. The match continues.
    Skipped(String),
}

/// Progress of a pairing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Progress {
    /// A game starts.
    GameStart {
        /// The number of the game in its pairing, counted from 0.
        game: u32,
    },
    /// A move was played. Reported only if the match requests it.
    Move {
        /// The number of the game.
        game: u32,
        /// Plies since the opening before the move.
        ply: u32,
        /// The move.
        played: Box<MoveRecord>,
    },
    /// A game is over.
    GameEnd {
        /// The number of the game.
        game: u32,
        /// The winner; `None` for a draw.
        winner: Option<Side>,
        /// The reason.
        #[serde(rename = "termination")]
        end: GameEnd,
        /// The number of plies since the opening.
        plies: u32,
        /// The duration in milliseconds.
        duration_ms: u64,
        /// Names and settings of both engines.
        #[serde(default)]
        engines: Box<[EngineInfo; 2]>,
    },
    /// All games of the pairing are replayed: the process was suspended during a game.
    Replay,
    /// An engine behaved unexpectedly, without effect on the result.
    Warning {
        /// The number of the game.
        game: u32,
        /// The engine.
        engine: EngineId,
        /// The description.
        text: String,
        /// Details for bug reports.
        #[serde(default)]
        context: Option<Box<WarningContext>>,
    },
}

/// The reason why a worker rejects a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Rejection {
    /// The match specification has no content hash of a program.
    #[error("it has no content hash of the program `{command}`")]
    UnknownContent {
        /// The command in the plan.
        command: String,
    },
    /// A program is not allowed.
    #[error("the program `{command}` with the content {content} is not allowed here")]
    NotAllowed {
        /// The command in the plan.
        command: String,
        /// The content hash.
        content: ContentHash,
    },
    /// Environment variables are not allowed, since they can make a program run another one.
    #[error("an environment for the program `{command}` is not allowed here")]
    Environment {
        /// The command in the plan.
        command: String,
    },
    /// The arguments of a program are not allowed.
    #[error("the program `{command}` with the arguments `{}` is not allowed here", args.join(" "))]
    Arguments {
        /// The command in the plan.
        command: String,
        /// The arguments.
        args: Vec<String>,
    },
    /// The value of an option could be the path of a file.
    #[error(
        "the option `{option}` of the engine `{engine}` could be a path, which is not allowed here"
    )]
    Option {
        /// The name of the engine in the plan.
        engine: String,
        /// The name of the option.
        option: String,
    },
    /// A program or a file could not be downloaded.
    #[error("{why}")]
    NotFetched {
        /// The reason.
        why: String,
    },
    /// Builds of a repository are not allowed.
    #[error("builds of the repository `{repository}` are not allowed here")]
    Repository {
        /// The repository.
        repository: String,
    },
    /// An engine cannot be built.
    #[error("the engine `{engine}` cannot be built: {failure}")]
    Build {
        /// The name of the engine in the plan.
        engine: String,
        /// The reason.
        failure: BuildFailure,
    },
    /// A resource other than the engines is missing on the worker's host.
    #[error("{why}")]
    MissingResource {
        /// The reason.
        why: String,
    },
    /// The coordinator denies the match to the worker.
    #[error("{why}")]
    Denied {
        /// The reason.
        why: String,
    },
    /// An engine does not work on the worker's host.
    #[error(transparent)]
    Engine(#[from] NoStart),
}

/// An engine that does not work on a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("the engine `{}` {}", .engine, .why)]
pub struct NoStart {
    /// The name of the engine in the plan.
    pub engine: String,
    /// The reason, as a predicate: `does not start (no such file)`.
    pub why: String,
}
