//! Locks that survive a panic elsewhere: what they guard is consistent between any two statements.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::time::now;

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
