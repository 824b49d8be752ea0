//! The statistics of a match between two engines.

use super::counts::Counts;
use super::elo::{NORMALIZED_ELO, elo_of_score};
use super::estimate::{Estimate, Figure, Interval, Z95, normal_cdf};
use super::sample::Sample;

/// The statistics of a match, from the point of view of the first engine.
///
/// Elo, normalized Elo and LOS assume a normally distributed mean score with the sample variance of
/// games or pairs, as in fastchess and fishtest. This is accurate for a few hundred games without
/// extreme scores; [`safe_elo`](Self::safe_elo) is valid for all results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// All games.
    pub games: u64,
    /// The score in half points.
    pub half_points: u64,
    /// The mean score per game, between 0 and 1.
    pub score: Figure,
    /// The Elo difference of the expected score. The error is unknown if all games or pairs have the same
    /// score.
    pub elo: Estimate,
    /// The difference in normalized Elo, which is based on the standard deviation of a game.
    pub normalized_elo: Estimate,
    /// The Elo difference by the Wilson interval of the score, with the maximum possible variance. It
    /// is wider than necessary with draws, but also valid with few games and with only wins
    /// (E. B. Wilson, *Probable inference, the law of succession, and
    /// statistical inference*, 1927).
    pub safe_elo: Interval,
    /// The likelihood of superiority (LOS), between 0 and 1.
    pub los: Figure,
    /// The draw ratio; for pairs, the ratio of pairs that scored one point.
    pub draw_ratio: Figure,
    /// Statistics of pairs, if pairs were counted.
    pub pairs: Option<PairFigures>,
}

/// Statistics of pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairFigures {
    /// Ratio of pairs that scored more than one point to those that scored less.
    pub pairs_ratio: Figure,
    /// Ratio of pairs with a win and a loss to pairs with two draws; above 1 for unbalanced openings.
    /// Unknown if the two were counted together.
    pub wl_dd_ratio: Figure,
}

impl Figures {
    /// The statistics of these counts.
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

fn elo(score: f64, variance: f64, items: f64) -> Estimate {
    if items <= 0.0 {
        return Estimate::UNKNOWN;
    }
    let value = elo_of_score(score);
    let reach = Z95 * (variance / items).sqrt();
    let error = match (elo_of_score(score - reach), elo_of_score(score + reach)) {
        (Figure::Number(_), Figure::Number(_)) if variance <= 0.0 => Figure::Unknown,
        (Figure::Number(low), Figure::Number(high)) => Figure::of((high - low) / 2.0),
        // The interval contains a score of 0 or 1, or all games were won or lost.
        _ => Figure::PlusInfinity,
    };
    Estimate { value, error }
}

fn normalized_elo(score: f64, variance: f64, items: f64, games_per_item: f64) -> Estimate {
    if items <= 0.0 {
        return Estimate::UNKNOWN;
    }
    // The standard deviation of a game, assuming independent games of a pair.
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
        Figure::Number(x) => Figure::of(normal_cdf(x)),
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
