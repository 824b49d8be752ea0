//! One engine, shared by its handles and its I/O thread: the driver behind a lock, and the rules by which threads use it.
//!
//! ```text
//!  caller ── lock ── search, stop, hit ──> ┌────────────┐ ── write (by the caller) ──────> stdin ┐
//!    │ play: poll(stdout, own bell) ─────> │ Mutex<State>│                                       │ engine
//!    │ wait: condvar, or waker <────────── │   Driver     │ <── read (by the one reader) ─ stdout <┘
//!    │                                     └────────────┘
//!  I/O thread: poll(bell, exit, stderr, [stdout if it is the reader], [stdin if it was full], deadline)
//! ```
//!
//! - A request is written by the thread that makes it, under the lock. Pipes do not block.
//! - The output has one reader at any time. A caller that waits in `play` reads itself; a search that no caller waits
//!   for is read by the I/O thread. So every search advances, and the fast path has no thread switch.
//! - The reader also keeps the deadlines. A thread that makes one earlier wakes the reader.
//! - Waiting threads, tasks and listeners are notified after the lock was released.

use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use readyok_protocol::LineBuffer;

use crate::clock::now;
use crate::driver::{Change, Delivery, Driver};
use crate::io::{Io, RateLimiter};
use crate::process::Process;

/// Far more than any variation or list of choices needs.
const MAX_LINE: usize = 1 << 16;
/// How long a thread that has released the lock in a flood waits for callers that want it.
const ROOM: Duration = Duration::from_micros(20);
const MAX_ROOMS: u32 = 10;

#[derive(Debug)]
pub(crate) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// Callers that have found the lock taken.
    queued: AtomicUsize,
    pub(crate) io: Io,
    pub(crate) process: Option<Arc<Process>>,
    connection: Option<TcpStream>,
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) driver: Driver,
    pub(crate) lines: LineBuffer,
    pub(crate) limiter: Option<RateLimiter>,
    /// Threads that wait for a change, and those of them that wait for updates.
    waiting: usize,
    waiting_for_updates: usize,
    pub(crate) io: crate::io::State,
}

pub(crate) type Guard<'a> = MutexGuard<'a, State>;

/// Who has changed something.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum By {
    Caller,
    /// A thread of the transport, which inspects the deadlines before it sleeps.
    Io,
}

/// What to do after the lock was released.
struct News {
    delivery: Option<Delivery>,
    wakers: Vec<Waker>,
    notifies: bool,
}

impl Shared {
    pub(crate) fn new(
        driver: Driver,
        rate: Option<u32>,
        io: Io,
        io_state: crate::io::State,
        process: Option<Arc<Process>>,
        connection: Option<TcpStream>,
    ) -> Self {
        let state = State {
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

    /// The lock, for a thread of the transport.
    pub(crate) fn lock(&self) -> Guard<'_> {
        lock(&self.state)
    }

    /// The lock, for a caller. A mutex prefers the thread that has just released it, which in a flood is the reader:
    /// it makes room while callers are queued.
    pub(crate) fn ask(&self) -> Guard<'_> {
        if let Ok(state) = self.state.try_lock() {
            return state;
        }
        self.queued.fetch_add(1, Ordering::Relaxed);
        let state = self.lock();
        self.queued.fetch_sub(1, Ordering::Relaxed);
        state
    }

    /// Makes a request, sends what arises from it, and notifies those concerned.
    pub(crate) fn with<T>(&self, request: impl FnOnce(&mut Driver, Instant) -> T) -> T {
        let mut state = self.ask();
        let value = request(&mut state.driver, now());
        self.release(state, By::Caller);
        value
    }

    /// Like [`with`](Self::with), for a request that may have begun a search: it is read from now on, whether or not a
    /// caller waits for it.
    pub(crate) fn begin<T>(&self, request: impl FnOnce(&mut Driver, Instant) -> T) -> T {
        let mut state = self.ask();
        let value = request(&mut state.driver, now());
        if state.driver.is_searching() {
            self.io.attend(&mut state);
        }
        self.release(state, By::Caller);
        value
    }

    /// Looks at the state without changing it.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&Driver) -> T) -> T {
        look(&self.ask().driver)
    }

    /// Sends what is due and collects the news.
    fn settle(&self, state: &mut State, by: By) -> News {
        // First: an engine that is killed must not see the end of its input before.
        while let Some(signal) = state.driver.take_signal(now()) {
            if let Some(process) = &self.process {
                process.signal(signal);
            }
        }
        self.io.flush(state);
        if state.driver.has_ended()
            && let Some(connection) = &self.connection
        {
            // It fails only if the other side was faster.
            let _ = connection.shutdown(Shutdown::Both);
        }
        let change = state.driver.take_change();
        let waiting = match change {
            Change::None => 0,
            Change::Update => state.waiting_for_updates,
            Change::State => state.waiting,
        };
        self.io.wake(state, by, change);
        News {
            delivery: state.driver.take_delivery(),
            wakers: if change == Change::None {
                Vec::new()
            } else {
                state.driver.take_wakers(change)
            },
            notifies: waiting != 0,
        }
    }

    /// Releases the lock after a change. A thread that is woken needs it next.
    pub(crate) fn release(&self, mut state: Guard<'_>, by: By) {
        let news = self.settle(&mut state, by);
        drop(state);
        self.spread(news);
        if by == By::Io {
            self.make_room();
        }
    }

    /// Lets callers have the lock that are queued for it.
    pub(crate) fn make_room(&self) {
        for _ in 0..MAX_ROOMS {
            if self.queued.load(Ordering::Relaxed) == 0 {
                break;
            }
            thread::sleep(ROOM);
        }
    }

    /// Like [`release`](Self::release), but keeps the lock, or takes it again.
    pub(crate) fn publish<'a>(&'a self, mut state: Guard<'a>, by: By) -> Guard<'a> {
        let news = self.settle(&mut state, by);
        let is_empty = news.delivery.is_none() && news.wakers.is_empty() && !news.notifies;
        if is_empty && self.queued.load(Ordering::Relaxed) == 0 {
            return state;
        }
        drop(state);
        self.spread(news);
        self.make_room();
        self.ask()
    }

    fn spread(&self, news: News) {
        if let Some(Delivery { listener, lines, ticket }) = news.delivery {
            listener.deliver(ticket, lines);
        }
        if news.notifies {
            self.changed.notify_all();
        }
        news.wakers.into_iter().for_each(Waker::wake);
    }

    /// Waits until something is done, or until the deadline. A caller with an [`Attendance`] reads meanwhile; otherwise
    /// the I/O thread does.
    pub(crate) fn wait<'a, T>(
        &'a self,
        mut state: Guard<'a>,
        attendance: Option<&Attendance<'_>>,
        wanted: Change,
        deadline: Option<Instant>,
        mut done: impl FnMut(&mut Driver) -> Option<T>,
    ) -> Option<T> {
        let value = loop {
            let reads = attendance.filter(|it| self.io.may_read(&mut state, it));
            if reads.is_none() {
                self.io.attend(&mut state);
            }
            state = self.publish(state, if reads.is_some() { By::Io } else { By::Caller });
            if let Some(value) = done(&mut state.driver) {
                break Some(value);
            }
            if deadline.is_some_and(|deadline| deadline <= now()) {
                break None;
            }
            state = match reads {
                Some(attendance) => self.io.turn(self, state, attendance, deadline),
                None => self.wait_for_change(state, wanted, deadline),
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
        mut state: Guard<'a>,
        wanted: Change,
        deadline: Option<Instant>,
    ) -> Guard<'a> {
        let updates = usize::from(wanted <= Change::Update);
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

    /// The same for a task, which is woken by the next change of this kind.
    pub(crate) fn poll<T>(
        &self,
        context: &Context<'_>,
        wanted: Change,
        done: impl FnOnce(&mut Driver) -> Option<T>,
    ) -> Poll<T> {
        let mut state = self.ask();
        if let Some(value) = done(&mut state.driver) {
            self.release(state, By::Caller);
            return Poll::Ready(value);
        }
        state.driver.wake_on(wanted, context.waker());
        Poll::Pending
    }

    /// Handles everything that has arrived, without waiting.
    pub(crate) fn catch_up(&self) {
        let mut state = self.ask();
        self.io.drain(&mut state);
        state.driver.on_time(now());
        self.release(state, By::Caller);
    }

    /// Handles bytes that arrived at a time.
    pub(crate) fn on_bytes(state: &mut State, bytes: &[u8], at: Instant) {
        if let Some(limiter) = &mut state.limiter {
            limiter.spend(bytes.len(), at);
        }
        state.lines.push(bytes);
        while let Some(line) = state.lines.next_line() {
            state.driver.on_line(line, at);
        }
    }

    /// The output has ended, perhaps without a line end.
    pub(crate) fn on_output_closed(state: &mut State, at: Instant) {
        if let Some(line) = state.lines.last_line() {
            state.driver.on_line(Ok(line), at);
        }
        state.driver.on_output_closed(at);
    }

    /// Until when to read nothing, so as to keep the rate.
    pub(crate) fn pause(state: &State, now: Instant) -> Option<Instant> {
        // Output after the end is discarded at any rate.
        let limiter = state.limiter.as_ref().filter(|_| !state.driver.is_ending());
        limiter.and_then(|limiter| limiter.pause(now))
    }
}

/// The right of a caller to read the output while it waits. Dropping it passes the output on: to the I/O thread if a
/// search still runs.
#[derive(Debug)]
pub(crate) struct Attendance<'a> {
    shared: &'a Shared,
    pub(crate) place: crate::io::Place,
}

impl<'a> Attendance<'a> {
    /// `None` if this thread cannot read for the engine.
    pub(crate) fn new(shared: &'a Shared) -> Option<Self> {
        shared.io.place().map(|place| Self { shared, place })
    }
}

impl Drop for Attendance<'_> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        self.shared.io.leave(&mut state, &self.place);
        self.shared.release(state, By::Caller);
    }
}

/// Locks that survive a panic in another thread: what they guard is consistent between any two statements.
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
