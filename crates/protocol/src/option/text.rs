//! Text values of options with a syntax of their own.

use alloc::borrow::{Cow, ToOwned};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use crate::tokenizer::{Token, Tokens, is_space};
use crate::{Fen, PositionError};

/// The opponent of an engine, the value of `UCI_Opponent` (UCI 2006, option:
/// `[GM|IM|FM|WGM|WIM|none] [<elo>|none] [computer|human] <name>`).
///
/// The reader ignores case, and the title, the rating, or both may be missing.
///
/// ```
/// use readyok_protocol::{Opponent, OpponentKind, Title};
/// let opponent: Opponent = "GM 2800 human Gary Kasparov".parse()?;
/// assert_eq!(opponent.title(), Some(&Title::GM));
/// assert_eq!(opponent.rating(), Some(2800));
/// assert_eq!(opponent.kind(), OpponentKind::Human);
/// assert_eq!(opponent.name(), "Gary Kasparov");
/// # Ok::<(), readyok_protocol::OpponentError>(())
/// ```
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
pub struct Opponent {
    title: Option<Title>,
    rating: Option<u32>,
    kind: OpponentKind,
    name: String,
}

/// A title of a player: one short token, such as `GM`.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
pub struct Title(Cow<'static, str>);

/// The kind of the opponent.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum OpponentKind {
    /// A computer.
    Computer,
    /// A human.
    Human,
}

/// Why a text is not an opponent.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum OpponentError {
    /// A token that is not a title.
    Title {
        /// The token.
        token: String,
        /// Its byte offset.
        at: usize,
    },
    /// A token that is neither a rating nor `none`.
    Rating {
        /// The token.
        token: String,
        /// Its byte offset.
        at: usize,
    },
    /// A token that is neither `computer` nor `human`; empty at the end of the text.
    Kind {
        /// The token.
        token: String,
        /// Its byte offset.
        at: usize,
    },
    /// The name is missing.
    NoName,
}

impl Opponent {
    /// An opponent. White space in the name is collapsed to single spaces.
    ///
    /// # Errors
    /// The name is empty.
    pub fn new(
        title: Option<Title>,
        rating: Option<u32>,
        kind: OpponentKind,
        name: &str,
    ) -> Result<Self, OpponentError> {
        let mut single_spaced = String::with_capacity(name.len());
        for token in name.split(is_space).filter(|token| !token.is_empty()) {
            if !single_spaced.is_empty() {
                single_spaced.push(' ');
            }
            single_spaced.push_str(token);
        }
        if single_spaced.is_empty() {
            return Err(OpponentError::NoName);
        }
        Ok(Self { title, rating, kind, name: single_spaced })
    }

    /// The title.
    pub fn title(&self) -> Option<&Title> {
        self.title.as_ref()
    }

    /// The Elo rating.
    pub fn rating(&self) -> Option<u32> {
        self.rating
    }

    /// Human or computer.
    pub fn kind(&self) -> OpponentKind {
        self.kind
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Title {
    /// Grandmaster.
    pub const GM: Self = Self(Cow::Borrowed("GM"));
    /// International master.
    pub const IM: Self = Self(Cow::Borrowed("IM"));
    /// FIDE master.
    pub const FM: Self = Self(Cow::Borrowed("FM"));
    /// Woman grandmaster.
    pub const WGM: Self = Self(Cow::Borrowed("WGM"));
    /// Woman international master.
    pub const WIM: Self = Self(Cow::Borrowed("WIM"));

    const MAX_LEN: usize = 8;

    /// A title, converted to upper case. The protocol has five; servers have others, such as `CM` and
    /// `BOT`.
    ///
    /// `None` unless it consists of one to eight ASCII letters and is not a keyword.
    pub fn new(token: &str) -> Option<Self> {
        let is_token = (1..=Self::MAX_LEN).contains(&token.len())
            && token.bytes().all(|byte| byte.is_ascii_alphabetic());
        let is_free = !is_unset(token) && OpponentKind::from_token(token).is_none();
        (is_token && is_free).then(|| Self(Cow::Owned(token.to_ascii_uppercase())))
    }

    /// The title.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl OpponentKind {
    /// The keyword.
    pub const fn keyword(self) -> &'static str {
        match self {
            Self::Computer => "computer",
            Self::Human => "human",
        }
    }

    fn from_token(token: &str) -> Option<Self> {
        [Self::Computer, Self::Human]
            .into_iter()
            .find(|title| title.keyword().eq_ignore_ascii_case(token))
    }
}

fn is_unset(token: &str) -> bool {
    token.eq_ignore_ascii_case("none")
}

impl FromStr for Opponent {
    type Err = OpponentError;

    fn from_str(text: &str) -> Result<Self, OpponentError> {
        let mut tokens = Tokens::new(text);
        let title = tokens
            .next_if(|token| {
                OpponentKind::from_token(token).is_none() && token.parse::<u32>().is_err()
            })
            .filter(|token| !is_unset(token.text))
            .map(|token| {
                Title::new(token.text).ok_or_else(|| OpponentError::Title {
                    token: token.text.to_owned(),
                    at: token.start,
                })
            })
            .transpose()?;
        let rating = tokens
            .next_if(|token| OpponentKind::from_token(token).is_none())
            .filter(|token| !is_unset(token.text))
            .map(|token| {
                token.text.parse().map_err(|_| OpponentError::Rating {
                    token: token.text.to_owned(),
                    at: token.start,
                })
            })
            .transpose()?;
        let token = tokens.next().unwrap_or(Token { text: "", start: text.len() });
        let kind = OpponentKind::from_token(token.text)
            .ok_or_else(|| OpponentError::Kind { token: token.text.to_owned(), at: token.start })?;
        Self::new(title, rating, kind, tokens.rest().text)
    }
}

impl TryFrom<String> for Opponent {
    type Error = OpponentError;

    fn try_from(text: String) -> Result<Self, OpponentError> {
        text.parse()
    }
}

impl From<Opponent> for String {
    fn from(it: Opponent) -> Self {
        it.to_string()
    }
}

impl TryFrom<String> for Title {
    type Error = OpponentError;

    fn try_from(token: String) -> Result<Self, OpponentError> {
        Self::new(&token).ok_or(OpponentError::Title { token, at: 0 })
    }
}

impl From<Title> for String {
    fn from(it: Title) -> Self {
        it.0.into_owned()
    }
}

impl fmt::Display for Opponent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title.as_ref().map_or("none", Title::as_str))?;
        match self.rating {
            Some(rating) => write!(f, " {rating}")?,
            None => f.write_str(" none")?,
        }
        write!(f, " {} {}", self.kind.keyword(), self.name)
    }
}

impl fmt::Display for OpponentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (token, at, expected) = match self {
            Self::Title { token, at } => (token, at, "a title"),
            Self::Rating { token, at } => (token, at, "a rating or `none`"),
            Self::Kind { token, at } => (token, at, "`computer` or `human`"),
            Self::NoName => return f.write_str("the opponent has no name"),
        };
        write!(f, "`{}` at byte {at} is not {expected}", token.escape_debug())
    }
}

impl core::error::Error for OpponentError {}

/// Directories, the value of `NalimovPath` (UCI 2006, option: separated by `;`) and `SyzygyPath` (The UCI
/// Protocol, option: commonly separated by `:` on Unix-like systems and by `;` on Windows).
///
/// The reader accepts both separators, except a `:` after a drive letter, and skips empty entries. An
/// empty text is an empty list.
///
/// ```
/// use readyok_protocol::{PathList, PathSeparator};
/// let directories: PathList = r"c:\chess\tb\4;c:\chess\tb\5".parse()?;
/// assert_eq!(directories.iter().collect::<Vec<_>>(), [r"c:\chess\tb\4", r"c:\chess\tb\5"]);
/// let directories = PathList::new(["/tb/4", "/tb/5"])?;
/// assert_eq!(directories.joined_by(PathSeparator::Colon), "/tb/4:/tb/5");
/// # Ok::<(), readyok_protocol::PathListError>(())
/// ```
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Vec<String>", into = "Vec<String>"))]
pub struct PathList {
    paths: Vec<String>,
}

/// The separator of a [`PathList`].
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum PathSeparator {
    /// `;`: in UCI 2006, and on Windows.
    Semicolon,
    /// `:`: on Unix-like systems.
    Colon,
}

/// An invalid path for a list.
///
/// It is empty, starts or ends with white space, or contains a control character or a separator. A single
/// letter would be read as a drive.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PathListError {
    /// The path.
    pub path: String,
}

impl PathList {
    /// A list of directories.
    ///
    /// # Errors
    /// A path cannot be represented in a list.
    pub fn new<'a>(paths: impl IntoIterator<Item = &'a str>) -> Result<Self, PathListError> {
        let check = |path: &str| {
            let fits = split(path) == [path] && !is_drive(path) && !path.contains(char::is_control);
            if fits { Ok(path.to_owned()) } else { Err(PathListError { path: path.to_owned() }) }
        };
        Ok(Self { paths: paths.into_iter().map(check).collect::<Result<_, _>>()? })
    }

    /// The directories, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str)
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// The value of the option with this separator.
    pub fn joined_by(&self, separator: PathSeparator) -> String {
        self.paths.join(match separator {
            PathSeparator::Semicolon => ";",
            PathSeparator::Colon => ":",
        })
    }
}

impl PathSeparator {
    /// The separator that engines on this system expect in `SyzygyPath`.
    pub const NATIVE: Self = if cfg!(windows) { Self::Semicolon } else { Self::Colon };
}

/// The entries of a list, without white space around them.
fn split(text: &str) -> Vec<&str> {
    let mut entries = Vec::new();
    for part in text.split(';') {
        let mut start = 0;
        for (at, _) in part.match_indices(':') {
            let entry = part.get(start..at).unwrap_or_default();
            if !is_drive(entry.trim()) {
                entries.push(entry);
                start = at + 1;
            }
        }
        entries.push(part.get(start..).unwrap_or_default());
    }
    entries.into_iter().map(str::trim).filter(|entry| !entry.is_empty()).collect()
}

fn is_drive(text: &str) -> bool {
    matches!(text.as_bytes(), [letter] if letter.is_ascii_alphabetic())
}

impl FromStr for PathList {
    type Err = PathListError;

    fn from_str(text: &str) -> Result<Self, PathListError> {
        Self::new(split(text))
    }
}

impl TryFrom<Vec<String>> for PathList {
    type Error = PathListError;

    fn try_from(paths: Vec<String>) -> Result<Self, PathListError> {
        Self::new(paths.iter().map(String::as_str))
    }
}

impl From<PathList> for Vec<String> {
    fn from(it: PathList) -> Self {
        it.paths
    }
}

/// Separated by `;`.
impl fmt::Display for PathList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.joined_by(PathSeparator::Semicolon))
    }
}

impl fmt::Display for PathListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not allowed in a list of paths", self.path.escape_debug())
    }
}

impl core::error::Error for PathListError {}

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
