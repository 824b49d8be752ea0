//! Resource usage of an engine, on Linux from `/proc`.

use std::fs;
use std::time::Duration;

/// Duration of a tick in `/proc/<id>/stat` (`USER_HZ`), 10 ms on all systems.
const TICK: Duration = Duration::from_millis(10);

/// Resource usage of a process group.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    /// Memory in use, in bytes.
    pub(crate) resident: u64,
    /// CPU time since the start.
    pub(crate) cpu: Duration,
    /// Time in the run queue.
    pub(crate) waited: Duration,
    /// Threads.
    pub(crate) threads: u64,
    /// Open files, pipes and sockets.
    pub(crate) files: u64,
}

/// Current usage of a process group. `None` if not available.
pub(crate) fn usage(group: u32) -> Option<Usage> {
    let mut sum = Usage::default();
    let mut found = false;
    for entry in fs::read_dir("/proc").ok()? {
        // Processes may exit meanwhile.
        let Ok(entry) = entry else { continue };
        let name = entry.file_name();
        let Some(id) = name.to_str().filter(|it| it.bytes().all(|byte| byte.is_ascii_digit()))
        else {
            continue;
        };
        if let Some(one) = of_process(id, group) {
            found = true;
            sum.resident += one.resident;
            sum.cpu += one.cpu;
            sum.waited += one.waited;
            sum.threads += one.threads;
            sum.files += one.files;
        }
    }
    found.then_some(sum)
}

fn of_process(id: &str, group: u32) -> Option<Usage> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name may contain spaces and parentheses, the other fields contain none. See proc_pid_stat(5).
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    if number(2)? != u64::from(group) {
        return None;
    }
    let ticks = u32::try_from(number(11)? + number(12)?).unwrap_or(u32::MAX);
    let (cpu, waited) = schedule(id).unwrap_or((TICK * ticks, Duration::ZERO));
    let files = fs::read_dir(format!("/proc/{id}/fd")).map_or(0, Iterator::count);
    Some(Usage {
        resident: resident(id)?,
        cpu,
        waited,
        threads: number(17)?,
        files: u64::try_from(files).unwrap_or(u64::MAX),
    })
}

/// CPU and run-queue times of all threads, if available.
fn schedule(id: &str) -> Option<(Duration, Duration)> {
    let mut sum = (Duration::ZERO, Duration::ZERO);
    for task in fs::read_dir(format!("/proc/{id}/task")).ok()? {
        let Ok(text) = task.and_then(|it| fs::read_to_string(it.path().join("schedstat"))) else {
            continue;
        };
        let mut tokens = text.split_ascii_whitespace().map(str::parse);
        let (Some(Ok(ran)), Some(Ok(waited))) = (tokens.next(), tokens.next()) else { continue };
        sum.0 += Duration::from_nanos(ran);
        sum.1 += Duration::from_nanos(waited);
    }
    (!sum.0.is_zero()).then_some(sum)
}

fn resident(id: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.split_ascii_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024)
}
