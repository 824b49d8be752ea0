//! Estimates that may be infinite or unknown, and the normal distribution.

use std::f64::consts::SQRT_2;
use std::fmt;

use libm::erf;

/// Number of standard deviations around the mean that contain 95 % of a normal distribution.
pub(super) const Z95: f64 = 1.959_963_984_540_054;

/// The cumulative distribution function of the standard normal distribution.
pub(super) fn normal_cdf(x: f64) -> f64 {
    f64::midpoint(1.0, erf(x / SQRT_2))
}

/// A statistic of a match.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure {
    /// A finite number.
    Number(f64),
    /// Above every bound: the Elo of a side that won everything.
    PlusInfinity,
    /// Below every bound.
    MinusInfinity,
    /// Undefined: no games, or a ratio of zero to zero.
    Unknown,
}

impl Figure {
    /// The figure of a computed value; NaN is unknown.
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

    /// The ratio of two counts; zero to zero is unknown.
    pub(super) fn ratio(part: f64, whole: f64) -> Self {
        Self::of(part / whole)
    }
}

/// `inf`, `-inf` and `unknown` where there is no number; a precision applies to the number.
impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Number(value) => return unsigned_zero(*value, f.precision()).fmt(f),
            Self::PlusInfinity => "inf",
            Self::MinusInfinity => "-inf",
            Self::Unknown => "unknown",
        };
        // `pad` would truncate the text to the precision.
        write!(f, "{text:>width$}", width = f.width().unwrap_or(0))
    }
}

/// Removes the sign of a value that is printed as zero.
fn unsigned_zero(value: f64, precision: Option<usize>) -> f64 {
    let text = precision.map_or_else(|| value.to_string(), |places| format!("{value:.places$}"));
    let is_zero = text.chars().all(|letter| matches!(letter, '-' | '.' | '0'));
    if is_zero { 0.0 } else { value }
}

/// An estimate with its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The most likely value.
    pub value: Figure,
    /// Half the width of the 95 % confidence interval.
    pub error: Figure,
}

impl Estimate {
    pub(super) const UNKNOWN: Self = Self { value: Figure::Unknown, error: Figure::Unknown };

    /// The estimate of a normal distribution.
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

/// A 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Its lower end.
    pub low: Figure,
    /// Its upper end.
    pub high: Figure,
}
