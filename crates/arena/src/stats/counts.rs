//! Results as counts, and the statistics of a match between two engines.

use crate::stats::estimate::{
    Estimate, Figure, Interval, NORMALIZED_ELO, Sample, Z95, elo_of_score, normal_cdf,
};

/// The result of a game, from the point of view of one engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// A loss.
    Loss,
    /// A draw.
    Draw,
    /// A win.
    Win,
}

impl Outcome {
    /// The outcome for the opponent.
    #[must_use]
    pub fn reversed(self) -> Self {
        match self {
            Self::Loss => Self::Win,
            Self::Draw => Self::Draw,
            Self::Win => Self::Loss,
        }
    }

    /// The score in half points: 0, 1 or 2.
    pub fn half_points(self) -> u64 {
        match self {
            Self::Loss => 0,
            Self::Draw => 1,
            Self::Win => 2,
        }
    }
}

/// Maximum number of games, up to which an `f64` is exact.
pub const MAX_GAMES: u64 = 1 << 53;

/// More than [`MAX_GAMES`] games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more than {MAX_GAMES} games")]
pub struct TooManyGames;

/// Results of single games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trinomial {
    losses: u64,
    draws: u64,
    wins: u64,
}

impl Trinomial {
    /// Creates counts.
    pub fn new(losses: u64, draws: u64, wins: u64) -> Result<Self, TooManyGames> {
        checked(&[losses, draws, wins], MAX_GAMES)?;
        Ok(Self { losses, draws, wins })
    }

    /// A million games with an equal score and this draw ratio in permille, at most 1000: a base for
    /// forecasts before the first game.
    pub fn assumed(draws_permille: u16) -> Self {
        let draws = u64::from(draws_permille.min(1000)) * 1000;
        let wins = (1_000_000 - draws) / 2;
        Self { losses: wins, draws, wins }
    }

    /// Adds a game.
    pub fn add(&mut self, outcome: Outcome) -> Result<(), TooManyGames> {
        if self.games() >= MAX_GAMES {
            return Err(TooManyGames);
        }
        match outcome {
            Outcome::Loss => self.losses += 1,
            Outcome::Draw => self.draws += 1,
            Outcome::Win => self.wins += 1,
        }
        Ok(())
    }

    /// The sum of both counts.
    pub fn plus(self, other: Self) -> Result<Self, TooManyGames> {
        // Both are at most 2^53, so sums do not overflow.
        Self::new(self.losses + other.losses, self.draws + other.draws, self.wins + other.wins)
    }

    /// The counts for the opponent.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { losses: self.wins, draws: self.draws, wins: self.losses }
    }

    /// Games lost.
    pub fn losses(&self) -> u64 {
        self.losses
    }

    /// Games drawn.
    pub fn draws(&self) -> u64 {
        self.draws
    }

    /// Games won.
    pub fn wins(&self) -> u64 {
        self.wins
    }

    /// All games.
    pub fn games(&self) -> u64 {
        self.losses + self.draws + self.wins
    }

    /// The score in half points.
    pub fn half_points(&self) -> u64 {
        2 * self.wins + self.draws
    }

    pub(super) fn sample(&self) -> Sample<3> {
        Sample::new([(0.0, self.losses), (0.5, self.draws), (1.0, self.wins)], 1.0)
    }
}

/// Results of game pairs: two games from one opening with reversed colors.
///
/// The games of a pair are correlated by the opening, so only pairs are independent (M. Van den Bergh, *A practical introduction to the pentanomial model*).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pentanomial {
    ll: u64,
    ld: u64,
    middle: u64,
    // Number of pairs in the middle with a win and a loss; none if only the sum is known.
    wl: Option<u64>,
    wd: u64,
    ww: u64,
}

impl Default for Pentanomial {
    fn default() -> Self {
        Self { ll: 0, ld: 0, middle: 0, wl: Some(0), wd: 0, ww: 0 }
    }
}

impl Pentanomial {
    /// Creates counts of two losses, loss and draw, win and loss, two draws, win and draw,
    /// two wins.
    pub fn new(ll: u64, ld: u64, wl: u64, dd: u64, wd: u64, ww: u64) -> Result<Self, TooManyGames> {
        checked(&[ll, ld, wl, dd, wd, ww], MAX_GAMES / 2)?;
        Ok(Self { ll, ld, middle: wl + dd, wl: Some(wl), wd, ww })
    }

    /// Creates counts of pairs that scored 0, ½, 1, 1½ and 2 points. The middle is not split into win and
    /// loss and two draws.
    pub fn from_five([ll, ld, middle, wd, ww]: [u64; 5]) -> Result<Self, TooManyGames> {
        checked(&[ll, ld, middle, wd, ww], MAX_GAMES / 2)?;
        Ok(Self { ll, ld, middle, wl: None, wd, ww })
    }

    /// Adds a finished pair.
    pub fn add(&mut self, one: Outcome, other: Outcome) -> Result<(), TooManyGames> {
        if self.pairs() >= MAX_GAMES / 2 {
            return Err(TooManyGames);
        }
        match (one, other) {
            (Outcome::Loss, Outcome::Loss) => self.ll += 1,
            (Outcome::Loss, Outcome::Draw) | (Outcome::Draw, Outcome::Loss) => self.ld += 1,
            (Outcome::Draw, Outcome::Draw) => self.middle += 1,
            (Outcome::Win, Outcome::Loss) | (Outcome::Loss, Outcome::Win) => {
                self.middle += 1;
                self.wl = self.wl.map(|wl| wl + 1);
            }
            (Outcome::Win, Outcome::Draw) | (Outcome::Draw, Outcome::Win) => self.wd += 1,
            (Outcome::Win, Outcome::Win) => self.ww += 1,
        }
        Ok(())
    }

    /// The sum of both counts.
    pub fn plus(self, other: Self) -> Result<Self, TooManyGames> {
        // Both are at most 2^52, so sums do not overflow.
        let sum = Self::from_five([
            self.ll + other.ll,
            self.ld + other.ld,
            self.middle + other.middle,
            self.wd + other.wd,
            self.ww + other.ww,
        ])?;
        Ok(Self { wl: self.wl.zip(other.wl).map(|(one, other)| one + other), ..sum })
    }

    /// The counts for the opponent.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { ll: self.ww, ld: self.wd, wd: self.ld, ww: self.ll, ..self }
    }

    /// Pairs that scored 0, ½, 1, 1½ and 2 points.
    pub fn five(&self) -> [u64; 5] {
        [self.ll, self.ld, self.middle, self.wd, self.ww]
    }

    /// Pairs with two losses, loss and draw, win and loss, two draws, win and draw, two wins; none if the
    /// middle is not split.
    pub fn six(&self) -> Option<[u64; 6]> {
        let wl = self.wl?;
        Some([self.ll, self.ld, wl, self.middle - wl, self.wd, self.ww])
    }

    /// Pairs with a win and a loss; none if the middle is not split.
    pub fn win_and_loss(&self) -> Option<u64> {
        self.wl
    }

    /// Pairs with two draws; none if the middle is not split.
    pub fn two_draws(&self) -> Option<u64> {
        self.wl.map(|wl| self.middle - wl)
    }

    /// All pairs.
    pub fn pairs(&self) -> u64 {
        self.five().iter().sum()
    }

    /// Number of games, two per pair.
    pub fn games(&self) -> u64 {
        2 * self.pairs()
    }

    /// The score in half points.
    pub fn half_points(&self) -> u64 {
        self.ld + 2 * self.middle + 3 * self.wd + 4 * self.ww
    }

    /// The single games; none if the middle is not split.
    pub fn single_games(&self) -> Option<Trinomial> {
        let wl = self.wl?;
        Some(Trinomial {
            losses: 2 * self.ll + self.ld + wl,
            draws: self.ld + 2 * (self.middle - wl) + self.wd,
            wins: wl + self.wd + 2 * self.ww,
        })
    }

    pub(super) fn sample(&self) -> Sample<5> {
        let Self { ll, ld, middle, wd, ww, .. } = *self;
        Sample::new([(0.0, ll), (0.25, ld), (0.5, middle), (0.75, wd), (1.0, ww)], 2.0)
    }
}

/// Counts of games or pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// Single games.
    Games(Trinomial),
    /// Pairs.
    Pairs(Pentanomial),
}

impl Counts {
    /// The counts for the opponent.
    #[must_use]
    pub fn reversed(self) -> Self {
        match self {
            Self::Games(games) => Self::Games(games.reversed()),
            Self::Pairs(pairs) => Self::Pairs(pairs.reversed()),
        }
    }

    /// All games.
    pub fn games(&self) -> u64 {
        match self {
            Self::Games(games) => games.games(),
            Self::Pairs(pairs) => pairs.games(),
        }
    }

    /// The score in half points.
    pub fn half_points(&self) -> u64 {
        match self {
            Self::Games(games) => games.half_points(),
            Self::Pairs(pairs) => pairs.half_points(),
        }
    }

    /// The single games; none for pairs whose middle is not split.
    pub fn single_games(&self) -> Option<Trinomial> {
        match self {
            Self::Games(games) => Some(*games),
            Self::Pairs(pairs) => pairs.single_games(),
        }
    }
}

fn checked(counts: &[u64], max: u64) -> Result<(), TooManyGames> {
    let sum = counts.iter().try_fold(0u64, |sum, count| sum.checked_add(*count));
    if sum.is_some_and(|sum| sum <= max) { Ok(()) } else { Err(TooManyGames) }
}

/// The statistics of a match, from the point of view of the first engine.
///
/// Elo, normalized Elo and LOS assume a normally distributed mean score with the sample variance of
/// games or pairs, as in fastchess and fishtest. This is accurate for a few hundred games without
/// extreme scores; [`safe_elo`](Self::safe_elo) is valid for all results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimates {
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

impl Estimates {
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
