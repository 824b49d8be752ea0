//! Elo models of sequential tests and their log-likelihood ratios.

use std::fmt;
use std::str::FromStr;

use crate::stats::counts::{Counts, Trinomial};
use crate::stats::estimate::{BayesElo, Bin, Distribution, NORMALIZED_ELO, Sample, score_of_elo};

/// The Elo model of the hypotheses of a test.
///
/// The same number is a different strength in each model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Model {
    /// Normalized Elo: the distance of the expected score from one half in standard deviations of a
    /// game. The duration of a test hardly depends on the draw ratio. For games and pairs (M. Van den
    /// Bergh, *Normalized Elo, practical considerations*).
    #[default]
    Normalized,
    /// Logistic Elo of the expected score. For games and pairs (M. Van den Bergh, *Comparing
    /// approximations of the GSPRT*).
    Logistic,
    /// `bayesian` of fastchess: bounds in BayesElo, converted to expected scores at the observed draw
    /// ratio, then the test of [`Logistic`](Self::Logistic). For single games.
    FastchessBayesian,
    /// The test of cutechess: bounds in logistic Elo, scaled to BayesElo at the observed draw ratio.
    /// Half a game is added to each count. For single games.
    BayesElo,
    /// The trinomial test of OpenBench, and formerly of fishtest: bounds in BayesElo.
    /// For single games.
    UnscaledBayesElo,
}

impl Model {
    const ALL: [(Self, &'static str); 5] = [
        (Self::Normalized, "normalized"),
        (Self::Logistic, "logistic"),
        (Self::FastchessBayesian, "bayesian"),
        (Self::BayesElo, "bayeselo"),
        (Self::UnscaledBayesElo, "unscaled-bayeselo"),
    ];

    /// Alternative names.
    const ALIASES: [(Self, &'static str); 2] =
        [(Self::FastchessBayesian, "fastchess-bayesian"), (Self::BayesElo, "bayes-elo")];
}

/// `normalized`, `logistic` and `bayesian` as in fastchess, `bayeselo`, `unscaled-bayeselo`.
impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.iter().find(|(model, _)| model == self).map_or("", |(_, name)| name);
        f.pad(name)
    }
}

/// An unknown name of a [`Model`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown model `{}`; expected one of {}", .0, Model::ALL.map(|(_, name)| name).join(", "))]
pub struct UnknownModel(String);

impl FromStr for Model {
    type Err = UnknownModel;

    fn from_str(text: &str) -> Result<Self, UnknownModel> {
        let found = Self::ALL.iter().chain(&Self::ALIASES).find(|(_, name)| *name == text);
        found.map(|(model, _)| *model).ok_or_else(|| UnknownModel(text.chars().take(40).collect()))
    }
}

/// Why there is no log-likelihood ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LlrError {
    /// The model counts single games, but the games of pairs with one point are unknown.
    #[error("the model counts single games, but pairs with one point are not split")]
    NeedsSingleGames,
    /// No distribution of the results satisfies a hypothesis, or none was found.
    #[error("the results cannot satisfy a hypothesis")]
    OutOfReach,
}

/// The log-likelihood ratio of two hypotheses, and its expected change per item.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence {
    /// The log-likelihood ratio.
    pub(super) llr: f64,
    /// Number of games or pairs.
    pub(super) items: f64,
    /// Mean change of the ratio per item.
    pub(super) drift: f64,
    /// Variance of the change.
    pub(super) variance: f64,
    /// Games of an item.
    pub(super) games_per_item: f64,
}

/// The assumed distribution of future results.
#[derive(Clone, Copy, Debug)]
pub(super) enum ScoreModel {
    /// The observed distribution.
    Seen,
    /// The maximum-likelihood distribution at this strength, in Elo of the model.
    Strength(f64),
}

/// Computes the log-likelihood ratio of two strengths in Elo of the model, with the drift under `score_model`.
pub(super) fn weigh(
    model: Model,
    counts: &Counts,
    [elo0, elo1]: [f64; 2],
    score_model: ScoreModel,
) -> Result<Evidence, LlrError> {
    match (model, counts) {
        (Model::Normalized | Model::Logistic, Counts::Games(games)) => {
            generalized(model, &games.sample(), [elo0, elo1], score_model)
        }
        (Model::Normalized | Model::Logistic, Counts::Pairs(pairs)) => {
            generalized(model, &pairs.sample(), [elo0, elo1], score_model)
        }
        (Model::FastchessBayesian, counts) => {
            let games = counts.single_games().ok_or(LlrError::NeedsSingleGames)?;
            fastchess_bayesian(&games, [elo0, elo1], score_model)
        }
        (Model::BayesElo, counts) => {
            let games = counts.single_games().ok_or(LlrError::NeedsSingleGames)?;
            Ok(bayes_elo(&games, 0.5, [elo0, elo1], score_model, true))
        }
        (Model::UnscaledBayesElo, counts) => {
            let games = counts.single_games().ok_or(LlrError::NeedsSingleGames)?;
            Ok(bayes_elo(&games, 0.0, [elo0, elo1], score_model, false))
        }
    }
}

fn generalized<const N: usize>(
    model: Model,
    sample: &Sample<N>,
    elos: [f64; 2],
    score_model: ScoreModel,
) -> Result<Evidence, LlrError> {
    let hypothesis = |elo: f64| match model {
        // The score of a pair has half the variance of that of a game.
        Model::Normalized => {
            Hypothesis::Deviations(elo / NORMALIZED_ELO * sample.games_per_item.sqrt())
        }
        _ => Hypothesis::Mean(score_of_elo(elo)),
    };
    let score_model = match score_model {
        ScoreModel::Seen => None,
        ScoreModel::Strength(elo) => Some(hypothesis(elo)),
    };
    between(sample, elos.map(hypothesis), score_model)
}

fn fastchess_bayesian(
    games: &Trinomial,
    elos: [f64; 2],
    score_model: ScoreModel,
) -> Result<Evidence, LlrError> {
    let sample = games.sample();
    let (distribution, items) = sample.distribution();
    let [loss, _, win] = distribution.bins.map(|bin| bin.weight);
    if games.losses() == 0 || games.wins() == 0 {
        // The draw ratio is undefined. fastchess continues the test.
        return Ok(Evidence { llr: 0.0, items, drift: 0.0, variance: 0.0, games_per_item: 1.0 });
    }
    let BayesElo { draw_elo, .. } = BayesElo::of(loss, win);
    let hypothesis = |elo: f64| Hypothesis::Mean(BayesElo { elo, draw_elo }.score());
    let score_model = match score_model {
        ScoreModel::Seen => None,
        ScoreModel::Strength(elo) => Some(hypothesis(elo)),
    };
    between(&sample, elos.map(hypothesis), score_model)
}

/// The generalized likelihood ratio, with the maximum-likelihood distribution of each hypothesis.
fn between<const N: usize>(
    sample: &Sample<N>,
    [zero, one]: [Hypothesis; 2],
    score_model: Option<Hypothesis>,
) -> Result<Evidence, LlrError> {
    let games_per_item = sample.games_per_item;
    if sample.items() <= 0.0 && score_model.is_none() {
        return Ok(Evidence { llr: 0.0, items: 0.0, drift: 0.0, variance: 0.0, games_per_item });
    }
    let (mut distribution, items) = sample.distribution();
    if let Some(score_model) = score_model {
        distribution = reach(fit(&distribution, score_model))?.distribution;
    }
    let (zero, one) = (reach(fit(&distribution, zero))?, reach(fit(&distribution, one))?);
    let steps = zero.logarithms.iter().zip(&one.logarithms).map(|(zero, one)| zero - one);
    let (drift, variance) = step(&distribution, steps);
    if !(drift.is_finite() && variance.is_finite()) {
        return Err(LlrError::OutOfReach);
    }
    Ok(Evidence { llr: items * drift, items, drift, variance, games_per_item })
}

fn reach<const N: usize>(found: Option<Constrained<N>>) -> Result<Constrained<N>, LlrError> {
    found.ok_or(LlrError::OutOfReach)
}

/// The likelihood ratio of two BayesElo distributions with the observed draw ratio.
fn bayes_elo(
    games: &Trinomial,
    added: f64,
    elos: [f64; 2],
    score_model: ScoreModel,
    scaled: bool,
) -> Evidence {
    let bins = games.sample().with_added(added);
    let items: f64 = bins.iter().map(|bin| bin.weight).sum();
    let none = Evidence { llr: 0.0, items, drift: 0.0, variance: 0.0, games_per_item: 1.0 };
    if games.games() == 0 || bins.iter().any(|bin| bin.weight <= 0.0) {
        return none;
    }
    let mut distribution =
        Distribution { bins: bins.map(|bin| Bin { weight: bin.weight / items, ..bin }) };
    let [loss, _, win] = distribution.bins.map(|bin| bin.weight);
    let seen = BayesElo::of(loss, win);
    let BayesElo { draw_elo, .. } = seen;
    let unit = if scaled { 1.0 / seen.scale() } else { 1.0 };
    let distribution_of = |elo: f64| BayesElo { elo: elo * unit, draw_elo }.distribution();
    if let ScoreModel::Strength(elo) = score_model {
        for (bin, weight) in distribution.bins.iter_mut().zip(distribution_of(elo)) {
            bin.weight = weight;
        }
    }
    let [zero, one] = elos.map(distribution_of);
    let steps = zero.iter().zip(&one).map(|(p0, p1)| (p1 / p0).ln());
    let (drift, variance) = step(&distribution, steps);
    if drift.is_finite() && variance.is_finite() {
        Evidence { llr: items * drift, drift, variance, ..none }
    } else {
        none
    }
}

/// Mean and variance of the change of the ratio per item.
///
/// The change is the logarithm of the ratio of the two probabilities. Their dependence on the counts
/// does not matter, because the derivative of the maximum likelihood is zero.
fn step<const N: usize>(
    distribution: &Distribution<N>,
    steps: impl Iterator<Item = f64> + Clone,
) -> (f64, f64) {
    let weighted = distribution.bins.iter().zip(steps);
    let drift: f64 = weighted.clone().map(|(bin, step)| bin.weight * step).sum();
    let variance = weighted.map(|(bin, step)| bin.weight * (step - drift).powi(2)).sum();
    (drift, variance)
}

/// A hypothesis about the score of an item.
#[derive(Clone, Copy, Debug)]
enum Hypothesis {
    /// Its mean.
    Mean(f64),
    /// The distance of its mean from one half in standard deviations.
    Deviations(f64),
}

/// A constrained maximum-likelihood distribution, and the logarithm of the divisor of each probability.
#[derive(Clone, Copy, Debug)]
struct Constrained<const N: usize> {
    pub(super) distribution: Distribution<N>,
    logarithms: [f64; N],
}

/// The maximum-likelihood distribution under a hypothesis; none if it does not exist or the search
/// does not converge.
fn fit<const N: usize>(seen: &Distribution<N>, hypothesis: Hypothesis) -> Option<Constrained<N>> {
    match hypothesis {
        Hypothesis::Mean(mean) => constrain(seen, |value| value - mean),
        Hypothesis::Deviations(t) => {
            iterate(seen, seen.uniform(), t).or_else(|| iterate(seen, *seen, t))
        }
    }
}

/// Solves the constraint in standard deviations, which is not linear in the distribution, by repeated
/// linearization at the last distribution (M. Van den Bergh, *Normalized Elo,
/// practical considerations*, sections 4.1 and 4.2).
fn iterate<const N: usize>(
    seen: &Distribution<N>,
    start: Distribution<N>,
    t: f64,
) -> Option<Constrained<N>> {
    const ROUNDS: u32 = 200;
    const TOLERANCE: f64 = 1e-13;
    // Rounding errors of extreme distributions are larger: stop when the change no longer decreases.
    const ROUNDING: f64 = 1e-9;
    let mut distribution = start;
    let mut before = f64::INFINITY;
    for _ in 0..ROUNDS {
        let (mean, variance) = distribution.moments();
        let deviation = variance.sqrt();
        let next = constrain(seen, |value| {
            value - 0.5 - t * deviation / 2.0 * (1.0 + ((value - mean) / deviation).powi(2))
        })?;
        let change = distribution
            .bins
            .iter()
            .zip(&next.distribution.bins)
            .map(|(one, other)| (one.weight - other.weight).abs())
            .fold(0.0, f64::max);
        if change <= TOLERANCE || (change >= before && change <= ROUNDING) {
            return Some(next);
        }
        before = change;
        distribution = next.distribution;
    }
    None
}

fn constrain<const N: usize>(
    seen: &Distribution<N>,
    phi: impl Fn(f64) -> f64,
) -> Option<Constrained<N>> {
    let terms = seen.bins.map(|bin| Bin { value: phi(bin.value), ..bin });
    let highest = terms.iter().map(|term| term.value).fold(f64::NEG_INFINITY, f64::max);
    let lowest = terms.iter().map(|term| term.value).fold(f64::INFINITY, f64::min);
    if !(lowest < 0.0 && highest > 0.0 && lowest.is_finite() && highest.is_finite()) {
        return None;
    }
    // The root lies between 0 and the pole of this extreme.
    let mean: f64 = terms.iter().map(|term| term.weight * term.value).sum();
    let extreme = if mean < 0.0 { highest } else { lowest };
    let half = -0.5 / extreme;
    let near = terms.map(|term| Line { at_zero: 1.0, slope: term.value, weight: term.weight });
    let (at_half, _) = sum(&near, half);
    let mut logarithms = [0.0; N];
    let mut bins = seen.bins;
    if at_half * mean <= 0.0 {
        let theta = root(&near, half.min(0.0), half.max(0.0), 0.0)?;
        for ((bin, logarithm), line) in bins.iter_mut().zip(&mut logarithms).zip(&near) {
            bin.weight /= 1.0 + theta * line.slope;
            *logarithm = (theta * line.slope).ln_1p();
        }
    } else {
        // Close to the pole θ has too few digits, so this solves for the distance to the pole.
        let far = near.map(|line| Line { at_zero: 1.0 - line.slope / extreme, ..line });
        let distance = root(&far, (-half).min(0.0), (-half).max(0.0), -half)?;
        for ((bin, logarithm), line) in bins.iter_mut().zip(&mut logarithms).zip(&far) {
            let divisor = line.at_zero + distance * line.slope;
            bin.weight /= divisor;
            *logarithm = divisor.ln();
        }
    }
    Some(Constrained { distribution: Distribution { bins }, logarithms })
}

/// The divisor of a probability as a linear function of the unknown, with the probability.
#[derive(Clone, Copy)]
struct Line {
    at_zero: f64,
    slope: f64,
    weight: f64,
}

/// `Σ p φ / (1 + θ φ)` and its derivative.
fn sum<const N: usize>(lines: &[Line; N], x: f64) -> (f64, f64) {
    let (mut value, mut slope) = (0.0, 0.0);
    for line in lines {
        let share = line.slope / (line.at_zero + x * line.slope);
        value += line.weight * share;
        slope -= line.weight * share * share;
    }
    (value, slope)
}

/// The root of the sum, which decreases from `low` to `high`.
///
/// Newton's method within a shrinking bracket. Unlike general solvers it uses the derivative and never
/// evaluates the function at the ends of the bracket, which may be poles.
fn root<const N: usize>(lines: &[Line; N], mut low: f64, mut high: f64, start: f64) -> Option<f64> {
    const STEPS: u32 = 200;
    const LAST_STEP: f64 = 1e-10;
    let mut x = start;
    let mut before = high - low;
    for _ in 0..STEPS {
        let (value, slope) = sum(lines, x);
        if value > 0.0 {
            low = x;
        } else if value < 0.0 {
            high = x;
        } else {
            return (value == 0.0).then_some(x);
        }
        let step = -value / slope;
        let newton = x + step;
        // Close to a pole Newton steps are short, and bisection is faster.
        let next = if newton > low && newton < high && step.abs() < before / 2.0 {
            // Newton converges quadratically.
            if step.abs() <= LAST_STEP * x.abs() {
                return Some(newton);
            }
            before = step.abs();
            newton
        } else {
            before = (high - low) / 2.0;
            low + before
        };
        if next <= low || next >= high || (next - x).abs() <= f64::EPSILON * x.abs() {
            return Some(x);
        }
        x = next;
    }
    None
}
