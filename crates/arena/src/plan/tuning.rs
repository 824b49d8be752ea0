//! Plans of tunings.

use readyok_rules::Game;
use serde::{Deserialize, Serialize};

use super::{Adjudication, EnginePlan, Format, GamesPerPairing, Openings, Plan};

/// Maximum number of parameters. Each pair and each published state has a value of each.
const MAX_PARAMETERS: usize = 1000;

/// The options to tune. The engines of the plan play with the values plus and minus the perturbation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TunePlan {
    /// The exponent of the step sizes.
    #[serde(default = "default_alpha")]
    pub alpha: f64,
    /// The exponent of the perturbations.
    #[serde(default = "default_gamma")]
    pub gamma: f64,
    /// The stability constant A, as a fraction of the number of pairs. It limits the first steps.
    #[serde(default = "default_stability")]
    pub stability: f64,
    /// The options.
    pub parameters: Vec<Parameter>,
}

fn default_alpha() -> f64 {
    0.602
}

fn default_gamma() -> f64 {
    0.101
}

fn default_stability() -> f64 {
    0.1
}

fn default_r_end() -> f64 {
    0.002
}

/// A numeric option of an engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// The name of the option.
    pub name: String,
    /// The first value.
    pub start: f64,
    /// The lowest value.
    pub min: f64,
    /// The highest value.
    pub max: f64,
    /// The perturbation at the last pair: a change that gains or loses a few Elo.
    pub c_end: f64,
    /// The step size at the last pair, as a fraction of the squared perturbation.
    #[serde(default = "default_r_end")]
    pub r_end: f64,
    /// Whether the option is a decimal number instead of an integer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub decimal: bool,
}

/// An invalid tuning.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TuneError {
    /// There are no parameters.
    #[error("a tuning needs `parameters`")]
    NoParameters,
    /// There are more parameters than can be tuned and shown.
    #[error("a tuning has at most {MAX_PARAMETERS} parameters")]
    TooManyParameters,
    /// Two parameters have the same name.
    #[error("two parameters have the name `{0}`")]
    SameName(String),
    /// A number of a parameter is invalid.
    #[error("the parameter `{name}` {why}")]
    Parameter {
        /// The name of the parameter.
        name: String,
        /// The condition.
        why: &'static str,
    },
    /// A number of the gain sequences is invalid.
    #[error("`{0}` is out of range")]
    Gains(&'static str),
    /// The plan is not a match of two engines with pairs of games and without a test.
    #[error("a tuning needs two engines, a round robin of game pairs, and no sequential test")]
    Format,
}

impl TunePlan {
    /// Checks the numbers, and the rest of the plan.
    ///
    /// # Errors
    /// The first problem.
    pub fn check(&self, plan: &Plan) -> Result<(), TuneError> {
        let is_pair_match = plan.engines.len() == 2
            && plan.format == Format::RoundRobin
            && plan.games == GamesPerPairing::Two
            && plan.sprt.is_none();
        if !is_pair_match {
            return Err(TuneError::Format);
        }
        if self.parameters.is_empty() {
            return Err(TuneError::NoParameters);
        }
        if MAX_PARAMETERS < self.parameters.len() {
            return Err(TuneError::TooManyParameters);
        }
        for (name, value) in [("alpha", self.alpha), ("gamma", self.gamma)] {
            if !(value > 0.0 && value <= 1.0) {
                return Err(TuneError::Gains(name));
            }
        }
        if !(self.stability >= 0.0 && self.stability <= 10.0) {
            return Err(TuneError::Gains("stability"));
        }
        for (index, parameter) in self.parameters.iter().enumerate() {
            let name = &parameter.name;
            let is_same = |other: &&Parameter| other.name.eq_ignore_ascii_case(name);
            if self.parameters.iter().take(index).any(|other| is_same(&other)) {
                return Err(TuneError::SameName(name.clone()));
            }
            let bad = |why| Err(TuneError::Parameter { name: name.clone(), why });
            let Parameter { start, min, max, c_end, r_end, .. } = *parameter;
            let numbers = [start, min, max, c_end, r_end];
            if numbers.iter().any(|number| !number.is_finite() || number.abs() > MAX_VALUE) {
                return bad("has a number that is too large");
            }
            if min >= max {
                return bad("needs `min` below `max`");
            }
            if start < min || max < start {
                return bad("needs `start` between `min` and `max`");
            }
            if c_end <= 0.0 || max - min < c_end {
                return bad("needs `c_end` above 0 and within the range");
            }
            if r_end <= 0.0 {
                return bad("needs `r_end` above 0");
            }
            if !parameter.decimal && (min.fract() != 0.0 || max.fract() != 0.0 || c_end < 0.5) {
                return bad(
                    "is an integer: `min` and `max` must be integers, and `c_end` at least 0.5",
                );
            }
        }
        Ok(())
    }
}

/// Integers up to this value are exact.
pub(crate) const MAX_VALUE: f64 = 9_007_199_254_740_992.0;

/// The file of a tuning.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TuneFile {
    /// The game.
    pub game: Game,
    /// The engine.
    pub engine: EnginePlan,
    /// The number of game pairs.
    pub pairs: u32,
    /// The openings.
    #[serde(default)]
    pub openings: Openings,
    /// The adjudication rules.
    #[serde(default)]
    pub adjudication: Adjudication,
    /// The seed of the openings and the perturbations.
    #[serde(default)]
    pub seed: Option<u64>,
    /// The exponent of the step sizes.
    #[serde(default = "default_alpha")]
    pub alpha: f64,
    /// The exponent of the perturbations.
    #[serde(default = "default_gamma")]
    pub gamma: f64,
    /// See [`TunePlan::stability`].
    #[serde(default = "default_stability")]
    pub stability: f64,
    /// The options to tune.
    pub parameters: Vec<Parameter>,
}

impl TuneFile {
    /// The plan of the match, with this default seed.
    pub fn into_plan(self, seed: u64) -> Plan {
        let Self { game, engine, pairs, openings, adjudication, parameters, .. } = self;
        let (alpha, gamma, stability) = (self.alpha, self.gamma, self.stability);
        let side = |suffix: &str| EnginePlan {
            name: format!("{} {suffix}", engine.name),
            ..engine.clone()
        };
        Plan {
            event: format!("Tuning of {}", engine.name),
            engines: vec![side("plus"), side("minus")],
            rounds: pairs,
            openings,
            adjudication,
            seed: self.seed.unwrap_or(seed),
            tune: Some(TunePlan { alpha, gamma, stability, parameters }),
            ..Plan::new(game)
        }
    }
}
