//! CPU pinning: each slot of a match has CPUs of its own.

use std::collections::BTreeSet;
use std::{error, fmt};

use crate::plan::Plan;

/// The CPUs of each slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpus {
    slots: Vec<Vec<usize>>,
}

/// CPUs cannot be assigned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CpuError {
    /// There are not enough CPUs.
    TooFew {
        /// The number of usable CPUs.
        cpus: usize,
        /// The number of required CPUs.
        needed: usize,
    },
    /// An error of the operating system.
    System(String),
}

impl Cpus {
    /// Assigns CPUs to slots: those of `list`, or all that this process may use.
    ///
    /// First threads of cores are assigned before second ones (SMT).
    ///
    /// # Errors
    /// There are not enough CPUs, or their list is not available.
    pub fn share(slots: usize, each: usize, list: Option<&[usize]>) -> Result<Self, CpuError> {
        let sorted = spread(&usable(list)?, sys::siblings);
        let needed = slots.saturating_mul(each.max(1));
        if sorted.len() < needed {
            return Err(CpuError::TooFew { cpus: sorted.len(), needed });
        }
        let slots = sorted.chunks(each.max(1)).take(slots).map(<[usize]>::to_vec).collect();
        Ok(Self { slots })
    }

    /// The number of usable CPUs, of `list` or of all.
    ///
    /// # Errors
    /// The list of CPUs is not available.
    pub fn count(list: Option<&[usize]>) -> Result<usize, CpuError> {
        Ok(usable(list)?.len())
    }

    /// The usable CPUs of a list; all of them if the list is empty.
    ///
    /// # Errors
    /// The list of CPUs is not available.
    pub fn usable(list: &[usize]) -> Result<BTreeSet<usize>, CpuError> {
        usable(Some(list).filter(|list| !list.is_empty()))
    }

    /// These CPUs, first threads of cores before second ones (SMT).
    pub fn sorted(cpus: &BTreeSet<usize>) -> Vec<usize> {
        spread(cpus, sys::siblings)
    }

    /// Pins this thread and its future child processes to these CPUs.
    ///
    /// # Errors
    /// The operating system rejects it.
    pub fn pin(cpus: &[usize]) -> Result<(), CpuError> {
        sys::bind(cpus)
    }

    /// The CPUs of each slot.
    pub fn slots(&self) -> &[Vec<usize>] {
        &self.slots
    }

    /// Pins this thread and its future child processes to the CPUs of a slot.
    ///
    /// # Errors
    /// The operating system rejects it.
    pub fn bind(&self, slot: usize) -> Result<(), CpuError> {
        self.slots.get(slot).map_or(Ok(()), |cpus| sys::bind(cpus))
    }
}

fn usable(list: Option<&[usize]>) -> Result<BTreeSet<usize>, CpuError> {
    let usable = sys::usable()?;
    Ok(match list {
        Some(list) => list.iter().copied().filter(|cpu| usable.contains(cpu)).collect(),
        None => usable,
    })
}

/// The number of CPUs that a game of a plan uses: the maximum of `Threads` of all engines, or the sum of the two highest
/// values if an engine ponders.
pub fn threads_of(plan: &Plan) -> usize {
    let threads = plan.engines.iter().map(|engine| {
        let mut options = engine.options.iter();
        let option = options.find(|(name, _)| name.eq_ignore_ascii_case("Threads"));
        option.and_then(|(_, value)| value.trim().parse().ok()).unwrap_or(1).max(1)
    });
    let mut threads: Vec<usize> = threads.collect();
    threads.sort_unstable_by(|one, other| other.cmp(one));
    let busy = if plan.engines.iter().any(|engine| engine.ponder) { 2 } else { 1 };
    threads.iter().take(busy).fold(0, |sum: usize, threads| sum.saturating_add(*threads)).max(1)
}

/// Sorts CPUs by their thread number within the core.
fn spread(usable: &BTreeSet<usize>, siblings: impl Fn(usize) -> Vec<usize>) -> Vec<usize> {
    let thread = |cpu: &usize| {
        siblings(*cpu).iter().filter(|other| usable.contains(other) && *other < cpu).count()
    };
    let mut sorted: Vec<(usize, usize)> = usable.iter().map(|cpu| (thread(cpu), *cpu)).collect();
    sorted.sort_unstable();
    sorted.into_iter().map(|(_, cpu)| cpu).collect()
}

/// Parses a list of CPUs: `0-3,8`.
fn parse_list(text: &str) -> Vec<usize> {
    let ranges = text.trim().split(',').filter_map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
    });
    ranges.flatten().take(sys::MAX_CPUS).collect()
}

#[cfg(target_os = "linux")]
mod sys {
    use std::collections::BTreeSet;
    use std::fs;

    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    use super::CpuError;

    pub(super) const MAX_CPUS: usize = CpuSet::MAX_CPU;

    pub(super) fn usable() -> Result<BTreeSet<usize>, CpuError> {
        let set = sched_getaffinity(None).map_err(|error| CpuError::System(error.to_string()))?;
        Ok((0..MAX_CPUS).filter(|cpu| set.is_set(*cpu)).collect())
    }

    pub(super) fn siblings(cpu: usize) -> Vec<usize> {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        // Without this file, each CPU counts as a core.
        fs::read_to_string(path).map_or_else(|_| Vec::new(), |text| super::parse_list(&text))
    }

    pub(super) fn bind(cpus: &[usize]) -> Result<(), CpuError> {
        let mut set = CpuSet::new();
        for cpu in cpus.iter().filter(|cpu| **cpu < MAX_CPUS) {
            set.set(*cpu);
        }
        sched_setaffinity(None, &set).map_err(|error| CpuError::System(error.to_string()))
    }
}

#[cfg(not(target_os = "linux"))]
mod sys {
    use std::collections::BTreeSet;

    use super::CpuError;

    pub(super) const MAX_CPUS: usize = 1024;

    pub(super) fn usable() -> Result<BTreeSet<usize>, CpuError> {
        Err(CpuError::System("threads can be pinned to CPUs on Linux only".to_owned()))
    }

    pub(super) fn siblings(_: usize) -> Vec<usize> {
        Vec::new()
    }

    pub(super) fn bind(_: &[usize]) -> Result<(), CpuError> {
        usable().map(drop)
    }
}

impl fmt::Display for CpuError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFew { cpus, needed } => {
                write!(f, "{needed} CPUs are required, but only {cpus} are available")
            }
            Self::System(text) => write!(f, "a thread cannot be pinned to CPUs: {text}"),
        }
    }
}

impl error::Error for CpuError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_second_threads_of_cores_last() {
        let pairs = |cpu: usize| vec![cpu % 4, cpu % 4 + 4];
        let all: BTreeSet<usize> = (0..8).collect();
        assert_eq!(spread(&all, pairs), [0, 1, 2, 3, 4, 5, 6, 7]);
        let neighbors = |cpu: usize| vec![cpu / 2 * 2, cpu / 2 * 2 + 1];
        assert_eq!(spread(&all, neighbors), [0, 2, 4, 6, 1, 3, 5, 7]);
        let some = BTreeSet::from([1, 2, 3]);
        assert_eq!(spread(&some, neighbors), [1, 2, 3]);
    }

    #[test]
    fn parses_cpu_lists_of_linux() {
        assert_eq!(parse_list("0-2,7\n"), [0, 1, 2, 7]);
        assert_eq!(parse_list(""), [0_usize; 0]);
        assert_eq!(parse_list("x,3,9-8"), [3]);
        assert_eq!(parse_list("0-18446744073709551615").len(), sys::MAX_CPUS);
    }
}
