//! What is printed and what is logged, and the end of a match that tolerates no warning.

use std::fmt;
use std::io::{self, Write};

use super::log::{Level, Logger};

/// Standard output and the log. When the output is closed, the rest is not printed.
pub(super) struct Voice<W> {
    out: W,
    closed: bool,
    pub(super) logger: Option<Logger>,
    /// A warning ends the match.
    pub(super) strict: bool,
    /// Ends the match; taken when it does.
    pub(super) stop: Option<Box<dyn FnMut() + Send>>,
    stopped: bool,
}

impl<W: Write> Voice<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, closed: false, logger: None, strict: false, stop: None, stopped: false }
    }

    /// Prints something that is not logged.
    pub(super) fn print(&mut self, text: &str) {
        if self.closed {
            return;
        }
        let said = writeln!(self.out, "{text}").and_then(|()| self.out.flush());
        self.closed = said.is_err_and(|error| error.kind() != io::ErrorKind::Interrupted);
    }

    pub(super) fn say(&mut self, text: &str) {
        self.print(text);
        self.log(Level::Info, text);
    }

    /// Prints a warning.
    pub(super) fn warn(&mut self, text: &str) {
        self.print(text);
        self.note(text);
    }

    /// Logs something as bad as a warning.
    pub(super) fn note(&mut self, text: &str) {
        self.log(Level::Warn, text);
        if self.strict {
            self.stop();
        }
    }

    /// Ends the match.
    pub(super) fn stop(&mut self) {
        self.stopped = true;
        if let Some(mut act) = self.stop.take() {
            act();
        }
    }

    /// Whether it has ended the match.
    pub(super) fn has_stopped(&self) -> bool {
        self.stopped
    }

    pub(super) fn log(&self, level: Level, text: &str) {
        if let Some(logger) = &self.logger {
            logger.tell(level, text);
        }
    }
}

impl<W: fmt::Debug> fmt::Debug for Voice<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Voice").field("out", &self.out).finish_non_exhaustive()
    }
}
