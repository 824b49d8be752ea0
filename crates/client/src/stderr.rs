//! What an engine writes to its error output: the last lines for the error that tells of its end, and
//! all of them for who wants to hear them.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};

use readyok_protocol::{LineBuffer, decode};

use crate::sync::lock;

const MAX_LINES: usize = 20;

type Hear = dyn Fn(&str) + Send + Sync;

/// A function that is told each line of an error output.
#[derive(Clone)]
pub(crate) struct Hearing(Arc<Hear>);

#[derive(Debug, Default)]
pub(crate) struct ErrorLines {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    last: VecDeque<String>,
    hearing: Option<Hearing>,
}

impl Hearing {
    pub(crate) fn new(hear: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(hear))
    }
}

impl ErrorLines {
    /// Tells a function what there is already, up to as much as is kept, and all that comes.
    pub(crate) fn tell(&self, hearing: Hearing) {
        let mut state = lock(&self.state);
        for line in &state.last {
            (hearing.0)(line);
        }
        state.hearing = Some(hearing);
    }

    /// Takes the lines of a buffer.
    pub(crate) fn take(&self, from: &mut LineBuffer) {
        while let Some(line) = from.next_line() {
            self.push(line.map_or_else(|too_long| too_long.to_string(), text));
        }
    }

    /// Takes what is left after the last line end.
    pub(crate) fn end(&self, from: &mut LineBuffer) {
        if let Some(line) = from.last_line() {
            self.push(text(line));
        }
    }

    fn push(&self, line: String) {
        let mut state = lock(&self.state);
        if let Some(hearing) = &state.hearing {
            (hearing.0)(&line);
        }
        if state.last.len() == MAX_LINES {
            state.last.pop_front();
        }
        state.last.push_back(line);
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        lock(&self.state).last.iter().cloned().collect()
    }
}

impl fmt::Debug for Hearing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hearing").finish_non_exhaustive()
    }
}

fn text(line: &[u8]) -> String {
    decode(line).0.into_owned()
}
