//! Language tags.

use alloc::borrow::ToOwned;
use alloc::string::String;
use core::borrow::Borrow;
use core::fmt;
use core::str::FromStr;

/// A language tag (BCP 47), such as `ja` or `zh-Hant-TW`, in lower case, as case is insignificant
/// (RFC 5646 §2.1.1).
///
/// Only the syntax is checked, not whether its subtags are registered.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct LanguageTag(String);

/// A text that is not a language tag.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LanguageTagError {
    /// The text.
    pub tag: String,
}

impl LanguageTag {
    /// Maximum length in bytes. RFC 5646 §4.4.1 recommends to support 35.
    pub const MAX_LEN: usize = 64;

    /// The tag.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The tag and its parents: the last subtag is removed repeatedly, together with a single letter before
    /// it (RFC 4647 §3.4).
    ///
    /// ```
    /// use readyok_protocol::translation::LanguageTag;
    /// let tag: LanguageTag = "zh-Hant-CN-x-private".parse()?;
    /// assert!(tag.ranges().eq(["zh-hant-cn-x-private", "zh-hant-cn", "zh-hant", "zh"]));
    /// # Ok::<(), readyok_protocol::translation::LanguageTagError>(())
    /// ```
    pub fn ranges(&self) -> impl Iterator<Item = &str> {
        core::iter::successors(Some(self.as_str()), |tag| {
            let (parent, _) = tag.rsplit_once('-')?;
            match parent.rsplit_once('-') {
                Some((grandparent, single)) if single.len() == 1 => Some(grandparent),
                _ => Some(parent),
            }
        })
    }
}

impl FromStr for LanguageTag {
    type Err = LanguageTagError;

    fn from_str(text: &str) -> Result<Self, LanguageTagError> {
        let is_part = |part: &str| {
            (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
        };
        let is_language = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphabetic());
        let fits = text.len() <= Self::MAX_LEN
            && text.split('-').all(is_part)
            && text.split('-').next().is_some_and(is_language);
        if fits {
            Ok(Self(text.to_ascii_lowercase()))
        } else {
            Err(LanguageTagError { tag: text.to_owned() })
        }
    }
}

impl Borrow<str> for LanguageTag {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for LanguageTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for LanguageTagError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a language tag", self.tag.escape_debug())
    }
}

impl core::error::Error for LanguageTagError {}
