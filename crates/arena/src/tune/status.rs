//! The state of a tuning, as views show it.

use serde::{Deserialize, Serialize};

use crate::event::Rating;

/// The values of a tuning with their uncertainty. No figure compares plus with minus: their roles are random.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct TuneStatus {
    /// The number of pairs with results.
    pub pairs: u64,
    /// The parameters, in the order of the plan.
    pub parameters: Vec<TunedParameter>,
    /// The values by the number of pairs, the last ones included. Many points are thinned out.
    pub curve: Vec<TunePoint>,
    /// The estimated Elo of the averaged values against the start values, with its error. It is no test: a match
    /// against the start values decides.
    pub gain: Rating,
}

/// A parameter of a tuning.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct TunedParameter {
    /// The name of the option.
    pub name: String,
    /// The first value.
    pub start: f64,
    /// The first value as the value of the option.
    pub rounded_start: String,
    /// The current value, not rounded.
    pub value: f64,
    /// The average of the latest values, not rounded: the result of the tuning.
    pub average: f64,
    /// The number of the latest pairs whose values are averaged: at most a half of all, and 0 while the value moves.
    pub averaged: u64,
    /// The average as the value of the option.
    pub rounded: String,
    /// The lower bound of the 95 % confidence interval of the best value. `min` if the games exclude no value below.
    pub low: f64,
    /// The upper bound. `max` if the games exclude no value above. The average lies outside the interval while the
    /// values have not arrived at it.
    pub high: f64,
    /// The lowest value.
    pub min: f64,
    /// The highest value.
    pub max: f64,
    /// The current perturbation: pairs are played by the value plus and minus it.
    pub c: f64,
    /// Whether the option is a decimal number instead of an integer.
    pub decimal: bool,
}

/// The values of a tuning after a number of pairs: a point of its curves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct TunePoint {
    /// The number of pairs.
    pub pairs: u64,
    /// The values, in the order of the parameters.
    pub values: Vec<f64>,
    /// Their averages.
    pub averages: Vec<f64>,
}

impl TuneStatus {
    /// The estimated gain as a sentence.
    pub fn gain_text(&self) -> String {
        if self.gain.elo.is_none() {
            return "The gain over the start values cannot be estimated yet.".to_owned();
        }
        let gain = self.gain.estimate();
        format!(
            "Estimated gain over the start values: {gain:.1} Elo. A match against them decides whether it is real."
        )
    }
}

impl TunedParameter {
    /// The confidence interval of the best value as text.
    pub fn interval(&self) -> String {
        let number = |value: f64| rounded(value, self.max - self.min);
        match (self.low > self.min, self.high < self.max) {
            (true, true) => format!("{} to {}", number(self.low), number(self.high)),
            (true, false) => format!("at least {}", number(self.low)),
            (false, true) => format!("at most {}", number(self.high)),
            (false, false) => "unknown".to_owned(),
        }
    }

    /// Whether the average is a plausible best value. Otherwise the value has not arrived at it.
    pub fn has_arrived(&self) -> bool {
        (self.low..=self.high).contains(&self.average)
    }

    /// The average as text.
    pub fn average_text(&self) -> String {
        rounded(self.average, self.max - self.min)
    }

    /// The current value as text.
    pub fn value_text(&self) -> String {
        rounded(self.value, self.max - self.min)
    }
}

/// A number with about four digits of its range.
fn rounded(value: f64, range: f64) -> String {
    let places = match range {
        range if range >= 1000.0 => 0,
        range if range >= 100.0 => 1,
        range if range >= 10.0 => 2,
        range if range >= 1.0 => 3,
        range if range >= 0.1 => 4,
        _ => 6,
    };
    // A zero has no sign.
    let text = format!("{value:.places$}");
    if text.trim_start_matches('-').chars().all(|digit| matches!(digit, '0' | '.')) {
        return text.trim_start_matches('-').to_owned();
    }
    text
}
