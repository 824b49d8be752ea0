//! Scores, tests and ratings in events, as plain numbers.

use serde::{Deserialize, Serialize};

use crate::plan::{EngineId, GamesPerPairing};
use crate::stats::{
    Counts, Crosstable, Estimate, Figure, Pentanomial, Ratings, SprtStatus, Trinomial, Verdict,
};

/// The score of two engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Score {
    /// The engine with the lower ID, whose wins are counted.
    pub engine: EngineId,
    /// Its opponent.
    pub opponent: EngineId,
    /// Games won.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
    /// Pentanomial counts, with separate counts of win and loss and of two draws: LL, LD, WL, DD, WD, WW. All 0 if
    /// pairings have one game.
    pub pairs: [u64; 6],
}

impl Score {
    /// The counts of games; zero on overflow.
    pub fn games(&self) -> Trinomial {
        Trinomial::new(self.losses, self.draws, self.wins).unwrap_or_default()
    }

    /// The counts for statistics: pairs, or games if pairings have one game. `None` on overflow.
    pub fn counts(&self, games: GamesPerPairing) -> Option<Counts> {
        let [ll, ld, wl, dd, wd, ww] = self.pairs;
        match games {
            GamesPerPairing::One => Some(Counts::Games(self.games())),
            GamesPerPairing::Two => {
                Pentanomial::new(ll, ld, wl, dd, wd, ww).ok().map(Counts::Pairs)
            }
        }
    }
}

/// The state of a test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestState {
    /// The log-likelihood ratio of H1 to H0.
    pub llr: f64,
    /// The bound at which H0 is accepted.
    pub lower: f64,
    /// The bound at which H1 is accepted.
    pub upper: f64,
    /// The decision.
    #[serde(with = "VerdictText")]
    pub verdict: Verdict,
}

impl From<SprtStatus> for TestState {
    fn from(status: SprtStatus) -> Self {
        let SprtStatus { llr, lower, upper, verdict } = status;
        Self { llr, lower, upper, verdict }
    }
}

/// The serialized form of a verdict.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Verdict", rename_all = "lowercase")]
pub(super) enum VerdictText {
    Continue,
    #[serde(rename = "h0")]
    AcceptH0,
    #[serde(rename = "h1")]
    AcceptH1,
}

/// Maximum number of engines for ratings in events: the size of the covariance matrix is quadratic.
const MAX_RATED: usize = 100;

/// Maximum-likelihood ratings of all engines of a match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JointRatings {
    /// The ratings in the order of the plan. Each group of engines linked by games has the mean 0.
    pub ratings: Vec<Rating>,
    /// The advantage of the first move.
    pub first_move: Rating,
    /// The covariance matrix of the ratings, in Elo², by rows. The variance of a difference is the sum of both variances
    /// minus twice the covariance. `None` if games do not link two engines.
    pub covariance: Vec<Vec<Option<f64>>>,
}

/// Elo with a 95 % error. Both are `None` for an engine without games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rating {
    /// The maximum-likelihood estimate.
    pub elo: Option<f64>,
    /// Half the width of the 95 % confidence interval.
    pub error: Option<f64>,
}

impl JointRatings {
    /// `None` for two engines, which are compared by their score.
    pub(crate) fn of(table: &Crosstable) -> Option<Self> {
        let players = table.players();
        if !(3..=MAX_RATED).contains(&players) {
            return None;
        }
        let ratings = Ratings::unanchored(table).ok()?;
        let entry = |one, other| ratings.covariance(one, other).number();
        let row = |one| (0..players).map(|other| entry(one, other)).collect();
        Some(Self {
            ratings: (0..players).map(|player| ratings.rating(player).into()).collect(),
            first_move: ratings.first_move().into(),
            covariance: (0..players).map(row).collect(),
        })
    }

    /// The rating of an engine.
    pub fn rating(&self, engine: EngineId) -> Rating {
        index(engine).and_then(|index| self.ratings.get(index)).copied().unwrap_or_default()
    }

    /// The Elo difference of two engines, if games link them.
    pub fn difference(&self, one: EngineId, other: EngineId) -> Option<Estimate> {
        let elo = self.rating(one).elo? - self.rating(other).elo?;
        let covariance = |a, b| *self.covariance.get(index(a)?)?.get(index(b)?)?;
        let variance =
            covariance(one, one)? + covariance(other, other)? - 2.0 * covariance(one, other)?;
        Some(Estimate::normal(elo, variance))
    }
}

impl Rating {
    /// The rating as an estimate, for display.
    pub fn estimate(self) -> Estimate {
        let figure = |value: Option<f64>| value.map_or(Figure::Unknown, Figure::of);
        Estimate { value: figure(self.elo), error: figure(self.error) }
    }
}

impl From<Estimate> for Rating {
    fn from(Estimate { value, error }: Estimate) -> Self {
        Self { elo: value.number(), error: error.number() }
    }
}

fn index(engine: EngineId) -> Option<usize> {
    usize::try_from(engine.0).ok()
}
