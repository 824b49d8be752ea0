//! Ratings of all engines together in events, with all that is needed to compare any two of them.

use serde::{Deserialize, Serialize};

use crate::plan::EngineId;
use crate::stats::{Crosstable, Estimate, Figure, Ratings};

/// With more engines there are no ratings in events: their covariance grows with the square.
const MOST_RATED: usize = 100;

/// How strong the engines of a match are, by the likelihood of all results together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JointRatings {
    /// The engines in the order of the plan; those linked by games have the mean 0.
    pub ratings: Vec<Rating>,
    /// What the first move is worth.
    pub first_move: Rating,
    /// The covariance of each two ratings, in Elo², by rows. Of a difference the variance is the sum
    /// of both variances less twice the covariance. None where games do not link the two.
    pub covariance: Vec<Vec<Option<f64>>>,
}

/// Elo with the error of 95 %. Neither is there for who met nobody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rating {
    /// The most likely value.
    pub elo: Option<f64>,
    /// Half the width of the interval that holds the true value with 95 % confidence.
    pub error: Option<f64>,
}

impl JointRatings {
    /// Of three engines or more: two are compared by their score.
    pub(crate) fn of(table: &Crosstable) -> Option<Self> {
        let players = table.players();
        if !(3..=MOST_RATED).contains(&players) {
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

    /// How much stronger the one is than the other, if games link them.
    pub fn difference(&self, one: EngineId, other: EngineId) -> Option<Estimate> {
        let elo = self.rating(one).elo? - self.rating(other).elo?;
        let covariance = |a, b| *self.covariance.get(index(a)?)?.get(index(b)?)?;
        let variance =
            covariance(one, one)? + covariance(other, other)? - 2.0 * covariance(one, other)?;
        Some(Estimate::normal(elo, variance))
    }
}

impl Rating {
    /// For showing it.
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
