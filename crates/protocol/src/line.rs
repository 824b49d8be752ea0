//! Splits bytes into lines: line ends, UTF-8, byte order marks and limits.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::diagnostic::{Diagnostic, DiagnosticKind};

/// Splits received bytes into lines.
///
/// A line ends in `\n`, `\r\n` or `\r`. An incomplete line is buffered until its end arrives. A line
/// longer than the limit is reported once and discarded up to its end, which bounds the memory for
/// a peer that sends no line ends.
#[derive(Clone, Debug)]
pub struct LineBuffer {
    bytes: Vec<u8>,
    /// Start of the next line.
    start: usize,
    /// No line end before this index.
    searched: usize,
    limit: usize,
    /// The current line is too long and was reported.
    skipping: bool,
    /// The last line ended in `\r`; a following `\n` belongs to it.
    after_return: bool,
}

/// A line longer than the limit. It was discarded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LineTooLong {
    /// Maximum length of a line in bytes.
    pub limit: usize,
}

impl Default for LineBuffer {
    fn default() -> Self {
        Self::new(Self::DEFAULT_LIMIT)
    }
}

impl LineBuffer {
    /// One mebibyte: enough for a game of 100,000 moves.
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

    /// Adds received bytes. To bound the memory, read all lines with [`next_line`](Self::next_line)
    /// before adding more.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// The next complete line, without its end.
    ///
    /// # Errors
    /// The line is too long and was discarded. Later lines are not affected.
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
                return self.skip_long_line();
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

    fn skip_long_line(&mut self) -> Option<Result<&[u8], LineTooLong>> {
        if self.bytes.len() - self.start <= self.limit && !self.skipping {
            return None;
        }
        self.bytes.clear();
        (self.start, self.searched) = (0, 0);
        let reported = core::mem::replace(&mut self.skipping, true);
        (!reported).then_some(Err(LineTooLong { limit: self.limit }))
    }

    /// The incomplete line at the end of the stream, if any.
    pub fn last_line(&mut self) -> Option<&[u8]> {
        let rest = self.bytes.get(self.start..).filter(|rest| !rest.is_empty() && !self.skipping);
        self.start = self.bytes.len();
        self.searched = self.start;
        rest
    }
}

/// Decodes a line. Invalid bytes become U+FFFD, with one diagnostic for each run of them, at most
/// [`Diagnostic::MAX_PER_LINE`].
pub fn decode(line: &[u8]) -> (Cow<'_, str>, Vec<Diagnostic>) {
    // Fast path: nearly all lines are valid UTF-8, and validation alone is faster.
    match core::str::from_utf8(line) {
        Ok(text) => (Cow::Borrowed(text), Vec::new()),
        Err(_) => (String::from_utf8_lossy(line), replaced(line)),
    }
}

/// Diagnostics for the replaced bytes of a line.
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
