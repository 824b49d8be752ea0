//! Waiting: locks that survive a panic elsewhere (what they guard is consistent between any two
//! statements), and threads that are woken like tasks.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Wake, Waker};
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

/// Has this thread wait until `done`, or until the deadline. What `done` looks at has to wake it.
pub(crate) fn park_until(deadline: Option<Instant>, mut done: impl FnMut(&Waker) -> bool) {
    thread_local! {
        static PLACE: Arc<Place> = Arc::default();
    }
    let place = PLACE.with(Arc::clone);
    let waker = Waker::from(Arc::clone(&place));
    while !done(&waker) {
        let mut woken = wait_until(&place.changed, lock(&place.woken), deadline, |woken| *woken);
        if !std::mem::take(&mut *woken) {
            return;
        }
    }
}

/// Where a thread waits. `thread::park` belongs to the caller.
#[derive(Default)]
struct Place {
    woken: Mutex<bool>,
    changed: Condvar,
}

impl Wake for Place {
    fn wake(self: Arc<Self>) {
        *lock(&self.woken) = true;
        self.changed.notify_all();
    }
}
