//! Estimates that may be infinite or unknown, the normal distribution, and scores as Elo.

use std::f64::consts::{LN_10, SQRT_2};
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

/// Normalized Elo of a score one standard deviation of a game above one half: 800 / ln 10, so that
/// for small differences and without draws it is the usual Elo (M. Van den Bergh, *Normalized
/// Elo*).
pub const NORMALIZED_ELO: f64 = 800.0 / LN_10;

/// The expected score, between 0 and 1, at an Elo difference.
pub fn score_of_elo(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// The Elo difference of an expected score. Infinite at 0 and 1, unknown outside.
pub fn elo_of_score(score: f64) -> Figure {
    if (0.0..=1.0).contains(&score) {
        Figure::of(-400.0 * (1.0 / score - 1.0).log10())
    } else {
        Figure::Unknown
    }
}

/// BayesElo: two numbers for the three probabilities of a game (R. Coulom, *Bayesian Elo rating*,
/// <https://www.remi-coulom.fr/Bayesian-Elo/>).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BayesElo {
    pub(super) elo: f64,
    pub(super) draw_elo: f64,
}

impl BayesElo {
    /// BayesElo of the probabilities of a loss and a win.
    pub(super) fn of(loss: f64, win: f64) -> Self {
        let (loss_odds, win_odds) = ((1.0 - loss) / loss, (1.0 - win) / win);
        Self {
            elo: 200.0 * (loss_odds / win_odds).log10(),
            draw_elo: 200.0 * (loss_odds * win_odds).log10(),
        }
    }

    /// The probabilities of a loss, a draw and a win.
    pub(super) fn distribution(self) -> [f64; 3] {
        let win = score_of_elo(self.elo - self.draw_elo);
        let loss = score_of_elo(-self.elo - self.draw_elo);
        [loss, 1.0 - loss - win, win]
    }

    /// The expected score.
    pub(super) fn score(self) -> f64 {
        let [_, draw, win] = self.distribution();
        win + draw / 2.0
    }

    /// The derivative of Elo with respect to BayesElo at equality.
    pub(super) fn scale(self) -> f64 {
        let x = 10f64.powf(-self.draw_elo / 400.0);
        4.0 * x / (1.0 + x).powi(2)
    }
}

/// A score between 0 and 1 with its frequency or probability.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bin {
    pub(super) value: f64,
    pub(super) weight: f64,
}

/// The observed scores of items, which are games or pairs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample<const N: usize> {
    bins: [Bin; N],
    pub(super) games_per_item: f64,
}

/// The distribution of a score. Its weights are positive and sum to 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Distribution<const N: usize> {
    pub(super) bins: [Bin; N],
}

/// Replaces a count of zero, so that no score is impossible. fastchess, fishtest and OpenBench use the
/// same number, which gives the same log-likelihood ratios.
const ZERO_COUNT: f64 = 1e-3;

impl<const N: usize> Sample<N> {
    pub(super) fn new(bins: [(f64, u64); N], games_per_item: f64) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "counts are at most 2^53")]
        let bins = bins.map(|(value, count)| Bin { value, weight: count as f64 });
        Self { bins, games_per_item }
    }

    /// Number of items.
    pub(super) fn items(&self) -> f64 {
        self.bins.iter().map(|bin| bin.weight).sum()
    }

    /// Mean and variance; NaN without items.
    pub(super) fn moments(&self) -> (f64, f64) {
        let items = self.items();
        moments(&self.bins.map(|bin| Bin { weight: bin.weight / items, ..bin }))
    }

    /// The counts with `added` added to each.
    pub(super) fn with_added(&self, added: f64) -> [Bin; N] {
        self.bins.map(|bin| Bin { weight: bin.weight + added, ..bin })
    }

    /// The distribution with no zero probability, and the number of items including the replaced zeros.
    pub(super) fn distribution(&self) -> (Distribution<N>, f64) {
        let bins = self.bins.map(|bin| Bin {
            weight: if bin.weight > 0.0 { bin.weight } else { ZERO_COUNT },
            ..bin
        });
        let items: f64 = bins.iter().map(|bin| bin.weight).sum();
        (Distribution { bins: bins.map(|bin| Bin { weight: bin.weight / items, ..bin }) }, items)
    }
}

impl<const N: usize> Distribution<N> {
    /// All scores equally likely.
    pub(super) fn uniform(&self) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "three or five scores")]
        let weight = 1.0 / N as f64;
        Self { bins: self.bins.map(|bin| Bin { weight, ..bin }) }
    }

    /// Mean and variance.
    pub(super) fn moments(&self) -> (f64, f64) {
        moments(&self.bins)
    }
}

fn moments<const N: usize>(bins: &[Bin; N]) -> (f64, f64) {
    let mean: f64 = bins.iter().map(|bin| bin.weight * bin.value).sum();
    let variance = bins.iter().map(|bin| bin.weight * (bin.value - mean).powi(2)).sum();
    (mean, variance)
}
