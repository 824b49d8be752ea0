//! The sequential test that can end a match.

use serde::{Deserialize, Serialize};

use crate::stats::{Model, Sprt, SprtError};

/// A sequential probability ratio test of `elo0` against `elo1`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SprtPlan {
    /// What the bounds are measured in.
    #[serde(default, with = "model")]
    pub model: Model,
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

impl SprtPlan {
    /// The test.
    ///
    /// # Errors
    /// The numbers make none.
    pub fn test(&self) -> Result<Sprt, SprtError> {
        Sprt::new(self.model, self.elo0, self.elo1, self.alpha, self.beta)
    }
}

fn five_percent() -> f64 {
    0.05
}

/// A model is written by its name.
mod model {
    use serde::{Deserialize, Deserializer, Serializer, de};

    use super::Model;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    pub(super) fn serialize<S: Serializer>(model: &Model, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(model)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Model, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}
