//! Protection against an overloaded host: a limit of simultaneous engine starts, and the detection of overload.

use std::sync::{Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use crate::result::WarningKind;
use crate::time::now;

/// The limiter of this process: two engines per CPU.
pub(super) static START_LIMITER: LazyLock<StartLimiter> =
    LazyLock::new(|| StartLimiter::new(2 * cpus(), Duration::from_secs(2)));

/// Limits simultaneous engine starts. If dozens start on few CPUs, a sound engine may exceed its handshake timeout.
#[derive(Debug)]
pub(super) struct StartLimiter {
    max: usize,
    /// If no start begins or ends for this time, those in progress are considered hung and do not block others.
    max_wait: Duration,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    starting: usize,
    /// When a start last began or ended.
    changed: Instant,
}

/// Permission to start an engine, until it is dropped.
#[derive(Debug)]
pub(super) struct Permit<'a>(&'a StartLimiter);

impl StartLimiter {
    fn new(max: usize, max_wait: Duration) -> Self {
        let state = Mutex::new(State { starting: 0, changed: now() });
        Self { max, max_wait, state, changed: Condvar::new() }
    }

    /// Waits until an engine may be started.
    pub(super) fn acquire(&self) -> Permit<'_> {
        let mut state = self.lock();
        while state.starting >= self.max {
            let waited = now().saturating_duration_since(state.changed);
            let Some(left) = self.max_wait.checked_sub(waited).filter(|left| !left.is_zero())
            else {
                break;
            };
            let woken = self.changed.wait_timeout(state, left);
            (state, _) = woken.unwrap_or_else(PoisonError::into_inner);
        }
        state.starting += 1;
        state.changed = now();
        Permit(self)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.starting -= 1;
        state.changed = now();
        drop(state);
        self.0.changed.notify_one();
    }
}

fn cpus() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// The warning about a loss on time, if the load average (1 minute) is at least the number of CPUs.
pub(super) fn overload_warning() -> Option<WarningKind> {
    let load = std::fs::read_to_string("/proc/loadavg").ok()?;
    load_percent(&load, cpus()).map(|percent| WarningKind::HostOverloaded { percent })
}

/// The load in percent of the CPUs, from the text of `/proc/loadavg`.
fn load_percent(text: &str, cpus: usize) -> Option<u32> {
    let (whole, hundredths) = text.split_ascii_whitespace().next()?.split_once('.')?;
    let whole: u32 = whole.parse().ok()?;
    let percent = whole.saturating_mul(100).saturating_add(hundredths.parse().ok()?);
    let percent = percent / u32::try_from(cpus).ok()?.max(1);
    (percent >= 100).then_some(percent)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn limits_simultaneous_starts() {
        let limiter = StartLimiter::new(2, Duration::from_hours(1));
        let (running, max) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let _permit = limiter.acquire();
                        let count = 1 + running.fetch_add(1, Ordering::SeqCst);
                        max.fetch_max(count, Ordering::SeqCst);
                        thread::yield_now();
                        running.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert!((1..=2).contains(&max.into_inner()));
        assert_eq!(limiter.lock().starting, 0);
    }

    #[test]
    fn hung_starts_do_not_block_others() {
        let limiter = StartLimiter::new(1, Duration::from_millis(10));
        let _hung = limiter.acquire();
        let _started = limiter.acquire();
        assert_eq!(limiter.lock().starting, 2);
    }

    #[test]
    fn detects_a_load_of_at_least_one_per_cpu() {
        assert_eq!(load_percent("2.00 9.10 9.11 3/412 9876\n", 2), Some(100));
        assert_eq!(load_percent("6.10 0.10 0.11 3/412 9876\n", 2), Some(305));
        assert_eq!(load_percent("1.99 9.10 9.11 3/412 9876\n", 2), None);
        for text in ["", "2", "x.10 1", "2.x 1", "-2.00"] {
            assert_eq!(load_percent(text, 1), None, "{text}");
        }
    }
}
