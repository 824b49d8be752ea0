//! Detection of an overloaded host: engines then lose on time for lack of CPU time.

use std::thread::available_parallelism;

use crate::result::WarningKind;

/// The warning about a loss on time, if the load average (1 minute) is at least the number of CPUs.
pub(super) fn warning() -> Option<WarningKind> {
    let cpus = available_parallelism().map_or(1, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").ok()?;
    overload(&load, cpus).map(|percent| WarningKind::HostOverloaded { percent })
}

/// Load in percent of the CPUs, from the text of `/proc/loadavg`.
fn overload(text: &str, cpus: usize) -> Option<u32> {
    let (whole, hundredths) = text.split_ascii_whitespace().next()?.split_once('.')?;
    let whole: u32 = whole.parse().ok()?;
    let percent = whole.saturating_mul(100).saturating_add(hundredths.parse().ok()?);
    let percent = percent / u32::try_from(cpus).ok()?.max(1);
    (percent >= 100).then_some(percent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detects_a_load_of_at_least_one_per_cpu() {
        assert_eq!(overload("2.00 9.10 9.11 3/412 9876\n", 2), Some(100));
        assert_eq!(overload("6.10 0.10 0.11 3/412 9876\n", 2), Some(305));
        assert_eq!(overload("1.99 9.10 9.11 3/412 9876\n", 2), None);
        for text in ["", "2", "x.10 1", "2.x 1", "-2.00"] {
            assert_eq!(overload(text, 1), None, "{text}");
        }
    }
}
