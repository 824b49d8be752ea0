//! Limits how fast the output of an engine is read.

use std::time::{Duration, Instant};

/// How far reading may run ahead of the rate.
const MAX_AHEAD: Duration = Duration::from_millis(20);

/// Output beyond the rate is left in the pipe, where the engine waits as soon as the pipe is full.
#[derive(Debug)]
pub(crate) struct RateLimiter {
    rate: u32,
    /// The bytes read so far are within the rate from this moment on.
    until: Instant,
}

impl RateLimiter {
    /// `rate` in bytes per second.
    pub(crate) fn new(rate: u32, at: Instant) -> Self {
        Self { rate: rate.max(1), until: at }
    }

    pub(crate) fn spend(&mut self, bytes: usize, at: Instant) {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let worth = Duration::from_secs(1).saturating_mul(bytes) / self.rate;
        self.until = self.until.max(at) + worth;
    }

    /// Until when to read nothing.
    pub(crate) fn pause(&self, at: Instant) -> Option<Instant> {
        self.until.checked_sub(MAX_AHEAD).filter(|until| at < *until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::now;

    #[test]
    fn what_is_read_ahead_is_paid_with_time() {
        let begin = now();
        let at = |milliseconds| begin + Duration::from_millis(milliseconds);
        let mut limiter = RateLimiter::new(10_000, begin);
        assert_eq!(limiter.pause(begin), None);
        limiter.spend(190, at(1));
        assert_eq!(limiter.pause(at(1)), None);
        limiter.spend(1000, at(2));
        assert_eq!(limiter.pause(at(2)), Some(at(100)));
        assert_eq!(limiter.pause(at(100)), None);
        // Silence is not saved up.
        limiter.spend(1000, at(500));
        assert_eq!(limiter.pause(at(500)), Some(at(580)));
    }
}
