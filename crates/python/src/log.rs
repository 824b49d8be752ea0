//! The lines between a program and an engine.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use pyo3::prelude::*;
use readyok_client::Party;

use crate::{lock, now};

/// The maximum number of lines, and of their bytes, between two calls of `Engine.log`.
const MAX_LINES: usize = 10_000;
const MAX_BYTES: usize = 4 << 20;

/// The latest lines that were not taken yet. Threads of Rust add lines, so it needs no lock of the interpreter.
pub(crate) struct Log {
    start: Instant,
    lines: Mutex<Lines>,
}

#[derive(Default)]
struct Lines {
    queue: VecDeque<Line>,
    bytes: usize,
    discarded: u64,
}

struct Line {
    seconds: f64,
    source: &'static str,
    text: String,
}

impl Log {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { start: now(), lines: Mutex::default() })
    }

    /// Adds a line of the protocol, or of the error output.
    pub(crate) fn add(&self, party: Option<Party>, text: &str) {
        let seconds = self.start.elapsed().as_secs_f64();
        let source = match party {
            Some(Party::Client) => "gui",
            Some(Party::Engine) => "engine",
            None => "stderr",
        };
        let mut lines = lock(&self.lines);
        lines.bytes += text.len();
        lines.queue.push_back(Line { seconds, source, text: text.to_owned() });
        while MAX_LINES < lines.queue.len() || MAX_BYTES < lines.bytes {
            let Some(line) = lines.queue.pop_front() else { break };
            lines.bytes -= line.text.len();
            lines.discarded += 1;
        }
    }

    fn next(&self) -> Option<Line> {
        let mut lines = lock(&self.lines);
        let seconds = lines.queue.front()?.seconds;
        let discarded = std::mem::take(&mut lines.discarded);
        if 0 < discarded {
            let text = format!("{discarded} earlier lines were discarded");
            return Some(Line { seconds, source: "readyok", text });
        }
        let line = lines.queue.pop_front()?;
        lines.bytes -= line.text.len();
        Some(line)
    }
}

/// An iterator of lines: (seconds since the start, source, line). It never waits.
#[pyclass(module = "readyok", name = "LogIterator", frozen)]
pub(crate) struct LogIterator(Arc<Log>);

impl LogIterator {
    pub(crate) fn new(log: Arc<Log>) -> Self {
        Self(log)
    }
}

#[pymethods]
impl LogIterator {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self) -> Option<(f64, &'static str, String)> {
        self.0.next().map(|line| (line.seconds, line.source, line.text))
    }
}
