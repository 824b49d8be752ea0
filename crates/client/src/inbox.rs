//! Lines on their way from an engine to its owner. Bounded, whatever the engine sends and however
//! rarely the owner looks.
//!
//! When too much waits, of `info` lines about the same variation only the latest is kept. What
//! matters to the conversation is never dropped: if that alone is too much, the reader waits, and
//! with it the engine.

use std::collections::{HashSet, VecDeque};
use std::io::{ErrorKind, Read};
use std::sync::{Condvar, Mutex};
use std::task::Waker;
use std::time::{Duration, Instant};

use readyok_protocol::{Dialect, LineBuffer, LineTooLong, Reply, decode};

use crate::sync::{lock, wait_until};
use crate::time::now;

/// Enough for the lines of a deep search with a hundred variations.
const MAX_LINES: usize = 4096;
const MAX_BYTES: usize = 8 << 20;
/// Far more than any variation or list of choices needs.
const MAX_LINE: usize = 1 << 16;

/// One line, and when it came.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) text: Result<String, LineTooLong>,
    pub(crate) at: Instant,
}

#[derive(Debug)]
pub(crate) enum Incoming {
    Line(Line),
    /// The engine closed its output.
    Closed,
}

#[derive(Debug)]
pub(crate) struct Inbox {
    dialect: Dialect,
    state: Mutex<State>,
    /// Something happened that the owner waits for.
    happened: Condvar,
    /// There is room again, or nobody will read any more.
    room: Condvar,
    /// The reader is done.
    ended: Condvar,
}

#[derive(Debug, Default)]
struct State {
    lines: VecDeque<Line>,
    bytes: usize,
    closed: bool,
    close_told: bool,
    abandoned: bool,
    signalled: bool,
    stop: bool,
    waker: Option<Waker>,
}

impl State {
    fn signal(&mut self, happened: &Condvar) {
        self.signalled = true;
        happened.notify_all();
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    fn is_full(&self) -> bool {
        MAX_LINES <= self.lines.len() || MAX_BYTES <= self.bytes
    }

    /// Whether making room again right after this one would be worth its time.
    fn has_room(&self) -> bool {
        self.lines.len() <= MAX_LINES / 2 && self.bytes <= MAX_BYTES / 2
    }

    /// Drops each line that a later one makes superfluous.
    fn compact(&mut self, dialect: Dialect) {
        let mut seen = HashSet::new();
        let mut kept = VecDeque::with_capacity(self.lines.len());
        for line in self.lines.drain(..).rev() {
            let subject = subject(&line, dialect);
            if subject.is_none() {
                seen.clear();
            }
            if subject.is_none_or(|subject| seen.insert(subject)) {
                kept.push_front(line);
            }
        }
        self.lines = kept;
        self.bytes = self.lines.iter().map(Line::len).sum();
    }
}

/// What a line is about, if a later line about the same makes it superfluous.
#[derive(Eq, Hash, PartialEq)]
enum Subject {
    Variation(u32),
    Progress,
    Text,
    Noise,
}

fn subject(line: &Line, dialect: Dialect) -> Option<Subject> {
    let Ok(text) = &line.text else { return Some(Subject::Noise) };
    match Reply::read(text, dialect).value {
        Reply::Info(info) if info.score.is_some() || info.pv.is_some() => {
            Some(Subject::Variation(info.multipv.unwrap_or(1)))
        }
        Reply::Info(info) if info.string.is_some() => Some(Subject::Text),
        Reply::Info(_) => Some(Subject::Progress),
        Reply::Unknown(_) => Some(Subject::Noise),
        Reply::Id(_)
        | Reply::Option(_)
        | Reply::HelloOk
        | Reply::ReadyOk
        | Reply::BestMove(_)
        | Reply::Checkmate(_)
        | Reply::CopyProtection(_)
        | Reply::Registration(_) => None,
    }
}

impl Line {
    fn len(&self) -> usize {
        self.text.as_ref().map_or(0, String::len)
    }
}

impl Inbox {
    pub(crate) fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            state: Mutex::default(),
            happened: Condvar::new(),
            room: Condvar::new(),
            ended: Condvar::new(),
        }
    }

    /// Reads lines until the stream ends or nobody wants them any more.
    pub(crate) fn read(&self, mut from: impl Read) {
        let mut buffer = LineBuffer::new(MAX_LINE);
        let mut chunk = vec![0; 1 << 16];
        loop {
            let read = match from.read(&mut chunk) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            let at = now();
            buffer.push(chunk.get(..read).unwrap_or_default());
            while let Some(line) = buffer.next_line() {
                let text = line.map(|line| decode(line).0.into_owned());
                if !self.push(Line { text, at }) {
                    return;
                }
            }
        }
        if let Some(line) = buffer.last_line() {
            self.push(Line { text: Ok(decode(line).0.into_owned()), at: now() });
        }
        self.close();
    }

    /// Adds a line. Tells whether anybody wants more.
    fn push(&self, line: Line) -> bool {
        let mut state = lock(&self.state);
        if state.is_full() {
            state.compact(self.dialect);
            if !state.has_room() {
                let done = |state: &State| state.abandoned || state.has_room();
                state = wait_until(&self.room, state, None, done);
            }
        }
        if state.abandoned {
            return false;
        }
        if !state.closed {
            state.bytes += line.len();
            state.lines.push_back(line);
            state.signal(&self.happened);
        }
        true
    }

    /// Whether the stream has ended. Lines may still wait.
    pub(crate) fn is_closed(&self) -> bool {
        lock(&self.state).closed
    }

    pub(crate) fn close(&self) {
        let mut state = lock(&self.state);
        state.closed = true;
        state.signal(&self.happened);
        self.ended.notify_all();
    }

    /// Closes as soon as the stream has ended, or when that takes too long: another process may
    /// hold the pipe open.
    pub(crate) fn close_within(&self, time: Duration) {
        let done = |state: &State| state.closed || state.abandoned;
        drop(wait_until(&self.ended, lock(&self.state), Some(now() + time), done));
        self.close();
    }

    /// What came next, if anything did. The end is told once.
    pub(crate) fn pop(&self) -> Option<Incoming> {
        let mut state = lock(&self.state);
        if let Some(line) = state.lines.pop_front() {
            state.bytes -= line.len();
            if state.has_room() {
                self.room.notify_all();
            }
            return Some(Incoming::Line(line));
        }
        (state.closed && !std::mem::replace(&mut state.close_told, true))
            .then_some(Incoming::Closed)
    }

    /// Waits until something happens that the owner has not been woken for, or until the deadline.
    pub(crate) fn wait(&self, deadline: Option<Instant>) {
        let state = lock(&self.state);
        let mut state = wait_until(&self.happened, state, deadline, |state| state.signalled);
        state.signalled = false;
    }

    /// The same for a task.
    #[cfg(feature = "tokio")]
    pub(crate) fn poll_wait(&self, context: &std::task::Context<'_>) -> std::task::Poll<()> {
        use std::task::Poll;

        let mut state = lock(&self.state);
        if std::mem::take(&mut state.signalled) {
            return Poll::Ready(());
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }

    /// Wakes the owner.
    pub(crate) fn wake(&self) {
        lock(&self.state).signal(&self.happened);
    }

    /// Asks the owner, from any thread, to stop its search.
    pub(crate) fn ask_to_stop(&self) {
        let mut state = lock(&self.state);
        state.stop = true;
        state.signal(&self.happened);
    }

    /// Whether somebody asked for a stop since the last time.
    pub(crate) fn take_stop(&self) -> bool {
        std::mem::take(&mut lock(&self.state).stop)
    }

    /// The owner is gone: the reader need not wait for him.
    pub(crate) fn abandon(&self) {
        let mut state = lock(&self.state);
        state.abandoned = true;
        state.lines.clear();
        self.room.notify_all();
        self.ended.notify_all();
    }
}
