//! One engine, shared by its handles and its I/O thread: the driver behind a lock, and the coordination of threads.
//!
//! ```text
//!  caller ── lock ── search, stop, hit ──> ┌────────────┐ ── write (by the caller) ──────> stdin ┐
//!    │ play: poll(stdout, own wakeup) ───> │Shared state│                                       │ engine
//!    │ wait: condvar, or waker <────────── │   Driver     │ <── read (by the one reader) ─ stdout <┘
//!    │                                     └────────────┘
//!  I/O thread: poll(wakeup, exit, stderr, [stdout if it is the reader], [stdin if it was full], deadline)
//! ```
//!
//! - The thread of a request also writes it, under the lock. Pipes are nonblocking.
//! - The output has one reader at any time. A caller that waits in `play` reads itself; otherwise the I/O thread
//!   reads. So every search advances, and the fast path has no thread switch.
//! - The reader also enforces the deadlines. A thread that sets an earlier one wakes the reader.
//! - Waiting threads, tasks and listeners are notified after the lock is released.

use std::future::poll_fn;
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use readyok_protocol::LineBuffer;

use crate::driver::{Change, Driver};
use crate::listener::Delivery;
use crate::process::Process;
use crate::sync::{lock, now};

pub(crate) mod transport;

use transport::{CallerWakeup, Io, RateLimiter};

/// Longer than any variation or list of choices.
const MAX_LINE: usize = 1 << 16;
/// How long a reader in a flood waits for callers that need the lock.
const YIELD_TIME: Duration = Duration::from_micros(20);
const MAX_YIELDS: u32 = 10;

#[derive(Debug)]
pub(crate) struct Shared {
    state: Mutex<SharedState>,
    changed: Condvar,
    /// Number of callers that wait for the lock.
    queued: AtomicUsize,
    pub(crate) io: Io,
    pub(crate) process: Option<Arc<Process>>,
    connection: Option<TcpStream>,
}

#[derive(Debug)]
pub(crate) struct SharedState {
    pub(crate) driver: Driver,
    pub(crate) lines: LineBuffer,
    pub(crate) limiter: Option<RateLimiter>,
    /// Number of threads that wait for a change, and of those that wait for updates.
    waiting: usize,
    waiting_for_updates: usize,
    pub(crate) io: transport::TransportState,
}

pub(crate) type StateLock<'a> = MutexGuard<'a, SharedState>;

/// The kind of thread that made a change.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Requester {
    Caller,
    /// A thread of the transport, which checks the deadlines before it sleeps.
    Io,
}

/// Actions after the lock is released.
struct Notifications {
    delivery: Option<Delivery>,
    wakers: Vec<Waker>,
    notifies: bool,
}

impl Shared {
    pub(crate) fn new(
        driver: Driver,
        rate: Option<u32>,
        io: Io,
        io_state: transport::TransportState,
        process: Option<Arc<Process>>,
        connection: Option<TcpStream>,
    ) -> Self {
        let state = SharedState {
            driver,
            lines: LineBuffer::new(MAX_LINE),
            limiter: rate.map(|rate| RateLimiter::new(rate, now())),
            waiting: 0,
            waiting_for_updates: 0,
            io: io_state,
        };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
            queued: AtomicUsize::new(0),
            io,
            process,
            connection,
        }
    }

    /// Locks for a thread of the transport.
    pub(crate) fn lock(&self) -> StateLock<'_> {
        lock(&self.state)
    }

    /// Locks for a caller. A mutex prefers the thread that has just released it, which in a flood is the reader. It yields
    /// while callers are queued.
    pub(crate) fn lock_as_caller(&self) -> StateLock<'_> {
        if let Ok(state) = self.state.try_lock() {
            return state;
        }
        self.queued.fetch_add(1, Ordering::Relaxed);
        let state = self.lock();
        self.queued.fetch_sub(1, Ordering::Relaxed);
        state
    }

    /// Makes a request, sends its output, and notifies waiting threads.
    pub(crate) fn with<T>(&self, request: impl FnOnce(&mut Driver, Instant) -> T) -> T {
        let mut state = self.lock_as_caller();
        let value = request(&mut state.driver, now());
        self.release(state, Requester::Caller);
        value
    }

    /// Like [`with`](Self::with), for a request that may start a search: the engine is read from now on, even if no
    /// caller waits.
    pub(crate) fn begin<T>(&self, request: impl FnOnce(&mut Driver, Instant) -> T) -> T {
        let mut state = self.lock_as_caller();
        let value = request(&mut state.driver, now());
        if state.driver.is_searching() {
            self.io.ensure_reader(&mut state);
        }
        self.release(state, Requester::Caller);
        value
    }

    /// Reads the state.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Driver) -> T) -> T {
        read(&self.lock_as_caller().driver)
    }

    /// Sends signals and output, and collects the notifications.
    fn settle(&self, state: &mut SharedState, by: Requester) -> Notifications {
        // First: a killed engine must not see the end of its input before.
        while state.driver.has_signal()
            && let Some(signal) = state.driver.take_signal(now())
        {
            if self.process.as_ref().is_some_and(|process| process.signal(signal)) {
                state.driver.on_signaled();
            }
        }
        self.io.flush(state);
        if state.driver.has_ended()
            && let Some(connection) = &self.connection
        {
            // Fails only if the peer has already closed it.
            let _ = connection.shutdown(Shutdown::Both);
        }
        let change = state.driver.take_change();
        let waiting = match change {
            Change::None => 0,
            Change::Update => state.waiting_for_updates,
            Change::State => state.waiting,
        };
        self.io.wake(state, by, change);
        Notifications {
            delivery: state.driver.take_delivery(),
            wakers: if change == Change::None {
                Vec::new()
            } else {
                state.driver.take_wakers(change)
            },
            notifies: waiting != 0,
        }
    }

    /// Releases the lock after a change. A woken thread needs it next.
    pub(crate) fn release(&self, mut state: StateLock<'_>, by: Requester) {
        let notifications = self.settle(&mut state, by);
        drop(state);
        self.notify(notifications);
        if by == Requester::Io {
            self.yield_to_callers();
        }
    }

    /// Yields the lock to queued callers.
    pub(crate) fn yield_to_callers(&self) {
        for _ in 0..MAX_YIELDS {
            if self.queued.load(Ordering::Relaxed) == 0 {
                break;
            }
            thread::sleep(YIELD_TIME);
        }
    }

    /// Like [`release`](Self::release), but keeps or reacquires the lock.
    pub(crate) fn publish<'a>(&'a self, mut state: StateLock<'a>, by: Requester) -> StateLock<'a> {
        let notifications = self.settle(&mut state, by);
        let is_empty = notifications.delivery.is_none()
            && notifications.wakers.is_empty()
            && !notifications.notifies;
        if is_empty && self.queued.load(Ordering::Relaxed) == 0 {
            return state;
        }
        drop(state);
        self.notify(notifications);
        self.yield_to_callers();
        self.lock_as_caller()
    }

    fn notify(&self, notifications: Notifications) {
        if let Some(Delivery { listener, lines, ticket }) = notifications.delivery {
            listener.deliver(ticket, lines);
        }
        if notifications.notifies {
            self.changed.notify_all();
        }
        notifications.wakers.into_iter().for_each(Waker::wake);
    }

    /// Waits for a condition, or until the deadline. A caller with an [`ReadPermit`] reads meanwhile; otherwise the I/O
    /// thread does.
    pub(crate) fn wait<'a, T>(
        &'a self,
        mut state: StateLock<'a>,
        permit: Option<&ReadPermit<'_>>,
        change: Change,
        deadline: Option<Instant>,
        mut done: impl FnMut(&mut Driver) -> Option<T>,
    ) -> Option<T> {
        let value = loop {
            let reads = permit.filter(|permit| self.io.may_read(&mut state, permit));
            if reads.is_none() {
                self.io.ensure_reader(&mut state);
            }
            state = self
                .publish(state, if reads.is_some() { Requester::Io } else { Requester::Caller });
            if let Some(value) = done(&mut state.driver) {
                break Some(value);
            }
            if deadline.is_some_and(|deadline| deadline <= now()) {
                break None;
            }
            state = match reads {
                Some(permit) => self.io.turn(self, state, permit, deadline),
                None => self.wait_for_change(state, change, deadline),
            };
        };
        let deliveries = state.driver.deliveries();
        drop(state);
        if let Some((listener, count)) = deliveries {
            listener.wait_for(count);
        }
        value
    }

    fn wait_for_change<'a>(
        &'a self,
        mut state: StateLock<'a>,
        change: Change,
        deadline: Option<Instant>,
    ) -> StateLock<'a> {
        let updates = usize::from(change <= Change::Update);
        state.waiting += 1;
        state.waiting_for_updates += updates;
        let mut state = match deadline {
            None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            Some(deadline) => {
                let left = deadline.saturating_duration_since(now());
                self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
            }
        };
        state.waiting -= 1;
        state.waiting_for_updates -= updates;
        state
    }

    /// Like [`wait`](Self::wait), in a task and without a deadline. Listeners have received all lines before it returns.
    pub(crate) async fn wait_async<T>(
        &self,
        change: Change,
        mut done: impl FnMut(&mut Driver) -> Option<T>,
    ) -> T {
        let value = poll_fn(|context| self.poll(context, change, &mut done)).await;
        if let Some((listener, count)) = self.read(Driver::deliveries) {
            listener.wait_for(count);
        }
        value
    }

    /// Wakes the task at the next change of this kind.
    pub(crate) fn poll<T>(
        &self,
        context: &Context<'_>,
        change: Change,
        done: impl FnOnce(&mut Driver) -> Option<T>,
    ) -> Poll<T> {
        let mut state = self.lock_as_caller();
        if let Some(value) = done(&mut state.driver) {
            self.release(state, Requester::Caller);
            return Poll::Ready(value);
        }
        state.driver.wake_on(change, context.waker());
        Poll::Pending
    }

    /// Handles everything that has arrived, without waiting.
    pub(crate) fn catch_up(&self) {
        let mut state = self.lock_as_caller();
        self.io.drain(&mut state);
        state.driver.on_time(now());
        self.release(state, Requester::Caller);
    }

    /// Handles bytes that arrived at this time.
    pub(crate) fn on_bytes(state: &mut SharedState, bytes: &[u8], at: Instant) {
        if let Some(limiter) = &mut state.limiter {
            limiter.spend(bytes.len(), at);
        }
        state.lines.push(bytes);
        while let Some(line) = state.lines.next_line() {
            state.driver.on_line(line, at);
        }
    }

    /// The output has ended, possibly without a line end.
    pub(crate) fn on_output_closed(state: &mut SharedState, at: Instant) {
        if let Some(line) = state.lines.last_line() {
            state.driver.on_line(Ok(line), at);
        }
        state.driver.on_output_closed(at);
    }

    /// When reading may continue within the rate.
    pub(crate) fn pause(state: &SharedState, now: Instant) -> Option<Instant> {
        // Output after the end is discarded at any rate.
        let limiter = state.limiter.as_ref().filter(|_| !state.driver.is_ending());
        limiter.and_then(|limiter| limiter.pause(now))
    }
}

/// The permission of a caller to read the output while it waits. Dropping it hands the output over to the I/O thread
/// if a search is running.
#[derive(Debug)]
pub(crate) struct ReadPermit<'a> {
    shared: &'a Shared,
    pub(crate) wakeup: CallerWakeup,
}

impl<'a> ReadPermit<'a> {
    /// `None` if this thread cannot read for the engine.
    pub(crate) fn new(shared: &'a Shared) -> Option<Self> {
        shared.io.wakeup().map(|wakeup| Self { shared, wakeup })
    }
}

impl Drop for ReadPermit<'_> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        self.shared.io.leave(&mut state, &self.wakeup);
        self.shared.release(state, Requester::Caller);
    }
}
