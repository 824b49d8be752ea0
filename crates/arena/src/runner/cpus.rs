//! Which processors the slots of a match have, so that games do not disturb each other.

use std::collections::BTreeSet;
use std::{error, fmt};

use crate::plan::Plan;

/// Processors for slots: each slot has as many of its own as its games need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpus {
    slots: Vec<Vec<usize>>,
}

/// Why slots cannot have processors of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CpuError {
    /// There are not enough.
    TooFew {
        /// How many there are.
        cpus: usize,
        /// How many are needed.
        needed: usize,
    },
    /// The system refuses.
    System(String),
}

impl Cpus {
    /// Shares out processors: `list`, or all that this program may use.
    ///
    /// The first slots get processors on cores of their own; the second threads of cores are used
    /// when there is no other way.
    ///
    /// # Errors
    /// There are not enough, or the system does not say which there are.
    pub fn share(slots: usize, each: usize, list: Option<&[usize]>) -> Result<Self, CpuError> {
        let order = spread(&usable(list)?, sys::siblings);
        let needed = slots.saturating_mul(each.max(1));
        if order.len() < needed {
            return Err(CpuError::TooFew { cpus: order.len(), needed });
        }
        let slots = order.chunks(each.max(1)).take(slots).map(<[usize]>::to_vec).collect();
        Ok(Self { slots })
    }

    /// How many processors there are to share out: of `list`, or of all.
    ///
    /// # Errors
    /// The system does not say which there are.
    pub fn count(list: Option<&[usize]>) -> Result<usize, CpuError> {
        Ok(usable(list)?.len())
    }

    /// The processors of each slot.
    pub fn slots(&self) -> &[Vec<usize>] {
        &self.slots
    }

    /// Binds this thread, and the programs that it starts from now on, to the processors of a slot.
    ///
    /// # Errors
    /// The system refuses.
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

/// How many processors a game of a plan keeps busy: as many as the engine with the most `Threads`,
/// or, if an engine thinks on its opponent's time, as the two with the most together.
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

/// The processors in the order of their use: those first that are the first of their core.
fn spread(usable: &BTreeSet<usize>, siblings: impl Fn(usize) -> Vec<usize>) -> Vec<usize> {
    let place = |cpu: &usize| {
        siblings(*cpu).iter().filter(|other| usable.contains(other) && *other < cpu).count()
    };
    let mut order: Vec<(usize, usize)> = usable.iter().map(|cpu| (place(cpu), *cpu)).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, cpu)| cpu).collect()
}

/// Reads a list of processors: `0-3,8`.
fn list(text: &str) -> Vec<usize> {
    let ranges = text.trim().split(',').filter_map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
    });
    ranges.flatten().take(sys::MOST).collect()
}

#[cfg(target_os = "linux")]
mod sys {
    use std::collections::BTreeSet;
    use std::fs;

    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    use super::CpuError;

    pub(super) const MOST: usize = CpuSet::MAX_CPU;

    pub(super) fn usable() -> Result<BTreeSet<usize>, CpuError> {
        let set = sched_getaffinity(None).map_err(|error| CpuError::System(error.to_string()))?;
        Ok((0..MOST).filter(|cpu| set.is_set(*cpu)).collect())
    }

    pub(super) fn siblings(cpu: usize) -> Vec<usize> {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        // Where the system does not tell, each processor counts as a core.
        fs::read_to_string(path).map_or_else(|_| Vec::new(), |text| super::list(&text))
    }

    pub(super) fn bind(cpus: &[usize]) -> Result<(), CpuError> {
        let mut set = CpuSet::new();
        for cpu in cpus.iter().filter(|cpu| **cpu < MOST) {
            set.set(*cpu);
        }
        sched_setaffinity(None, &set).map_err(|error| CpuError::System(error.to_string()))
    }
}

#[cfg(not(target_os = "linux"))]
mod sys {
    use std::collections::BTreeSet;

    use super::CpuError;

    pub(super) const MOST: usize = 1024;

    pub(super) fn usable() -> Result<BTreeSet<usize>, CpuError> {
        Err(CpuError::System("threads can be bound to processors on Linux only".to_owned()))
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
                write!(f, "{needed} processors are needed, and {cpus} may be used")
            }
            Self::System(text) => write!(f, "no thread can be bound to processors: {text}"),
        }
    }
}

impl error::Error for CpuError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_threads_of_cores_come_last() {
        let pairs = |cpu: usize| vec![cpu % 4, cpu % 4 + 4];
        let all: BTreeSet<usize> = (0..8).collect();
        assert_eq!(spread(&all, pairs), [0, 1, 2, 3, 4, 5, 6, 7]);
        let neighbours = |cpu: usize| vec![cpu / 2 * 2, cpu / 2 * 2 + 1];
        assert_eq!(spread(&all, neighbours), [0, 2, 4, 6, 1, 3, 5, 7]);
        let some = BTreeSet::from([1, 2, 3]);
        assert_eq!(spread(&some, neighbours), [1, 2, 3]);
    }

    #[test]
    fn lists_of_processors_are_read_as_linux_writes_them() {
        assert_eq!(list("0-2,7\n"), [0, 1, 2, 7]);
        assert_eq!(list(""), [0_usize; 0]);
        assert_eq!(list("x,3,9-8"), [3]);
        assert_eq!(list("0-18446744073709551615").len(), sys::MOST);
    }
}
