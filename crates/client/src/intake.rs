//! From a stream to lines, one read at a time. The reading that pumps and threads share.

use std::io::{ErrorKind, Read};
use std::time::Instant;

use readyok_protocol::LineBuffer;

use crate::inbox::Inbox;
#[cfg(not(unix))]
use crate::stderr::ErrorLines;
use crate::sync::park_until;
use crate::time::now;

/// Far more than any variation or list of choices needs.
const MAX_LINE: usize = 1 << 16;
/// The most that is read of an engine's output at once. Each engine has the room for it.
pub(crate) const CHUNK: usize = 1 << 13;
const MAX_ERROR_LINE: usize = 1000;
const ERROR_CHUNK: usize = 1 << 12;

#[derive(Debug)]
pub(crate) struct Intake {
    pub(crate) lines: LineBuffer,
    /// Room for a read, from the first one on: most engines never write to their error output.
    chunk: Vec<u8>,
    /// How much is read at once.
    most: usize,
    /// When the latest bytes came, as far as is known.
    pub(crate) at: Instant,
    /// How many the latest read gave.
    pub(crate) latest: usize,
    /// There may be more to read.
    pub(crate) open: bool,
}

/// What a read gave.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Came {
    /// Nothing: the stream would have blocked.
    Nothing,
    /// All that there was, unless it is a blocking stream.
    All,
    /// As much as is read at once.
    Part,
    /// The stream is over.
    End,
}

impl Intake {
    /// For what an engine says.
    pub(crate) fn of_output() -> Self {
        Self::new(MAX_LINE, CHUNK)
    }

    /// For its error output.
    pub(crate) fn of_errors() -> Self {
        Self::new(MAX_ERROR_LINE, ERROR_CHUNK)
    }

    fn new(longest: usize, most: usize) -> Self {
        let lines = LineBuffer::new(longest);
        Self { lines, chunk: Vec::new(), most, at: now(), latest: 0, open: true }
    }

    /// Reads once. All lines of the read before have to be taken.
    pub(crate) fn read(&mut self, mut from: impl Read) -> Came {
        self.latest = 0;
        self.chunk.resize(self.most, 0);
        let read = loop {
            match from.read(&mut self.chunk) {
                Ok(0) => break None,
                Ok(read) => break Some(read),
                Err(error) if error.kind() == ErrorKind::Interrupted => (),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Came::Nothing,
                Err(_) => break None,
            }
        };
        self.at = now();
        let Some(read) = read else {
            self.open = false;
            return Came::End;
        };
        self.latest = read;
        self.lines.push(self.chunk.get(..read).unwrap_or_default());
        if read < self.chunk.len() { Came::All } else { Came::Part }
    }
}

/// Reads lines until the stream ends or nobody wants them any more. For a thread of its own.
pub(crate) fn read(mut from: impl Read, inbox: &Inbox) {
    let mut intake = Intake::of_output();
    while intake.open && !inbox.is_abandoned() && intake.read(&mut from) != Came::Nothing {
        inbox.spend(intake.latest, intake.at);
        park_until(None, |waker| inbox.fill(&mut intake.lines, intake.at, waker));
        if let pause @ Some(_) = inbox.pause() {
            park_until(pause, |waker| inbox.is_abandoned_by(waker));
        }
    }
    inbox.end(&mut intake.lines, intake.at);
}

/// Reads the error output of an engine until it ends. For a thread of its own.
#[cfg(not(unix))]
pub(crate) fn read_errors(mut from: impl Read, errors: &ErrorLines) {
    let mut intake = Intake::of_errors();
    while intake.open && intake.read(&mut from) != Came::Nothing {
        errors.take(&mut intake.lines);
    }
    errors.end(&mut intake.lines);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_that_says_nothing_needs_no_room() {
        let mut intake = Intake::of_errors();
        assert_eq!(intake.chunk.capacity(), 0);
        let text = "word ".repeat(ERROR_CHUNK / 5 + 1);
        let mut from = text.as_bytes();
        let came = [(); 3].map(|()| intake.read(&mut from));
        assert_eq!(came, [Came::Part, Came::All, Came::End]);
        assert!(intake.chunk.capacity() <= 2 * ERROR_CHUNK);
    }
}
