//! Memory, threads and CPU time of the host.
#![cfg_attr(
    any(target_arch = "x86_64", target_os = "linux"),
    expect(
        unsafe_code,
        reason = "the standard library has no safe form of hints to the system and the CPU; docs/search.md has their effect"
    )
)]

use std::{mem::MaybeUninit, num::NonZero, thread, time::Duration};

/// The size of a huge page (x86-64, and arm64 with 4 KiB pages).
#[cfg(target_os = "linux")]
const LARGE: usize = 2 << 20;

/// Requests huge pages for unused memory. Without support, nothing changes.
#[cfg(target_os = "linux")]
pub(crate) fn large_pages<T>(memory: &mut [MaybeUninit<T>]) {
    let bytes = size_of_val(memory);
    let begin = memory.as_mut_ptr().cast::<u8>();
    let before = begin.align_offset(LARGE);
    let Some(len) = bytes.checked_sub(before).map(|len| len - len % LARGE).filter(|len| 0 < *len)
    else {
        return;
    };
    // SAFETY: `before` is at most `bytes`, so the address is within the memory or at its end.
    let address = unsafe { begin.add(before) };
    // Miri does not support the call.
    if cfg!(miri) {
        return;
    }
    // A failure is harmless.
    // SAFETY: the range is within the memory, and the advice does not change its content.
    let _ = unsafe { rustix::mm::madvise(address.cast(), len, rustix::mm::Advice::LinuxHugepage) };
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn large_pages<T>(_memory: &mut [MaybeUninit<T>]) {}

/// Prefetches a cache line.
#[cfg(target_arch = "x86_64")]
pub(crate) fn prefetch<T>(place: &T) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: every x86-64 CPU has the instruction, it has no visible effect, and the address is
    // that of a reference.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast()) }
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn prefetch<T>(_place: &T) {}

/// Maximum number of threads.
pub(crate) const MAX_THREADS: usize = 1024;

/// Maximum number of threads per CPU. More would delay the main thread, which checks the clock and
/// the input.
const MAX_THREADS_PER_CPU: usize = 4;

/// The number of threads used for a requested number.
pub(crate) fn thread_count(requested: usize) -> usize {
    // A few threads need no query of the CPU count.
    if requested <= MAX_THREADS_PER_CPU {
        requested.max(1)
    } else {
        thread_count_on(cpu_count(), requested)
    }
}

/// The number of CPUs available to this process.
pub(crate) fn cpu_count() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

fn thread_count_on(cpu_count: usize, requested: usize) -> usize {
    requested.clamp(1, cpu_count.saturating_mul(MAX_THREADS_PER_CPU)).min(MAX_THREADS)
}

/// Measures the CPU load of a search.
#[derive(Debug)]
pub(crate) struct Load {
    threads: u32,
    /// CPU time at the start of the search.
    before: Option<Duration>,
}

impl Load {
    /// Starts a measurement for this number of threads.
    pub(crate) fn new(threads: usize) -> Self {
        let threads = u32::try_from(threads).unwrap_or(u32::MAX);
        Self { threads, before: used() }
    }

    /// CPU usage per thread in permille; none if the system does not report it.
    pub(crate) fn permille(&self, elapsed: Duration) -> Option<u32> {
        permille(used()?.saturating_sub(self.before?), elapsed, self.threads)
    }
}

fn permille(used: Duration, elapsed: Duration, threads: u32) -> Option<u32> {
    let available = elapsed.saturating_mul(threads.max(1)).as_nanos();
    let permille = (used.as_nanos() * 1000).checked_div(available)?;
    u32::try_from(permille.min(1000)).ok()
}

/// CPU time of this process.
#[cfg(unix)]
fn used() -> Option<Duration> {
    use rustix::time::{ClockId, clock_gettime};
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).ok()
}

#[cfg(not(unix))]
fn used() -> Option<Duration> {
    None
}

/// Whether a table of `requested` megabytes fits in place of one of `kept`. Linux overcommits memory
/// and kills processes that use too much, so available memory is checked in advance. True if the
/// system does not report it.
pub(crate) fn fits(requested: i64, kept: i64) -> bool {
    free().is_none_or(|free| is_room(requested, kept, free))
}

/// The part of `requested` megabytes that fits.
pub(crate) fn part_that_fits(requested: i64) -> i64 {
    free().map_or(requested, |free| requested.min(usable(free)))
}

fn is_room(requested: i64, kept: i64, free: u64) -> bool {
    requested <= kept.saturating_add(usable(free))
}

/// Usable megabytes of free memory: one sixteenth is left for other uses.
fn usable(free: u64) -> i64 {
    i64::try_from((free - free / 16) >> 20).unwrap_or(i64::MAX)
}

/// Available memory in bytes, limited by control groups.
#[cfg(target_os = "linux")]
fn free() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let host = read("/proc/meminfo").and_then(|text| available_memory(&text));
    let groups = read("/proc/self/cgroup").unwrap_or_default();
    let groups = groups.lines().flat_map(group_directories).filter_map(|(directory, group)| {
        let [max, used, stat] =
            [group.max, group.used, "memory.stat"].map(|name| read(&format!("{directory}/{name}")));
        group_memory(&max?, &used?, &stat.unwrap_or_default(), group)
    });
    host.into_iter().chain(groups).min()
}

#[cfg(not(target_os = "linux"))]
fn free() -> Option<u64> {
    None
}

/// Available memory by `/proc/meminfo`.
#[cfg(any(target_os = "linux", test))]
fn available_memory(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

/// File names of a version of control groups.
#[cfg(any(target_os = "linux", test))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Names {
    root: &'static str,
    max: &'static str,
    used: &'static str,
    /// The key of reclaimable page cache.
    reclaimable: &'static str,
}

#[cfg(any(target_os = "linux", test))]
const FIRST_VERSION: Names = Names {
    root: "/sys/fs/cgroup/memory",
    max: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    reclaimable: "total_inactive_file ",
};

#[cfg(any(target_os = "linux", test))]
const SECOND_VERSION: Names = Names {
    root: "/sys/fs/cgroup",
    max: "memory.max",
    used: "memory.current",
    reclaimable: "inactive_file ",
};

/// The directories of the group in a line of `/proc/self/cgroup` and of its parents, each with its
/// own limit.
#[cfg(any(target_os = "linux", test))]
fn group_directories(line: &str) -> Vec<(String, Names)> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { return Vec::new() };
    let names = match controllers {
        "" => SECOND_VERSION,
        it if it.split(',').any(|name| name == "memory") => FIRST_VERSION,
        _ => return Vec::new(),
    };
    let mut directory = names.root.to_owned();
    let mut group_directories = vec![(directory.clone(), names)];
    for part in path.split('/').filter(|part| !part.is_empty()) {
        directory = format!("{directory}/{part}");
        group_directories.push((directory.clone(), names));
    }
    group_directories
}

/// Available memory of a group; none without a limit.
#[cfg(any(target_os = "linux", test))]
fn group_memory(max: &str, used: &str, stat: &str, names: Names) -> Option<u64> {
    let max: u64 = max.trim().parse().ok()?;
    let used: u64 = used.trim().parse().ok()?;
    let reclaimable =
        stat.lines().find_map(|line| line.strip_prefix(names.reclaimable)?.parse().ok());
    Some(max.saturating_sub(used.saturating_sub(reclaimable.unwrap_or(0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_accept_any_memory() {
        for (capacity, skipped) in
            [(0, 0), (1, 0), (64, 3), (5 << 20, 0), (5 << 20, 4097), (4 << 20, (4 << 20) - 1)]
        {
            let mut memory = Vec::<u8>::with_capacity(capacity);
            large_pages(&mut memory.spare_capacity_mut()[skipped..]);
            let sevens = vec![7; capacity];
            memory.extend_from_slice(&sevens);
            assert!(memory == sevens);
        }
        let value = [3_u64; 8];
        prefetch(&value);
        assert_eq!(value, [3; 8]);
    }

    #[test]
    fn uses_at_most_four_threads_per_cpu() {
        assert_eq!(
            [0, 1, 4, 8, 9, 1024].map(|cores| thread_count_on(2, cores)),
            [1, 1, 4, 8, 8, 8]
        );
        assert_eq!([128, 129].map(|cores| thread_count_on(32, cores)), [128, 128]);
        assert_eq!(thread_count_on(512, usize::MAX), 1024);
        assert_eq!([0, 1, 4].map(thread_count), [1, 1, 4]);
    }

    #[test]
    fn load_is_relative_to_the_threads() {
        let second = Duration::from_secs(1);
        assert_eq!(permille(second, second, 1), Some(1000));
        assert_eq!(permille(second, second, 2), Some(500));
        assert_eq!(permille(second * 3, second, 2), Some(1000), "other threads do not count");
        assert_eq!(permille(Duration::ZERO, second, 1), Some(0));
        assert_eq!(permille(second, Duration::ZERO, 1), None);
    }

    const GIB: u64 = 1 << 30;

    #[test]
    fn free_memory_and_the_old_table_make_room_for_a_new_one() {
        assert!(is_room(15_000, 16, 16 * GIB));
        assert!(!is_room(16_000, 16, 16 * GIB), "a sixteenth is left for others");
        // Of 24 GiB, the old table has 15 and 8 are free: enough for 20.
        assert!(is_room(20_480, 15_360, 8 * GIB));
        assert!(!is_room(20_480, 16, 8 * GIB));
        assert!(is_room(16, 16_000, 0), "a smaller table always fits");
        assert!(!is_room(i64::MAX, 1, u64::MAX / 2));
    }

    #[test]
    fn part_that_fits_is_limited() {
        assert_eq!(part_that_fits(0), 0);
        #[cfg(target_os = "linux")]
        assert!(part_that_fits(i64::MAX) < 1 << 40);
    }

    #[test]
    fn parses_available_memory() {
        let text =
            "MemTotal:       24684092 kB\nMemFree:         1234 kB\nMemAvailable:    2048 kB\n";
        assert_eq!(available_memory(text), Some(2 << 20));
        assert_eq!(available_memory("MemTotal: 5 kB\n"), None);
        assert_eq!(available_memory("MemAvailable: much\n"), None);
    }

    #[test]
    fn control_groups_limit_memory() {
        let of = |line: &str| -> Vec<String> {
            group_directories(line).into_iter().map(|(directory, _)| directory).collect()
        };
        assert_eq!(
            of("0::/user/game"),
            ["/sys/fs/cgroup", "/sys/fs/cgroup/user", "/sys/fs/cgroup/user/game"]
        );
        assert_eq!(of("4:cpu,memory:/"), ["/sys/fs/cgroup/memory"]);
        assert!(of("3:cpuset:/").is_empty() && of("nothing").is_empty());

        let stat = "anon 5\ninactive_file 300\nactive_file 7\n";
        assert_eq!(group_memory("1000\n", "900\n", stat, SECOND_VERSION), Some(400));
        assert_eq!(group_memory("1000\n", "1200\n", "", SECOND_VERSION), Some(0));
        assert_eq!(group_memory("max\n", "900\n", stat, SECOND_VERSION), None);
        let stat = "inactive_file 1\ntotal_inactive_file 500\n";
        assert_eq!(group_memory("1000\n", "900\n", stat, FIRST_VERSION), Some(600));
    }
}
