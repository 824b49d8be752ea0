//! Errors of matches.

use std::{error, fmt, io};

use super::CpuError;
use crate::export::ExportError;
use crate::plan::PlanError;
use crate::queue::{QueueError, Rejection, WorkerId};
use crate::schedule::ScheduleError;
use crate::stats::SprtError;
use crate::store::StoreError;

/// Maximum number of workers in the message.
const MAX_WORKERS: usize = 4;

/// A match cannot be started or finished.
#[derive(Debug)]
#[non_exhaustive]
pub enum MatchError {
    /// The plan is invalid.
    Plan(PlanError),
    /// The schedule is invalid, openings cannot be read, or results belong to another plan.
    Schedule(ScheduleError),
    /// The test of the plan is invalid.
    Test(SprtError),
    /// A test needs two engines, but the plan has another number.
    TestOf(usize),
    /// Results cannot be stored.
    Store(StoreError),
    /// Games cannot be exported.
    Export(ExportError),
    /// The queue has failed.
    Queue(QueueError),
    /// A thread cannot be started.
    Threads(io::Error),
    /// Threads cannot be pinned to CPUs.
    Cpus(CpuError),
    /// A pairing cannot be played.
    Pairing {
        /// The index of the pairing.
        index: u64,
        /// The reason.
        why: String,
    },
    /// All workers have rejected the match.
    Rejected(Vec<(WorkerId, Rejection)>),
    /// The next pairing depends on results, but no pairing is being played.
    Stuck,
}

impl fmt::Display for MatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan(error) => error.fmt(f),
            Self::Schedule(error) => error.fmt(f),
            Self::Test(error) => error.fmt(f),
            Self::TestOf(engines) => {
                write!(f, "a test needs two engines, but the plan has {engines}")
            }
            Self::Store(error) => error.fmt(f),
            Self::Export(error) => error.fmt(f),
            Self::Queue(error) => error.fmt(f),
            Self::Threads(error) => write!(f, "a thread cannot be started: {error}"),
            Self::Cpus(error) => error.fmt(f),
            Self::Pairing { index, why } => write!(f, "pairing {index} cannot be played: {why}"),
            Self::Rejected(workers) => {
                f.write_str("all workers have rejected the match")?;
                for (number, (worker, why)) in workers.iter().take(MAX_WORKERS).enumerate() {
                    let before = if number == 0 { ": " } else { "; " };
                    write!(f, "{before}{}: {}", truncate(&worker.0), truncate(&why.to_string()))?;
                }
                match workers.len().saturating_sub(MAX_WORKERS) {
                    0 => Ok(()),
                    more => write!(f, "; and {more} more"),
                }
            }
            Self::Stuck => {
                f.write_str("the next pairing depends on results, but no pairing is being played")
            }
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

/// Truncates a text of another host, which may have any length.
pub(super) fn truncate(text: &str) -> String {
    const MAX_CHARS: usize = 500;
    text.chars().take(MAX_CHARS).collect()
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
