//! Who meets whom, and from where: a plan made into pairings, one at a time.
//!
//! ```text
//! plan ──> format: meetings ──> legs, colors ──> + opening ──> Pairing
//!             ▲                                                    │
//!             └──────────── Outcome, in any order ◄────────────────┘
//! ```
//!
//! Nothing is made before it is asked for, so that a plan of 500,000 rounds costs no more than one
//! of two. What a schedule gives depends on the plan and on the outcomes that it was told, but not
//! on their order: to go on with a match, make a new schedule and tell it the stored ones.

mod circle;
mod draw;
mod error;
mod gauntlet;
mod intervals;
mod knockout;
mod outcome;
mod pyramid;
mod swiss;
mod tallies;

pub use error::ScheduleError;
pub use outcome::{Outcome, Score};

use crate::openings::{Book, Skipped};
use crate::pairing::Pairing;
use crate::plan::{EngineId, Plan};
use draw::{Draw, Step};

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
    draw: Draw,
    book: Book,
}

/// What is to be done next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// This is to be played.
    Pairing(Pairing),
    /// Who meets depends on outcomes that are still to come.
    Wait,
    /// Everything was given out.
    Done,
}

impl Schedule {
    /// Checks a plan and opens its openings.
    ///
    /// # Errors
    /// The plan cannot be played, or its openings cannot be opened.
    pub fn open(plan: &Plan) -> Result<Self, ScheduleError> {
        let draw = Draw::new(plan)?;
        let book = Book::open(plan.game, &plan.openings, plan.seed)?
            .with_end_rules(plan.adjudication.end_rules());
        Ok(Self { draw, book })
    }

    /// The next pairing. Each is given once, and none whose outcome was recorded.
    ///
    /// # Errors
    /// The openings cannot be read, or a recorded outcome turns out to be of another schedule.
    #[expect(
        clippy::should_implement_trait,
        reason = "it can fail, and it can say `Wait`, which no iterator can"
    )]
    pub fn next(&mut self) -> Result<Next, ScheduleError> {
        Ok(match self.draw.next()? {
            Step::Slot(slot) => Next::Pairing(Pairing {
                index: slot.index,
                round: slot.round,
                first: slot.first,
                second: slot.second,
                games: slot.games,
                fixed_colors: slot.fixed_colors,
                opening: match slot.cycle {
                    Some(most) => self.book.get_of(slot.opening, most)?,
                    None => self.book.get(slot.opening)?,
                },
            }),
            Step::Wait => Next::Wait,
            Step::Done => Next::Done,
        })
    }

    /// Takes the outcome of a pairing. Outcomes may come in any order, also of pairings that this
    /// schedule has not given yet, which it then does not give. Returns whether it is new: one
    /// that was recorded already changes nothing.
    ///
    /// # Errors
    /// The schedule has no such pairing.
    pub fn record(&mut self, outcome: Outcome) -> Result<bool, ScheduleError> {
        self.draw.record(outcome)
    }

    /// How many pairings there are; in a knockout, at most.
    pub fn total(&self) -> u64 {
        self.draw.total()
    }

    /// Who had a bye in which round, counted from 1, as far as rounds were drawn (Swiss).
    pub fn byes(&self) -> Vec<(u32, EngineId)> {
        self.draw.byes()
    }

    /// Who has won a knockout, if its final is over and the format is one.
    ///
    /// # Errors
    /// A recorded outcome turns out to be of another schedule.
    pub fn champion(&mut self) -> Result<Option<EngineId>, ScheduleError> {
        self.draw.champion()
    }

    /// Openings that could not be used since this was last asked.
    pub fn take_skipped(&mut self) -> Skipped {
        self.book.take_skipped()
    }
}
