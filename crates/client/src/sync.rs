//! Locks that survive a panic in another thread (what they guard is consistent between any two statements), and threads.

use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use crate::clock::now;

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

/// Starts a small thread that nothing waits for: it ends by itself when its stream or its process does.
pub(crate) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).stack_size(256 << 10).spawn(work).map(drop)
}
