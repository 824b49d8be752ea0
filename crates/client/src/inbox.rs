//! Lines on their way from an engine to its owner. Bounded, whatever the engine sends and however
//! rarely the owner looks.
//!
//! When too much waits, of `info` lines about the same variation only the latest is kept. What
//! matters to the conversation is never dropped: if that alone is too much, the reader waits, and
//! with it the engine.

use std::sync::{Condvar, Mutex};
use std::task::Waker;
use std::time::{Duration, Instant};

use readyok_protocol::{Dialect, LineBuffer};

use crate::allowance::Allowance;
use crate::batch::Batch;
use crate::sync::{lock, wait_until};
use crate::time::now;

#[derive(Debug)]
pub(crate) struct Inbox {
    dialect: Dialect,
    state: Mutex<State>,
    /// The reader is done.
    ended: Condvar,
}

#[derive(Debug, Default)]
struct State {
    batch: Batch,
    closed: bool,
    abandoned: bool,
    signalled: bool,
    stop: bool,
    owner: Option<Waker>,
    /// Waits for room.
    reader: Option<Waker>,
    /// Without one all is read that comes.
    allowance: Option<Allowance>,
}

impl State {
    fn signal(&mut self) {
        self.signalled = true;
        if let Some(owner) = self.owner.take() {
            owner.wake();
        }
    }

    fn let_in(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }
}

impl Inbox {
    pub(crate) fn new(dialect: Dialect) -> Self {
        Self { dialect, state: Mutex::default(), ended: Condvar::new() }
    }

    /// Allows so many bytes a second from now on.
    pub(crate) fn limit(&self, rate: u32) {
        lock(&self.state).allowance = Some(Allowance::new(rate, now()));
    }

    /// Until when the reader is to read nothing more.
    pub(crate) fn pause(&self) -> Option<Instant> {
        let state = lock(&self.state);
        // Nobody waits for the rest when the end has come.
        let allowance = state.allowance.as_ref().filter(|_| !state.closed && !state.abandoned);
        allowance.and_then(|allowance| allowance.pause(now()))
    }

    /// So many bytes were read, which the allowance pays for.
    pub(crate) fn spend(&self, bytes: usize, at: Instant) {
        if let Some(allowance) = &mut lock(&self.state).allowance {
            allowance.spend(bytes, at);
        }
    }

    /// Takes lines that came at a time. Tells whether all found room; if not, the reader is woken
    /// when there is some.
    pub(crate) fn fill(&self, from: &mut LineBuffer, at: Instant, reader: &Waker) -> bool {
        let mut state = lock(&self.state);
        let before = state.batch.len();
        loop {
            if state.batch.is_full() && !state.batch.compact(self.dialect) {
                state.reader = Some(reader.clone());
                state.signal();
                return false;
            }
            let wanted = !state.closed && !state.abandoned;
            let Some(line) = from.next_line() else { break };
            if wanted {
                state.batch.push(line, at);
            }
        }
        if state.batch.len() != before {
            state.signal();
        }
        true
    }

    /// Takes what is left after the last line end, and closes.
    pub(crate) fn end(&self, from: &mut LineBuffer, at: Instant) {
        if let Some(line) = from.last_line() {
            let mut state = lock(&self.state);
            if !state.closed && !state.abandoned {
                state.batch.push(Ok(line), at);
            }
        }
        self.close();
    }

    /// Whether the stream has ended. Lines may still wait.
    pub(crate) fn is_closed(&self) -> bool {
        lock(&self.state).closed
    }

    pub(crate) fn close(&self) {
        let mut state = lock(&self.state);
        if !std::mem::replace(&mut state.closed, true) {
            state.signal();
            self.ended.notify_all();
        }
    }

    /// Closes as soon as the stream has ended, or when that takes too long: another process may
    /// hold the pipe open.
    pub(crate) fn close_within(&self, time: Duration) {
        let done = |state: &State| state.closed || state.abandoned;
        drop(wait_until(&self.ended, lock(&self.state), Some(now() + time), done));
        self.close();
    }

    /// Exchanges what waits here for an empty batch. Tells whether nothing more will come.
    pub(crate) fn take(&self, empty: &mut Batch) -> bool {
        let mut state = lock(&self.state);
        std::mem::swap(&mut state.batch, empty);
        state.let_in();
        state.closed
    }

    /// Whether something happened that the owner has not been woken for. If not, this is how to
    /// wake him.
    pub(crate) fn has_signalled(&self, owner: &Waker) -> bool {
        let mut state = lock(&self.state);
        if !state.owner.as_ref().is_some_and(|known| known.will_wake(owner)) {
            state.owner = Some(owner.clone());
        }
        state.signalled
    }

    /// The owner is awake and will look.
    pub(crate) fn forget_signal(&self) {
        let mut state = lock(&self.state);
        (state.signalled, state.owner) = (false, None);
    }

    /// Waits in a task until something happens.
    #[cfg(feature = "tokio")]
    pub(crate) fn poll_wait(&self, context: &std::task::Context<'_>) -> std::task::Poll<()> {
        if !self.has_signalled(context.waker()) {
            return std::task::Poll::Pending;
        }
        self.forget_signal();
        std::task::Poll::Ready(())
    }

    /// Wakes the owner.
    pub(crate) fn wake(&self) {
        lock(&self.state).signal();
    }

    /// Asks the owner, from any thread, to stop its search.
    pub(crate) fn ask_to_stop(&self) {
        let mut state = lock(&self.state);
        state.stop = true;
        state.signal();
    }

    /// Whether somebody asked for a stop since the last time.
    pub(crate) fn take_stop(&self) -> bool {
        std::mem::take(&mut lock(&self.state).stop)
    }

    /// The owner is gone: the reader need not wait for him.
    pub(crate) fn abandon(&self) {
        let mut state = lock(&self.state);
        state.abandoned = true;
        state.batch = Batch::default();
        state.let_in();
        self.ended.notify_all();
    }

    pub(crate) fn is_abandoned(&self) -> bool {
        lock(&self.state).abandoned
    }

    /// The same, for a reader that is to be woken when it becomes so.
    pub(crate) fn is_abandoned_by(&self, reader: &Waker) -> bool {
        let mut state = lock(&self.state);
        if !state.abandoned {
            state.reader = Some(reader.clone());
        }
        state.abandoned
    }
}
