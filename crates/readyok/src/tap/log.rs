//! The log of a tap: one line of text for each line that was heard and each rule that was broken.

use std::fmt;
use std::io::{self, Write};

use readyok_protocol::Party;

use super::sink::Sink;
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
/// Nobody waits for the log: what comes faster than it can be written for long is left out and counted.
/// A log that cannot be written is given up, and so is one that never gets ahead: the conversation is
/// worth more.
pub struct Log {
    out: Sink,
    reports: Option<Sink>,
    must_broken: bool,
    failure: Option<io::Error>,
}

impl Log {
    /// A log that starts with a comment.
    ///
    /// # Errors
    /// There can be no thread to write it.
    pub fn new(out: impl Write + Send + 'static, title: &str) -> io::Result<Self> {
        let out = Sink::new(out)?;
        out.add(&format!("# {}\n", Escaped(title.as_bytes())));
        Ok(Self { out, reports: None, must_broken: false, failure: None })
    }

    /// Has broken rules written to `reports`, too.
    ///
    /// # Errors
    /// There can be no thread to write them.
    pub fn reporting_to(self, reports: impl Write + Send + 'static) -> io::Result<Self> {
        Ok(Self { reports: Some(Sink::new(reports)?), ..self })
    }

    /// Adds an entry.
    pub fn add(&mut self, entry: &Entry<'_>) {
        let text = text_of(entry);
        self.out.add(&text);
        if let Heard::Breach(breach) = &entry.heard {
            self.must_broken |= breach.is_must();
            if let Some(reports) = &self.reports {
                reports.add(&text);
            }
        }
    }

    /// Waits, but not for long, until everything is written.
    pub fn finish(&mut self) {
        self.failure = self.out.finish();
        if let Some(reports) = &self.reports {
            // With nobody there to read them, the reports are in the log all the same.
            let _ = reports.finish();
        }
    }

    /// Whether one of the sides broke a must.
    pub fn must_broken(&self) -> bool {
        self.must_broken
    }

    /// Why the log ends before the conversation, if it did when it was [finished](Self::finish).
    pub fn failure(&self) -> Option<&io::Error> {
        self.failure.as_ref()
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log").field("failure", &self.failure).finish_non_exhaustive()
    }
}

/// An entry with its line end.
fn text_of(entry: &Entry<'_>) -> String {
    let milliseconds = entry.at.as_secs_f64() * 1000.0;
    let direction = match entry.side {
        Party::Client => '>',
        Party::Engine => '<',
    };
    let line = entry.line;
    match &entry.heard {
        Heard::Line(bytes) => {
            format!("{milliseconds:12.3} {direction}  {line:5} {}\n", Escaped(bytes))
        }
        Heard::Breach(breach) => {
            format!("{milliseconds:12.3} !{direction} {line:5} {breach}\n")
        }
    }
}
