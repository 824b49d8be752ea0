//! How much is read of an engine that says more than anybody wants to know.

use std::time::{Duration, Instant};

/// So much may be read ahead of its time.
const AHEAD: Duration = Duration::from_millis(20);

/// So many bytes in a time. What is beyond it is left in the pipe, and an engine that goes on waits for
/// its pipe.
#[derive(Debug)]
pub(crate) struct Allowance {
    rate: u32,
    /// What was read would have been allowed until then.
    until: Instant,
}

impl Allowance {
    /// So many bytes a second, from a moment on.
    pub(crate) fn new(rate: u32, at: Instant) -> Self {
        Self { rate: rate.max(1), until: at }
    }

    /// So many bytes were read.
    pub(crate) fn spend(&mut self, bytes: usize, at: Instant) {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let worth = Duration::from_secs(1).saturating_mul(bytes) / self.rate;
        self.until = self.until.max(at) + worth;
    }

    /// Until when nothing more is to be read.
    pub(crate) fn pause(&self, at: Instant) -> Option<Instant> {
        self.until.checked_sub(AHEAD).filter(|until| at < *until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::now;

    #[test]
    fn what_is_read_ahead_is_paid_with_time() {
        let begin = now();
        let at = |milliseconds| begin + Duration::from_millis(milliseconds);
        let mut allowance = Allowance::new(10_000, begin);
        assert_eq!(allowance.pause(begin), None);
        allowance.spend(190, at(1));
        assert_eq!(allowance.pause(at(1)), None);
        allowance.spend(1000, at(2));
        assert_eq!(allowance.pause(at(2)), Some(at(100)));
        assert_eq!(allowance.pause(at(100)), None);
        // Silence is not saved up.
        allowance.spend(1000, at(500));
        assert_eq!(allowance.pause(at(500)), Some(at(580)));
    }
}
