//! Access to the clock, to locks and to threads.

use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

#[expect(clippy::disallowed_methods, reason = "the client is where time comes from")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Locks a mutex even after a panic in another thread: the state is consistent between any two statements.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until `done`, or until the deadline if there is one.
pub(crate) fn wait_until<'a, T>(
    condition: &Condvar,
    mut guard: MutexGuard<'a, T>,
    deadline: Option<Instant>,
    done: impl Fn(&T) -> bool,
) -> MutexGuard<'a, T> {
    while !done(&guard) {
        guard = match deadline {
            None => condition.wait(guard).unwrap_or_else(PoisonError::into_inner),
            Some(deadline) => {
                let left = deadline.saturating_duration_since(now());
                if left.is_zero() {
                    return guard;
                }
                condition.wait_timeout(guard, left).unwrap_or_else(PoisonError::into_inner).0
            }
        };
    }
    guard
}

/// Starts a detached thread: it exits when its stream or its process ends.
pub(crate) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).stack_size(256 << 10).spawn(work).map(drop)
}
