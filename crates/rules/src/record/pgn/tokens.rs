//! Splits PGN into tokens.
//!
//! Tokens are found in a buffer of the source, so that most bytes are visited once by a vectorized
//! search. Lines and columns are counted only where a location is needed.

use std::{
    borrow::Cow,
    io::{self, BufRead, ErrorKind},
    ops::Range,
};

use memchr::{memchr, memchr2, memchr2_iter};

use super::super::{Limits, format::Location};

/// A token. [`Tokens::text`] returns its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    /// [`Tokens::tag`] has its content.
    Tag,
    /// A move, a number, a result or unknown text.
    Symbol,
    /// `$` and a number: the text has the digits.
    Nag,
    /// `(`
    Open,
    /// `)`
    Close,
    /// A comment without its delimiters.
    Comment,
    /// A comment that is longer than its limit. It has no text.
    LongComment,
    /// A comment without an end. It has no text.
    OpenComment,
    /// The end of the file.
    End,
}

/// `[Name "Value"]`
#[derive(Debug, Default)]
pub(super) struct Tag {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) is_malformed: bool,
}

/// Text inside a comment that shows that the comment was not closed. It begins a line.
const NEXT_GAME: &[u8] = b"[Event \"";

const MARK: &[u8] = "\u{feff}".as_bytes();

/// The length of that text with the line break and the byte order mark before it.
const NEXT_GAME_LEN: usize = 1 + MARK.len() + NEXT_GAME.len();

#[derive(Debug)]
pub(super) struct Tokens<R> {
    input: R,
    limits: Limits,
    /// Text of the source. A byte before the token remains in it, if there is one.
    buffer: Vec<u8>,
    /// The number of bytes of the source before the buffer.
    discarded: u64,
    /// The start of the last token.
    token: usize,
    text: Range<usize>,
    /// The last tag. Its memory is reused.
    pub(super) tag: Tag,
    /// The next byte.
    position: usize,
    /// A known location.
    marked: usize,
    location: Location,
    /// The start of the last token if it is not in the buffer any more.
    token_location: Option<Location>,
    at_line_start: bool,
    /// The last token was a tag, so another one may follow on the same line.
    after_tag: bool,
    /// The end of the last token in the source if it is only the beginning of a symbol, and that of the
    /// token before it.
    cut_at: Option<u64>,
    continues_at: Option<u64>,
    blank_line: bool,
    game_start: u64,
}

impl<R: BufRead> Tokens<R> {
    pub(super) fn new(input: R, limits: Limits) -> Self {
        Self {
            input,
            limits,
            buffer: Vec::new(),
            discarded: 0,
            token: 0,
            text: 0..0,
            tag: Tag::default(),
            position: 0,
            marked: 0,
            location: Location::START,
            token_location: None,
            at_line_start: true,
            after_tag: false,
            cut_at: None,
            continues_at: None,
            blank_line: false,
            game_start: 0,
        }
    }

    /// The start of the last token.
    pub(super) fn location(&mut self) -> Location {
        if let Some(location) = self.token_location {
            return location;
        }
        self.mark(self.token);
        self.location
    }

    /// The text of the last token.
    pub(super) fn text(&self) -> &[u8] {
        self.buffer.get(self.text.clone()).unwrap_or_default()
    }

    /// Whether the last token continues a symbol that is too long to have a meaning.
    pub(super) fn is_continuation(&self) -> bool {
        let is_symbol = |byte: &u8| !ENDS_SYMBOL[usize::from(*byte)];
        self.continues_at.is_some_and(|end| end == self.discarded + self.token as u64)
            && self.text().first().is_some_and(is_symbol)
    }

    /// Replaces the last token by a part of its text. The text after the part is the next token.
    pub(super) fn narrow(&mut self, part: Range<usize>) {
        let start = self.text.start;
        let end = self.text.end.min(start.saturating_add(part.end));
        if end < self.text.end {
            self.cut_at = None;
        }
        self.token = end.min(start.saturating_add(part.start));
        self.text = self.token..end;
        self.position = end;
    }

    /// Whether an empty line precedes the last token.
    pub(super) fn is_after_blank_line(&self) -> bool {
        self.blank_line
    }

    /// Starts counting the bytes of another game, which begins with the last token.
    pub(super) fn begin_game(&mut self) {
        self.game_start = self.discarded + self.token as u64;
    }

    /// The number of bytes of the game up to the last token.
    pub(super) fn game_bytes(&self) -> u64 {
        (self.discarded + self.token as u64).saturating_sub(self.game_start)
    }

    /// Counts lines and columns up to an offset of the buffer.
    fn mark(&mut self, offset: usize) {
        let Some(text) = self.buffer.get(self.marked..offset) else { return };
        let mut start = 0;
        for index in memchr2_iter(b'\n', b'\r', text) {
            let before = match index.checked_sub(1) {
                Some(before) => text.get(before),
                None => self.marked.checked_sub(1).and_then(|before| self.buffer.get(before)),
            };
            start = index + 1;
            // A line end of two bytes is one.
            if text.get(index) == Some(&b'\r') || before != Some(&b'\r') {
                self.location.line += 1;
            }
            self.location.column = 1;
        }
        let rest = text.get(start..).unwrap_or_default();
        let letters = rest.iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
        self.location.column += letters as u64;
        self.marked = offset;
    }

    /// Reads more of the source. Bytes before the token are dropped. False at the end.
    fn fill(&mut self) -> io::Result<bool> {
        let dropped = self.token.saturating_sub(1);
        if dropped > 0 {
            self.mark(self.token);
            self.buffer.drain(..dropped);
            self.discarded += dropped as u64;
            self.token -= dropped;
            self.position -= dropped;
            self.marked -= dropped;
        }
        loop {
            let count = match self.input.fill_buf() {
                Ok(text) => {
                    self.buffer.extend_from_slice(text);
                    text.len()
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            self.input.consume(count);
            return Ok(count > 0);
        }
    }

    /// The text after the last token, up to a number of bytes.
    pub(super) fn upcoming(&mut self, count: usize) -> &[u8] {
        while self.buffer.len() < self.position + count {
            let discarded = self.discarded;
            // An error is returned with the next token.
            let Ok(true) = self.fill() else { break };
            let dropped = usize::try_from(self.discarded - discarded).unwrap_or(0);
            self.text = self.text.start - dropped..self.text.end - dropped;
        }
        let text = self.buffer.get(self.position..).unwrap_or_default();
        text.get(..count).unwrap_or(text)
    }

    /// The text from an offset after the start of the token.
    fn rest(&self, from: usize) -> &[u8] {
        self.buffer.get(self.token + from..).unwrap_or_default()
    }

    /// The distance from the token to the first byte that `find` returns, or to the end of the source or
    /// of a text of a length.
    fn end_of(
        &mut self,
        mut from: usize,
        limit: usize,
        find: impl Fn(&[u8]) -> Option<usize>,
    ) -> io::Result<usize> {
        loop {
            let rest = self.rest(from);
            if let Some(index) = find(rest) {
                return Ok(from + index);
            }
            from += rest.len();
            if from >= limit || !self.fill()? {
                return Ok(from);
            }
        }
    }

    /// The next token.
    pub(super) fn next(&mut self) -> io::Result<Token> {
        self.blank_line = false;
        self.token_location = None;
        self.continues_at = self.cut_at.take();
        let byte = loop {
            let Some(&byte) = self.buffer.get(self.position) else {
                self.token = self.position;
                if !self.fill()? {
                    self.text = self.position..self.position;
                    return Ok(Token::End);
                }
                continue;
            };
            match byte {
                b' ' | b'\t' | 0x0B | 0x0C => {}
                b'.' => self.at_line_start = false,
                b'\n' if self.byte_before() == Some(b'\r') => {}
                b'\n' | b'\r' => {
                    self.blank_line |= self.at_line_start;
                    self.at_line_start = true;
                }
                b'1'..=b'9' if !self.at_line_start => match self.move_number() {
                    Some(length) => {
                        self.after_tag = false;
                        self.position += length;
                    }
                    None => break byte,
                },
                b'%' if matches!(self.byte_before(), None | Some(b'\n' | b'\r')) => {
                    self.token = self.position;
                    self.skip_line()?;
                    continue;
                }
                0xC2 | 0xE1..=0xE3 | 0xEF => match self.wide_blank()? {
                    Some(length) => {
                        self.position += length;
                        continue;
                    }
                    None => break byte,
                },
                _ => break byte,
            }
            self.position += 1;
        };
        self.token = self.position;
        let at_line_start = std::mem::take(&mut self.at_line_start);
        let after_tag = std::mem::take(&mut self.after_tag);
        match byte {
            b'{' => self.comment(),
            b';' => self.rest_of_line(),
            b'[' if at_line_start || after_tag => self.tag(),
            b'(' => Ok(self.single(Token::Open)),
            b')' => Ok(self.single(Token::Close)),
            b'$' => {
                let end = self.symbol_end(|byte| !byte.is_ascii_digit())?;
                Ok(self.token(1, end, end, Token::Nag))
            }
            b'!' | b'?' => self.symbol(|byte| matches!(byte, b'!' | b'?')),
            // The standard reserves this for future use.
            b'<' => self.symbol(|byte| !matches!(byte, b'>' | b'\n' | b'\r')),
            b'*' | b'[' | b']' | b'}' | b'>' | b'"' => Ok(self.single(Token::Symbol)),
            _ => self.symbol(|byte| !ENDS_SYMBOL[usize::from(byte)]),
        }
    }

    /// The number of digits before a period at the next byte. It has no meaning for the game.
    fn move_number(&self) -> Option<usize> {
        let text = self.buffer.get(self.position..)?;
        let digits = text.iter().take(4).take_while(|byte| byte.is_ascii_digit()).count();
        (text.get(digits) == Some(&b'.')).then_some(digits)
    }

    /// The length of a blank outside of ASCII at the next byte.
    fn wide_blank(&mut self) -> io::Result<Option<usize>> {
        self.token = self.position;
        while self.rest(0).len() < MAX_BLANK {
            if !self.fill()? {
                break;
            }
        }
        Ok(blank_length(self.rest(0)))
    }

    fn byte_before(&self) -> Option<u8> {
        self.position.checked_sub(1).and_then(|before| self.buffer.get(before)).copied()
    }

    /// Completes a token. `from`, `to` and `end` are distances from its start: of its text and of the
    /// next byte.
    fn token(&mut self, from: usize, to: usize, end: usize, token: Token) -> Token {
        self.text = self.token + from..self.token + to;
        self.position = self.token + end;
        token
    }

    fn single(&mut self, token: Token) -> Token {
        self.token(0, 1, 1, token)
    }

    /// The length of a symbol. Only as many bytes are searched as it can have: a long text is read once.
    fn symbol_end(&mut self, ends: impl Fn(u8) -> bool) -> io::Result<usize> {
        let find = |text: &[u8]| text.iter().take(MAX_SYMBOL).position(|&byte| ends(byte));
        Ok(self.end_of(1, MAX_SYMBOL, find)?.min(MAX_SYMBOL))
    }

    fn symbol(&mut self, belongs: impl Fn(u8) -> bool) -> io::Result<Token> {
        let end = self.symbol_end(|byte| !belongs(byte))?;
        let text = self.buffer.get(self.token..self.token + end).unwrap_or_default();
        let blank = if text.is_ascii() { None } else { blank_in(text) };
        let is_cut = blank.is_none() && end == MAX_SYMBOL;
        self.cut_at = is_cut.then(|| self.discarded + (self.token + end) as u64);
        let end = blank.unwrap_or(end);
        Ok(self.token(0, end, end, Token::Symbol))
    }

    /// Skips text up to a line end, with constant memory.
    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            if let Some(index) = memchr2(b'\n', b'\r', self.rest(0)) {
                self.position = self.token + index;
                return Ok(());
            }
            self.position = self.buffer.len();
            self.token = self.position;
            if !self.fill()? {
                return Ok(());
            }
        }
    }

    fn rest_of_line(&mut self) -> io::Result<Token> {
        let limit = self.limits.comment_bytes.saturating_add(2);
        let end = self.end_of(1, limit, |text| memchr2(b'\n', b'\r', text))?;
        if end < limit {
            return Ok(self.token(1, end, end, Token::Comment));
        }
        self.skip_line()?;
        self.text = 0..0;
        Ok(Token::LongComment)
    }

    fn comment(&mut self) -> io::Result<Token> {
        let limit = self.limits.comment_bytes.saturating_add(2);
        let (mut from, mut is_long) = (1, false);
        loop {
            let rest = self.rest(from);
            let end = memchr(b'}', rest);
            let searched = from + end.unwrap_or(rest.len());
            // The beginning of the next game can be in two parts of the source.
            if let Some(game) = self.next_game(from.saturating_sub(NEXT_GAME_LEN), searched) {
                self.at_line_start = true;
                return Ok(self.token(0, 0, game, Token::OpenComment));
            }
            if end.is_some() {
                is_long |= searched > self.limits.comment_bytes.saturating_add(1);
                let token = if is_long { Token::LongComment } else { Token::Comment };
                let text_end = if is_long { 1 } else { searched };
                return Ok(self.token(1, text_end, searched + 1, token));
            }
            from = searched;
            if from > limit {
                is_long = true;
                self.token_location = Some(self.location());
                let kept = from.min(NEXT_GAME_LEN + 1);
                self.token += from - kept;
                from = kept;
            }
            if !self.fill()? {
                return Ok(self.token(0, 0, from, Token::OpenComment));
            }
        }
    }

    /// The distance from the token to the beginning of the next game between two distances.
    fn next_game(&self, from: usize, to: usize) -> Option<usize> {
        let text = self.buffer.get(self.token + from..self.token + to)?;
        memchr2_iter(b'\n', b'\r', text).find_map(|line_break| {
            let line = text.get(line_break + 1..)?;
            let tag = line.strip_prefix(MARK).unwrap_or(line);
            tag.starts_with(NEXT_GAME).then_some(from + text.len() - tag.len())
        })
    }

    fn tag(&mut self) -> io::Result<Token> {
        // A longer line exceeds the limits of a header.
        let limit = self.limits.header_bytes.saturating_mul(2).saturating_add(64);
        let end = self.end_of(1, limit, |text| memchr2(b'\n', b'\r', text))?.min(limit);
        let line = self.buffer.get(self.token + 1..self.token + end).unwrap_or_default();
        let length = self.tag.read(line);
        // Only a complete tag ends before its line.
        self.after_tag = true;
        Ok(self.token(0, end, length + 1, Token::Tag))
    }
}

impl Tag {
    fn set(&mut self, name: &[u8], value: &[u8], is_malformed: bool) {
        self.name.clear();
        self.name.push_str(&decoded(name));
        self.value.clear();
        self.value.push_str(&decoded(value));
        self.is_malformed = is_malformed;
    }

    /// Reads a tag after its opening bracket, up to the end of its line. Returns its length.
    fn read(&mut self, line: &[u8]) -> usize {
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
        let blanks = |from: usize| {
            line.get(from..).unwrap_or_default().iter().take_while(|byte| is_blank(byte)).count()
        };
        let start = blanks(0);
        let name = line.get(start..).unwrap_or_default();
        let ends = |byte: &u8| is_blank(byte) || matches!(byte, b'"' | b']');
        let name = name.get(..name.iter().position(ends).unwrap_or(name.len())).unwrap_or_default();
        let after_name = start + name.len();
        let mut index = after_name + blanks(after_name);
        if line.get(index) != Some(&b'"') {
            // A value without quotes.
            let value = line.get(index..).unwrap_or_default();
            let end = memchr(b']', value);
            let length = index + end.map_or(value.len(), |end| end + 1);
            let value = value.get(..end.unwrap_or(value.len())).unwrap_or_default();
            self.set(name, decoded(value).trim().as_bytes(), true);
            return length;
        }
        index += 1;
        let quoted = line.get(index..).unwrap_or_default();
        if let Some(end) = memchr2(b'"', b'\\', quoted)
            && let Some((value, [b'"', b']', ..])) = quoted.split_at_checked(end)
        {
            self.set(name, value, false);
            return index + end + 2;
        }
        let (mut value, mut is_malformed) = (Vec::new(), false);
        while let Some(&byte) = line.get(index) {
            index += 1;
            match byte {
                b'\\' => {
                    let escaped = line.get(index).filter(|next| matches!(next, b'"' | b'\\'));
                    index += usize::from(escaped.is_some());
                    value.push(*escaped.unwrap_or(&byte));
                }
                b'"' => {
                    let after = index + blanks(index);
                    match line.get(after) {
                        Some(b']') => {
                            self.set(name, &value, is_malformed);
                            return after + 1;
                        }
                        None => {
                            self.set(name, &value, true);
                            return after;
                        }
                        // A quote without a following bracket belongs to the value.
                        Some(_) => {
                            is_malformed = true;
                            value.push(byte);
                        }
                    }
                }
                _ => value.push(byte),
            }
        }
        let value = decoded(&value);
        let value = value.trim_end_matches(|letter: char| letter == ']' || letter.is_whitespace());
        self.set(name, value.as_bytes(), true);
        index
    }
}

/// No symbol is longer; further text is another symbol.
const MAX_SYMBOL: usize = 64;

/// Bytes of the longest blank.
const MAX_BLANK: usize = 3;

/// Whether a character has no visible form. Some editors and web pages put them between moves, and
/// concatenated files have byte order marks between their games.
fn is_wide_blank(letter: char) -> bool {
    !letter.is_ascii()
        && (letter.is_whitespace()
            || matches!(letter, '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{2060}' | '\u{FEFF}'))
}

/// The length of a blank outside of ASCII at the start of a text.
fn blank_length(text: &[u8]) -> Option<usize> {
    let text = text.get(..MAX_BLANK).unwrap_or(text);
    let valid = match std::str::from_utf8(text) {
        Ok(valid) => valid,
        Err(error) => std::str::from_utf8(text.get(..error.valid_up_to())?).ok()?,
    };
    let first = valid.chars().next().filter(|letter| is_wide_blank(*letter))?;
    Some(first.len_utf8())
}

/// The offset of the first blank outside of ASCII.
fn blank_in(text: &[u8]) -> Option<usize> {
    let starts = text.iter().enumerate().filter(|(_, byte)| **byte >= 0xC0);
    starts.map(|(index, _)| index).find(|&index| blank_length(&text[index..]).is_some())
}

static ENDS_SYMBOL: [bool; 256] = {
    let ends = b" \t\n\r\x0B\x0C{}()[]<>;!?$.*\"";
    let mut table = [false; 256];
    let mut index = 0;
    while index < ends.len() {
        table[ends[index] as usize] = true;
        index += 1;
    }
    table
};

/// The text of bytes. The source is UTF-8, but a symbol can end within a character.
pub(super) fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}
