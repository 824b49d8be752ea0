//! The runner of a match: from the pairings of the plan to stored results.
//!
//! ```text
//!  Schedule ──> coordinator ── Dispatcher ··· Lease ─> worker: PairPlayer with engines
//!                 │     ^                                 │
//!                 │     └──────────── Report ─────────────┘
//!                 └──> Store, then Export, MatchState, test of the plan, Listener
//! ```
//!
//! The coordinator is one thread, which sleeps until a report arrives or results must be synced. Invariants:
//! - A pair counts when it is stored, and is stored once. Records and statistics follow the store.
//! - Only counts and the running pairs are in memory.
//! - The match ends when all pairings are played, its test has decided, it is interrupted, an engine has failed too
//!   often, or an error occurs. In any case, workers have ended and results are synced before [`Match::play_here`]
//!   returns.

mod calibration;
mod coordinator;
mod cpus;
mod time_jump;
mod worker;

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use std::{fmt, io};

pub use crate::runner::calibration::measure_engines;
pub use crate::runner::cpus::{CpuError, Cpus, threads_of};
pub use crate::runner::worker::{
    EnginePlayer, PairPlayer, PlayContext, PlayerError, WorkError, work, work_on,
};

use crate::event::{End, Score};
use crate::export::{Export, ExportError, Exports};
use crate::listener::Listener;
use crate::match_state::MatchState;
use crate::plan::{Format, OpeningSource, Plan, PlanError};
use crate::queue::{Dispatcher, MatchSpec, QueueError, Report, Stop};
use crate::runner::coordinator::{Coordinator, Parts};
use crate::schedule::{Schedule, ScheduleError};
use crate::stats::SprtError;
use crate::store::{Store, StoreError};

/// A match before its start, or before it is resumed.
pub struct Match {
    spec: MatchSpec,
    store: Store,
    schedule: Schedule,
    exports: Vec<Export>,
    listeners: Vec<Box<dyn Listener>>,
    settings: Settings,
    /// The opening file of this host, if it differs from the plan.
    openings: Option<PathBuf>,
    sender: Sender<Report>,
    reports: Receiver<Report>,
}

/// Settings of the runner. They do not affect games.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The effect of the first interrupt. The second one aborts.
    pub on_interrupt: Stop,
    /// The effect of a decision of the test on running pairs. Aborted pairs do not count.
    pub on_verdict: Stop,
    /// The number of crashes, stalls or failed starts of one engine that ends the match; `None` is unlimited. Three
    /// consecutive failed starts of an engine always end the match.
    pub failures: Option<u64>,
    /// Maximum delay until a result is synced to the disk.
    pub sync: Duration,
    /// Whether each move is reported to listeners.
    pub report_moves: bool,
}

/// The result of a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The reason of its end.
    pub end: End,
    /// The number of complete pairs.
    pub complete: u64,
    /// The number of games of these pairs.
    pub games: u64,
    /// The scores of all encounters.
    pub scores: Vec<Score>,
}

/// Ends a match from any thread, such as a signal handler.
#[derive(Clone, Debug)]
pub struct StopHandle(Sender<Report>);

impl StopHandle {
    /// Interrupts the match: the first call as configured in the settings, the second one aborts.
    pub fn interrupt(&self) {
        // Fails if the match is over.
        let _ = self.0.send(Report::Interrupted);
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            on_interrupt: Stop::Finish,
            on_verdict: Stop::Abort,
            failures: None,
            sync: Duration::from_secs(1),
            report_moves: false,
        }
    }
}

impl Match {
    /// Validates a plan and its exports, before a file is created.
    ///
    /// # Errors
    /// The plan, its openings, its test or its exports are invalid.
    pub fn check(plan: &Plan, exports: &[Export]) -> Result<(), MatchError> {
        plan.check()?;
        Schedule::open(plan)?;
        check_test(plan)?;
        exports.iter().try_for_each(|export| export.check_game(plan.game))?;
        Ok(())
    }

    /// A match with the results in the store.
    ///
    /// # Errors
    /// The plan in the store is invalid.
    pub fn new(store: Store, settings: Settings) -> Result<Self, MatchError> {
        Self::with_openings(store, settings, None)
    }

    /// A match with the results in the store, and with another path of its opening file.
    ///
    /// # Errors
    /// The plan in the store is invalid.
    pub fn with_openings(
        store: Store,
        settings: Settings,
        openings: Option<PathBuf>,
    ) -> Result<Self, MatchError> {
        store.check_values()?;
        let schedule = open_schedule(store.plan(), openings.as_deref())?;
        let (plan_hash, report_moves) = (store.plan_hash(), settings.report_moves);
        let sealed = store.sealed_plan().cloned().map(Box::new);
        let spec = MatchSpec { plan_hash, sealed, report_moves, ..MatchSpec::new(store.plan()) };
        let (sender, reports) = channel();
        let (exports, listeners) = (Vec::new(), Vec::new());
        Ok(Self { spec, store, schedule, exports, listeners, settings, openings, sender, reports })
    }

    /// The specification for workers.
    pub fn spec(&self) -> &MatchSpec {
        &self.spec
    }

    /// The number of pairings; in a knockout, the maximum.
    pub fn total(&self) -> u64 {
        self.schedule.total()
    }

    /// Adds an export of games.
    pub fn export(&mut self, export: Export) {
        self.exports.push(export);
    }

    /// Adds a listener.
    pub fn listen(&mut self, listener: impl Listener + 'static) {
        self.listeners.push(Box::new(listener));
    }

    /// A handle to stop the match.
    pub fn stop_handle(&self) -> StopHandle {
        StopHandle(self.sender.clone())
    }

    /// The channel for the reports of a queue.
    pub fn reports(&self) -> Sender<Report> {
        self.sender.clone()
    }

    /// Coordinates the match over a queue that reports to [`Match::reports`]. Workers may exit later.
    ///
    /// # Errors
    /// The match cannot be continued. Stored results are preserved.
    pub fn coordinate(self, dispatcher: &mut dyn Dispatcher) -> Result<Summary, MatchError> {
        // Without this sender, the coordinator detects that all workers and handles are gone.
        let Self { spec, store, schedule, exports, listeners, settings, openings, sender, reports } =
            self;
        drop(sender);
        check_test(&spec.plan)?;
        let state = MatchState::new(&spec.plan, schedule.total());
        let exports = Exports::new(exports);
        let parts = Parts { spec, store, schedule, exports, state, listeners, settings, openings };
        Coordinator::new(parts, dispatcher).run(&reports)
    }

    /// Plays the match with threads of this process, one per slot. Each thread creates its player, and is pinned to the
    /// CPUs of its slot, if any.
    ///
    /// # Errors
    /// The match cannot be continued. Stored results are preserved.
    pub fn play_here<P: PairPlayer>(
        self,
        slots: usize,
        cpus: Option<&Cpus>,
        make: impl Fn(&MatchSpec) -> P + Sync,
    ) -> Result<Summary, MatchError> {
        worker::run_workers(self, slots, cpus, make)
    }
}

impl fmt::Debug for Match {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Match").field("store", &self.store).finish_non_exhaustive()
    }
}

/// Checks the test of a plan.
fn check_test(plan: &Plan) -> Result<(), MatchError> {
    let is_of_takes = plan.format == Format::Takes;
    match plan.sprt {
        Some(_) if plan.engines.len() != 2 && !is_of_takes => {
            let engines = plan.engines.len();
            Err(SprtError::SprtRequiresTwoEngines { engines }.into())
        }
        Some(sprt) => sprt.test().map(drop).map_err(MatchError::Test),
        None if is_of_takes => Err(SprtError::TakesRequireSprt.into()),
        None => Ok(()),
    }
}

/// The schedule of a plan, with another path of its opening file.
fn open_schedule(plan: &Plan, openings: Option<&Path>) -> Result<Schedule, ScheduleError> {
    let Some(openings) = openings else { return Schedule::open(plan) };
    let mut plan = plan.clone();
    if let OpeningSource::File { path, .. } = &mut plan.openings.source {
        *path = openings.to_string_lossy().into_owned();
    }
    Schedule::open(&plan)
}

/// A match cannot be started or finished.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MatchError {
    /// The plan is invalid.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The schedule is invalid, openings cannot be read, or results belong to another plan.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// The test of the plan is invalid.
    #[error(transparent)]
    Test(#[from] SprtError),
    /// Results cannot be stored.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Games cannot be exported.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// The queue has failed.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// A thread cannot be started.
    #[error("a thread cannot be started: {0}")]
    Threads(io::Error),
    /// Threads cannot be pinned to CPUs.
    #[error(transparent)]
    Cpus(#[from] CpuError),
    /// A pairing cannot be played.
    #[error("pairing {index} cannot be played: {why}")]
    Pairing {
        /// The index of the pairing.
        index: u64,
        /// The reason.
        why: String,
    },
    /// The next pairing depends on results, but no pairing is being played.
    #[error("the next pairing depends on results, but no pairing is being played")]
    Stuck,
}

/// Truncates a text of another host, which may have any length.
fn truncate(text: &str) -> String {
    const MAX_CHARS: usize = 500;
    text.chars().take(MAX_CHARS).collect()
}
