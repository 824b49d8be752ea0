//! The log of a tap: one line of text or one JSON object for each line of the session and for each violation.

use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use readyok_protocol::{Party, Rule};
use serde_json::{Value, json};

use super::monitor::{Content, Entry};
use crate::terminal::Escaped;

/// Writes the entries of a session.
///
/// ```text
///        0.118 >     1 uci
///        1.904 <     1 id name Example
///        1.910 <     2 readyok
///        1.910 !<    2 must handshake.ready-once: `readyok` answers `isready`, once [UCI 2006, readyok; …]
/// ```
/// Columns: milliseconds since the start; `>` for the client, `<` for the engine, preceded by `!` for a
/// violation; the line number of the side; and the line as [`Escaped`], or the violation. As JSON, each entry is an
/// object on one line.
///
/// Logging never blocks the session. Entries that exceed the buffer are dropped and counted. Logging ends if
/// writing fails or hangs.
pub struct Log {
    format: LogFormat,
    out: LogWriter,
    reports: Option<LogWriter>,
    must_violated: bool,
    failure: Option<io::Error>,
}

/// The format of a log.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum LogFormat {
    /// One line of text per entry.
    #[default]
    Text,
    /// One JSON object per entry.
    Json,
}

impl Log {
    /// Creates a log that starts with a title.
    ///
    /// # Errors
    /// The writer thread cannot be started.
    pub fn new(
        out: impl Write + Send + 'static,
        title: &str,
        format: LogFormat,
    ) -> io::Result<Self> {
        let out = LogWriter::new(out, format)?;
        out.add(&format.remark("title", &Escaped(title.as_bytes()).to_string()));
        Ok(Self { format, out, reports: None, must_violated: false, failure: None })
    }

    /// Also writes violations to `reports`.
    ///
    /// # Errors
    /// The writer thread cannot be started.
    pub fn reporting_to(self, reports: impl Write + Send + 'static) -> io::Result<Self> {
        Ok(Self { reports: Some(LogWriter::new(reports, LogFormat::Text)?), ..self })
    }

    pub fn add(&mut self, entry: &Entry<'_>) {
        self.out.add(&self.format.entry(entry));
        if let Content::Finding(finding) = &entry.content {
            self.must_violated |= finding.is_must();
            if let Some(reports) = &self.reports {
                reports.add(&LogFormat::Text.entry(entry));
            }
        }
    }

    /// Waits until everything is written, with a timeout.
    pub fn finish(&mut self) {
        self.failure = self.out.finish();
        if let Some(reports) = &self.reports {
            // The reports are in the log, too.
            let _ = reports.finish();
        }
    }

    /// Whether a side violated a must.
    pub fn must_violated(&self) -> bool {
        self.must_violated
    }

    /// The error that ended the log early, set by [`Self::finish`].
    pub fn failure(&self) -> Option<&io::Error> {
        self.failure.as_ref()
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log").field("failure", &self.failure).finish_non_exhaustive()
    }
}

impl LogFormat {
    /// An entry with its line end.
    fn entry(self, entry: &Entry<'_>) -> String {
        match self {
            Self::Text => text_entry(entry),
            Self::Json => json_line(&json_entry(entry)),
        }
    }

    /// A line about the log itself.
    fn remark(self, key: &str, text: &str) -> String {
        match self {
            Self::Text => format!("# {text}\n"),
            Self::Json => json_line(&json!({ key: text })),
        }
    }
}

fn json_line(value: &Value) -> String {
    format!("{value}\n")
}

fn json_entry(entry: &Entry<'_>) -> Value {
    let side = entry.side.to_string();
    let at_us = u64::try_from(entry.at.as_micros()).unwrap_or(u64::MAX);
    let mut object = json!({ "at_us": at_us, "side": side, "number": entry.line });
    let mut set = |key: &str, value: Value| {
        if let Value::Object(fields) = &mut object {
            fields.insert(key.to_owned(), value);
        }
    };
    match &entry.content {
        Content::Line(bytes) => set("line", Escaped(bytes).to_string().into()),
        Content::Finding(finding) => {
            let severity = finding.rule().map_or("note", |rule| rule.severity().name());
            set("severity", severity.into());
            set("rule", finding.rule().map(Rule::id).into());
            set("text", finding.text().into());
            set("clause", finding.clause().into());
        }
    }
    object
}

fn text_entry(entry: &Entry<'_>) -> String {
    let milliseconds = entry.at.as_secs_f64() * 1000.0;
    let direction = match entry.side {
        Party::Client => '>',
        Party::Engine => '<',
    };
    let line = entry.line;
    match &entry.content {
        Content::Line(bytes) => {
            format!("{milliseconds:12.3} {direction}  {line:5} {}\n", Escaped(bytes))
        }
        Content::Finding(finding) => {
            format!("{milliseconds:12.3} !{direction} {line:5} {finding}\n")
        }
    }
}

/// Maximum size of the buffer in bytes. Further entries are dropped until the buffer is written.
const MAX_BUFFER: usize = 16 << 20;

/// Timeout of the last write.
const FINISH_TIMEOUT: Duration = Duration::from_secs(2);

/// Writes text in a separate thread, so that adding an entry never blocks. Dropping it waits for the last
/// write, with a timeout.
struct LogWriter(Arc<Shared>);

#[derive(Default)]
struct Shared {
    format: LogFormat,
    state: Mutex<State>,
    /// Notified after each change of the state.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    buffer: String,
    /// Number of dropped entries.
    dropped: u64,
    /// No further entries will be added.
    is_closed: bool,
    /// The thread has ended, or its timeout has expired.
    is_finished: bool,
    failure: Option<io::Error>,
}

impl LogWriter {
    fn new(out: impl Write + Send + 'static, format: LogFormat) -> io::Result<Self> {
        let shared = Arc::new(Shared { format, ..Shared::default() });
        let writer = Arc::clone(&shared);
        thread::Builder::new().name("log".to_owned()).spawn(move || writer.write_all(out))?;
        Ok(Self(shared))
    }

    /// Adds one or more lines.
    fn add(&self, entry: &str) {
        let mut state = self.0.lock();
        if state.is_finished {
            return;
        }
        if 0 < state.dropped || MAX_BUFFER < state.buffer.len().saturating_add(entry.len()) {
            state.dropped += 1;
        } else {
            state.buffer.push_str(entry);
        }
        self.0.changed.notify_all();
    }

    /// Waits until everything is written, with a timeout. Returns the error.
    fn finish(&self) -> Option<io::Error> {
        let mut state = self.0.lock();
        state.is_closed = true;
        self.0.changed.notify_all();
        let waited =
            self.0.changed.wait_timeout_while(state, FINISH_TIMEOUT, |state| !state.is_finished);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let is_late = !std::mem::replace(&mut state.is_finished, true);
        let failure = state.failure.take();
        failure.or_else(|| is_late.then(|| io::ErrorKind::TimedOut.into()))
    }
}

impl Drop for LogWriter {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_all(&self, mut out: impl Write) {
        let mut failure = None;
        while let (None, Some(text)) = (&failure, self.next()) {
            failure = out.write_all(text.as_bytes()).and_then(|()| out.flush()).err();
        }
        let mut state = self.lock();
        (state.is_finished, state.failure) = (true, failure);
        self.changed.notify_all();
    }

    /// Waits for text to write. `None` at the end.
    fn next(&self) -> Option<String> {
        let idle = |state: &mut State| state.buffer.is_empty() && !state.is_closed;
        let waited = self.changed.wait_while(self.lock(), idle);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        let mut text = std::mem::take(&mut state.buffer);
        if let dropped @ 1.. = std::mem::take(&mut state.dropped) {
            text.push_str(&self.format.remark("dropped", &dropped_entries(dropped)));
        }
        (!text.is_empty()).then_some(text)
    }
}

fn dropped_entries(count: u64) -> String {
    format!("{count} entries were dropped because writing is too slow")
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// Blocks until its sender is dropped.
    struct Stalled {
        started: Sender<()>,
        resume: Receiver<()>,
        written: Sender<Vec<u8>>,
    }

    impl Write for Stalled {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            // Fails if the test does not wait for it.
            let _ = self.started.send(());
            // Fails as soon as the sender is dropped.
            let _ = self.resume.recv();
            self.written.send(bytes.to_vec()).map_err(io::Error::other)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn drops_and_counts_entries_that_exceed_the_buffer() {
        let (resume, on_resume) = channel();
        let (written, on_written) = channel();
        let (started, on_started) = channel();
        let out = Stalled { started, resume: on_resume, written };
        let writer = LogWriter::new(out, LogFormat::Text).expect("a thread");
        let entry = format!("{}\n", "x".repeat(1 << 20));
        let entries = MAX_BUFFER / entry.len() + 2;
        writer.add(&entry);
        on_started.recv().expect("a write");
        for _ in 1..entries {
            writer.add(&entry);
        }
        drop(resume);
        assert!(writer.finish().is_none());
        let text: Vec<u8> = on_written.try_iter().flatten().collect();
        let text = String::from_utf8(text).expect("text");
        let written = text.lines().filter(|line| line.starts_with('x')).count();
        let last = text.lines().last().expect("a line");
        let dropped = entries - written;
        assert!(0 < dropped && 0 < written, "{written} of {entries}");
        assert_eq!(last, format!("# {}", dropped_entries(dropped as u64)));
    }

    #[test]
    fn returns_a_write_error() {
        let (written, on_written) = channel();
        let out = Stalled { started: channel().0, resume: channel().1, written };
        let writer = LogWriter::new(out, LogFormat::Text).expect("a thread");
        drop(on_written);
        writer.add("entry\n");
        assert!(writer.finish().is_some());
    }

    #[test]
    fn times_out_if_writing_hangs() {
        let (_resume, on_resume) = channel();
        let out = Stalled { started: channel().0, resume: on_resume, written: channel().0 };
        let writer = LogWriter::new(out, LogFormat::Text).expect("a thread");
        writer.add("entry\n");
        let failure = writer.finish().expect("a failure");
        assert_eq!(failure.kind(), io::ErrorKind::TimedOut);
    }
}
