//! Why a match cannot be played.

use std::{error, fmt, io};

use super::CpuError;
use crate::export::ExportError;
use crate::plan::PlanError;
use crate::queue::{QueueError, Rejection, WorkerId};
use crate::schedule::ScheduleError;
use crate::stats::SprtError;
use crate::store::StoreError;

/// So many workers are named; others have the same to say.
const SHOWN: usize = 4;

/// Why a match cannot be played, or not to its end.
#[derive(Debug)]
#[non_exhaustive]
pub enum MatchError {
    /// The plan makes no sense.
    Plan(PlanError),
    /// The plan cannot be played, its openings cannot be read, or results are of another plan.
    Schedule(ScheduleError),
    /// The plan's test is none.
    Test(SprtError),
    /// A test is between two engines, and the plan has another number of them.
    TestOf(usize),
    /// Results cannot be kept.
    Store(StoreError),
    /// Records cannot be written.
    Export(ExportError),
    /// Jobs do not reach workers.
    Queue(QueueError),
    /// Threads cannot be started.
    Threads(io::Error),
    /// Threads cannot be bound to processors.
    Cpus(CpuError),
    /// A pairing cannot be played.
    Pairing {
        /// Which.
        index: u64,
        /// Why not.
        why: String,
    },
    /// Workers are there, and none of them plays the match.
    Rejected(Vec<(WorkerId, Rejection)>),
    /// Who meets next depends on results, and nobody plays.
    Stuck,
}

impl fmt::Display for MatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan(error) => error.fmt(f),
            Self::Schedule(error) => error.fmt(f),
            Self::Test(error) => error.fmt(f),
            Self::TestOf(engines) => {
                write!(f, "a test needs two engines, and the plan has {engines}")
            }
            Self::Store(error) => error.fmt(f),
            Self::Export(error) => error.fmt(f),
            Self::Queue(error) => error.fmt(f),
            Self::Threads(error) => write!(f, "no thread can be started: {error}"),
            Self::Cpus(error) => error.fmt(f),
            Self::Pairing { index, why } => write!(f, "pairing {index} cannot be played: {why}"),
            Self::Rejected(workers) => {
                f.write_str("no worker plays the match")?;
                for (number, (worker, why)) in workers.iter().take(SHOWN).enumerate() {
                    let before = if number == 0 { ": " } else { "; " };
                    write!(f, "{before}{}: {}", truncate(&worker.0), truncate(&why.to_string()))?;
                }
                match workers.len().saturating_sub(SHOWN) {
                    0 => Ok(()),
                    more => write!(f, "; and {more} more"),
                }
            }
            Self::Stuck => f.write_str("who meets next depends on results, and nobody plays"),
        }
    }
}

impl error::Error for MatchError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Plan(error) => Some(error),
            Self::Schedule(error) => Some(error),
            Self::Test(error) => Some(error),
            Self::Store(error) => Some(error),
            Self::Export(error) => Some(error),
            Self::Queue(error) => Some(error),
            Self::Threads(error) => Some(error),
            Self::Cpus(error) => Some(error),
            Self::TestOf(_) | Self::Pairing { .. } | Self::Rejected(_) | Self::Stuck => None,
        }
    }
}

/// A text from another machine, which can be of any length.
pub(super) fn truncate(text: &str) -> String {
    const MOST: usize = 500;
    text.chars().take(MOST).collect()
}

impl From<PlanError> for MatchError {
    fn from(error: PlanError) -> Self {
        Self::Plan(error)
    }
}

impl From<ScheduleError> for MatchError {
    fn from(error: ScheduleError) -> Self {
        Self::Schedule(error)
    }
}

impl From<StoreError> for MatchError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<ExportError> for MatchError {
    fn from(error: ExportError) -> Self {
        Self::Export(error)
    }
}

impl From<QueueError> for MatchError {
    fn from(error: QueueError) -> Self {
        Self::Queue(error)
    }
}
