//! The value of `UCI_Opponent`.

use alloc::borrow::{Cow, ToOwned};
use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;

use crate::tokenizer::{Token, Tokens, is_space};

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
            .find(|it| it.keyword().eq_ignore_ascii_case(token))
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
