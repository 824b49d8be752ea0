//! Callbacks for the lines of an engine: both directions of the session, and its error output.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, ThreadId};

use readyok_protocol::{LineBuffer, Party, decode};

use crate::sync::{lock, wait_until};

type OnLine = dyn Fn(Party, &str) + Send + Sync;
type OnStderr = dyn Fn(&str) + Send + Sync;

/// Calls a function with every line, in order, from any reading or writing thread. No lock of the engine is held, so
/// that the function may use the engine.
pub(crate) struct Listener {
    on_line: Arc<OnLine>,
    turn: Mutex<Turn>,
    changed: Condvar,
}

#[derive(Default)]
struct Turn {
    /// Number of finished deliveries.
    done: u64,
    /// The thread that is executing the function.
    thread: Option<ThreadId>,
    /// Deliveries from within the function.
    nested: BTreeMap<u64, Vec<(Party, String)>>,
}

impl Listener {
    pub(crate) fn new(on_line: impl Fn(Party, &str) + Send + Sync + 'static) -> Self {
        Self { on_line: Arc::new(on_line), turn: Mutex::default(), changed: Condvar::new() }
    }

    /// The same function for another engine, with tickets from zero.
    pub(crate) fn fresh(&self) -> Self {
        let on_line = Arc::clone(&self.on_line);
        Self { on_line, turn: Mutex::default(), changed: Condvar::new() }
    }

    /// Delivers lines in the order of tickets, which start at zero.
    pub(crate) fn deliver(&self, ticket: u64, lines: Vec<(Party, String)>) {
        let me = thread::current().id();
        let mut turn = lock(&self.turn);
        if turn.thread == Some(me) {
            turn.nested.insert(ticket, lines);
            return;
        }
        turn = wait_until(&self.changed, turn, None, |turn| turn.done == ticket);
        turn.thread = Some(me);
        drop(turn);
        let mut end = DeliveryGuard { listener: self, next: ticket + 1 };
        self.call(&lines);
        loop {
            let nested = lock(&self.turn).nested.remove(&end.next);
            let Some(lines) = nested else { break };
            end.next += 1;
            self.call(&lines);
        }
    }

    /// Waits for this number of deliveries. No effect within the function.
    pub(crate) fn wait_for(&self, deliveries: u64) {
        let turn = lock(&self.turn);
        if turn.thread != Some(thread::current().id()) {
            drop(wait_until(&self.changed, turn, None, |turn| deliveries <= turn.done));
        }
    }

    fn call(&self, lines: &[(Party, String)]) {
        for (side, line) in lines {
            (self.on_line)(*side, line);
        }
    }
}

/// Ends a turn even if the function panics.
struct DeliveryGuard<'a> {
    listener: &'a Listener,
    next: u64,
}

impl Drop for DeliveryGuard<'_> {
    fn drop(&mut self) {
        let mut turn = lock(&self.listener.turn);
        (turn.done, turn.thread) = (self.next, None);
        drop(turn);
        self.listener.changed.notify_all();
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener").finish_non_exhaustive()
    }
}

/// Lines of the session that were not passed to the listener yet.
#[derive(Debug)]
pub(crate) struct Observer {
    listener: Arc<Listener>,
    lines: Vec<(Party, String)>,
    tickets: u64,
}

/// Lines for the listener, to be delivered in the order of the tickets.
#[derive(Debug)]
pub(crate) struct Delivery {
    pub(crate) listener: Arc<Listener>,
    pub(crate) lines: Vec<(Party, String)>,
    pub(crate) ticket: u64,
}

impl Observer {
    pub(crate) fn new(listener: Arc<Listener>) -> Self {
        Self { listener, lines: Vec::new(), tickets: 0 }
    }

    pub(crate) fn push(&mut self, side: Party, line: String) {
        self.lines.push((side, line));
    }

    /// Lines to deliver after the lock is released.
    pub(crate) fn take_delivery(&mut self) -> Option<Delivery> {
        if self.lines.is_empty() {
            return None;
        }
        let ticket = self.tickets;
        self.tickets += 1;
        let lines = std::mem::take(&mut self.lines);
        Some(Delivery { listener: Arc::clone(&self.listener), lines, ticket })
    }

    /// The listener and the number of deliveries so far.
    pub(crate) fn deliveries(&self) -> (Arc<Listener>, u64) {
        (Arc::clone(&self.listener), self.tickets)
    }
}

/// A callback for the lines of an error output.
#[derive(Clone)]
pub(crate) struct StderrListener(Arc<OnStderr>);

impl StderrListener {
    pub(crate) fn new(on_stderr: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(on_stderr))
    }
}

impl fmt::Debug for StderrListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StderrListener").finish_non_exhaustive()
    }
}

/// Number of stored lines of an error output, for the error at the end of the engine.
const MAX_LINES: usize = 20;

/// The error output of an engine.
#[derive(Debug)]
pub(crate) struct ErrorLines {
    latest: Mutex<VecDeque<String>>,
    listener: Option<StderrListener>,
}

impl ErrorLines {
    pub(crate) fn new(listener: Option<StderrListener>) -> Self {
        Self { latest: Mutex::default(), listener }
    }

    /// Removes the complete lines of a buffer.
    pub(crate) fn take(&self, from: &mut LineBuffer) {
        while let Some(line) = from.next_line() {
            self.push(line.map_or_else(|too_long| too_long.to_string(), text));
        }
    }

    /// Removes the incomplete last line.
    pub(crate) fn end(&self, from: &mut LineBuffer) {
        if let Some(line) = from.last_line() {
            self.push(text(line));
        }
    }

    fn push(&self, line: String) {
        if let Some(listener) = &self.listener {
            (listener.0)(&line);
        }
        let mut latest = lock(&self.latest);
        if latest.len() == MAX_LINES {
            latest.pop_front();
        }
        latest.push_back(line);
    }

    /// The latest lines.
    pub(crate) fn lines(&self) -> Vec<String> {
        lock(&self.latest).iter().cloned().collect()
    }
}

fn text(line: &[u8]) -> String {
    decode(line).0.into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_delivered_in_order_from_any_thread() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        let listener = Arc::new(Listener::new(move |_, line| lock(&log).push(line.to_owned())));
        let deliver = |ticket: u64| {
            let listener = Arc::clone(&listener);
            thread::spawn(move || {
                listener.deliver(ticket, vec![(Party::Engine, ticket.to_string())]);
            })
        };
        let threads: Vec<_> = [2, 1, 3, 0].map(deliver).into_iter().collect();
        listener.wait_for(4);
        assert_eq!(*lock(&seen), ["0", "1", "2", "3"]);
        for thread in threads {
            thread.join().expect("no panic");
        }
    }

    #[test]
    fn a_line_from_within_the_callback_is_delivered_afterwards() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        let own: Arc<Mutex<Option<Arc<Listener>>>> = Arc::default();
        let within = Arc::clone(&own);
        let listener = Arc::new(Listener::new(move |_, line| {
            let listener = lock(&within).clone();
            if let Some(listener) = listener.filter(|_| line == "first") {
                listener.deliver(1, vec![(Party::Client, "stop".to_owned())]);
                listener.wait_for(2);
            }
            lock(&log).push(line.to_owned());
        }));
        *lock(&own) = Some(Arc::clone(&listener));
        listener.deliver(0, vec![(Party::Engine, "first".to_owned())]);
        assert_eq!(*lock(&seen), ["first", "stop"]);
        *lock(&own) = None;
    }
}
