//! Lines on their way to an engine. Handing them over never blocks, though the engine may not read.

use std::io::Write;
use std::sync::{Condvar, Mutex};

use crate::sync::{lock, wait_until};

/// An engine that leaves so much unread is dead. Its next answer will be late.
const MAX_BYTES: usize = 16 << 20;

#[derive(Debug, Default)]
pub(crate) struct Outbox {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    text: String,
    closed: bool,
}

impl Outbox {
    /// Hands lines over and leaves `text` empty.
    pub(crate) fn push(&self, text: &mut String) {
        if text.is_empty() {
            return;
        }
        let mut state = lock(&self.state);
        if MAX_BYTES < state.text.len() {
            state.closed = true;
        }
        if !state.closed {
            state.text.push_str(text);
        }
        text.clear();
        self.changed.notify_all();
    }

    /// Ends the input of the engine after what was handed over.
    pub(crate) fn close(&self) {
        lock(&self.state).closed = true;
        self.changed.notify_all();
    }

    /// Writes what is handed over until the end.
    pub(crate) fn write(&self, mut to: impl Write) {
        loop {
            let state = lock(&self.state);
            let ready = |state: &State| state.closed || !state.text.is_empty();
            let mut state = wait_until(&self.changed, state, None, ready);
            let text = std::mem::take(&mut state.text);
            if text.is_empty() {
                return;
            }
            drop(state);
            if to.write_all(text.as_bytes()).and_then(|()| to.flush()).is_err() {
                // The engine closed its input. What that means is seen in its output.
                self.close();
                return;
            }
        }
    }
}
