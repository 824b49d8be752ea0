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
    /// The number of the latest of these pairs whose values are averaged.
    pub averaged: u64,
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
    /// The current value, not rounded.
    pub value: f64,
    /// The average of the latest values, not rounded: the result of the tuning.
    pub average: f64,
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
