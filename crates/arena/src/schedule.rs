//! The schedule of a match: turns a plan into pairings, one at a time.
//!
//! ```text
//! plan ──> format: encounters ──> pairings, colors ──> + opening ──> Pairing
//!             ▲                                                         │
//!             └──────────── Outcome, in any order ◄─────────────────────┘
//! ```
//!
//! Pairings are generated on demand: a plan of 500,000 rounds needs no more memory than one of two. They depend on
//! the plan and on the recorded outcomes, but not on the order of outcomes. To resume a match, create a schedule
//! and record the stored outcomes.

mod encounter;
mod error;
mod knockout;
mod pairings;
mod round_robin;
mod swiss;

pub use encounter::{Outcome, Score};
pub use error::ScheduleError;

use crate::openings::{Book, Skipped};
use crate::pairing::Pairing;
use crate::plan::{EngineId, Plan};
use pairings::{Pairings, Step};

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
        Ok(Self { pairings, book })
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
    pub fn record(&mut self, outcome: Outcome) -> Result<bool, ScheduleError> {
        self.pairings.record(outcome)
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
        self.pairings.champion()
    }

    /// Openings that were skipped since the last call.
    pub fn take_skipped(&mut self) -> Skipped {
        self.book.take_skipped()
    }
}
