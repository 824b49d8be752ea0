//! Numbers that may not exist: what no count supports is said, not printed as `NaN`.

use std::fmt;

use super::figures::Z95;

/// A figure of a match.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure {
    /// A finite number.
    Number(f64),
    /// Above every bound: the Elo of a side that won everything.
    PlusInfinity,
    /// Below every bound.
    MinusInfinity,
    /// The counts say nothing about it: no games, or a ratio of nothing to nothing.
    Unknown,
}

impl Figure {
    /// The figure that a computed value stands for.
    pub fn of(value: f64) -> Self {
        if value.is_nan() {
            Self::Unknown
        } else if value.is_finite() {
            Self::Number(value)
        } else if value > 0.0 {
            Self::PlusInfinity
        } else {
            Self::MinusInfinity
        }
    }

    /// The number, if it is one.
    pub fn number(self) -> Option<f64> {
        match self {
            Self::Number(value) => Some(value),
            Self::PlusInfinity | Self::MinusInfinity | Self::Unknown => None,
        }
    }

    /// The quotient of two counts; nothing to nothing is unknown.
    pub(super) fn ratio(part: f64, whole: f64) -> Self {
        Self::of(part / whole)
    }
}

/// `inf`, `-inf` and `unknown` where there is no number; a precision applies to the number.
impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self {
            Self::Number(value) => return shown(*value, f.precision()).fmt(f),
            Self::PlusInfinity => "inf",
            Self::MinusInfinity => "-inf",
            Self::Unknown => "unknown",
        };
        // `pad` would take the precision for the length of the word.
        write!(f, "{word:>width$}", width = f.width().unwrap_or(0))
    }
}

/// The value as it is written: what rounds to nothing has no sign.
fn shown(value: f64, precision: Option<usize>) -> f64 {
    let text = precision.map_or_else(|| value.to_string(), |places| format!("{value:.places$}"));
    let is_nothing = text.chars().all(|letter| matches!(letter, '-' | '.' | '0'));
    if is_nothing { 0.0 } else { value }
}

/// A value with its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The most likely value.
    pub value: Figure,
    /// Half the width of the interval that holds the true value with 95 % confidence.
    pub error: Figure,
}

impl Estimate {
    pub(super) const UNKNOWN: Self = Self { value: Figure::Unknown, error: Figure::Unknown };

    /// Of a normal distribution with this mean and variance.
    pub(crate) fn normal(mean: f64, variance: f64) -> Self {
        let error = Z95 * variance.max(0.0).sqrt();
        Self { value: Figure::of(mean), error: Figure::of(error) }
    }
}

/// `12.34 +/- 5.67`; a precision applies to both.
impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)?;
        f.write_str(" +/- ")?;
        self.error.fmt(f)
    }
}

/// The interval that holds the true value with 95 % confidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Its lower end.
    pub low: Figure,
    /// Its upper end.
    pub high: Figure,
}
