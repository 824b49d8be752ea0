//! The sequential test that can end a match.

use serde::{Deserialize, Serialize};

/// A sequential probability ratio test of `elo0` against `elo1`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SprtPlan {
    /// What the bounds are measured in.
    #[serde(default)]
    pub model: SprtModel,
    /// The hypothesis H0, in Elo of the model.
    pub elo0: f64,
    /// The hypothesis H1.
    pub elo1: f64,
    /// The probability to accept H1 when H0 is true.
    #[serde(default = "five_percent")]
    pub alpha: f64,
    /// The probability to accept H0 when H1 is true.
    #[serde(default = "five_percent")]
    pub beta: f64,
}

fn five_percent() -> f64 {
    0.05
}

/// What the bounds of a test are measured in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SprtModel {
    /// Normalized Elo: of the score in standard deviations.
    #[default]
    Normalized,
    /// Usual Elo: of the expected score.
    Logistic,
    /// What fastchess calls `bayesian`: bounds in BayesElo made into scores, then as `Logistic`.
    FastchessBayesian,
    /// BayesElo as cutechess and OpenBench compute it.
    BayesElo,
}
