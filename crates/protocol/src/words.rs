//! Cuts a line into words and reads numbers. The only tokenizer of the crate.

use core::ops::Range;

const MARK: char = '\u{feff}';

/// A word and where it stood.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word<'a> {
    pub(crate) text: &'a str,
    pub(crate) start: usize,
}

impl Word<'_> {
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    pub(crate) fn span(&self) -> Range<usize> {
        self.start..self.end()
    }
}

/// The words of a line that are still to be read.
///
/// Space, tab, line ends, NUL and every other ASCII control character separate words.
#[derive(Clone, Debug)]
pub(crate) struct Words<'a> {
    line: &'a str,
    at: usize,
}

impl<'a> Words<'a> {
    pub(crate) fn new(line: &'a str) -> Self {
        // A byte order mark is no part of the first word.
        let start = line.trim_start_matches(|c| is_space(c) || c == MARK).len();
        let before = line.get(..line.len() - start).unwrap_or_default();
        Self { line, at: before.rfind(MARK).map_or(0, |at| at + MARK.len_utf8()) }
    }

    pub(crate) fn peek(&self) -> Option<Word<'a>> {
        self.clone().next()
    }

    /// Takes the next word if it is one of these.
    pub(crate) fn next_if(&mut self, wanted: impl FnOnce(&str) -> bool) -> Option<Word<'a>> {
        self.peek().filter(|word| wanted(word.text)).and_then(|_| self.next())
    }

    pub(crate) fn line(&self) -> &'a str {
        self.line
    }

    /// Where the next byte to read stands.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Where the next word starts; the end of the line if there is none.
    pub(crate) fn next_start(&self) -> usize {
        self.peek().map_or(self.line.len(), |word| word.start)
    }

    /// Everything still unread, without white space at both ends; and where it starts.
    pub(crate) fn rest(&self) -> Word<'a> {
        self.slice(self.next_start(), self.line.len())
    }

    /// The text between two places of the line, without white space at its end.
    pub(crate) fn slice(&self, start: usize, end: usize) -> Word<'a> {
        let text = self.line.get(start..end).unwrap_or_default();
        Word { text: text.trim_end_matches(is_space), start }
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = Word<'a>;

    #[inline]
    fn next(&mut self) -> Option<Word<'a>> {
        let tail = self.line.as_bytes().get(self.at..)?;
        let skipped = tail.iter().position(|&byte| !is_space_byte(byte))?;
        let start = self.at + skipped;
        let word = tail.get(skipped..)?;
        let length = word.iter().position(|&byte| is_space_byte(byte)).unwrap_or(word.len());
        self.at = start + length;
        Some(Word { text: self.line.get(start..self.at)?, start })
    }
}

pub(crate) fn is_space(c: char) -> bool {
    c <= ' '
}

#[inline]
fn is_space_byte(byte: u8) -> bool {
    byte <= b' '
}

/// A whole number as written: any number of digits, with or without a sign.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Integer {
    pub(crate) negative: bool,
    pub(crate) magnitude: u64,
    /// The number was larger than `magnitude` can hold.
    pub(crate) saturated: bool,
}

impl Integer {
    #[inline]
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (negative, digits) = match text.as_bytes() {
            [b'-', digits @ ..] => (true, digits),
            [b'+', digits @ ..] | digits => (false, digits),
        };
        if digits.is_empty() {
            return None;
        }
        let (mut magnitude, mut saturated) = (0u64, false);
        for digit in digits {
            let value = digit.wrapping_sub(b'0');
            if 9 < value {
                return None;
            }
            let next = magnitude.checked_mul(10).and_then(|it| it.checked_add(value.into()));
            saturated |= next.is_none();
            magnitude = if saturated { u64::MAX } else { next.unwrap_or(u64::MAX) };
        }
        Some(Self { negative, magnitude, saturated })
    }

    /// The number with its sign, if an `i64` can hold it.
    pub(crate) fn signed(self) -> Option<i64> {
        if self.negative {
            0i64.checked_sub_unsigned(self.magnitude)
        } else {
            0i64.checked_add_unsigned(self.magnitude)
        }
    }
}
