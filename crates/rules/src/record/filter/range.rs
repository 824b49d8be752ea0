//! Ranges of numbers and dates.

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

/// A day as a number that sorts in order of time.
type Day = u32;

/// A range of dates: `2019..2021`, `2019-05..2020-02-28`, `2019..`, `..2021`, `2019` or `2019-05`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateRange {
    first: Day,
    last: Day,
}

impl DateRange {
    /// Whether a date of a header is in the range. A date with an unknown month or day is, if a day of its
    /// year or month is.
    pub fn contains(self, date: &str) -> bool {
        days(date).is_some_and(|(first, last)| first <= self.last && self.first <= last)
    }
}

impl FromStr for DateRange {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        let (from, to) = text.split_once("..").unwrap_or((text, text));
        let limit = |part: &str, open| match part.trim() {
            "" => Ok((open, open)),
            part => days(part).ok_or_else(|| FilterError::Date(text.to_owned())),
        };
        if from.trim().is_empty() && to.trim().is_empty() {
            return Err(FilterError::Date(text.to_owned()));
        }
        Ok(Self { first: limit(from, Day::MIN)?.0, last: limit(to, Day::MAX)?.1 })
    }
}

/// The first day that a date can be.
pub(super) fn first_day(date: &str) -> Option<Day> {
    days(date).map(|(first, _)| first)
}

/// The first and the last day that a date can be: `2026.11.21`, `2026/11/21 10:00`, `2026-11`, `2026.??.??`.
fn days(date: &str) -> Option<(Day, Day)> {
    let date = date.split([' ', 'T']).find(|part| !part.is_empty())?;
    let mut parts = date.split(['.', '/', '-', '年', '月', '日']);
    let number = |part: &str| -> Option<u32> { part.parse().ok() };
    let year = number(parts.next()?).filter(|year| (1000..10_000).contains(year))?;
    let month = parts.next().and_then(number).filter(|month| (1..=12).contains(month));
    let day = parts.next().and_then(number).filter(|day| (1..=31).contains(day));
    let at = |month: u32, day: u32| (year * 100 + month) * 100 + day;
    Some(match (month, day) {
        (None, _) => (at(1, 1), at(12, 31)),
        (Some(month), None) => (at(month, 1), at(month, 31)),
        (Some(month), Some(day)) => (at(month, day), at(month, day)),
    })
}
