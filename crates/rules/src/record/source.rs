//! Bytes with their line and column, from a reader that need not hold the file.

use std::io::{self, BufRead, ErrorKind};

/// A position in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) line: u64,
    pub(super) column: u64,
}

impl Place {
    pub(super) const START: Self = Self { line: 1, column: 1 };
}

/// A reader that knows where it is. Line ends are `\n`, `\r\n` and `\r`, and all come out as `\n`.
#[derive(Debug)]
pub(super) struct Source<R> {
    input: R,
    place: Place,
    taken: u64,
    /// The byte that was peeked at is a `\r`.
    at_cr: bool,
    after_cr: bool,
}

impl<R: BufRead> Source<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, place: Place::START, taken: 0, at_cr: false, after_cr: false }
    }

    pub(super) fn place(&self) -> Place {
        self.place
    }

    /// How many bytes were taken so far.
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    /// Skips a byte order mark.
    pub(super) fn skip_mark(&mut self) -> io::Result<()> {
        for byte in *b"\xef\xbb\xbf" {
            if self.peek()? != Some(byte) {
                break;
            }
            self.bump(byte);
        }
        self.place = Place::START;
        Ok(())
    }

    /// The next byte, which stays.
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
                    self.taken += 1;
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

    /// Takes the byte that [`Self::peek`] has just given.
    pub(super) fn bump(&mut self, byte: u8) {
        self.after_cr = self.at_cr;
        self.input.consume(1);
        self.taken += 1;
        if byte == b'\n' {
            self.place = Place { line: self.place.line + 1, column: 1 };
        } else if byte & 0xC0 != 0x80 {
            self.place.column += 1;
        }
    }

    /// Takes the next byte.
    pub(super) fn next(&mut self) -> io::Result<Option<u8>> {
        let next = self.peek()?;
        if let Some(byte) = next {
            self.bump(byte);
        }
        Ok(next)
    }
}
