//! The lines of an answer that is received over hours.

use super::OnlineError;
use super::client::Answer;

/// Maximum size of a line, in bytes.
const MAX_LINE: usize = 1 << 20;

/// A line with its number, from 1.
pub(crate) struct Line {
    pub(crate) number: u64,
    /// None if it is too long.
    pub(crate) text: Option<Vec<u8>>,
}

/// The lines of an answer.
pub(crate) struct Lines {
    answer: Answer,
    /// What was received after the last line.
    buffer: Vec<u8>,
    /// The end of the part of the buffer without a line break.
    searched: usize,
    number: u64,
    /// Whether the beginning of the line was dropped, because it is too long.
    too_long: bool,
    /// The number of received bytes.
    pub(crate) bytes: u64,
}

impl Lines {
    pub(crate) fn new(answer: Answer) -> Self {
        Self { answer, buffer: Vec::new(), searched: 0, number: 0, too_long: false, bytes: 0 }
    }

    /// The next line that is not empty; none at the end. It can be cancelled without loss.
    pub(crate) async fn next(&mut self) -> Result<Option<Line>, OnlineError> {
        loop {
            while let Some(end) = self.line_break() {
                let rest = self.buffer.split_off(end + 1);
                let mut text = std::mem::replace(&mut self.buffer, rest);
                text.truncate(end);
                if let Some(line) = self.finish(text) {
                    return Ok(Some(line));
                }
            }
            if MAX_LINE < self.buffer.len() {
                self.too_long = true;
                self.buffer.clear();
                self.searched = 0;
            }
            match self.answer.next().await? {
                Some(part) => {
                    self.bytes += part.len() as u64;
                    self.buffer.extend_from_slice(&part);
                }
                None if self.buffer.is_empty() && !self.too_long => return Ok(None),
                None => {
                    let text = std::mem::take(&mut self.buffer);
                    return Ok(self.finish(text));
                }
            }
        }
    }

    fn line_break(&mut self) -> Option<usize> {
        let found = self.buffer.iter().skip(self.searched).position(|byte| *byte == b'\n');
        let found = found.map(|index| self.searched + index);
        self.searched = if found.is_some() { 0 } else { self.buffer.len() };
        found
    }

    /// None for an empty line, which keeps the connection alive.
    fn finish(&mut self, text: Vec<u8>) -> Option<Line> {
        self.number += 1;
        if std::mem::take(&mut self.too_long) || MAX_LINE < text.len() {
            return Some(Line { number: self.number, text: None });
        }
        let is_empty = text.trim_ascii().is_empty();
        (!is_empty).then_some(Line { number: self.number, text: Some(text) })
    }
}
