//! Ranges of numbers.

use std::str::FromStr;

use super::FilterError;

/// A range of numbers: `40..80`, `40-80`, `40..`, `..80` or `40`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberRange {
    /// The minimum.
    pub min: i64,
    /// The maximum.
    pub max: i64,
}

impl NumberRange {
    /// Whether a number is in the range.
    pub fn contains(self, number: i64) -> bool {
        (self.min..=self.max).contains(&number)
    }
}

impl FromStr for NumberRange {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        let (min, max) =
            text.split_once("..").or_else(|| text.split_once('-')).unwrap_or((text, text));
        let limit = |part: &str, open: i64| match part.trim() {
            "" => Ok(open),
            part => part.parse().map_err(|_| FilterError::Number(text.to_owned())),
        };
        if text.trim().is_empty() {
            return Err(FilterError::Number(text.to_owned()));
        }
        Ok(Self { min: limit(min, i64::MIN)?, max: limit(max, i64::MAX)? })
    }
}
