//! The value of `UCI_SetPositionValue`.

use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;

use crate::tokenizer::Tokens;
use crate::{Fen, PositionError};

/// An evaluation override for a position, the value of `UCI_SetPositionValue` (UCI 2006, option:
/// `<value> + <fen> | clear + <fen> | clearall`).
///
/// The reader accepts a missing `+`; the writer always writes it.
///
/// ```
/// use readyok_protocol::PositionValue;
/// let value: PositionValue = "clear + 8/8/8/8/8/8/8/K1k5 w - - 0 1".parse()?;
/// assert!(matches!(value, PositionValue::Clear { .. }));
/// # Ok::<(), readyok_protocol::PositionValueError>(())
/// ```
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
pub enum PositionValue {
    /// Sets the value of a position.
    Set {
        /// The value in centipawns from White's point of view.
        centipawns: i32,
        /// The position.
        fen: Fen<'static>,
    },
    /// Removes the value of a position.
    Clear {
        /// The position.
        fen: Fen<'static>,
    },
    /// Removes the values of all positions.
    ClearAll,
}

/// Why a text is not a valid value.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum PositionValueError {
    /// The first token is neither a whole number of centipawns, `clear` nor `clearall`.
    Value {
        /// The token; empty if it is missing.
        token: String,
    },
    /// Text follows `clearall`.
    Trailing {
        /// Its byte offset.
        at: usize,
    },
    /// The position is invalid.
    Position {
        /// The byte offset of the position.
        at: usize,
        /// The error. Its span is relative to the position.
        error: PositionError,
    },
}

impl FromStr for PositionValue {
    type Err = PositionValueError;

    fn from_str(text: &str) -> Result<Self, PositionValueError> {
        let mut tokens = Tokens::new(text);
        let first = tokens.next().map_or("", |token| token.text);
        if first.eq_ignore_ascii_case("clearall") {
            return match tokens.peek() {
                Some(token) => Err(PositionValueError::Trailing { at: token.start }),
                None => Ok(Self::ClearAll),
            };
        }
        tokens.next_if(|token| token == "+");
        let rest = tokens.rest();
        let fen = || {
            rest.text
                .parse::<Fen<'static>>()
                .map_err(|error| PositionValueError::Position { at: rest.start, error })
        };
        if first.eq_ignore_ascii_case("clear") {
            return Ok(Self::Clear { fen: fen()? });
        }
        let centipawns =
            first.parse().map_err(|_| PositionValueError::Value { token: first.to_owned() })?;
        Ok(Self::Set { centipawns, fen: fen()? })
    }
}

impl TryFrom<String> for PositionValue {
    type Error = PositionValueError;

    fn try_from(text: String) -> Result<Self, PositionValueError> {
        text.parse()
    }
}

impl From<PositionValue> for String {
    fn from(it: PositionValue) -> Self {
        it.to_string()
    }
}

impl fmt::Display for PositionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Set { centipawns, fen } => write!(f, "{centipawns} + {fen}"),
            Self::Clear { fen } => write!(f, "clear + {fen}"),
            Self::ClearAll => f.write_str("clearall"),
        }
    }
}

impl fmt::Display for PositionValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value { token } => write!(
                f,
                "`{}` is not a whole number of centipawns, `clear` or `clearall`",
                token.escape_debug()
            ),
            Self::Trailing { at } => write!(f, "text after `clearall` at byte {at}"),
            Self::Position { at, error } => write!(f, "position at byte {at}: {error}"),
        }
    }
}

impl core::error::Error for PositionValueError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Position { error, .. } => Some(error),
            Self::Value { .. } | Self::Trailing { .. } => None,
        }
    }
}
