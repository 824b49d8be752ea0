//! Plays a match: from the plan's pairings to stored results, and to its end for whatever reason.
//!
//! ```text
//!  Schedule ──> coordinator ── Dispatcher ··· Jobs ──> worker: a PairPlayer, which has the engines
//!                 │     ^                                 │
//!                 │     └──────────── Report ─────────────┘
//!                 └──> Store, then Export, Score, test of the plan, Listener
//! ```
//!
//! One thread coordinates, and sleeps until there is a report or something to write to the disk.
//! What always holds:
//! - A pair counts when it is stored, and is stored once. Records and statistics follow the store.
//! - In memory are counts, and the pairs that are being played.
//! - The match ends when everything was played, its test has decided, it was interrupted, an engine
//!   has failed too often, or something does not work; whatever it is, workers have ended and
//!   results are on the disk before [`Match::play_here`] returns.

mod coordinator;
mod cpus;
mod engine_player;
mod error;
mod tally;
mod time_jump;
mod worker;

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

pub use cpus::{CpuError, Cpus, threads_of};
pub use engine_player::EnginePlayer;
pub use error::MatchError;
pub use worker::{PairPlayer, PlayContext, PlayerError, WorkError, work};

use crate::event::{End, Listener, Score};
use crate::export::{Export, Exports};
use crate::plan::Plan;
use crate::queue::{Dispatcher, MatchSpec, Report, Stop};
use crate::schedule::Schedule;
use crate::store::Store;
use coordinator::{Coordinator, Parts};
use tally::Tally;

/// A match that is about to be played, or to go on.
pub struct Match {
    spec: MatchSpec,
    store: Store,
    schedule: Schedule,
    exports: Vec<Export>,
    listeners: Vec<Box<dyn Listener>>,
    settings: Settings,
    sender: Sender<Report>,
    reports: Receiver<Report>,
}

/// How a match is run. Nothing of it decides what the games are like.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What the first interrupt does. The second one aborts.
    pub on_interrupt: Stop,
    /// What becomes of pairs that are being played when the test has decided. Those that are
    /// broken off do not count, and neither do those that were finished in the same moment.
    pub on_verdict: Stop,
    /// After how many crashes, stalls or failed starts of one engine the match is ended. None goes
    /// on, whatever happens; but an engine that could not be started three times in a row ends the
    /// match in any case.
    pub failures: Option<u64>,
    /// How long a result may be in danger from a failing machine.
    pub sync: Duration,
    /// Whether each move is told to listeners.
    pub report_moves: bool,
}

/// What a match came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Why it is over for now.
    pub end: End,
    /// How many pairs are complete.
    pub complete: u64,
    /// How many games are in them.
    pub games: u64,
    /// How each two engines that have met stand against each other.
    pub scores: Vec<Score>,
}

/// Ends a match from any thread, such as one that hears signals.
#[derive(Clone, Debug)]
pub struct StopHandle(Sender<Report>);

impl StopHandle {
    /// Ends the match: the first time as its settings say, from the second time on at once.
    pub fn interrupt(&self) {
        // A match that is over needs no end.
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
    /// Looks whether a match of a plan could be played and recorded so, before there is a file of it.
    ///
    /// # Errors
    /// What is wrong with the plan, its openings, its test or its records.
    pub fn check(plan: &Plan, exports: &[Export]) -> Result<(), MatchError> {
        plan.check()?;
        Schedule::open(plan)?;
        Tally::new(plan)?;
        exports.iter().try_for_each(|export| export.check_game(plan.game))?;
        Ok(())
    }

    /// A match with what it has come to so far.
    ///
    /// # Errors
    /// The plan in the store cannot be played, or is not whole.
    pub fn new(store: Store, settings: Settings) -> Result<Self, MatchError> {
        store.check_values()?;
        let schedule = Schedule::open(store.plan())?;
        let (plan_hash, report_moves) = (store.plan_hash(), settings.report_moves);
        let spec = MatchSpec { plan_hash, report_moves, ..MatchSpec::new(store.plan()) };
        let (sender, reports) = channel();
        let (exports, listeners) = (Vec::new(), Vec::new());
        Ok(Self { spec, store, schedule, exports, listeners, settings, sender, reports })
    }

    /// What all jobs of the match share.
    pub fn spec(&self) -> &MatchSpec {
        &self.spec
    }

    /// Adds a file of records.
    pub fn export(&mut self, export: Export) {
        self.exports.push(export);
    }

    /// Adds somebody who follows the match.
    pub fn listen(&mut self, listener: impl Listener + 'static) {
        self.listeners.push(Box::new(listener));
    }

    /// A handle to end the match.
    pub fn stop_handle(&self) -> StopHandle {
        StopHandle(self.sender.clone())
    }

    /// Where a queue reports to.
    pub fn reports(&self) -> Sender<Report> {
        self.sender.clone()
    }

    /// Plays the match over a queue that reports to [`Match::reports`], until it is over. Workers
    /// may still be on their way home then.
    ///
    /// # Errors
    /// Something does not work. What was stored before stays.
    pub fn coordinate(self, dispatcher: &mut dyn Dispatcher) -> Result<Summary, MatchError> {
        // The coordinator holds no end of its own channel: without workers and handles it is told.
        let Self { spec, store, schedule, exports, listeners, settings, sender, reports } = self;
        drop(sender);
        let tally = Tally::new(&spec.plan)?;
        let exports = Exports::new(exports);
        let parts = Parts { spec, store, schedule, exports, tally, listeners, settings };
        Coordinator::new(parts, dispatcher).run(&reports)
    }

    /// Plays the match with threads of this program, one for each of `slots` pairings at a time.
    /// Each makes its player in its own thread, which is bound to the processors of its slot, if
    /// there are any.
    ///
    /// # Errors
    /// Something does not work. What was stored before stays.
    pub fn play_here<P: PairPlayer>(
        self,
        slots: usize,
        cpus: Option<&Cpus>,
        make: impl Fn(&MatchSpec) -> P + Sync,
    ) -> Result<Summary, MatchError> {
        worker::run_workers(self, slots, cpus, make)
    }
}

impl std::fmt::Debug for Match {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Match").field("store", &self.store).finish_non_exhaustive()
    }
}
