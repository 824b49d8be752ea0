//! Access to the clock, and pauses.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

#[expect(clippy::disallowed_methods, reason = "the only use of the clock in this crate")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Seconds since 1970.
pub(crate) fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// Interval at which a pause checks whether it is to end.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Pauses between attempts: each is twice as long as the one before, up to a maximum.
#[derive(Clone, Debug)]
pub(crate) struct Backoff {
    first: Duration,
    longest: Duration,
    next: Duration,
}

impl Backoff {
    pub(crate) const fn new(first: Duration, longest: Duration) -> Self {
        Self { first, longest, next: first }
    }

    /// The pause after a failure.
    pub(crate) fn pause(&mut self) -> Duration {
        let pause = self.next;
        self.next = self.next.saturating_mul(2).min(self.longest);
        pause
    }

    /// Begins again with the first pause, after a success.
    pub(crate) fn reset(&mut self) {
        self.next = self.first;
    }
}

/// Sleeps until the time is over or the flag is set.
pub(crate) fn sleep(time: Duration, stop: &AtomicBool) {
    let until = now() + time;
    while now() < until && !stop.load(Ordering::Acquire) {
        thread::park_timeout(CHECK_INTERVAL.min(until.saturating_duration_since(now())));
    }
}
