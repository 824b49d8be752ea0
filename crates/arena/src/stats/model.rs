//! What a sequential test measures strength in, and what one more result is worth under it.

use std::fmt;
use std::str::FromStr;

use super::counts::{Counts, Trinomial};
use super::elo::{BayesElo, NORMALIZED_ELO, score_of_elo};
use super::sample::{Bin, Law, Sample};
use super::tilt::{Hypothesis, Tilt, tilt};

/// What the hypotheses of a test are measured in.
///
/// The same number means another strength in each, so that a bound without its model says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Model {
    /// Normalized Elo: how many standard deviations of a game the expected score is above one half.
    /// A test takes about as many games whatever the share of draws. For games and pairs (M. Van
    /// den Bergh, *Normalized Elo, practical considerations*).
    #[default]
    Normalized,
    /// The usual Elo of the expected score. For games and pairs (M. Van den Bergh, *Comparing
    /// approximations of the GSPRT*).
    Logistic,
    /// What fastchess calls `bayesian`: bounds in BayesElo, made into expected scores at the share
    /// of draws that was seen, then the test of [`Logistic`](Self::Logistic). For single games.
    FastchessBayesian,
    /// The test of cutechess: bounds in the usual Elo, made into BayesElo by its scale at the share
    /// of draws that was seen; half a game is added to each count. For single games.
    BayesElo,
    /// The trinomial test of OpenBench, and formerly of fishtest: bounds in BayesElo themselves.
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

    /// What the command line called some before.
    const ALIASES: [(Self, &'static str); 2] =
        [(Self::FastchessBayesian, "fastchess-bayesian"), (Self::BayesElo, "bayes-elo")];

    /// Whether pairs count as pairs. Under the other models they count as single games.
    pub fn is_about_pairs(self) -> bool {
        match self {
            Self::Normalized | Self::Logistic => true,
            Self::FastchessBayesian | Self::BayesElo | Self::UnscaledBayesElo => false,
        }
    }
}

/// `normalized`, `logistic` and `bayesian` as fastchess has them, `bayeselo`, `unscaled-bayeselo`.
impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.iter().find(|(model, _)| model == self).map_or("", |(_, name)| name);
        f.pad(name)
    }
}

/// A word that is no [`Model`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownModel(String);

impl fmt::Display for UnknownModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Model::ALL.map(|(_, name)| name).join(", ");
        write!(f, "no model of a test is called `{}`; there are {names}", self.0)
    }
}

impl std::error::Error for UnknownModel {}

impl FromStr for Model {
    type Err = UnknownModel;

    fn from_str(word: &str) -> Result<Self, UnknownModel> {
        let found = Self::ALL.iter().chain(&Self::ALIASES).find(|(_, name)| *name == word);
        found.map(|(model, _)| *model).ok_or_else(|| UnknownModel(word.chars().take(40).collect()))
    }
}

/// Why there is no log-likelihood ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LlrError {
    /// The model is about single games, and pairs that scored one point were not told apart.
    NeedsSingleGames,
    /// No law of the results agrees with a hypothesis, or none was found: the bounds are out of
    /// reach of what was seen.
    OutOfReach,
}

impl fmt::Display for LlrError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NeedsSingleGames => {
                "the model counts single games, but pairs of one point were not told apart"
            }
            Self::OutOfReach => "a hypothesis is out of reach of the results",
        })
    }
}

impl std::error::Error for LlrError {}

/// What the results of a match are worth under two hypotheses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence {
    /// The log-likelihood ratio.
    pub(super) llr: f64,
    /// How many games or pairs.
    pub(super) items: f64,
    /// What one more item adds to the ratio, on average, where results go on as the law says.
    pub(super) drift: f64,
    /// The variance of that.
    pub(super) variance: f64,
    /// Games of an item.
    pub(super) games_per_item: f64,
}

/// What the results are about to be, other than as they were seen.
#[derive(Clone, Copy, Debug)]
pub(super) enum Truth {
    /// As they were seen.
    Seen,
    /// Of this strength in the model's unit, and as close as possible to what was seen.
    Strength(f64),
}

/// Weighs results under two strengths in the unit of the model; the drift is that under `truth`.
pub(super) fn weigh(
    model: Model,
    counts: &Counts,
    [elo0, elo1]: [f64; 2],
    truth: Truth,
) -> Result<Evidence, LlrError> {
    match (model, counts) {
        (Model::Normalized | Model::Logistic, Counts::Games(games)) => {
            tilted(model, &games.sample(), [elo0, elo1], truth)
        }
        (Model::Normalized | Model::Logistic, Counts::Pairs(pairs)) => {
            tilted(model, &pairs.sample(), [elo0, elo1], truth)
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

fn tilted<const N: usize>(
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
    let (law, items) = sample.law();
    let [loss, _, win] = law.bins.map(|bin| bin.weight);
    if games.losses() == 0 || games.wins() == 0 {
        // No share of draws can be told: fastchess waits.
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

/// The generalized ratio: that of the likeliest laws under each hypothesis.
fn between<const N: usize>(
    sample: &Sample<N>,
    [zero, one]: [Hypothesis; 2],
    truth: Option<Hypothesis>,
) -> Result<Evidence, LlrError> {
    let games_per_item = sample.games_per_item;
    if sample.items() <= 0.0 && truth.is_none() {
        return Ok(Evidence { llr: 0.0, items: 0.0, drift: 0.0, variance: 0.0, games_per_item });
    }
    let (mut law, items) = sample.law();
    if let Some(truth) = truth {
        law = reach(tilt(&law, truth))?.law;
    }
    let (zero, one) = (reach(tilt(&law, zero))?, reach(tilt(&law, one))?);
    let steps = zero.logarithms.iter().zip(&one.logarithms).map(|(zero, one)| zero - one);
    let (drift, variance) = step(&law, steps);
    if !(drift.is_finite() && variance.is_finite()) {
        return Err(LlrError::OutOfReach);
    }
    Ok(Evidence { llr: items * drift, items, drift, variance, games_per_item })
}

fn reach<const N: usize>(tilt: Option<Tilt<N>>) -> Result<Tilt<N>, LlrError> {
    tilt.ok_or(LlrError::OutOfReach)
}

/// The classic ratio: that of two laws with the share of draws that was seen.
fn bayes_elo(
    games: &Trinomial,
    added: f64,
    elos: [f64; 2],
    truth: Truth,
    scaled: bool,
) -> Evidence {
    let bins = games.sample().with_added(added);
    let items: f64 = bins.iter().map(|bin| bin.weight).sum();
    let nothing = Evidence { llr: 0.0, items, drift: 0.0, variance: 0.0, games_per_item: 1.0 };
    if games.games() == 0 || bins.iter().any(|bin| bin.weight <= 0.0) {
        return nothing;
    }
    let mut law = Law { bins: bins.map(|bin| Bin { weight: bin.weight / items, ..bin }) };
    let [loss, _, win] = law.bins.map(|bin| bin.weight);
    let seen = BayesElo::of(loss, win);
    let BayesElo { draw_elo, .. } = seen;
    let unit = if scaled { 1.0 / seen.scale() } else { 1.0 };
    let law_of = |elo: f64| BayesElo { elo: elo * unit, draw_elo }.law();
    if let Truth::Strength(elo) = truth {
        for (bin, weight) in law.bins.iter_mut().zip(law_of(elo)) {
            bin.weight = weight;
        }
    }
    let [zero, one] = elos.map(law_of);
    let steps = zero.iter().zip(&one).map(|(p0, p1)| (p1 / p0).ln());
    let (drift, variance) = step(&law, steps);
    if drift.is_finite() && variance.is_finite() {
        Evidence { llr: items * drift, drift, variance, ..nothing }
    } else {
        nothing
    }
}

/// Mean and variance of what an item adds to the ratio.
///
/// The ratio changes with each count by the logarithm of the two probabilities, also where those
/// depend on the counts: their likelihood is at its largest and does not change.
fn step<const N: usize>(law: &Law<N>, steps: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let weighted = law.bins.iter().zip(steps);
    let drift: f64 = weighted.clone().map(|(bin, step)| bin.weight * step).sum();
    let variance = weighted.map(|(bin, step)| bin.weight * (step - drift).powi(2)).sum();
    (drift, variance)
}
