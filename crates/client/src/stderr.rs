//! The last lines that an engine wrote to its error output, for the error that tells of its end.

use std::collections::VecDeque;
use std::sync::Mutex;

use readyok_protocol::{LineBuffer, decode};

use crate::sync::lock;

const MAX_LINES: usize = 20;

#[derive(Debug, Default)]
pub(crate) struct ErrorLines {
    lines: Mutex<VecDeque<String>>,
}

impl ErrorLines {
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
        let mut lines = lock(&self.lines);
        if lines.len() == MAX_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        lock(&self.lines).iter().cloned().collect()
    }
}

fn text(line: &[u8]) -> String {
    decode(line).0.into_owned()
}
