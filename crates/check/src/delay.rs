//! Delays of the host during a measurement: the time that the engine and the checker wait for a CPU.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::timeouts::now;

/// Interval of the measurement, and the usual inaccuracy of a sleep.
const INTERVAL: Duration = Duration::from_millis(2);
const USUAL: Duration = Duration::from_millis(1);

/// Measures how much later than planned a sleeping thread is resumed.
pub(crate) struct DelayMeter {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Duration>>,
}

impl DelayMeter {
    pub(crate) fn start() -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let measure = move || {
            let mut sum = Duration::ZERO;
            while !stopped.load(Ordering::Acquire) {
                let begin = now();
                thread::sleep(INTERVAL);
                let late = now().saturating_duration_since(begin).saturating_sub(INTERVAL);
                if USUAL < late {
                    sum += late;
                }
            }
            sum
        };
        // Without the thread the host counts as idle.
        let thread = thread::Builder::new().name("delay".into()).spawn(measure).ok();
        Self { stop, thread }
    }

    /// The sum of all delays.
    pub(crate) fn finish(mut self) -> Duration {
        self.stop.store(true, Ordering::Release);
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Drop for DelayMeter {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
    }
}

/// A measured duration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    pub(crate) time: Duration,
    /// The part of the time for which the host may be the cause.
    pub(crate) delay: Duration,
}

/// Multiple of the measured delay that may be the cause of a late reply: not every delay can be measured.
const DOUBT: u32 = 3;

/// The comparison of a measured time with its limit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Verdict {
    InTime,
    /// The host may be the cause.
    Unknown,
    TooLate,
}

impl Timing {
    /// Compares the time with a limit. The tolerance does not depend on the load.
    pub(crate) fn judge(self, limit: Duration) -> Verdict {
        if self.time <= limit {
            Verdict::InTime
        } else if self.time.saturating_sub(self.delay * DOUBT) <= limit {
            Verdict::Unknown
        } else {
            Verdict::TooLate
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_of_the_host_is_no_violation() {
        let ms = Duration::from_millis;
        let timing = |time, delay| Timing { time: ms(time), delay: ms(delay) };
        assert_eq!(timing(300, 0).judge(ms(300)), Verdict::InTime);
        assert_eq!(timing(300, 900).judge(ms(300)), Verdict::InTime);
        assert_eq!(timing(390, 30).judge(ms(300)), Verdict::Unknown);
        assert_eq!(timing(390, 29).judge(ms(300)), Verdict::TooLate);
        assert_eq!(timing(522, 0).judge(ms(300)), Verdict::TooLate);
    }
}
