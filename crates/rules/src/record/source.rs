//! Bytes with line and column, from a stream.

use std::io::{self, BufRead, ErrorKind};

/// A location in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Location {
    pub(super) line: u64,
    pub(super) column: u64,
}

impl Location {
    pub(super) const START: Self = Self { line: 1, column: 1 };
}

/// A byte reader with a location. The line ends `\n`, `\r\n` and `\r` are all returned as `\n`.
#[derive(Debug)]
pub(super) struct Source<R> {
    input: R,
    location: Location,
    consumed: u64,
    /// The peeked byte is a `\r`.
    at_cr: bool,
    after_cr: bool,
}

impl<R: BufRead> Source<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, location: Location::START, consumed: 0, at_cr: false, after_cr: false }
    }

    pub(super) fn location(&self) -> Location {
        self.location
    }

    /// The number of bytes that were consumed.
    pub(super) fn consumed(&self) -> u64 {
        self.consumed
    }

    /// Skips a byte order mark.
    pub(super) fn skip_mark(&mut self) -> io::Result<()> {
        for byte in *b"\xef\xbb\xbf" {
            if self.peek()? != Some(byte) {
                break;
            }
            self.bump(byte);
        }
        self.location = Location::START;
        Ok(())
    }

    /// The next byte, without consuming it.
    pub(super) fn peek(&mut self) -> io::Result<Option<u8>> {
        loop {
            let next = match self.input.fill_buf() {
                Ok(buffer) => buffer.first().copied(),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            match next {
                Some(b'\n') if self.after_cr => {
                    self.after_cr = false;
                    self.consumed += 1;
                    self.input.consume(1);
                }
                Some(b'\r') => {
                    self.at_cr = true;
                    return Ok(Some(b'\n'));
                }
                next => {
                    self.at_cr = false;
                    return Ok(next);
                }
            }
        }
    }

    /// Consumes the byte that [`Self::peek`] returned.
    pub(super) fn bump(&mut self, byte: u8) {
        self.after_cr = self.at_cr;
        self.input.consume(1);
        self.consumed += 1;
        if byte == b'\n' {
            self.location = Location { line: self.location.line + 1, column: 1 };
        } else if byte & 0xC0 != 0x80 {
            self.location.column += 1;
        }
    }

    /// Consumes the next byte.
    pub(super) fn next(&mut self) -> io::Result<Option<u8>> {
        let next = self.peek()?;
        if let Some(byte) = next {
            self.bump(byte);
        }
        Ok(next)
    }
}
