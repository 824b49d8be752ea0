//! Lets few engines start at a time. Where dozens start at once on few processors, each takes as long as all together,
//! and one that is sound may not greet in time.

use std::sync::{Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use super::time::now;

/// The gate of this program: two engines for each processor.
pub(super) static START_LIMITER: LazyLock<Gate> = LazyLock::new(|| {
    let processors = available_parallelism().map_or(1, usize::from);
    Gate::new(2 * processors, Duration::from_secs(2))
});

/// Where those wait who want to start an engine.
#[derive(Debug)]
pub(super) struct Gate {
    most: usize,
    /// Those who start hang if none has come or gone for so long, and hold nobody up.
    patience: Duration,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    starting: usize,
    /// When somebody last came or went.
    changed: Instant,
}

/// Leave to start an engine, until this is dropped.
#[derive(Debug)]
pub(super) struct Pass<'a>(&'a Gate);

impl Gate {
    fn new(most: usize, patience: Duration) -> Self {
        let state = Mutex::new(State { starting: 0, changed: now() });
        Self { most, patience, state, changed: Condvar::new() }
    }

    /// Waits until an engine may be started.
    pub(super) fn enter(&self) -> Pass<'_> {
        let mut state = self.lock();
        while state.starting >= self.most {
            let waited = now().saturating_duration_since(state.changed);
            let Some(left) = self.patience.checked_sub(waited).filter(|left| !left.is_zero())
            else {
                break;
            };
            let woken = self.changed.wait_timeout(state, left);
            (state, _) = woken.unwrap_or_else(PoisonError::into_inner);
        }
        state.starting += 1;
        state.changed = now();
        Pass(self)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.starting -= 1;
        state.changed = now();
        drop(state);
        self.0.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn only_so_many_start_at_a_time() {
        let gate = Gate::new(2, Duration::from_hours(1));
        let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let _pass = gate.enter();
                        let here = 1 + inside.fetch_add(1, Ordering::SeqCst);
                        most.fetch_max(here, Ordering::SeqCst);
                        thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert!((1..=2).contains(&most.into_inner()));
        assert_eq!(gate.lock().starting, 0);
    }

    #[test]
    fn those_who_hang_hold_nobody_up() {
        let gate = Gate::new(1, Duration::from_millis(10));
        let _hangs = gate.enter();
        let _goes_on = gate.enter();
        assert_eq!(gate.lock().starting, 2);
    }
}
