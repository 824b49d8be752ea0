//! The debug log: every line of both directions, with its time.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::time::{Duration, Instant};

/// The option that names the file.
pub(crate) const OPTION: &str = "Debug Log File";

/// A log, or none.
#[derive(Debug)]
pub(crate) struct Log {
    file: Option<File>,
    start: Instant,
}

impl Log {
    /// No log.
    pub(crate) fn new(start: Instant) -> Self {
        Self { file: None, start }
    }

    /// Writes to the end of a file from now on. No path is no log.
    pub(crate) fn open(&mut self, path: &str) -> io::Result<()> {
        self.file = None;
        if !path.is_empty() {
            self.file = Some(OpenOptions::new().create(true).append(true).open(path)?);
        }
        Ok(())
    }

    /// Notes what the client sent.
    pub(crate) fn heard(&mut self, line: &str, now: Instant) {
        self.write('>', line, now);
    }

    /// Notes what the engine says.
    pub(crate) fn said(&mut self, text: &str, now: Instant) {
        for line in text.lines() {
            self.write('<', line, now);
        }
    }

    fn write(&mut self, direction: char, line: &str, now: Instant) {
        let Some(file) = &mut self.file else { return };
        let time: Duration = now.saturating_duration_since(self.start);
        // One call for each line, so that nothing is lost in a crash. A disk that is full ends the
        // log, not the game.
        let line = format!("{:11.6} {direction} {line}\n", time.as_secs_f64());
        if file.write_all(line.as_bytes()).is_err() {
            self.file = None;
        }
    }
}
