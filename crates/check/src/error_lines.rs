//! The last lines of an engine's error output, such as the traceback of an interpreter or the name of a missing library.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, PipeReader, Read};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use readyok_protocol::translation::display_text;
use readyok_protocol::{LineBuffer, decode};

/// Number of stored lines.
const MAX_LINES: usize = 10;

/// Maximum length of a line in bytes.
const MAX_LENGTH: usize = 1000;

/// Maximum number of spaces before a line.
const MAX_INDENT: usize = 16;

/// Maximum time for the rest of the output after an exit. A descendant of the engine may hold the pipe.
const REST: Duration = Duration::from_millis(500);

/// The error output of an engine, read by a thread of its own.
#[derive(Debug)]
pub(crate) struct ErrorLines(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    latest: Mutex<Latest>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Latest {
    lines: VecDeque<String>,
    has_ended: bool,
}

impl ErrorLines {
    /// Reads the pipe until its end.
    pub(crate) fn of(pipe: PipeReader) -> io::Result<Self> {
        let shared = Arc::<Shared>::default();
        let reader = Arc::clone(&shared);
        thread::Builder::new().name("errors".into()).spawn(move || reader.read(pipe))?;
        Ok(Self(shared))
    }

    /// The last lines, without control characters, after the engine has exited.
    pub(crate) fn last(&self) -> Vec<String> {
        let latest = self.0.latest.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.0.changed.wait_timeout_while(latest, REST, |latest| !latest.has_ended);
        let (latest, _) = waited.unwrap_or_else(PoisonError::into_inner);
        latest.lines.iter().cloned().collect()
    }
}

impl Shared {
    fn read(&self, mut pipe: PipeReader) {
        let mut buffer = LineBuffer::new(MAX_LENGTH);
        let mut chunk = [0; 4096];
        loop {
            let count = match pipe.read(&mut chunk) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Ok(count @ 1..) => count,
                Ok(_) | Err(_) => break,
            };
            buffer.push(chunk.get(..count).unwrap_or_default());
            while let Some(line) = buffer.next_line() {
                match line {
                    Ok(line) => self.add(line),
                    Err(too_long) => self.add(too_long.to_string().as_bytes()),
                }
            }
        }
        if let Some(line) = buffer.last_line() {
            self.add(line);
        }
        self.latest.lock().unwrap_or_else(PoisonError::into_inner).has_ended = true;
        self.changed.notify_all();
    }

    fn add(&self, line: &[u8]) {
        let (line, _) = decode(line);
        let shown = display_text(&line);
        if shown.is_empty() {
            return;
        }
        // A traceback is indented.
        let indent = line.chars().take_while(|c| matches!(c, ' ' | '\t')).count().min(MAX_INDENT);
        let line = " ".repeat(indent) + &shown;
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if latest.lines.len() == MAX_LINES {
            latest.lines.pop_front();
        }
        latest.lines.push_back(line);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn keeps_the_last_lines_without_control_characters() {
        let (reader, mut writer) = io::pipe().expect("a pipe");
        let lines = ErrorLines::of(reader).expect("a thread");
        for number in 0..100 {
            writeln!(writer, "line {number}").expect("it is read");
        }
        write!(writer, "\x1b[2J\r\n\n\t  File \"engine.py\"\u{202e}, line 1\nlast")
            .expect("it is read");
        drop(writer);
        let last = lines.last();
        assert_eq!(last.len(), MAX_LINES);
        let [.., first, second, third] = last.as_slice() else { panic!("{last:?}") };
        assert_eq!([first, second, third], ["[2J", "   File \"engine.py\", line 1", "last"]);
    }
}
