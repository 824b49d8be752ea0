//! CPU time and memory of a process.

use std::fs;
use std::time::Duration;

/// The CPU time of a process.
pub(crate) fn cpu_time(id: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).expect("a process");
    // The name of the program may contain spaces.
    let (_, fields) = stat.rsplit_once(')').expect("a name");
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks: u64 = ticks.map(|text| text.parse::<u64>().expect("a number")).sum();
    Duration::from_secs(ticks)
        / u32::try_from(rustix::param::clock_ticks_per_second()).expect("few")
}

/// The largest resident memory of a process so far, in MB.
pub(crate) fn peak_mb(id: u32) -> f64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    let kib: f64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
    kib * 1024.0 / 1e6
}
