//! The schedule of a match: turns a plan into pairings, one at a time.
//!
//! ```text
//! plan ──> format: encounters ──> pairings, colors ──> + opening ──> Pairing
//!             ▲                                                         │
//!             └──────────── PairingScore, in any order ◄─────────────────────┘
//! ```
//!
//! Pairings are generated on demand: a plan of 500,000 rounds needs no more memory than one of two. They depend on
//! the plan and on the recorded outcomes, but not on the order of outcomes. To resume a match, create a schedule
//! and record the stored outcomes.

mod formats;
mod pairings;
mod swiss;
mod takes;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::openings::{Book, OpeningError, Skipped};
use crate::pairing::Pairing;
pub use crate::pairing::{PairingScore, Score};
use crate::plan::{EngineId, Plan};
use crate::schedule::pairings::{Pairings, Step};
use crate::tune::Tuner;

/// The pairings of a plan, in order.
///
/// ```
/// use readyok_arena::plan::Plan;
/// use readyok_arena::schedule::{Next, Schedule};
///
/// let plan = r#"
///     game = "chess"
///     rounds = 500000
///     engines = [{ name = "a", command = "a" }, { name = "b", command = "b" }]
/// "#;
/// let mut schedule = Schedule::open(&toml::from_str::<Plan>(plan)?)?;
/// assert_eq!(schedule.total(), 500_000);
/// let Next::Pairing(pairing) = schedule.next()? else { return Err("no pairing".into()) };
/// assert_eq!((pairing.index, pairing.round, pairing.games), (0, 1, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Schedule {
    pairings: Pairings,
    book: Book,
    tuner: Option<Tuner>,
}

/// The next step of a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// A pairing to play.
    Pairing(Pairing),
    /// The next pairing depends on outcomes that are not recorded yet.
    Wait,
    /// All pairings were issued.
    Done,
}

impl Schedule {
    /// Validates a plan and opens its openings.
    ///
    /// # Errors
    /// The plan is invalid, or its openings cannot be opened.
    pub fn open(plan: &Plan) -> Result<Self, ScheduleError> {
        let pairings = Pairings::new(plan)?;
        let book = Book::open(plan.game, &plan.openings, plan.seed)?
            .with_end_rules(plan.adjudication.end_rules());
        Ok(Self { pairings, book, tuner: Tuner::new(plan) })
    }

    /// The next pairing. Each pairing is issued once, unless its outcome is recorded already.
    ///
    /// # Errors
    /// The openings cannot be read, or a recorded outcome belongs to another schedule.
    #[expect(clippy::should_implement_trait, reason = "it can fail, and `Wait` is not the end")]
    pub fn next(&mut self) -> Result<Next, ScheduleError> {
        Ok(match self.pairings.next()? {
            Step::Slot(slot) => Next::Pairing(Pairing {
                index: slot.index,
                round: slot.round,
                first: slot.first,
                second: slot.second,
                games: slot.games,
                fixed_colors: slot.fixed_colors,
                opening: match slot.cycle {
                    Some(cycle) => self.book.get_in_cycle(slot.opening, cycle)?,
                    None => self.book.get(slot.opening)?,
                },
                options: self.options(slot.index, slot.first),
            }),
            Step::Wait => Next::Wait,
            Step::Done => Next::Done,
        })
    }

    /// Records the outcome of a pairing. Outcomes may be recorded in any order. A pairing that was not issued before
    /// its outcome was recorded is not issued. Returns whether the outcome is new: a second one is ignored.
    ///
    /// # Errors
    /// The schedule has no such pairing.
    pub fn record(&mut self, outcome: PairingScore) -> Result<bool, ScheduleError> {
        let is_new = self.pairings.record(outcome)?;
        if let Some(tuner) = self.tuner.as_mut().filter(|_| is_new) {
            tuner.record(outcome);
        }
        Ok(is_new)
    }

    /// The options of both engines of a pairing, in the order of the pairing.
    fn options(&self, index: u64, first: EngineId) -> [BTreeMap<String, String>; 2] {
        let mut options = self.tuner.as_ref().map(|tuner| tuner.options(index)).unwrap_or_default();
        if first != EngineId(0) {
            options.reverse();
        }
        options
    }

    /// The number of pairings; in a knockout, the maximum.
    pub fn total(&self) -> u64 {
        self.pairings.total()
    }

    /// The byes of a Swiss tournament so far: round, counted from 1, and engine.
    pub fn byes(&self) -> Vec<(u32, EngineId)> {
        self.pairings.byes()
    }

    /// The winner of a knockout whose final is over.
    ///
    /// # Errors
    /// A recorded outcome belongs to another schedule.
    pub fn champion(&mut self) -> Result<Option<EngineId>, ScheduleError> {
        Ok(self.pairings.champion()?)
    }

    /// Openings that were skipped since the last call.
    pub fn take_skipped(&mut self) -> Skipped {
        self.book.take_skipped()
    }
}

readyok_protocol::errors! {
    /// An invalid plan, or an outcome that does not belong to the schedule.
    #[derive(Debug)]
    pub enum ScheduleError {}
    wraps {
        Opening(OpeningError),
        Pairing(PairingError),
    }
}

readyok_protocol::errors! {
    /// A plan without a valid schedule, or an outcome that does not belong to it.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(feature = "ts", derive(ts_rs::TS))]
    #[serde(tag = "code", rename_all = "snake_case")]
    #[non_exhaustive]
    pub enum PairingError {
        TooFewEngines {
            /// The number of engines of the plan.
            engines: usize,
        } => "a match needs two engines, and the plan has {engines}",
        TooManyEngines { engines: usize, limit: usize } =>
            "the plan has {engines} engines, more than {limit}",
        PlanFieldZero {
            /// The name of the field in the plan.
            name: Cow<'static, str>,
        } => "`{name}` must be at least 1",
        KnockoutRounds { rounds: u32 } =>
            "the plan has {rounds} `rounds`, but the number of engines determines the rounds of a knockout; `pairs_per_encounter` makes its matches longer",
        FixedPairs => "fixed colors need one game for each pairing; `pairs_per_encounter` gives more",
        /// The number of pairings or rounds overflows.
        TooManyPairings => "the plan has too many pairings to count",
        NoSuchPairing { index: u64 } => "the schedule has no pairing {index}",
        PairingGames { index: u64, games: u32, expected: u32 } =>
            "the result of pairing {index} has {games} games instead of {expected}",
        /// The plan or an earlier result was changed.
        PairingEngines {
            index: u64,
            /// The engines of the outcome.
            recorded: String,
            /// The engines of the schedule.
            scheduled: String,
        } => "the result of pairing {index} is of engines {recorded}, but the schedule has {scheduled} there",
    }
}

impl PairingError {
    fn engines(
        index: u64,
        recorded: (EngineId, EngineId),
        scheduled: (EngineId, EngineId),
    ) -> Self {
        let names = |(first, second): (EngineId, EngineId)| format!("{} and {}", first.0, second.0);
        Self::PairingEngines { index, recorded: names(recorded), scheduled: names(scheduled) }
    }

    /// Whether the plan is invalid, as opposed to an outcome.
    pub fn is_of_plan(&self) -> bool {
        match self {
            Self::TooFewEngines { .. }
            | Self::TooManyEngines { .. }
            | Self::PlanFieldZero { .. }
            | Self::KnockoutRounds { .. }
            | Self::FixedPairs
            | Self::TooManyPairings => true,
            Self::NoSuchPairing { .. }
            | Self::PairingGames { .. }
            | Self::PairingEngines { .. } => false,
        }
    }
}

/// Two engines that play each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Encounter {
    /// Counted from 0.
    round: u64,
    /// The number of the opening if openings change with the round. A replayed match needs another opening:
    /// deterministic engines would repeat the tie.
    opening: u64,
    /// The engine with the first move in the first pairing.
    first: EngineId,
    second: EngineId,
}

/// Whether the engines of an encounter are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lookup {
    Known(Encounter),
    /// The encounter is not played.
    Skipped,
    /// It depends on results that are not recorded yet.
    Pending,
}

impl Encounter {
    /// Fails unless a recorded outcome is of these engines.
    fn check(self, index: u64, first: EngineId, second: EngineId) -> Result<(), PairingError> {
        let sorted = |one: EngineId, other: EngineId| (one.min(other), one.max(other));
        if sorted(first, second) == sorted(self.first, self.second) {
            return Ok(());
        }
        Err(PairingError::engines(index, (first, second), (self.first, self.second)))
    }
}

/// Scores of all encounters with recorded outcomes.
#[derive(Debug)]
struct Scores {
    /// Pairings per encounter.
    pairings: u64,
    by_encounter: BTreeMap<u64, Tally>,
}

/// Score of an encounter. The engines are in the order of the first recorded outcome.
#[derive(Clone, Copy, Debug)]
struct Tally {
    engines: (EngineId, EngineId),
    half_points: (u64, u64),
    pairings: u64,
}

impl Scores {
    fn new(pairings: u64) -> Self {
        Self { pairings, by_encounter: BTreeMap::new() }
    }

    /// Adds the outcome of one pairing of an encounter.
    fn add(&mut self, number: u64, outcome: PairingScore) -> Result<(), PairingError> {
        let PairingScore { index, first, second, score } = outcome;
        let engines = (first, second);
        let tally = self.by_encounter.entry(number).or_insert(Tally {
            engines,
            half_points: (0, 0),
            pairings: 0,
        });
        let (ours, theirs) = if tally.engines == engines {
            score.half_points()
        } else if tally.engines == (second, first) {
            let (ours, theirs) = score.half_points();
            (theirs, ours)
        } else {
            return Err(PairingError::engines(index, engines, tally.engines));
        };
        tally.half_points.0 += ours;
        tally.half_points.1 += theirs;
        tally.pairings += 1;
        Ok(())
    }

    /// Whether all pairings of an encounter are recorded.
    fn is_complete(&self, number: u64) -> bool {
        self.by_encounter.get(&number).is_some_and(|tally| tally.pairings >= self.pairings)
    }

    /// The half points of both engines of a complete encounter.
    fn half_points(&self, number: u64, first: EngineId, second: EngineId) -> Option<(u64, u64)> {
        let tally =
            self.by_encounter.get(&number).filter(|tally| tally.pairings >= self.pairings)?;
        let (ours, theirs) = tally.half_points;
        if tally.engines == (first, second) {
            Some((ours, theirs))
        } else if tally.engines == (second, first) {
            Some((theirs, ours))
        } else {
            None
        }
    }

    /// Fails if outcomes of other engines were recorded before the engines of the encounter were known.
    fn check(&self, number: u64, encounter: Encounter) -> Result<(), PairingError> {
        let Some(tally) = self.by_encounter.get(&number) else { return Ok(()) };
        encounter.check(number * self.pairings, tally.engines.0, tally.engines.1)
    }
}
