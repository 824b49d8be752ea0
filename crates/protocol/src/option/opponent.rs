//! The value of `UCI_Opponent`: whom the engine plays.

use alloc::borrow::{Cow, ToOwned};
use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;

use crate::words::{Word, Words, is_space};

/// The opponent of an engine, as `UCI_Opponent` has it (UCI 2006, option:
/// `[GM|IM|FM|WGM|WIM|none] [<elo>|none] [computer|human] <name>`).
///
/// Case does not matter when it is read; the title, the rating, or both may be left out.
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

/// A title of a player: one short word, such as `GM`.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
pub struct Title(Cow<'static, str>);

/// What kind of player the opponent is.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum OpponentKind {
    /// A program.
    Computer,
    /// A person.
    Human,
}

/// Why a text is no opponent.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum OpponentError {
    /// A word that is no title.
    Title {
        /// The word.
        word: String,
        /// The byte at which it stands.
        at: usize,
    },
    /// A word that is neither a rating nor `none`.
    Rating {
        /// The word.
        word: String,
        /// The byte at which it stands.
        at: usize,
    },
    /// A word that is neither `computer` nor `human`; empty at the end of the text.
    Kind {
        /// The word.
        word: String,
        /// The byte at which it stands.
        at: usize,
    },
    /// There is no name.
    NoName,
}

impl Opponent {
    /// An opponent. White space in the name becomes single spaces.
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
        for word in name.split(is_space).filter(|word| !word.is_empty()) {
            if !single_spaced.is_empty() {
                single_spaced.push(' ');
            }
            single_spaced.push_str(word);
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

    /// Whether it is a person or a program.
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

    /// A title, in upper case. The protocol has five; servers have others, such as `CM` and `BOT`.
    ///
    /// `None` unless it is one to eight ASCII letters that have no other meaning there.
    pub fn new(word: &str) -> Option<Self> {
        let is_word = (1..=Self::MAX_LEN).contains(&word.len())
            && word.bytes().all(|byte| byte.is_ascii_alphabetic());
        let is_free = !is_none(word) && OpponentKind::from_word(word).is_none();
        (is_word && is_free).then(|| Self(Cow::Owned(word.to_ascii_uppercase())))
    }

    /// The title.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl OpponentKind {
    /// The word of the protocol.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Computer => "computer",
            Self::Human => "human",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        [Self::Computer, Self::Human].into_iter().find(|it| it.word().eq_ignore_ascii_case(word))
    }
}

fn is_none(word: &str) -> bool {
    word.eq_ignore_ascii_case("none")
}

impl FromStr for Opponent {
    type Err = OpponentError;

    fn from_str(text: &str) -> Result<Self, OpponentError> {
        let mut words = Words::new(text);
        let title = words
            .next_if(|word| OpponentKind::from_word(word).is_none() && word.parse::<u32>().is_err())
            .filter(|word| !is_none(word.text))
            .map(|word| {
                Title::new(word.text).ok_or_else(|| OpponentError::Title {
                    word: word.text.to_owned(),
                    at: word.start,
                })
            })
            .transpose()?;
        let rating = words
            .next_if(|word| OpponentKind::from_word(word).is_none())
            .filter(|word| !is_none(word.text))
            .map(|word| {
                word.text.parse().map_err(|_| OpponentError::Rating {
                    word: word.text.to_owned(),
                    at: word.start,
                })
            })
            .transpose()?;
        let word = words.next().unwrap_or(Word { text: "", start: text.len() });
        let kind = OpponentKind::from_word(word.text)
            .ok_or_else(|| OpponentError::Kind { word: word.text.to_owned(), at: word.start })?;
        Self::new(title, rating, kind, words.rest().text)
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

    fn try_from(word: String) -> Result<Self, OpponentError> {
        Self::new(&word).ok_or(OpponentError::Title { word, at: 0 })
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
        write!(f, " {} {}", self.kind.word(), self.name)
    }
}

impl fmt::Display for OpponentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, at, expected) = match self {
            Self::Title { word, at } => (word, at, "a title"),
            Self::Rating { word, at } => (word, at, "a rating or `none`"),
            Self::Kind { word, at } => (word, at, "`computer` or `human`"),
            Self::NoName => return f.write_str("the opponent has no name"),
        };
        write!(f, "`{}` at byte {at} is not {expected}", word.escape_debug())
    }
}

impl core::error::Error for OpponentError {}
