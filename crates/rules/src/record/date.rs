//! Dates of games, whose parts can be unknown, and ranges of them.

use std::{fmt, str::FromStr};

use super::{FilterError, GameRecord, Tag};

/// A date with optional parts, ordered by time; unknown parts sort first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Date(u32);

impl Date {
    /// From year, month and day, each 0 if unknown. None if a part is out of range.
    pub fn new(year: u16, month: u8, day: u8) -> Option<Self> {
        let valid = year <= 9999 && month <= 12 && day <= 31;
        valid.then(|| Self(u32::from(year) << 9 | u32::from(month) << 5 | u32::from(day)))
    }

    /// Reads `2026.11.25`, `2026/11/25` or `2026-11-25`, the forms of PGN, KIF and CSA, `2026年11月25日` and
    /// `25.11.2026`; `?` or a missing part is unknown. Ignores a time of day that follows.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        let date = text
            .split(|letter: char| letter.is_whitespace() || letter == 'T' || letter == '(')
            .next();
        let parts = date.unwrap_or("").split(['.', '/', '-', '年', '月', '日']);
        let mut parts = parts.map(str::parse::<u32>);
        let mut next = || parts.next().and_then(Result::ok).unwrap_or(0);
        let (mut year, month, mut day) = (next(), next(), next());
        if year > 9999 {
            return Self::default();
        }
        if year <= 31 && day >= 1000 {
            (year, day) = (day, year);
        }
        let part = |value: u32| u8::try_from(value).unwrap_or(0);
        let month = if (1..=12).contains(&month) { part(month) } else { 0 };
        let day = if month > 0 && (1..=31).contains(&day) { part(day) } else { 0 };
        Self::new(u16::try_from(year).unwrap_or(0), month, day).unwrap_or_default()
    }

    /// Year; none if unknown.
    pub fn year(self) -> Option<u16> {
        u16::try_from(self.0 >> 9).ok().filter(|year| *year > 0)
    }

    /// The date as a number of 24 bits, ordered by time.
    pub fn to_bits(self) -> u32 {
        self.0
    }

    /// The date of a number.
    pub fn from_bits(bits: u32) -> Self {
        Self(bits & 0xFF_FFFF)
    }

    fn parts(self) -> (u32, u32, u32) {
        (self.0 >> 9, self.0 >> 5 & 15, self.0 & 31)
    }

    /// Whether both can be the same day: unknown parts match any.
    pub fn is_compatible(self, other: Self) -> bool {
        let (a, b) = (self.parts(), other.parts());
        [(a.0, b.0), (a.1, b.1), (a.2, b.2)].into_iter().all(|(a, b)| a == b || a == 0 || b == 0)
    }

    /// The first and the last day that the date can be. None without a year of four digits.
    pub(super) fn days(self) -> Option<(Self, Self)> {
        let (year, month, day) = self.parts();
        let at = |month: u32, day: u32| Self(year << 9 | month << 5 | day);
        (1000..10_000).contains(&year).then(|| match (month, day) {
            (0, _) => (at(1, 1), at(12, 31)),
            (month, 0) => (at(month, 1), at(month, 31)),
            _ => (self, self),
        })
    }
}

impl fmt::Display for Date {
    /// The form of PGN, `2026.11.??`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.parts();
        match year {
            0 => write!(f, "????")?,
            _ => write!(f, "{year:04}")?,
        }
        for part in [month, day] {
            match part {
                0 => write!(f, ".??")?,
                _ => write!(f, ".{part:02}")?,
            }
        }
        Ok(())
    }
}

/// A range of dates: `2019..2021`, `2019-05..2020-02-28`, `2019..`, `..2021`, `2019` or `2019-05`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateRange {
    first: Date,
    last: Date,
}

impl DateRange {
    /// Whether a date is in the range. A date with an unknown month or day is, if a day of its year or month is. A
    /// date with an unknown year is in no range.
    pub fn contains(self, date: Date) -> bool {
        date.days().is_some_and(|(first, last)| first <= self.last && self.first <= last)
    }
}

impl FromStr for DateRange {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        let (from, to) = text.split_once("..").unwrap_or((text, text));
        let limit = |part: &str, open| match part.trim() {
            "" => Ok((open, open)),
            part => Date::parse(part).days().ok_or_else(|| FilterError::Date(text.to_owned())),
        };
        if from.trim().is_empty() && to.trim().is_empty() {
            return Err(FilterError::Date(text.to_owned()));
        }
        Ok(Self { first: limit(from, Date(u32::MIN))?.0, last: limit(to, Date(u32::MAX))?.1 })
    }
}

impl GameRecord {
    /// The values of the headers for the date.
    fn date_headers(&self) -> impl Iterator<Item = &str> {
        let names = [Tag::Date.name(self.game()), "UTCDate", "対局日"];
        names.into_iter().filter_map(|name| self.headers.get(name)).filter(|date| !date.is_empty())
    }

    /// The date of the game: of the first header that has one.
    pub fn date(&self) -> Date {
        let mut dates = self.date_headers().map(Date::parse);
        dates.find(|date| *date != Date::default()).unwrap_or_default()
    }

    /// The date of the game as in its headers, with a time of day if one is recorded.
    pub fn date_text(&self) -> Option<&str> {
        let is_known = |text: &&str| Date::parse(text) != Date::default();
        self.date_headers().find(is_known).or_else(|| self.date_headers().next())
    }
}

#[cfg(test)]
mod tests {
    use super::{Date, DateRange};

    #[test]
    fn dates_are_read_in_all_forms() {
        for (text, written) in [
            ("2026.11.25", "2026.11.25"),
            ("2026/11/25(水) 10:00", "2026.11.25"),
            ("2026-11-25T10:00:00", "2026.11.25"),
            ("2026年11月25日", "2026.11.25"),
            ("2026.??.??", "2026.??.??"),
            ("1972", "1972.??.??"),
            ("2026.13.25", "2026.??.??"),
            ("????.??.??", "????.??.??"),
            ("25.11.2026", "2026.11.25"),
            ("", "????.??.??"),
            ("99999.1.1", "????.??.??"),
        ] {
            assert_eq!(Date::parse(text).to_string(), written, "{text}");
        }
        assert!(Date::parse("2026.11.25").is_compatible(Date::parse("2026")));
        assert!(!Date::parse("2026.11.25").is_compatible(Date::parse("2026.12")));
    }

    /// Unknown parts can be any, but a game without a year is in no range.
    #[test]
    fn ranges_have_dates_that_can_be_in_them() {
        for (range, date, is_in) in [
            ("2020-05..", "2020.??.??", true),
            ("2020-05..", "2020.04.??", false),
            ("..2020-05", "2020", true),
            ("..2020-05", "????.??.??", false),
            ("2020", "31.12.2020", true),
            ("2020-05..2020-06", "2020年6月30日", true),
        ] {
            let parsed: DateRange = range.parse().expect("a range");
            assert_eq!(parsed.contains(Date::parse(date)), is_in, "{date} in {range}");
        }
    }
}
