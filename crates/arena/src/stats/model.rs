//! Elo models of sequential tests and their log-likelihood ratios.

use std::fmt;
use std::str::FromStr;

use super::counts::{Counts, Trinomial};
use super::elo::{BayesElo, NORMALIZED_ELO, score_of_elo};
use super::mle::{Constrained, Hypothesis, fit};
use super::sample::{Bin, Distribution, Sample};

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

    /// Whether the model counts pairs; other models count single games.
    pub fn is_about_pairs(self) -> bool {
        match self {
            Self::Normalized | Self::Logistic => true,
            Self::FastchessBayesian | Self::BayesElo | Self::UnscaledBayesElo => false,
        }
    }
}

/// `normalized`, `logistic` and `bayesian` as in fastchess, `bayeselo`, `unscaled-bayeselo`.
impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.iter().find(|(model, _)| model == self).map_or("", |(_, name)| name);
        f.pad(name)
    }
}

/// An unknown name of a [`Model`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownModel(String);

impl fmt::Display for UnknownModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Model::ALL.map(|(_, name)| name).join(", ");
        write!(f, "unknown model `{}`; expected one of {names}", self.0)
    }
}

impl std::error::Error for UnknownModel {}

impl FromStr for Model {
    type Err = UnknownModel;

    fn from_str(text: &str) -> Result<Self, UnknownModel> {
        let found = Self::ALL.iter().chain(&Self::ALIASES).find(|(_, name)| *name == text);
        found.map(|(model, _)| *model).ok_or_else(|| UnknownModel(text.chars().take(40).collect()))
    }
}

/// Why there is no log-likelihood ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LlrError {
    /// The model counts single games, but the games of pairs with one point are unknown.
    NeedsSingleGames,
    /// No distribution of the results satisfies a hypothesis, or none was found.
    OutOfReach,
}

impl fmt::Display for LlrError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NeedsSingleGames => {
                "the model counts single games, but pairs with one point are not split"
            }
            Self::OutOfReach => "the results cannot satisfy a hypothesis",
        })
    }
}

impl std::error::Error for LlrError {}

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
pub(super) enum Truth {
    /// The observed distribution.
    Seen,
    /// The maximum-likelihood distribution at this strength, in Elo of the model.
    Strength(f64),
}

/// Computes the log-likelihood ratio of two strengths in Elo of the model, with the drift under `truth`.
pub(super) fn weigh(
    model: Model,
    counts: &Counts,
    [elo0, elo1]: [f64; 2],
    truth: Truth,
) -> Result<Evidence, LlrError> {
    match (model, counts) {
        (Model::Normalized | Model::Logistic, Counts::Games(games)) => {
            generalized(model, &games.sample(), [elo0, elo1], truth)
        }
        (Model::Normalized | Model::Logistic, Counts::Pairs(pairs)) => {
            generalized(model, &pairs.sample(), [elo0, elo1], truth)
        }
        (Model::FastchessBayesian, counts) => {
            let games = counts.single_games().ok_or(LlrError::NeedsSingleGames)?;
            fastchess_bayesian(&games, [elo0, elo1], truth)
        }
        (Model::BayesElo, counts) => {
            let games = counts.single_games().ok_or(LlrError::NeedsSingleGames)?;
            Ok(bayes_elo(&games, 0.5, [elo0, elo1], truth, true))
        }
        (Model::UnscaledBayesElo, counts) => {
            let games = counts.single_games().ok_or(LlrError::NeedsSingleGames)?;
            Ok(bayes_elo(&games, 0.0, [elo0, elo1], truth, false))
        }
    }
}

fn generalized<const N: usize>(
    model: Model,
    sample: &Sample<N>,
    elos: [f64; 2],
    truth: Truth,
) -> Result<Evidence, LlrError> {
    let hypothesis = |elo: f64| match model {
        // The score of a pair has half the variance of that of a game.
        Model::Normalized => {
            Hypothesis::Deviations(elo / NORMALIZED_ELO * sample.games_per_item.sqrt())
        }
        _ => Hypothesis::Mean(score_of_elo(elo)),
    };
    let truth = match truth {
        Truth::Seen => None,
        Truth::Strength(elo) => Some(hypothesis(elo)),
    };
    between(sample, elos.map(hypothesis), truth)
}

fn fastchess_bayesian(
    games: &Trinomial,
    elos: [f64; 2],
    truth: Truth,
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
    let truth = match truth {
        Truth::Seen => None,
        Truth::Strength(elo) => Some(hypothesis(elo)),
    };
    between(&sample, elos.map(hypothesis), truth)
}

/// The generalized likelihood ratio, with the maximum-likelihood distribution of each hypothesis.
fn between<const N: usize>(
    sample: &Sample<N>,
    [zero, one]: [Hypothesis; 2],
    truth: Option<Hypothesis>,
) -> Result<Evidence, LlrError> {
    let games_per_item = sample.games_per_item;
    if sample.items() <= 0.0 && truth.is_none() {
        return Ok(Evidence { llr: 0.0, items: 0.0, drift: 0.0, variance: 0.0, games_per_item });
    }
    let (mut distribution, items) = sample.distribution();
    if let Some(truth) = truth {
        distribution = reach(fit(&distribution, truth))?.distribution;
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
    truth: Truth,
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
    if let Truth::Strength(elo) = truth {
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
/// The change is the logarithm of the ratio of the two probabilities, even though these depend on the
/// counts, because the derivative of the maximum likelihood is zero.
fn step<const N: usize>(
    distribution: &Distribution<N>,
    steps: impl Iterator<Item = f64> + Clone,
) -> (f64, f64) {
    let weighted = distribution.bins.iter().zip(steps);
    let drift: f64 = weighted.clone().map(|(bin, step)| bin.weight * step).sum();
    let variance = weighted.map(|(bin, step)| bin.weight * (step - drift).powi(2)).sum();
    (drift, variance)
}
