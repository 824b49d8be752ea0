//! Lines of text in UTF-8 or `Shift_JIS`, one at a time.

use std::io::{BufRead, ErrorKind, Read};

use encoding_rs::{Encoding, SHIFT_JIS, UTF_8};

use super::{Bookmark, Format, Limit, Limits, RecordErrorKind, source::Location};

/// A line without its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) number: u64,
    /// The number of bytes of the file before it.
    offset: u64,
    pub(super) text: String,
}

impl Line {
    /// The location of a part of the line.
    pub(super) fn location(&self, part: &str) -> Location {
        let offset = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        let before = self.text.get(..offset).unwrap_or(&self.text);
        Location { line: self.number, column: before.chars().count() as u64 + 1 }
    }
}

/// Reads lines. The encoding is the declared one; otherwise it is detected in the first text that is
/// not ASCII.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: R,
    limits: Limits,
    encoding: Option<&'static Encoding>,
    number: u64,
    /// The number of bytes that were read.
    offset: u64,
    pushed_back: Option<Line>,
    game_bytes: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: R, limits: Limits, from: Bookmark) -> Self {
        let Bookmark { lines: number, offset, encoding, .. } = from;
        Self { input, limits, encoding, number, offset, pushed_back: None, game_bytes: 0 }
    }

    /// The location of the next line, after a number of games.
    pub(super) fn bookmark(&self, format: Format, games: u64) -> Bookmark {
        let (lines, offset) = match &self.pushed_back {
            Some(line) => (line.number - 1, line.offset),
            None => (self.number, self.offset),
        };
        Bookmark { format, offset, lines, games, encoding: self.encoding }
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The location of the last line.
    pub(super) fn location(&self) -> Location {
        Location { line: self.number.max(1), column: 1 }
    }

    /// Starts counting the bytes of another game.
    pub(super) fn begin_game(&mut self) {
        self.game_bytes = 0;
    }

    /// Makes a line the next one again.
    pub(super) fn push_back(&mut self, line: Line) {
        self.pushed_back = Some(line);
    }

    /// The next line. `None` at the end of the file.
    pub(super) fn next(&mut self) -> Result<Option<Line>, RecordErrorKind> {
        if let Some(line) = self.pushed_back.take() {
            return Ok(Some(line));
        }
        let offset = self.offset;
        let Some(mut bytes) = self.read_bytes()? else { return Ok(None) };
        self.number += 1;
        if self.number == 1 && bytes.starts_with(b"\xef\xbb\xbf") {
            bytes.drain(..3);
            self.encoding = Some(UTF_8);
        }
        if self.number <= 2 {
            self.encoding = self.encoding.or_else(|| declared(&bytes));
        }
        if self.game_bytes > self.limits.game_bytes {
            return Err(RecordErrorKind::LimitExceeded(Limit::GameBytes));
        }
        Ok(Some(Line { number: self.number, offset, text: self.decoded(&bytes) }))
    }

    /// The bytes of a line without its end.
    fn read_bytes(&mut self) -> Result<Option<Vec<u8>>, RecordErrorKind> {
        let mut bytes = Vec::new();
        let max = self.limits.comment_bytes.saturating_add(self.limits.header_bytes);
        let max = u64::try_from(max).unwrap_or(u64::MAX);
        let limit = max.min(self.limits.game_bytes).saturating_add(2);
        let count = (&mut self.input).take(limit).read_until(b'\n', &mut bytes)?;
        if count == 0 {
            return Ok(None);
        }
        self.game_bytes += count as u64;
        self.offset += count as u64;
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
        } else if count as u64 == limit {
            self.skip_line()?;
            self.number += 1;
            return Err(RecordErrorKind::LimitExceeded(if limit > self.limits.game_bytes {
                Limit::GameBytes
            } else {
                Limit::CommentBytes
            }));
        }
        if bytes.last() == Some(&b'\r') {
            bytes.pop();
        }
        Ok(Some(bytes))
    }

    fn skip_line(&mut self) -> Result<(), RecordErrorKind> {
        loop {
            let (used, done) = match self.input.fill_buf() {
                Ok([]) => return Ok(()),
                Ok(buffer) => match buffer.iter().position(|&byte| byte == b'\n') {
                    Some(index) => (index + 1, true),
                    None => (buffer.len(), false),
                },
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            };
            self.input.consume(used);
            self.offset += used as u64;
            if done {
                return Ok(());
            }
        }
    }

    fn decoded(&mut self, bytes: &[u8]) -> String {
        if bytes.is_ascii() {
            return String::from_utf8_lossy(bytes).into_owned();
        }
        let encoding = if let Some(encoding) = self.encoding {
            encoding
        } else {
            // The complete buffer is checked: a single line of Shift_JIS can be valid UTF-8.
            let rest = self.input.fill_buf().unwrap_or_default();
            let encoding = if is_utf8(bytes) && is_utf8(rest) { UTF_8 } else { SHIFT_JIS };
            *self.encoding.insert(encoding)
        };
        encoding.decode_without_bom_handling(bytes).0.into_owned()
    }
}

/// Whether these bytes are UTF-8, except for a truncated character at the end.
fn is_utf8(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).map_or_else(|error| error.error_len().is_none(), |_| true)
}

/// The encoding that `#KIF version=2.0 encoding=UTF-8` or `'CSA encoding=UTF-8` declares.
fn declared(line: &[u8]) -> Option<&'static Encoding> {
    let line = std::str::from_utf8(line).ok()?;
    let name = line.starts_with(['#', '\'']).then(|| line.split_once("encoding="))??.1;
    match name.trim().to_ascii_lowercase().as_str() {
        "utf-8" | "utf8" => Some(UTF_8),
        "shift_jis" | "shift-jis" | "sjis" => Some(SHIFT_JIS),
        _ => None,
    }
}

/// The text in `Shift_JIS`. Characters that it lacks become question marks.
pub(super) fn to_shift_jis(text: &str) -> Vec<u8> {
    let (bytes, _, failed) = SHIFT_JIS.encode(text);
    if !failed {
        return bytes.into_owned();
    }
    let mut all = Vec::with_capacity(text.len());
    let mut buffer = [0; 4];
    for letter in text.chars() {
        match SHIFT_JIS.encode(letter.encode_utf8(&mut buffer)) {
            (bytes, _, false) => all.extend_from_slice(&bytes),
            (_, _, true) => all.push(b'?'),
        }
    }
    all
}
