//! The debug log: every line of both directions with its time.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::time::{Duration, Instant};

/// The option that names the file.
pub(crate) const OPTION: &str = "Debug Log File";

/// An optional log file.
#[derive(Debug)]
pub(crate) struct Log {
    file: Option<File>,
    start: Instant,
}

impl Log {
    /// A disabled log.
    pub(crate) fn new(start: Instant) -> Self {
        Self { file: None, start }
    }

    /// Appends to a file from now on. An empty path disables the log.
    pub(crate) fn open(&mut self, path: &str) -> io::Result<()> {
        self.file = None;
        if !path.is_empty() {
            self.file = Some(OpenOptions::new().create(true).append(true).open(path)?);
        }
        Ok(())
    }

    /// Logs a line of the client.
    pub(crate) fn received(&mut self, line: &str, now: Instant) {
        self.write('>', line, now);
    }

    /// Logs lines of the engine.
    pub(crate) fn sent(&mut self, text: &str, now: Instant) {
        for line in text.lines() {
            self.write('<', line, now);
        }
    }

    fn write(&mut self, direction: char, line: &str, now: Instant) {
        let Some(file) = &mut self.file else { return };
        let time: Duration = now.saturating_duration_since(self.start);
        // One write per line, so that a crash loses nothing. A write error disables the log and does not
        // affect the game.
        let line = format!("{:11.6} {direction} {line}\n", time.as_secs_f64());
        if file.write_all(line.as_bytes()).is_err() {
            self.file = None;
        }
    }
}
