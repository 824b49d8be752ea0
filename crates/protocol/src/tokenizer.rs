//! Splits bytes into lines, and lines into tokens and numbers.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use crate::diagnostic::{Diagnostic, DiagnosticKind};

/// Splits received bytes into lines.
///
/// A line ends in `\n`, `\r\n` or `\r`. An incomplete line is buffered until its end arrives. A line
/// longer than the limit is reported once and discarded up to its end. This bounds the memory for a
/// peer that sends no line ends.
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

const MARK: char = '\u{feff}';

/// A token and its position in the line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'a> {
    pub(crate) text: &'a str,
    pub(crate) start: usize,
}

impl Token<'_> {
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    pub(crate) fn span(&self) -> Range<usize> {
        self.start..self.end()
    }
}

/// The remaining tokens of a line.
///
/// Tokens are separated by spaces, tabs, line ends, NUL and all other ASCII control characters.
#[derive(Clone, Debug)]
pub(crate) struct Tokens<'a> {
    line: &'a str,
    at: usize,
}

impl<'a> Tokens<'a> {
    #[inline]
    pub(crate) fn new(line: &'a str) -> Self {
        let is_plain = line.as_bytes().first().is_some_and(u8::is_ascii_graphic);
        Self { line, at: if is_plain { 0 } else { mark_end(line) } }
    }

    /// The tokens of a text that is not the start of a line.
    pub(crate) fn of(text: &'a str) -> Self {
        Self { line: text, at: 0 }
    }

    pub(crate) fn peek(&self) -> Option<Token<'a>> {
        self.clone().next()
    }

    /// Reads the next token if `accepts` returns true for it.
    pub(crate) fn next_if(&mut self, accepts: impl FnOnce(&str) -> bool) -> Option<Token<'a>> {
        let token = self.peek().filter(|token| accepts(token.text))?;
        self.at = token.end();
        Some(token)
    }

    pub(crate) fn line(&self) -> &'a str {
        self.line
    }

    /// Position of the next byte to read.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Continues at a position between two tokens.
    pub(crate) fn go_to(&mut self, at: usize) {
        self.at = at;
    }

    /// Start of the next token, or the end of the line.
    #[inline]
    pub(crate) fn next_start(&self) -> usize {
        let bytes = self.line.as_bytes();
        let mut start = self.at;
        while bytes.get(start).is_some_and(|&byte| is_space_byte(byte)) {
            start += 1;
        }
        start
    }

    /// Fast path for nearly all fields: a keyword of at most eight bytes and a
    /// [`plain_number`](Self::plain_number), each after a single space or tab. Stops at the first other
    /// field, or if `take` returns `false`.
    #[inline]
    pub(crate) fn plain_fields(&mut self, mut take: impl FnMut(u64, u64) -> bool) {
        let line = self.line.as_bytes();
        let mut rest = line.get(self.at..).unwrap_or_default();
        while let [b' ' | b'\t', text @ ..] = rest {
            let chunk = chunk(line, text);
            let bits = spaces(chunk).trailing_zeros() & !7;
            let after = u64::MAX.checked_shl(bits).unwrap_or(0);
            let Some([b' ' | b'\t', text @ ..]) = text.get(bits as usize / 8..) else { break };
            let Some((number, length)) = number_of(line, text) else { break };
            let Some(text) = text.get(length..) else { break };
            if !take(chunk & !after, number) {
                break;
            }
            rest = text;
        }
        self.at = line.len() - rest.len();
    }

    /// Fast path for nearly all numbers: the next token, if it is an unsigned number of at most 15 digits,
    /// which cannot overflow.
    #[inline]
    pub(crate) fn plain_number(&mut self) -> Option<u64> {
        let start = self.next_start();
        let line = self.line.as_bytes();
        let (number, length) = number_of(line, line.get(start..)?)?;
        self.at = start + length;
        Some(number)
    }

    /// Reads all tokens before a keyword as one text, and the keyword.
    #[inline]
    pub(crate) fn text_before(
        &mut self,
        is_key: impl Fn(&str) -> bool,
    ) -> (Token<'a>, Option<Token<'a>>) {
        let mut next = self.next();
        let start = next.map_or(self.line.len(), |token| token.start);
        let mut end = start;
        while let Some(token) = next.filter(|token| !is_key(token.text)) {
            end = token.end();
            next = self.next();
        }
        (Token { text: self.line.get(start..end).unwrap_or_default(), start }, next)
    }

    /// The rest of the line without white space at both ends, and its position.
    pub(crate) fn rest(&self) -> Token<'a> {
        self.slice(self.next_start(), self.line.len())
    }

    /// The text between two positions of the line, without white space at its end.
    pub(crate) fn slice(&self, start: usize, end: usize) -> Token<'a> {
        let text = self.line.get(start..end).unwrap_or_default();
        Token { text: text.trim_end_matches(is_space), start }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    #[inline]
    fn next(&mut self) -> Option<Token<'a>> {
        let start = self.next_start();
        let rest = self.line.get(start..).filter(|rest| !rest.is_empty())?;
        let text = rest.get(..token_length(rest.as_bytes()))?;
        self.at = start + text.len();
        Some(Token { text, start })
    }
}

impl DoubleEndedIterator for Tokens<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let bytes = self.line.as_bytes();
        let end = bytes.iter().rposition(|&byte| !is_space_byte(byte))? + 1;
        let start = bytes.get(..end)?.iter().rposition(|&byte| is_space_byte(byte));
        let start = start.map_or(0, |space| space + 1);
        let token = Token { text: self.line.get(start..end)?, start };
        if start < self.at {
            return None;
        }
        self.line = self.line.get(..start)?;
        Some(token)
    }
}

/// The end of a byte order mark before the first token, or zero.
#[inline(never)]
fn mark_end(line: &str) -> usize {
    let start = line.trim_start_matches(|c| is_space(c) || c == MARK).len();
    let before = line.get(..line.len() - start).unwrap_or_default();
    before.rfind(MARK).map_or(0, |at| at + MARK.len_utf8())
}

/// The text up to the first white space, and the rest.
#[inline]
pub(crate) fn split_token(text: &str) -> (&str, &str) {
    text.split_at_checked(token_length(text.as_bytes())).unwrap_or((text, ""))
}

/// A keyword of up to eight bytes as an integer, for fast comparison.
pub(crate) const fn key(token: &str) -> u64 {
    let (mut key, mut bytes) = (0, token.as_bytes());
    while let Some((last, before)) = bytes.split_last() {
        key = key << 8 | *last as u64;
        bytes = before;
    }
    key
}

/// The first eight bytes of the rest of a line, padded with zeros.
#[inline]
fn chunk(line: &[u8], rest: &[u8]) -> u64 {
    match rest.first_chunk() {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => end_chunk(line, rest),
    }
}

/// Slow path of `chunk` near the end of the line.
#[inline(never)]
fn end_chunk(line: &[u8], rest: &[u8]) -> u64 {
    match line.last_chunk() {
        // Shifts out the bytes before the rest, without a branch for each length.
        Some(chunk) => u64::from_le_bytes(*chunk) >> 8 >> (8 * 7usize.saturating_sub(rest.len())),
        None => u64::from_le_bytes(short_chunk(rest)),
    }
}

/// The number of bytes before the first white space.
///
/// Reads eight bytes at a time: the length of a token is unpredictable, and a loop over its bytes
/// would cost a mispredicted branch per token.
#[inline]
fn token_length(text: &[u8]) -> usize {
    let spaces = text.first_chunk().map_or(0, |chunk| bytes_below(b' ' + 1, *chunk));
    if spaces == 0 { long_token_length(text) } else { first_marked(spaces) }
}

/// Slow path of `token_length` for a long or the last token.
#[inline(never)]
fn long_token_length(text: &[u8]) -> usize {
    let (chunks, rest) = text.as_chunks();
    for (index, chunk) in chunks.iter().enumerate() {
        let spaces = bytes_below(b' ' + 1, *chunk);
        if spaces != 0 {
            return 8 * index + first_marked(spaces);
        }
    }
    let end = rest.iter().position(|&byte| is_space_byte(byte)).unwrap_or(rest.len());
    8 * chunks.len() + end
}

/// Whether a text has a byte below this one, which is ASCII.
#[inline]
pub(crate) fn has_byte_below(limit: u8, text: &str) -> bool {
    let bytes = text.as_bytes();
    // The chunks may overlap.
    match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(start), Some(end)) if bytes.len() <= 16 => {
            bytes_below(limit, *start) | bytes_below(limit, *end) != 0
        }
        (Some(_), _) => long_has_byte_below(limit, bytes),
        _ => short_has_byte_below(limit, bytes),
    }
}

/// `has_byte_below` for less than eight bytes.
#[inline]
fn short_has_byte_below(limit: u8, bytes: &[u8]) -> bool {
    match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(start), Some(end)) => below(limit, half(*start) | half(*end) << 32) != 0,
        _ => bytes.iter().any(|&byte| byte < limit),
    }
}

/// `has_byte_below` for more than sixteen bytes. The compiler vectorizes the loop over chunks.
#[inline(never)]
fn long_has_byte_below(limit: u8, bytes: &[u8]) -> bool {
    let mark = |marks, &byte: &u8| marks | u8::from(byte < limit);
    let below = |chunk: &[u8; 16]| chunk.iter().fold(0, mark) != 0;
    bytes.last_chunk().is_some_and(below) || bytes.as_chunks().0.iter().any(below)
}

/// A text of less than eight bytes, padded with zeros.
#[inline]
fn short_chunk(text: &[u8]) -> [u8; 8] {
    let chunk = match (text.first_chunk(), text.last_chunk()) {
        (Some(start), Some(end)) => half(*start) | half(*end) << (8 * (text.len() - 4)),
        _ => text.iter().rev().fold(0, |chunk, &byte| chunk << 8 | u64::from(byte)),
    };
    chunk.to_le_bytes()
}

#[inline]
fn half(bytes: [u8; 4]) -> u64 {
    u32::from_le_bytes(bytes).into()
}

/// 1 in each byte.
const ONES: u64 = u64::MAX / 0xff;

/// Sets the highest bit of bytes below `limit`, which is ASCII. Exact up to the first one: bytes after
/// it may be marked, too.
#[inline]
fn bytes_below(limit: u8, chunk: [u8; 8]) -> u64 {
    below(limit, u64::from_le_bytes(chunk))
}

#[inline]
fn spaces(chunk: u64) -> u64 {
    below(b' ' + 1, chunk)
}

#[inline]
fn below(limit: u8, chunk: u64) -> u64 {
    chunk.wrapping_sub(ONES * u64::from(limit)) & !chunk & (ONES * 0x80)
}

/// The number of at most 15 digits at the start of a text, up to white space, and its number of
/// digits.
#[inline]
fn number_of(line: &[u8], text: &[u8]) -> Option<(u64, usize)> {
    match digits_of(chunk(line, text))? {
        (_, 0) => None,
        (number, 8) => long_number(line, text, number),
        (number, length) => Some((number, length)),
    }
}

/// Slow path of `number_of`: the first eight digits are parsed.
#[inline(never)]
fn long_number(line: &[u8], text: &[u8], first: u64) -> Option<(u64, usize)> {
    let (more, length) = digits_of(chunk(line, text.get(8..)?))?;
    let number = first.checked_mul(*POWERS.get(length)?)?.checked_add(more)?;
    Some((number, 8 + length))
}

/// Powers of ten for the digits after the first eight.
const POWERS: [u64; 8] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];

/// The number in the first eight bytes, or in those before the first white space, and its number of
/// digits. `None` if one of them is not a digit.
///
/// Reads eight bytes at a time, for the same reason as [`token_length`].
#[inline]
fn digits_of(chunk: u64) -> Option<(u64, usize)> {
    let bits = spaces(chunk).trailing_zeros() & !7;
    let digits = chunk ^ (ONES * u64::from(b'0'));
    // Equivalent to leading zeros, without a mask.
    let digits = digits.checked_shl(64 - bits).unwrap_or(0);
    let above_nine = digits | digits.wrapping_add(ONES * (0x80 - 10));
    if above_nine & (ONES * 0x80) != 0 {
        return None;
    }
    // Combines neighbors: digits, then pairs of digits, then pairs of pairs.
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_ffff_0000_ffff;
    Some((fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff, bits as usize / 8))
}

/// The number of bytes before the first marked one; 8 if none is marked.
#[inline]
fn first_marked(marks: u64) -> usize {
    marks.trailing_zeros() as usize / 8
}

pub(crate) fn is_space(c: char) -> bool {
    c <= ' '
}

#[inline]
fn is_space_byte(byte: u8) -> bool {
    byte <= b' '
}

/// An integer with any number of digits, with or without a sign.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Integer {
    pub(crate) negative: bool,
    pub(crate) magnitude: u64,
    /// The number exceeded the range of `magnitude`.
    pub(crate) saturated: bool,
}

impl Integer {
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (negative, digits) = match text.as_bytes() {
            [b'-', digits @ ..] => (true, digits),
            [b'+', digits @ ..] | digits => (false, digits),
        };
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        Some(Self::of_digits(negative, digits))
    }

    /// The integer at the start of a text, and the rest of the text.
    pub(crate) fn read_leading(text: &str) -> Option<(Self, &str)> {
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let length = unsigned.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = unsigned.split_at_checked(length)?;
        let negative = text.starts_with('-');
        (!digits.is_empty()).then(|| (Self::of_digits(negative, digits.as_bytes()), rest))
    }

    fn of_digits(negative: bool, digits: &[u8]) -> Self {
        let mut digits = digits.iter().map(|digit| u64::from(digit - b'0'));
        let exact = digits.try_fold(0u64, |sum, digit| sum.checked_mul(10)?.checked_add(digit));
        let (magnitude, saturated) = (exact.unwrap_or(u64::MAX), exact.is_none());
        Self { negative, magnitude, saturated }
    }

    /// An unsigned number in range.
    #[inline]
    pub(crate) fn plain(magnitude: u64) -> Self {
        Self { negative: false, magnitude, saturated: false }
    }

    /// The signed number, if it is in the range of `i64`.
    pub(crate) fn signed(self) -> Option<i64> {
        if self.negative {
            0i64.checked_sub_unsigned(self.magnitude)
        } else {
            0i64.checked_add_unsigned(self.magnitude)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_numbers_are_their_digits() {
        for length in 1..20 {
            for number in ["1234567890123456789", "0000000000000000000", "9999999999999999999"] {
                for after in ["", " ", "\t1", " pv e2e4 e7e5", "x", "-", "/1 123456789", "\u{663}"]
                {
                    let text = alloc::format!(" {}{after}", &number[..length]);
                    let mut tokens = Tokens::of(&text);
                    let is_number = length <= 15 && !after.starts_with(['x', '-', '/', '\u{663}']);
                    let expected = is_number.then(|| number[..length].parse().unwrap());
                    assert_eq!(tokens.plain_number(), expected, "{text}");
                    assert_eq!(tokens.at(), if is_number { length + 1 } else { 0 }, "{text}");
                }
            }
        }
    }

    #[test]
    fn plain_fields_are_short_tokens_with_numbers() {
        let fields = |line: &str| {
            let (mut tokens, mut found) = (Tokens::of(line), Vec::new());
            tokens.go_to(2);
            tokens.plain_fields(|key, number| {
                found.push((key, number));
                number != 13
            });
            (found, tokens.at())
        };
        let (winc, hashfull) = (key("winc"), key("hashfull"));
        assert_eq!(
            fields("go winc 0\thashfull 123456789"),
            (alloc::vec![(winc, 0), (hashfull, 123_456_789)], 28)
        );
        assert_eq!(fields("go winc 7 winc 13 winc 7"), (alloc::vec![(winc, 7), (winc, 13)], 9));
        for line in ["go", "go ", "go winc", "go winc ", "go winc  5", "go winc -5", "go winc 5x"] {
            assert_eq!(fields(line), (alloc::vec![], 2), "{line}");
        }
        assert_eq!(fields("go movestogo 5"), (alloc::vec![], 2));
    }

    #[test]
    fn chunked_search_equals_bytewise_search() {
        for length in 0..40 {
            let text = "~".repeat(length);
            assert!(!has_byte_below(b'~', &text), "{length}");
            assert_eq!(token_length(text.as_bytes()), length);
            for at in 0..length {
                let mut text = text.clone();
                text.replace_range(at..=at, " ");
                assert!(has_byte_below(b'!', &text) && !has_byte_below(b' ', &text), "{text}");
                assert_eq!(token_length(text.as_bytes()), at);
            }
        }
    }
}
