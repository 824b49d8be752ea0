//! Splits PGN into tokens.

use std::io::BufRead;

use encoding_rs::WINDOWS_1252;

use super::super::{
    Limit, Limits, RecordErrorKind,
    input::{Location, Source},
};

/// A token and its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// `[Name "Value"]`, and whether it was malformed.
    Tag { name: String, value: String, malformed: bool },
    /// A move, a number, a result or unknown text: [`Tokens::text`] returns it.
    Symbol,
    /// `$` and a number: [`Tokens::text`] returns the digits.
    Nag,
    /// `(`
    Open,
    /// `)`
    Close,
    /// A comment without its delimiters.
    Comment(String),
    /// An empty line.
    BlankLine,
    /// The end of the file.
    End,
}

/// Text inside a comment that shows that the comment was not closed.
const NEXT_GAME: &[u8] = b"[Event \"";

#[derive(Debug)]
pub(super) struct Tokens<R> {
    source: Source<R>,
    limits: Limits,
    text: Vec<u8>,
    /// The start of the last token.
    location: Location,
    at_line_start: bool,
    /// An unclosed comment has consumed the beginning of the next game.
    event_follows: bool,
    /// The last token was a tag, so another one may follow on the same line.
    after_tag: bool,
    game_start: u64,
}

impl<R: BufRead> Tokens<R> {
    pub(super) fn new(input: R, limits: Limits) -> Self {
        Self {
            source: Source::new(input),
            limits,
            text: Vec::new(),
            location: Location::START,
            at_line_start: true,
            event_follows: false,
            after_tag: false,
            game_start: 0,
        }
    }

    /// The start of the last token.
    pub(super) fn location(&self) -> Location {
        self.location
    }

    /// The text of the last token.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Starts counting the bytes of another game.
    pub(super) fn begin_game(&mut self) {
        self.game_start = self.source.consumed();
    }

    /// The next token.
    pub(super) fn next(&mut self) -> Result<Token, RecordErrorKind> {
        if self.source.consumed() == 0 {
            self.source.skip_mark()?;
        }
        if std::mem::take(&mut self.event_follows) {
            self.location = self.source.location();
            return self.tag_value("Event".to_owned(), false);
        }
        loop {
            if self.source.consumed() - self.game_start > self.limits.game_bytes {
                return Err(RecordErrorKind::LimitExceeded(Limit::GameBytes));
            }
            let at_line_start = self.at_line_start;
            self.location = self.source.location();
            let Some(byte) = self.source.peek()? else { return Ok(Token::End) };
            match byte {
                b'\n' => {
                    self.source.bump(byte);
                    self.at_line_start = true;
                    if at_line_start {
                        return Ok(Token::BlankLine);
                    }
                    continue;
                }
                b' ' | b'\t' | 0x0B | 0x0C => {
                    self.source.bump(byte);
                    continue;
                }
                b'%' if self.location.column == 1 => {
                    while self.source.peek()?.is_some_and(|byte| byte != b'\n') {
                        self.source.next()?;
                    }
                    continue;
                }
                _ => {}
            }
            self.at_line_start = false;
            let after_tag = std::mem::take(&mut self.after_tag);
            return match byte {
                b'{' => {
                    self.source.bump(byte);
                    self.comment()
                }
                b';' => {
                    self.source.bump(byte);
                    self.rest_of_line()
                }
                b'[' if at_line_start || after_tag => {
                    self.source.bump(byte);
                    self.tag()
                }
                b'(' => {
                    self.source.bump(byte);
                    Ok(Token::Open)
                }
                b')' => {
                    self.source.bump(byte);
                    Ok(Token::Close)
                }
                b'$' => {
                    self.source.bump(byte);
                    self.read_symbol(|byte| byte.is_ascii_digit())?;
                    Ok(Token::Nag)
                }
                b'.' => {
                    self.source.bump(byte);
                    continue;
                }
                b'!' | b'?' => {
                    self.read_symbol(|byte| matches!(byte, b'!' | b'?'))?;
                    Ok(Token::Symbol)
                }
                // The standard reserves this for future use.
                b'<' => {
                    self.read_symbol(|byte| !matches!(byte, b'>' | b'\n'))?;
                    Ok(Token::Symbol)
                }
                b'*' | b'[' | b']' | b'}' | b'>' | b'"' => {
                    self.source.bump(byte);
                    self.text.clear();
                    self.text.push(byte);
                    Ok(Token::Symbol)
                }
                _ => {
                    self.read_symbol(is_symbol)?;
                    Ok(Token::Symbol)
                }
            };
        }
    }

    /// Reads the bytes of a token.
    fn read_symbol(&mut self, belongs: fn(u8) -> bool) -> Result<(), RecordErrorKind> {
        self.text.clear();
        while let Some(byte) = self.source.peek()?.filter(|&byte| belongs(byte)) {
            self.source.bump(byte);
            // The rest of a token that is longer than any valid one is ignored.
            if self.text.len() < MAX_TOKEN_LEN {
                self.text.push(byte);
            }
        }
        Ok(())
    }

    fn comment(&mut self) -> Result<Token, RecordErrorKind> {
        let mut text = Vec::new();
        // The length of the prefix of `NEXT_GAME` at the start of this line. `None` after a mismatch.
        let mut matched = None;
        loop {
            let Some(byte) = self.source.next()? else { return Err(RecordErrorKind::OpenComment) };
            matched = match (byte, matched) {
                (b'\n', _) => Some(0),
                (byte, Some(count)) if NEXT_GAME.get(count) == Some(&byte) => Some(count + 1),
                _ => None,
            };
            if matched == Some(NEXT_GAME.len()) {
                self.event_follows = true;
                return Err(RecordErrorKind::OpenComment);
            }
            if byte == b'}' {
                return Ok(Token::Comment(decoded(&text).trim().to_owned()));
            }
            text.push(byte);
            if text.len() > self.limits.comment_bytes {
                return Err(RecordErrorKind::LimitExceeded(Limit::CommentBytes));
            }
        }
    }

    fn rest_of_line(&mut self) -> Result<Token, RecordErrorKind> {
        let mut text = Vec::new();
        while let Some(byte) = self.source.peek()?.filter(|&byte| byte != b'\n') {
            self.source.bump(byte);
            text.push(byte);
            if text.len() > self.limits.comment_bytes {
                return Err(RecordErrorKind::LimitExceeded(Limit::CommentBytes));
            }
        }
        Ok(Token::Comment(decoded(&text).trim().to_owned()))
    }

    fn skip_blanks(&mut self) -> Result<(), RecordErrorKind> {
        while let Some(byte) = self.source.peek()?.filter(|byte| matches!(byte, b' ' | b'\t')) {
            self.source.bump(byte);
        }
        Ok(())
    }

    fn tag(&mut self) -> Result<Token, RecordErrorKind> {
        self.skip_blanks()?;
        let mut name = Vec::new();
        let ends = |byte| matches!(byte, b' ' | b'\t' | b'\n' | b'"' | b']');
        while let Some(byte) = self.source.peek()?.filter(|&byte| !ends(byte)) {
            self.source.bump(byte);
            self.push_header(&mut name, byte)?;
        }
        let name = decoded(&name);
        self.skip_blanks()?;
        if let Some(quote @ b'"') = self.source.peek()? {
            self.source.bump(quote);
            return self.tag_value(name, false);
        }
        // A value without quotes.
        let mut value = Vec::new();
        while let Some(byte) = self.source.peek()?.filter(|&byte| byte != b'\n') {
            self.source.bump(byte);
            if byte == b']' {
                break;
            }
            self.push_header(&mut value, byte)?;
        }
        self.after_tag = true;
        Ok(Token::Tag { name, value: decoded(&value).trim().to_owned(), malformed: true })
    }

    /// Reads the value after the opening quote. A quote without a following bracket belongs to the value.
    fn tag_value(&mut self, name: String, mut malformed: bool) -> Result<Token, RecordErrorKind> {
        let mut value = Vec::new();
        while let Some(byte) = self.source.peek()?.filter(|&byte| byte != b'\n') {
            self.source.bump(byte);
            if byte == b'\\' {
                let next = self.source.peek()?;
                let escaped = next.filter(|next| matches!(next, b'"' | b'\\'));
                if let Some(next) = escaped {
                    self.source.bump(next);
                }
                self.push_header(&mut value, escaped.unwrap_or(byte))?;
            } else if byte == b'"' {
                let mut blanks = Vec::new();
                while let Some(byte) =
                    self.source.peek()?.filter(|byte| matches!(byte, b' ' | b'\t'))
                {
                    self.source.bump(byte);
                    self.push_header(&mut blanks, byte)?;
                }
                if self.source.peek()? == Some(b']') {
                    self.source.bump(b']');
                    self.after_tag = true;
                    return Ok(Token::Tag { name, value: decoded(&value), malformed });
                }
                malformed = true;
                if self.source.peek()?.is_none_or(|byte| byte == b'\n') {
                    return Ok(Token::Tag { name, value: decoded(&value), malformed });
                }
                self.push_header(&mut value, byte)?;
                value.append(&mut blanks);
            } else {
                self.push_header(&mut value, byte)?;
            }
        }
        let value = decoded(&value);
        let value = value.trim_end_matches(|letter: char| letter == ']' || letter.is_whitespace());
        Ok(Token::Tag { name, value: value.to_owned(), malformed: true })
    }

    fn push_header(&self, text: &mut Vec<u8>, byte: u8) -> Result<(), RecordErrorKind> {
        text.push(byte);
        if text.len() > self.limits.header_bytes {
            return Err(RecordErrorKind::LimitExceeded(Limit::HeaderBytes));
        }
        Ok(())
    }
}

const MAX_TOKEN_LEN: usize = 64;

fn is_symbol(byte: u8) -> bool {
    !byte.is_ascii_whitespace()
        && !matches!(
            byte,
            b'{' | b'}'
                | b'('
                | b')'
                | b'['
                | b']'
                | b'<'
                | b'>'
                | b';'
                | b'!'
                | b'?'
                | b'$'
                | b'.'
                | b'*'
                | b'"'
                | 0x0B
        )
}

/// The text in UTF-8 or, if invalid, Latin-1 (Windows-1252), the encoding of the standard.
pub(super) fn decoded(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => WINDOWS_1252.decode_without_bom_handling(bytes).0.into_owned(),
    }
}
