//! Writes messages without allocation, and rejects texts that would be read differently.

use alloc::borrow::{Cow, ToOwned};
use alloc::string::String;
use alloc::vec::Vec;
use core::{fmt, slice};

use crate::dialect::Dialect;
use crate::moves::Move;
use crate::parser::in_any_case;
use crate::tokenizer::{Token, Tokens, has_byte_below};

/// Why a message cannot be written. Nothing of it was written, unless the sink failed.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum WriteError {
    /// The text contains a line end or NUL and would become two messages.
    LineBreak {
        /// The name of the field.
        field: &'static str,
        /// The text.
        text: String,
    },
    /// The text contains a keyword that would end it when read.
    Keyword {
        /// The name of the field.
        field: &'static str,
        /// The keyword.
        keyword: &'static str,
    },
    /// The text is empty or starts or ends with white space, and would not be read back unchanged.
    Blank {
        /// The name of the field.
        field: &'static str,
    },
    /// The text exceeds the maximum of the reader.
    TooLong {
        /// The name of the field.
        field: &'static str,
        /// The maximum number of bytes of a text, or of elements of a list.
        max: usize,
    },
    /// The text would be read differently.
    Misread {
        /// The name of the field.
        field: &'static str,
    },
    /// The protocol has no such message.
    NotInDialect {
        /// The message or field.
        what: &'static str,
    },
    /// The sink returned an error.
    Sink,
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LineBreak { field, text } => {
                write!(f, "line end in {field}: `{}`", text.escape_debug())
            }
            Self::Keyword { field, keyword } => {
                write!(f, "{field} contains the keyword `{keyword}`")
            }
            Self::Blank { field } => {
                write!(f, "{field} is empty or has white space at its start or end")
            }
            Self::TooLong { field, max } => write!(f, "{field} is longer than {max}"),
            Self::Misread { field } => write!(f, "{field} would be read differently"),
            Self::NotInDialect { what } => write!(f, "the protocol has no {what}"),
            Self::Sink => f.write_str("the text could not be written"),
        }
    }
}

impl core::error::Error for WriteError {}

impl From<fmt::Error> for WriteError {
    fn from(_: fmt::Error) -> Self {
        Self::Sink
    }
}

/// Checks that a text contains no line break.
pub(crate) fn check_line(field: &'static str, text: &str) -> Result<(), WriteError> {
    if text.bytes().any(|byte| matches!(byte, b'\n' | b'\r' | 0)) {
        return Err(WriteError::LineBreak { field, text: text.to_owned() });
    }
    Ok(())
}

/// Checks that a text is read back unchanged: not empty, no white space at its ends, one line, and
/// none of the keywords that would end it.
#[inline]
pub(crate) fn check_text(
    field: &'static str,
    text: &str,
    keywords: &[&'static str],
) -> Result<(), WriteError> {
    // Fast path: most texts are one token.
    if is_token(text) && !keywords.contains(&text) {
        return Ok(());
    }
    check_tokens(field, text, keywords)
}

fn check_tokens(
    field: &'static str,
    text: &str,
    keywords: &[&'static str],
) -> Result<(), WriteError> {
    check_line(field, text)?;
    match (text.as_bytes().first(), text.as_bytes().last()) {
        (Some(first), Some(last)) if b' ' < *first && b' ' < *last => (),
        _ => return Err(WriteError::Blank { field }),
    }
    let keyword =
        |token: Token<'_>| keywords.iter().copied().find(|keyword| *keyword == token.text);
    match Tokens::of(text).find_map(keyword) {
        Some(keyword) => Err(WriteError::Keyword { field, keyword }),
        None => Ok(()),
    }
}

/// Checks the length of a text or a list.
#[inline]
pub(crate) fn check_length(
    field: &'static str,
    length: usize,
    max: usize,
) -> Result<(), WriteError> {
    if max < length { Err(WriteError::TooLong { field, max }) } else { Ok(()) }
}

pub(crate) fn check_token(field: &'static str, text: &str) -> Result<(), WriteError> {
    check_text(field, text, &[])?;
    if is_token(text) { Ok(()) } else { Err(WriteError::Blank { field }) }
}

#[inline]
pub(crate) fn is_token(text: &str) -> bool {
    !text.is_empty() && !has_byte_below(b' ' + 1, text)
}

pub(crate) fn check_move(it: Move, dialect: Dialect) -> Result<(), WriteError> {
    match Move::read(it.as_str(), dialect) {
        Ok(_) => Ok(()),
        Err(_) => Err(WriteError::NotInDialect { what: "such a move" }),
    }
}

/// Writes ` key value` if there is a value.
#[inline]
pub(crate) fn field(
    out: &mut (impl fmt::Write + ?Sized),
    key: &'static str,
    value: Option<impl Into<u64>>,
) -> fmt::Result {
    let Some(value) = value else { return Ok(()) };
    out.write_str(key)?;
    integer(out, value.into())
}

/// Writes ` key value` if there is a value, which may be negative.
#[inline]
pub(crate) fn signed(
    out: &mut (impl fmt::Write + ?Sized),
    key: &'static str,
    value: Option<impl Into<i64>>,
) -> fmt::Result {
    let Some(value) = value.map(Into::into) else { return Ok(()) };
    out.write_str(key)?;
    if value < 0 {
        out.write_str("-")?;
    }
    integer(out, value.unsigned_abs())
}

/// Writes a number, two digits at a time. `write!` is several times slower.
pub(crate) fn integer(out: &mut (impl fmt::Write + ?Sized), value: u64) -> fmt::Result {
    if value < 10_000 {
        return up_to_four(out, (value % 10_000) as u16);
    }
    // Nearly all numbers have at most eight digits, and a call costs as much as four of them.
    match value / 10_000 {
        above @ 0..10_000 => up_to_four(out, (above % 10_000) as u16)?,
        above => integer(out, above)?,
    }
    four(out, (value % 10_000) as u16)
}

/// Writes a number below ten thousand.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a call takes as long as the digits")]
fn up_to_four(out: &mut (impl fmt::Write + ?Sized), value: u16) -> fmt::Result {
    match value {
        0..10 => digit(out, value),
        10..100 => pair(out, value),
        100..1000 => {
            digit(out, value / 100)?;
            pair(out, value % 100)
        }
        1000.. => four(out, value),
    }
}

/// Writes four digits of a number below ten thousand.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a call takes as long as the digits")]
fn four(out: &mut (impl fmt::Write + ?Sized), value: u16) -> fmt::Result {
    pair(out, value / 100)?;
    pair(out, value % 100)
}

/// Writes a number below ten.
#[inline]
fn digit(out: &mut (impl fmt::Write + ?Sized), value: u16) -> fmt::Result {
    out.write_char(char::from(b'0' + (value % 10) as u8))
}

/// Writes two digits of a number below a hundred.
#[inline]
fn pair(out: &mut (impl fmt::Write + ?Sized), value: u16) -> fmt::Result {
    const PAIRS: &str = "00010203040506070809\
                         10111213141516171819\
                         20212223242526272829\
                         30313233343536373839\
                         40414243444546474849\
                         50515253545556575859\
                         60616263646566676869\
                         70717273747576777879\
                         80818283848586878889\
                         90919293949596979899";
    let at = 2 * usize::from(value);
    out.write_str(PAIRS.get(at..at + 2).ok_or(fmt::Error)?)
}

/// Checks that unknown tokens are read back as unknown tokens.
pub(crate) fn check_unknown(
    tokens: &[Cow<'_, str>],
    is_key: fn(&str) -> bool,
) -> Result<(), WriteError> {
    for token in tokens {
        check_token("unknown token", token)?;
        if in_any_case(token, |token| is_key(token).then_some(())).is_some() {
            return Err(WriteError::Misread { field: "unknown token" });
        }
    }
    Ok(())
}

/// Like [`check_unknown`], and accepts `keyword` with a value that is not a move.
pub(crate) fn check_unknown_moves(
    tokens: &[Cow<'_, str>],
    keyword: &str,
    is_key: fn(&str) -> bool,
    is_value: impl Fn(&str) -> bool,
) -> Result<(), WriteError> {
    let mut rest = tokens;
    while let Some((token, after)) = rest.split_first() {
        rest = match after {
            [value, after @ ..] if token == keyword && !is_key(value) && !is_value(value) => {
                check_token("unknown token", value)?;
                after
            }
            _ => {
                check_unknown(slice::from_ref(token), is_key)?;
                after
            }
        };
    }
    Ok(())
}

/// Writes unknown tokens, each after a space.
pub(crate) fn unknown(
    tokens: &[Cow<'_, str>],
    out: &mut (impl fmt::Write + ?Sized),
) -> fmt::Result {
    for token in tokens {
        out.write_str(" ")?;
        out.write_str(token)?;
    }
    Ok(())
}

/// A sink for `Display` that replaces line ends by spaces.
pub(crate) struct OneLine<'a, 'b>(pub(crate) &'a mut fmt::Formatter<'b>);

impl fmt::Write for OneLine<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for (index, part) in text.split(['\n', '\r', '\0']).enumerate() {
            if 0 < index {
                self.0.write_str(" ")?;
            }
            self.0.write_str(part)?;
        }
        Ok(())
    }
}

/// Writes messages to bytes, encoded as UTF-8.
///
/// Line ends are added by the caller.
///
/// ```
/// use readyok_protocol::{ByteSink, Command, Dialect, Go};
/// let mut bytes = Vec::new();
/// for command in [Command::IsReady, Command::Go(Go::depth(5))] {
///     command.write(Dialect::Uci, &mut ByteSink(&mut bytes))?;
///     bytes.push(b'\n');
/// }
/// assert_eq!(bytes, b"isready\ngo depth 5\n");
/// # Ok::<(), readyok_protocol::WriteError>(())
/// ```
#[derive(Debug)]
pub struct ByteSink<'a>(
    /// The text is appended to it.
    pub &'a mut Vec<u8>,
);

impl fmt::Write for ByteSink<'_> {
    #[inline]
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}
