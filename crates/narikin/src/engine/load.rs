//! How much of the processors a search uses.

use std::time::Duration;

/// Compares the time of the processors with the time that passes.
#[derive(Debug)]
pub(super) struct Load {
    threads: u32,
    /// What had been used when the search began.
    before: Option<Duration>,
}

impl Load {
    /// A load of so many threads, measured from now on.
    pub(super) fn new(threads: usize) -> Self {
        let threads = u32::try_from(threads).unwrap_or(u32::MAX);
        Self { threads, before: used() }
    }

    /// The part of the time, in permille, in which the threads were at work. None where the
    /// system does not tell.
    pub(super) fn permille(&self, elapsed: Duration) -> Option<u32> {
        permille(used()?.saturating_sub(self.before?), elapsed, self.threads)
    }
}

fn permille(used: Duration, elapsed: Duration, threads: u32) -> Option<u32> {
    let available = elapsed.saturating_mul(threads.max(1)).as_nanos();
    let permille = (used.as_nanos() * 1000).checked_div(available)?;
    u32::try_from(permille.min(1000)).ok()
}

/// The time that the processors have spent on this process.
#[cfg(unix)]
fn used() -> Option<Duration> {
    use rustix::time::{ClockId, clock_gettime};
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).ok()
}

#[cfg(not(unix))]
fn used() -> Option<Duration> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_load_is_that_of_one_thread() {
        let second = Duration::from_secs(1);
        assert_eq!(permille(second, second, 1), Some(1000));
        assert_eq!(permille(second, second, 2), Some(500));
        assert_eq!(permille(second * 3, second, 2), Some(1000), "other threads do not count");
        assert_eq!(permille(Duration::ZERO, second, 1), Some(0));
        assert_eq!(permille(second, Duration::ZERO, 1), None);
    }
}
