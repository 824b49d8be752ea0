//! The last lines that an engine wrote to its error output, for the error that tells of its end.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use readyok_protocol::{LineBuffer, decode};

use crate::sync::{lock, wait_until};
use crate::time::now;

const MAX_LINES: usize = 20;
const MAX_LINE: usize = 1000;

#[derive(Debug, Default)]
pub(crate) struct ErrorLines {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct State {
    lines: VecDeque<String>,
    ended: bool,
}

impl ErrorLines {
    /// Reads until the stream ends.
    pub(crate) fn read(&self, mut from: impl Read) {
        let mut buffer = LineBuffer::new(MAX_LINE);
        let mut chunk = vec![0; 1 << 12];
        loop {
            let read = match from.read(&mut chunk) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            buffer.push(chunk.get(..read).unwrap_or_default());
            while let Some(line) = buffer.next_line() {
                self.push(line.map_or_else(|too_long| too_long.to_string(), text));
            }
        }
        if let Some(line) = buffer.last_line() {
            self.push(text(line));
        }
        lock(&self.state).ended = true;
        self.ended.notify_all();
    }

    fn push(&self, line: String) {
        let lines = &mut lock(&self.state).lines;
        if lines.len() == MAX_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    /// Waits for the end of the stream, but not for long: another process may hold it open.
    pub(crate) fn wait_for_end(&self, time: Duration) {
        let state = lock(&self.state);
        drop(wait_until(&self.ended, state, Some(now() + time), |state| state.ended));
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        lock(&self.state).lines.iter().cloned().collect()
    }
}

fn text(line: &[u8]) -> String {
    decode(line).0.into_owned()
}
