//! Bytes become lines. The only place that knows about line ends, UTF-8, marks and sizes.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::diagnostic::{Diagnostic, DiagnosticKind};

/// Collects bytes and hands out complete lines.
///
/// A line ends in `\n`, `\r\n` or `\r`. What is left of an unfinished line waits for more, so a
/// stream may be cut anywhere. A line longer than the limit is thrown away up to its end, once
/// reported, so that a peer without line ends costs no more memory than the limit.
#[derive(Clone, Debug)]
pub struct LineBuffer {
    bytes: Vec<u8>,
    /// Where the line to hand out next starts.
    start: usize,
    /// Up to here there is no line end.
    searched: usize,
    limit: usize,
    /// The line being received is too long, and has been reported.
    skipping: bool,
    /// The last line ended in `\r`; a `\n` that follows belongs to it.
    after_return: bool,
}

/// A line longer than the limit, which was thrown away.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LineTooLong {
    /// The most bytes that a line may have.
    pub limit: usize,
}

impl Default for LineBuffer {
    fn default() -> Self {
        Self::new(Self::DEFAULT_LIMIT)
    }
}

impl LineBuffer {
    /// One mebibyte: a game of 100,000 moves fits.
    pub const DEFAULT_LIMIT: usize = 1 << 20;

    /// A buffer for lines of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            start: 0,
            searched: 0,
            limit,
            skipping: false,
            after_return: false,
        }
    }

    /// Adds bytes as they came. Take all lines with [`next_line`](Self::next_line) before adding
    /// more: that is what bounds the memory.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// The next complete line, without its end.
    ///
    /// # Errors
    /// A line is too long. Its bytes are lost, and the lines after it are not.
    pub fn next_line(&mut self) -> Option<Result<&[u8], LineTooLong>> {
        loop {
            if self.after_return && self.start < self.bytes.len() {
                self.after_return = false;
                let is_rest = self.bytes.get(self.start) == Some(&b'\n');
                self.start += usize::from(is_rest);
                self.searched = self.searched.max(self.start);
            }
            let unsearched = self.bytes.get(self.searched..).unwrap_or_default();
            let end = unsearched.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let Some(end) = end.map(|end| self.searched + end) else {
                self.searched = self.bytes.len();
                return self.give_up_on_long_line();
            };
            let line = self.start..end;
            self.after_return = self.bytes.get(end) == Some(&b'\r');
            self.start = end + 1;
            self.searched = end + 1;
            if core::mem::take(&mut self.skipping) {
                continue;
            }
            if self.limit < line.len() {
                return Some(Err(LineTooLong { limit: self.limit }));
            }
            return self.bytes.get(line).map(Ok);
        }
    }

    fn give_up_on_long_line(&mut self) -> Option<Result<&[u8], LineTooLong>> {
        if self.bytes.len() - self.start <= self.limit && !self.skipping {
            return None;
        }
        self.bytes.clear();
        (self.start, self.searched) = (0, 0);
        let reported = core::mem::replace(&mut self.skipping, true);
        (!reported).then_some(Err(LineTooLong { limit: self.limit }))
    }

    /// What is left after the last line end, when the stream is at its end. `None` if nothing is.
    pub fn last_line(&mut self) -> Option<&[u8]> {
        let rest = self.bytes.get(self.start..).filter(|rest| !rest.is_empty() && !self.skipping);
        self.start = self.bytes.len();
        self.searched = self.start;
        rest
    }
}

/// The text of a line. Bytes that are not UTF-8 become U+FFFD, and each run of them is noted, up to
/// [`Diagnostic::MAX_PER_LINE`].
pub fn decode(line: &[u8]) -> (Cow<'_, str>, Vec<Diagnostic>) {
    // It is UTF-8 nearly always, and to find that out takes less than to look for what is not.
    match core::str::from_utf8(line) {
        Ok(text) => (Cow::Borrowed(text), Vec::new()),
        Err(_) => (String::from_utf8_lossy(line), replaced(line)),
    }
}

/// Where in the text of a line U+FFFD stands for something else.
fn replaced(line: &[u8]) -> Vec<Diagnostic> {
    let (mut diagnostics, mut at): (Vec<Diagnostic>, usize) = (Vec::new(), 0);
    for chunk in line.utf8_chunks() {
        at += chunk.valid().len();
        if chunk.invalid().is_empty() {
            continue;
        }
        let end = at + char::REPLACEMENT_CHARACTER.len_utf8();
        if let Some(diagnostic) =
            diagnostics.last_mut().filter(|diagnostic| diagnostic.span.end == at)
        {
            diagnostic.span.end = end;
        } else if diagnostics.len() < Diagnostic::MAX_PER_LINE {
            diagnostics.push(Diagnostic { span: at..end, kind: DiagnosticKind::InvalidUtf8 });
        }
        at = end;
    }
    diagnostics
}

impl fmt::Display for LineTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a line is longer than {} bytes", self.limit)
    }
}

impl core::error::Error for LineTooLong {}
