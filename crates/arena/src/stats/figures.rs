//! All that a match says about two engines, without a hypothesis.

use std::f64::consts::SQRT_2;

use libm::erf;

use super::counts::Counts;
use super::elo::{NORMALIZED_ELO, elo_of_score};
use super::figure::{Estimate, Figure, Interval};
use super::sample::Sample;

/// The figures of a match, for the engine that the counts are about.
///
/// Elo, normalized Elo and the likelihood of superiority take the mean score as normally
/// distributed, with the variance that was seen: of games, or of pairs where pairs were counted.
/// That is what fastchess and fishtest show, and it is good for a few hundred games that are not
/// lopsided. Where it is not, [`safe_elo`](Self::safe_elo) is still honest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// All games.
    pub games: u64,
    /// What was scored, in half points.
    pub half_points: u64,
    /// What was scored of what could be, between 0 and 1.
    pub score: Figure,
    /// The difference in Elo, by the expected score. Its error is unknown where all games, or pairs, have
    /// scored the same, as one alone has.
    pub elo: Estimate,
    /// The difference in normalized Elo: in standard deviations of a game.
    pub normalized_elo: Estimate,
    /// The difference in Elo by Wilson's interval for the score, with the largest variance that a
    /// score can have: wider than need be where there are draws, but true also with few games, and
    /// with nothing but wins (E. B. Wilson, *Probable inference, the law of succession, and
    /// statistical inference*, 1927).
    pub safe_elo: Interval,
    /// The likelihood of superiority, between 0 and 1: that the engine is the stronger one.
    pub los: Figure,
    /// The share of draws; of pairs, of those that scored one point.
    pub draw_ratio: Figure,
    /// Figures of pairs, where pairs were counted.
    pub pairs: Option<PairFigures>,
}

/// Figures of pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairFigures {
    /// Pairs that scored more than one point, to those that scored less.
    pub pairs_ratio: Figure,
    /// Pairs of a win and a loss to pairs of two draws: above 1 the openings are unbalanced.
    /// Unknown where the two were not told apart.
    pub wl_dd_ratio: Figure,
}

impl Figures {
    /// The figures of these counts.
    #[expect(clippy::cast_precision_loss, reason = "counts are at most 2^53")]
    pub fn of(counts: &Counts) -> Self {
        match counts {
            Counts::Games(games) => {
                let draws = games.draws() as f64;
                Self::of_sample(&games.sample(), counts, draws, None)
            }
            Counts::Pairs(pairs) => {
                let [ll, ld, middle, wd, ww] = pairs.five();
                let split = pairs.win_and_loss().zip(pairs.two_draws());
                let figures = PairFigures {
                    pairs_ratio: Figure::ratio((wd + ww) as f64, (ld + ll) as f64),
                    wl_dd_ratio: split
                        .map_or(Figure::Unknown, |(wl, dd)| Figure::ratio(wl as f64, dd as f64)),
                };
                Self::of_sample(&pairs.sample(), counts, middle as f64, Some(figures))
            }
        }
    }

    fn of_sample<const N: usize>(
        sample: &Sample<N>,
        counts: &Counts,
        draws: f64,
        pairs: Option<PairFigures>,
    ) -> Self {
        let items = sample.items();
        let (score, variance) = sample.moments();
        Self {
            games: counts.games(),
            half_points: counts.half_points(),
            score: Figure::of(score),
            elo: elo(score, variance, items),
            normalized_elo: normalized_elo(score, variance, items, sample.games_per_item),
            safe_elo: wilson(score, items),
            los: los(score, variance, items),
            draw_ratio: Figure::ratio(draws, items),
            pairs,
        }
    }
}

/// Number of standard deviations around the mean that contain 95 % of a normal distribution.
pub(super) const Z95: f64 = 1.959_963_984_540_054;

/// The probability that a normal deviate is below `x` standard deviations.
pub(super) fn normal_below(x: f64) -> f64 {
    f64::midpoint(1.0, erf(x / SQRT_2))
}

fn elo(score: f64, variance: f64, items: f64) -> Estimate {
    if items <= 0.0 {
        return Estimate::UNKNOWN;
    }
    let value = elo_of_score(score);
    let reach = Z95 * (variance / items).sqrt();
    let error = match (elo_of_score(score - reach), elo_of_score(score + reach)) {
        (Figure::Number(_), Figure::Number(_)) if variance <= 0.0 => Figure::Unknown,
        (Figure::Number(low), Figure::Number(high)) => Figure::of((high - low) / 2.0),
        // The interval of the score reaches the end of what a score can be, or nothing but wins or
        // losses was seen.
        _ => Figure::PlusInfinity,
    };
    Estimate { value, error }
}

fn normalized_elo(score: f64, variance: f64, items: f64, games_per_item: f64) -> Estimate {
    if items <= 0.0 {
        return Estimate::UNKNOWN;
    }
    // The deviation of a single game, where the games of a pair are taken as independent.
    let deviation = (variance * games_per_item).sqrt();
    let value = Figure::of(NORMALIZED_ELO * (score - 0.5) / deviation);
    let error = match value {
        Figure::Number(_) => {
            Figure::of(NORMALIZED_ELO * Z95 * (variance / items).sqrt() / deviation)
        }
        Figure::PlusInfinity | Figure::MinusInfinity => Figure::PlusInfinity,
        Figure::Unknown => Figure::Unknown,
    };
    Estimate { value, error }
}

fn los(score: f64, variance: f64, items: f64) -> Figure {
    let deviations = Figure::of((score - 0.5) / (variance / items).sqrt());
    match deviations {
        Figure::Number(x) => Figure::of(normal_below(x)),
        Figure::PlusInfinity => Figure::Number(1.0),
        Figure::MinusInfinity => Figure::Number(0.0),
        Figure::Unknown => Figure::Unknown,
    }
}

fn wilson(score: f64, items: f64) -> Interval {
    if items <= 0.0 {
        return Interval { low: Figure::Unknown, high: Figure::Unknown };
    }
    let share = Z95.powi(2) / items;
    let middle = (score + share / 2.0) / (1.0 + share);
    let reach = (share * (score * (1.0 - score) + share / 4.0)).sqrt() / (1.0 + share);
    // Rounding must not change the bounds of extreme scores.
    let low = if score <= 0.0 { 0.0 } else { (middle - reach).max(0.0) };
    let high = if score >= 1.0 { 1.0 } else { (middle + reach).min(1.0) };
    Interval { low: elo_of_score(low), high: elo_of_score(high) }
}
