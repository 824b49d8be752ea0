//! Why there is no schedule, or no next pairing.

use std::{error, fmt};

use crate::openings::OpeningError;
use crate::plan::EngineId;

/// Why there is no schedule, or no next pairing.
#[derive(Debug)]
#[non_exhaustive]
pub enum ScheduleError {
    /// A match needs two engines.
    TooFewEngines {
        /// How many the plan has.
        engines: usize,
    },
    /// There are more engines than a schedule is made for.
    TooManyEngines {
        /// How many the plan has.
        engines: usize,
        /// How many there can be.
        limit: usize,
    },
    /// A number of the plan must be at least 1.
    Zero {
        /// Its name in the plan.
        field: &'static str,
    },
    /// The bracket of a knockout says how many rounds there are; the plan must not say more than
    /// one.
    KnockoutRounds {
        /// What the plan says.
        rounds: u32,
    },
    /// Two games with the same colors are no pairing.
    FixedPairs,
    /// The plan has more pairings or rounds than can be counted.
    TooLarge,
    /// The plan's openings cannot be used.
    Opening(OpeningError),
    /// An outcome is of a pairing that the schedule does not have.
    NoSuchPairing {
        /// Its index.
        index: u64,
    },
    /// An outcome has not as many games as the pairing.
    Games {
        /// The pairing.
        index: u64,
        /// How many the outcome has.
        games: u32,
        /// How many the pairing has.
        expected: u32,
    },
    /// An outcome is of other engines than those that the schedule lets meet there. The plan was
    /// changed, or an earlier result.
    OtherEngines {
        /// The pairing.
        index: u64,
        /// Whose outcome was recorded.
        recorded: (EngineId, EngineId),
        /// Who meets by the schedule.
        scheduled: (EngineId, EngineId),
    },
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFewEngines { engines } => {
                write!(f, "a match needs two engines, and the plan has {engines}")
            }
            Self::TooManyEngines { engines, limit } => {
                write!(f, "the plan has {engines} engines, more than {limit}")
            }
            Self::Zero { field } => write!(f, "`{field}` must be at least 1"),
            Self::KnockoutRounds { rounds } => write!(
                f,
                "the plan says {rounds} `rounds`, but the bracket of a knockout says how many \
                 there are; `pairs_per_encounter` makes its matches longer"
            ),
            Self::FixedPairs => f.write_str(
                "fixed colors need one game for each pairing; `pairs_per_encounter` gives more",
            ),
            Self::TooLarge => f.write_str("the plan has too many pairings to count"),
            Self::Opening(error) => error.fmt(f),
            Self::NoSuchPairing { index } => write!(f, "the schedule has no pairing {index}"),
            Self::Games { index, games, expected } => {
                write!(f, "the result of pairing {index} has {games} games instead of {expected}")
            }
            Self::OtherEngines { index, recorded, scheduled } => write!(
                f,
                "the result of pairing {index} is of engines {} and {}, but the schedule has {} \
                 and {} there",
                recorded.0.0, recorded.1.0, scheduled.0.0, scheduled.1.0
            ),
        }
    }
}

impl error::Error for ScheduleError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Opening(error) => error.source(),
            Self::TooFewEngines { .. }
            | Self::TooManyEngines { .. }
            | Self::Zero { .. }
            | Self::KnockoutRounds { .. }
            | Self::FixedPairs
            | Self::TooLarge
            | Self::NoSuchPairing { .. }
            | Self::Games { .. }
            | Self::OtherEngines { .. } => None,
        }
    }
}

impl From<OpeningError> for ScheduleError {
    fn from(error: OpeningError) -> Self {
        Self::Opening(error)
    }
}
