//! CPU pinning: each slot of a match has CPUs of its own.

use std::collections::BTreeSet;

use crate::plan::Plan;

/// The CPUs of each slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpus {
    slots: Vec<Vec<usize>>,
}

/// CPUs cannot be assigned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CpuError {
    /// There are not enough CPUs.
    #[error("{needed} CPUs are required, but only {cpus} are available")]
    TooFew {
        /// The number of usable CPUs.
        cpus: usize,
        /// The number of required CPUs.
        needed: usize,
    },
    /// An error of the operating system.
    #[error("a thread cannot be pinned to CPUs: {0}")]
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

    /// Pins this thread and its future child processes to these CPUs; on Windows, engines of `readyok-client`.
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

    /// Pins this thread and its future child processes to the CPUs of a slot, like [`pin`](Self::pin).
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
#[cfg(any(target_os = "linux", test))]
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

/// The CPUs of the processor group of this process. Other groups, on systems with more than 64 CPUs, are not used.
#[cfg(windows)]
mod sys {
    use std::collections::BTreeSet;
    use std::io;

    use windows_sys::Win32::System::SystemInformation::{
        GetLogicalProcessorInformation, RelationProcessorCore, SYSTEM_LOGICAL_PROCESSOR_INFORMATION,
    };
    use windows_sys::Win32::System::Threading::{
        GetCurrentProcess, GetCurrentThread, GetProcessAffinityMask, SetThreadAffinityMask,
    };

    use super::CpuError;

    pub(super) const MAX_CPUS: usize = usize::BITS as usize;

    fn last_error() -> CpuError {
        CpuError::System(io::Error::last_os_error().to_string())
    }

    fn cpus_of(mask: usize) -> impl Iterator<Item = usize> {
        (0..MAX_CPUS).filter(move |cpu| mask >> cpu & 1 == 1)
    }

    /// The CPUs of the thread, which may be fewer than those of the process.
    #[expect(unsafe_code, reason = "no safe interface in the standard library")]
    pub(super) fn usable() -> Result<BTreeSet<usize>, CpuError> {
        let (mut process, mut system) = (0, 0);
        // SAFETY: the pseudo handles are always valid, and the pointers are those of local variables of the right types.
        unsafe {
            if GetProcessAffinityMask(GetCurrentProcess(), &raw mut process, &raw mut system) == 0 {
                return Err(last_error());
            }
            // There is no function that only reads the mask of a thread.
            let thread = SetThreadAffinityMask(GetCurrentThread(), process);
            if thread == 0 || SetThreadAffinityMask(GetCurrentThread(), thread) == 0 {
                return Err(last_error());
            }
            Ok(cpus_of(thread & process).collect())
        }
    }

    #[expect(unsafe_code, reason = "no safe interface in the standard library")]
    pub(super) fn siblings(cpu: usize) -> Vec<usize> {
        let mut entries = vec![SYSTEM_LOGICAL_PROCESSOR_INFORMATION::default(); 4 * MAX_CPUS];
        let Ok(mut length) = u32::try_from(size_of_val(entries.as_slice())) else {
            return Vec::new();
        };
        // SAFETY: `length` is the size of the buffer, which the function does not exceed.
        if unsafe { GetLogicalProcessorInformation(entries.as_mut_ptr(), &raw mut length) } == 0 {
            return Vec::new();
        }
        let mut cores = entries.iter().filter(|entry| entry.Relationship == RelationProcessorCore);
        let core = cores.find(|core| cpus_of(core.ProcessorMask).any(|other| other == cpu));
        core.map_or_else(Vec::new, |core| cpus_of(core.ProcessorMask).collect())
    }

    #[expect(unsafe_code, reason = "no safe interface in the standard library")]
    pub(super) fn bind(cpus: &[usize]) -> Result<(), CpuError> {
        let mask = cpus.iter().filter(|cpu| **cpu < MAX_CPUS).fold(0, |mask, cpu| mask | 1 << cpu);
        // SAFETY: the pseudo handle is always valid.
        if unsafe { SetThreadAffinityMask(GetCurrentThread(), mask) } == 0 {
            return Err(last_error());
        }
        Ok(())
    }
}

#[cfg(not(any(target_os = "linux", windows)))]
mod sys {
    use std::collections::BTreeSet;

    use super::CpuError;

    #[cfg(test)]
    pub(super) const MAX_CPUS: usize = 1024;

    pub(super) fn usable() -> Result<BTreeSet<usize>, CpuError> {
        let text = "threads can be pinned to CPUs on Linux and Windows only";
        Err(CpuError::System(text.to_owned()))
    }

    pub(super) fn siblings(_: usize) -> Vec<usize> {
        Vec::new()
    }

    pub(super) fn bind(_: &[usize]) -> Result<(), CpuError> {
        usable().map(drop)
    }
}

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
