//! Errors of schedules.

use std::{error, fmt};

use crate::openings::OpeningError;
use crate::plan::EngineId;

/// An invalid plan, or an outcome that does not belong to the schedule.
#[derive(Debug)]
#[non_exhaustive]
pub enum ScheduleError {
    /// A match needs two engines.
    TooFewEngines {
        /// The number of engines of the plan.
        engines: usize,
    },
    /// The plan has too many engines.
    TooManyEngines {
        /// The number of engines of the plan.
        engines: usize,
        /// The maximum.
        limit: usize,
    },
    /// A number of the plan must be at least 1.
    Zero {
        /// The name of the field in the plan.
        field: &'static str,
    },
    /// The bracket determines the number of rounds of a knockout: `rounds` must be 1.
    KnockoutRounds {
        /// The value in the plan.
        rounds: u32,
    },
    /// Pairings of two games need reversed colors.
    FixedPairs,
    /// The number of pairings or rounds overflows.
    TooLarge,
    /// The openings of the plan cannot be used.
    Opening(OpeningError),
    /// The schedule has no pairing with the index of an outcome.
    NoSuchPairing {
        /// Its index.
        index: u64,
    },
    /// An outcome has a different number of games than its pairing.
    Games {
        /// The index of the pairing.
        index: u64,
        /// The games of the outcome.
        games: u32,
        /// The games of the pairing.
        expected: u32,
    },
    /// The engines of an outcome are not those of the schedule: the plan or an earlier result was changed.
    OtherEngines {
        /// The index of the pairing.
        index: u64,
        /// The engines of the outcome.
        recorded: (EngineId, EngineId),
        /// The engines of the schedule.
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
                "the plan has {rounds} `rounds`, but the number of engines determines the rounds of a \
                 knockout; `pairs_per_encounter` makes its matches longer"
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
