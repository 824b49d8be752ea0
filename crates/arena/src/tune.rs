//! Tuning of engine options by SPSA (simultaneous perturbation stochastic approximation).
//!
//! All options change together: each game pair is played by the values plus and minus a random perturbation, and its
//! score moves the values towards the better side.
//!
//! ```text
//! k-th pair:   plus = θ + c_k Δ,   minus = θ − c_k Δ,   each Δ_i = ±1 at random
//! afterwards:  θ += a_k / c_k · (wins − losses of plus) · Δ
//! gains:       a_k = a / (A + k)^α,   c_k = c / k^γ
//! ```
//!
//! The method: J. C. Spall, "Multivariate stochastic approximation using a simultaneous perturbation gradient
//! approximation", IEEE Transactions on Automatic Control 37 (1992), 332–341. The gain sequences and their exponents
//! 0.602 and 0.101: J. C. Spall, "Implementation of the simultaneous perturbation algorithm for stochastic
//! optimization", IEEE Transactions on Aerospace and Electronic Systems 34 (1998), 817–823. As in fishtest, a and c
//! follow from their values at the last pair: `c_end`, and `r_end` = a / c², and integers are rounded stochastically.
//! Both sides of a pair are rounded with one random number: where `2 c_k` is an integer, it is their exact difference.
//!
//! The perturbations depend only on the seed and the index of the pair, and the values on the stored results in their
//! order: a match that was killed is resumed by adding its results again.

mod estimate;
mod file;
mod state;
mod status;

use std::collections::BTreeMap;

use crate::pairing::{PairResult, PairingScore};
use crate::plan::tuning::MAX_VALUE;
use crate::plan::{EngineId, Plan};
pub use crate::plan::{Parameter, TuneError, TuneFile, TunePlan};
use crate::rng;
pub use crate::tune::file::{OptionsFile, OptionsFileError, ParameterSummary, TuningSummary};
pub use crate::tune::state::TuneState;
pub use crate::tune::status::{TunePoint, TuneStatus, TunedParameter};

/// The state of a tuning.
///
/// ```
/// # use readyok_arena::tune::{TuneFile, Tuner};
/// let file = r#"
///     game = "chess"
///     pairs = 1000
///     engine = { name = "new", command = "new", limits = { nodes = 100 } }
///     parameters = [{ name = "Margin", start = 100, min = 0, max = 200, c_end = 10 }]
/// "#;
/// let plan = toml::from_str::<TuneFile>(file)?.into_plan(1);
/// let tuner = Tuner::new(&plan).ok_or("no tuning")?;
/// let [plus, minus] = tuner.options(0);
/// assert_ne!(plus["Margin"], minus["Margin"]);
/// assert_eq!(tuner.values(), [100.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tuner {
    plan: TunePlan,
    pairs: f64,
    seed: u64,
    values: Vec<f64>,
}

/// The gains of a parameter at a pair.
#[derive(Clone, Copy, Debug)]
struct Gains {
    /// The perturbation.
    c: f64,
    /// The step for a result of one point.
    step: f64,
}

/// Streams of random numbers.
#[derive(Clone, Copy, Debug)]
enum Stream {
    Flip = 1,
    Rounding = 2,
}

impl Tuner {
    /// The state at the start; `None` if the plan is not a tuning.
    pub fn new(plan: &Plan) -> Option<Self> {
        let tune = plan.tune.clone()?;
        let pairs = u64::from(plan.rounds) * u64::from(plan.pairs_per_encounter);
        let values = tune.parameters.iter().map(|parameter| parameter.start).collect();
        Some(Self { plan: tune, pairs: float(pairs.max(1)), seed: plan.seed, values })
    }

    /// The parameters.
    pub fn parameters(&self) -> &[Parameter] {
        &self.plan.parameters
    }

    /// The current values in the order of the parameters, not rounded.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The options of both engines in a pair.
    pub fn options(&self, index: u64) -> [BTreeMap<String, String>; 2] {
        let [mut plus, mut minus] = <[BTreeMap<String, String>; 2]>::default();
        for (number, (parameter, value)) in
            self.plan.parameters.iter().zip(&self.values).enumerate()
        {
            let c = self.gains(parameter, index).c * self.flip(index, number);
            // Independent numbers would change the difference by up to 1, and so the size of the perturbation.
            let rounding = self.uniform(index, number, Stream::Rounding);
            for (side, shifted) in [(&mut plus, value + c), (&mut minus, value - c)] {
                side.insert(parameter.name.clone(), parameter.text(shifted, rounding));
            }
        }
        [plus, minus]
    }

    /// Adds the result of a pair.
    pub fn record(&mut self, outcome: PairingScore) {
        let result = Self::points(outcome);
        for number in 0..self.values.len() {
            let Some(parameter) = self.plan.parameters.get(number) else { return };
            let step = self.gains(parameter, outcome.index).step;
            let change = step * result * self.flip(outcome.index, number);
            let (min, max) = (parameter.min, parameter.max);
            if let Some(value) = self.values.get_mut(number) {
                *value = (*value + change).clamp(min, max);
            }
        }
    }

    /// Wins minus losses of plus.
    fn points(outcome: PairingScore) -> f64 {
        let score = outcome.score;
        let difference = f64::from(score.wins) - f64::from(score.losses);
        if outcome.first == EngineId(0) { difference } else { -difference }
    }

    /// Adds a stored result.
    pub fn add(&mut self, result: &PairResult) {
        self.record(PairingScore::from(result));
    }

    fn gains(&self, parameter: &Parameter, index: u64) -> Gains {
        let TunePlan { alpha, gamma, stability, .. } = self.plan;
        let (k, last) = (float(index.saturating_add(1)), self.pairs);
        let a = stability * last;
        let c = parameter.c_end * (last / k).powf(gamma);
        let c_end = parameter.c_end;
        let a_k = parameter.r_end * c_end * c_end * ((a + last) / (a + k)).powf(alpha);
        Gains { c, step: a_k / c }
    }

    /// 1 or −1.
    fn flip(&self, index: u64, number: usize) -> f64 {
        if self.random(index, number, Stream::Flip) & 1 == 0 { 1.0 } else { -1.0 }
    }

    /// A number from 0 to 1, without 1.
    fn uniform(&self, index: u64, number: usize, stream: Stream) -> f64 {
        float(self.random(index, number, stream) >> 11) / MAX_VALUE
    }

    fn random(&self, index: u64, number: usize, stream: Stream) -> u64 {
        let seed = rng::number(self.seed, stream as u64);
        rng::number(rng::number(seed, index), number as u64)
    }
}

impl Parameter {
    /// A value as the text of the option; an integer is rounded to the nearest one.
    fn rounded(&self, value: f64) -> String {
        self.text(value, 0.5)
    }

    /// A value as the text of the option: an integer is rounded up if its fraction and `rounding`, a random number,
    /// have a sum of at least 1.
    fn text(&self, value: f64, rounding: f64) -> String {
        let value = value.clamp(self.min, self.max);
        if self.decimal {
            let text = format!("{value:.6}");
            return text.trim_end_matches('0').trim_end_matches('.').to_owned();
        }
        // The bounds are integers.
        format!("{:.0}", (value + rounding).floor().clamp(self.min, self.max))
    }
}

#[expect(clippy::cast_precision_loss, reason = "below 2^53, or random bits")]
fn float(number: u64) -> f64 {
    number as f64
}
