//! The log of a tap: one line of text for each line that was heard and each rule that was broken.

use std::fmt;
use std::io::{self, Write};

use readyok_protocol::Side;

use super::watch::{Entry, Heard};
use crate::text::Escaped;

/// Writes the entries of one conversation.
///
/// ```text
///        0.118 >     1 uci
///        1.904 <     1 id name Example
///        1.910 <     2 readyok
///        1.910 !<    2 must: `readyok` answers `isready`, once [UCI 2006, readyok; …]
/// ```
/// The columns: milliseconds since the start; `>` for the client, `<` for the engine, with `!` in
/// front when a rule was broken; the number of the line among those of its side; and the line as
/// [`Escaped`], or the report.
///
/// A log that cannot be written is given up, once reported: the conversation is worth more.
pub struct Log {
    out: Box<dyn Write>,
    reports: Option<Box<dyn Write>>,
    must_broken: bool,
    failure: Option<io::Error>,
}

impl Log {
    /// A log that starts with a comment.
    pub fn new(out: impl Write + 'static, title: &str) -> Self {
        let mut log = Self { out: Box::new(out), reports: None, must_broken: false, failure: None };
        log.attempt(|out| writeln!(out, "# {}", Escaped(title.as_bytes())));
        log
    }

    /// Has broken rules written to `reports`, too.
    #[must_use]
    pub fn reporting_to(self, reports: impl Write + 'static) -> Self {
        Self { reports: Some(Box::new(reports)), ..self }
    }

    /// Adds an entry.
    pub fn add(&mut self, entry: &Entry<'_>) {
        self.attempt(|out| write_entry(entry, out));
        if let Heard::Breach(breach) = &entry.heard {
            self.must_broken |= breach.is_must();
            if let Some(reports) = &mut self.reports {
                // With nobody there to read them, the reports are in the log all the same.
                let _ = write_entry(entry, reports);
            }
        }
    }

    /// Lets everything that was added be seen by others.
    pub fn flush(&mut self) {
        self.attempt(|out| out.flush());
    }

    /// Whether one of the sides broke a must.
    pub fn must_broken(&self) -> bool {
        self.must_broken
    }

    /// Why the log ends before the conversation, if it does.
    pub fn failure(&self) -> Option<&io::Error> {
        self.failure.as_ref()
    }

    fn attempt(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        if self.failure.is_none() {
            self.failure = write(&mut self.out).err();
        }
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log").field("failure", &self.failure).finish_non_exhaustive()
    }
}

/// Writes an entry and a line end.
fn write_entry(entry: &Entry<'_>, out: &mut dyn Write) -> io::Result<()> {
    let milliseconds = entry.at.as_secs_f64() * 1000.0;
    let direction = match entry.side {
        Side::Client => '>',
        Side::Engine => '<',
    };
    let line = entry.line;
    match &entry.heard {
        Heard::Line(bytes) => {
            writeln!(out, "{milliseconds:12.3} {direction}  {line:5} {}", Escaped(bytes))
        }
        Heard::Breach(breach) => {
            writeln!(out, "{milliseconds:12.3} !{direction} {line:5} {breach}")
        }
    }
}
