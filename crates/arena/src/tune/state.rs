//! The progress of a tuning: its values, their averages and their uncertainty.
//!
//! The result is the average of the latest values: B. T. Polyak, A. B. Juditsky, "Acceleration of stochastic
//! approximation by averaging", SIAM Journal on Control and Optimization 30 (1992), 838–855. An average of values that
//! still move would lag behind. So each parameter has the longest of several parts of the run, at most a half, over
//! which its value has moved less than steps without a direction do.

use std::collections::BTreeMap;

use crate::event::Rating;
use crate::match_state::Thinned;
use crate::pairing::{PairResult, PairingScore};
use crate::plan::{EngineId, Parameter, Plan};
use crate::tune::estimate::{Gradient, Sums, WINDOWS};
use crate::tune::status::{TunePoint, TuneStatus, TunedParameter};
use crate::tune::{Tuner, float};

/// Maximum number of values in the curve of a status, averages not counted: a published state must fit into one
/// message of a queue.
const MAX_CURVE_VALUES: usize = 8000;

/// The parts of a run over which values are averaged: a half, a quarter, …
const PARTS: u32 = 4;

/// The largest movement over an averaged part, relative to the standard deviation of a random walk. In simulations of
/// runs that are too short the average loses at most a tenth more Elo than the last values, and in runs that have
/// arrived down to a third. A larger limit averages more, but loses more in the former.
const MAX_DRIFT: f64 = 0.8;

/// Fewer pairs are no basis for an estimate.
const MIN_PAIRS: u64 = 1 << WINDOWS;

/// Elo per point of a pair: the derivative of Elo by the score of two games, for equal engines.
const ELO_PER_POINT: f64 = 400.0 / std::f64::consts::LN_10;

/// Standard errors of a 95 % confidence interval.
const ERRORS: f64 = 1.959_964;

/// The values of a tuning and what follows from its pairs.
#[derive(Clone, Debug)]
pub struct TuneState {
    tuner: Tuner,
    now: Snapshot,
    /// The states after 0 and more pairs.
    history: Thinned<Snapshot>,
}

/// The state after a number of pairs.
#[derive(Clone, Debug)]
struct Snapshot {
    pairs: u64,
    /// The squared results in Elo.
    results: f64,
    parameters: Vec<Progress>,
}

/// A parameter after a number of pairs.
#[derive(Clone, Copy, Debug)]
struct Progress {
    value: f64,
    sums: Sums,
}

/// The average of a parameter.
#[derive(Clone, Copy, Debug)]
struct Average {
    value: f64,
    /// The number of the latest pairs whose values it averages.
    pairs: u64,
}

impl TuneState {
    /// The state before the first pair; `None` if the plan is not a tuning.
    pub fn new(plan: &Plan) -> Option<Self> {
        let tuner = Tuner::new(plan)?;
        let start = |&value: &f64| Progress { value, sums: Sums::default() };
        let parameters = tuner.values().iter().map(start).collect();
        let now = Snapshot { pairs: 0, results: 0.0, parameters };
        let mut history = Thinned::default();
        history.add(Some(now.clone()));
        Some(Self { tuner, now, history })
    }

    /// Adds a stored pair.
    pub fn add(&mut self, pair: &PairResult) {
        let outcome = PairingScore::from(pair);
        self.tuner.record(outcome);
        let result = ELO_PER_POINT * Tuner::points(outcome);
        let [first, second] = &pair.pairing.options;
        let (plus, minus) =
            if outcome.first == EngineId(0) { (first, second) } else { (second, first) };
        self.now.pairs += 1;
        self.now.results += result.powi(2);
        let values = self.tuner.parameters().iter().zip(self.tuner.values());
        for ((parameter, &value), progress) in values.zip(&mut self.now.parameters) {
            let sums = &mut progress.sums;
            sums.values += value;
            sums.changes += (value - progress.value).powi(2);
            progress.value = value;
            // A pair without these options, as of an edited file, is no measurement.
            let played = number(plus, parameter).zip(number(minus, parameter));
            let Some((plus, minus)) = played else { continue };
            let x = plus - minus;
            sums.squares += x.powi(2);
            sums.moments += x.powi(2) * plus.midpoint(minus);
            sums.products += x * result;
            let step = self.tuner.gains(parameter, outcome.index).step;
            sums.pushes += step * x.abs() / ELO_PER_POINT;
        }
        let snapshot = self.history.is_due().then(|| self.now.clone());
        self.history.add(snapshot);
    }

    /// The current values.
    pub fn tuner(&self) -> &Tuner {
        &self.tuner
    }

    /// The averages of the latest values: the result of the tuning. The start values before the first pair.
    pub fn averages(&self) -> Vec<f64> {
        let parameters = 0..self.now.parameters.len();
        parameters.map(|index| self.average(&self.now, index).value).collect()
    }

    /// The averages as options.
    pub fn options(&self) -> BTreeMap<String, String> {
        let averages = self.averages();
        let options = self.tuner.parameters().iter().zip(averages);
        options
            .map(|(parameter, value)| (parameter.name.clone(), parameter.rounded(value)))
            .collect()
    }

    /// What views show.
    pub fn status(&self) -> TuneStatus {
        let mut gain = Some((0.0, 0.0));
        let parameters = self.tuner.parameters().iter().zip(&self.now.parameters).enumerate();
        let parameters = parameters.map(|(index, (parameter, progress))| {
            let average = self.average(&self.now, index);
            let gradient = self.gradient(index, average.pairs);
            gain = gain.zip(gradient.as_ref()).map(|((elo, variance), gradient)| {
                let (more, error) = gradient.gain(parameter.start, average.value);
                (elo + more, variance + error)
            });
            let (min, max) = (parameter.min, parameter.max);
            let (low, high) = gradient.map_or((min, max), |gradient| gradient.interval());
            TunedParameter {
                name: parameter.name.clone(),
                start: parameter.start,
                rounded_start: parameter.rounded(parameter.start),
                value: progress.value,
                average: average.value,
                averaged: average.pairs,
                rounded: parameter.rounded(average.value),
                low: low.clamp(min, max),
                high: high.clamp(min, max),
                min,
                max,
                c: self.tuner.gains(parameter, self.now.pairs).c,
                decimal: parameter.decimal,
            }
        });
        let parameters = parameters.collect();
        let gain = gain.filter(|(elo, variance)| elo.is_finite() && variance.is_finite());
        TuneStatus {
            pairs: self.now.pairs,
            parameters,
            curve: self.curve(),
            gain: Rating {
                elo: gain.map(|(elo, _)| elo),
                error: gain.map(|(_, variance)| ERRORS * variance.sqrt()),
            },
        }
    }

    fn curve(&self) -> Vec<TunePoint> {
        let last = (!self.history.has_last()).then_some(&self.now);
        let shown: Vec<&Snapshot> = self.history.kept().iter().chain(last).collect();
        let points = (MAX_CURVE_VALUES / self.now.parameters.len().max(1)).max(2);
        let stride = shown.len().div_ceil(points).max(1);
        // The last point is always shown.
        let mut curve: Vec<TunePoint> = shown
            .into_iter()
            .rev()
            .step_by(stride)
            .map(|snapshot| TunePoint {
                pairs: snapshot.pairs,
                values: snapshot.parameters.iter().map(|progress| progress.value).collect(),
                averages: (0..snapshot.parameters.len())
                    .map(|index| self.average(snapshot, index).value)
                    .collect(),
            })
            .collect();
        curve.reverse();
        curve
    }

    /// The latest kept state that has at most this number of pairs.
    fn before(&self, pairs: u64) -> Option<&Snapshot> {
        let kept = self.history.kept();
        let after = kept.partition_point(|snapshot| snapshot.pairs <= pairs);
        kept.get(after.checked_sub(1)?)
    }

    /// The average of a parameter at a state.
    fn average(&self, at: &Snapshot, index: usize) -> Average {
        let last = at.parameters.get(index);
        let value = last.map_or(0.0, |last| last.value);
        let mut averages = (1..=PARTS).filter_map(|part| {
            let length = at.pairs >> part;
            let from = self.before(at.pairs - length).filter(|_| length > 0)?;
            let (from, first, last) = (from.pairs, from.parameters.get(index)?, last?);
            let (pairs, sums) = (at.pairs - from, last.sums - first.sums);
            let drift = (last.value - first.value).powi(2);
            let is_stationary = drift <= MAX_DRIFT.powi(2) * sums.changes;
            is_stationary.then(|| Average { value: sums.values / float(pairs), pairs })
        });
        averages.next().unwrap_or(Average { value, pairs: 0 })
    }

    /// The measured gradient of a parameter whose values of the latest pairs are averaged.
    fn gradient(&self, index: usize, averaged: u64) -> Option<Gradient> {
        let total = self.now.pairs;
        if total < MIN_PAIRS {
            return None;
        }
        let mut ends = Vec::new();
        let mut before = 0;
        for window in (0..WINDOWS).rev() {
            let end = if window == 0 { &self.now } else { self.before(total >> window)? };
            if end.pairs > before {
                let share = share(before, end.pairs, averaged, total);
                ends.push((end.parameters.get(index)?.sums, share));
                before = end.pairs;
            }
        }
        Gradient::new(&ends, self.now.results / float(total))
    }
}

/// The mean part of the changes of these pairs that the average of the last `averaged` values contains.
fn share(from: u64, to: u64, averaged: u64, total: u64) -> f64 {
    let whole = float(total - averaged);
    // The integral of a function that is 1 at first and falls to 0 over the averaged pairs.
    let integral = |pairs: u64| {
        let late = (float(pairs) - whole).max(0.0);
        float(pairs) - late.powi(2) / (2.0 * float(averaged.max(1)))
    };
    (integral(to) - integral(from)) / float(to - from)
}

/// The value of an option.
fn number(options: &BTreeMap<String, String>, parameter: &Parameter) -> Option<f64> {
    let value: f64 = options.get(&parameter.name)?.parse().ok()?;
    (parameter.min..=parameter.max).contains(&value).then_some(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use readyok_rules::Side;

    use super::*;
    use crate::match_state::tests::pair;
    use crate::plan::TuneFile;

    fn tuning() -> TuneState {
        let file = r#"
            game = "chess"
            pairs = 300
            engine = { name = "new", command = "new", limits = { nodes = 1 } }
            parameters = [
                { name = "A", start = 0, min = -1, max = 1, c_end = 2, r_end = 5 },
                { name = "B", start = 9e15, min = -9e15, max = 9e15, c_end = 1, decimal = true },
                { name = "C", start = 1e-6, min = 0, max = 2e-6, c_end = 1e-6, decimal = true },
            ]
        "#;
        let plan = toml::from_str::<TuneFile>(file).expect("a file").into_plan(1);
        TuneState::new(&plan).expect("a tuning")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Files can be edited: options have any text, and results any order.
        #[test]
        fn shown_numbers_are_finite_and_in_order(
            options in prop::sample::select(vec!["", "x", "NaN", "inf", "-1", "0", "1", "1e-6", "9e15"]),
            other in prop::sample::select(vec!["", "0", "1", "1e-6", "-9e15"]),
            winners in prop::collection::vec(prop::option::of(any::<bool>()), 0..300),
            follows in any::<bool>(),
        ) {
            let mut tune = tuning();
            for (index, winner) in (0..).zip(winners) {
                let side = winner.map(|first| if first { Side::First } else { Side::Second });
                let mut pair = pair(index, &(0, 1, vec![side, None], false));
                pair.pairing.options = if follows {
                    tune.tuner().options(index)
                } else {
                    let all = |text: &str| ["A", "B", "C"].map(|name| (name.to_owned(), text.to_owned())).into();
                    [all(options), all(other)]
                };
                tune.add(&pair);
            }
            let status = tune.status();
            for tuned in &status.parameters {
                prop_assert!(tuned.min <= tuned.low && tuned.low <= tuned.high && tuned.high <= tuned.max, "{tuned:?}");
                for value in [tuned.value, tuned.average] {
                    prop_assert!(tuned.min <= value && value <= tuned.max, "{tuned:?}");
                }
                prop_assert!(tuned.averaged <= status.pairs.div_ceil(2) + 2, "{tuned:?}");
            }
            let gain = [status.gain.elo, status.gain.error];
            prop_assert!(gain.iter().flatten().all(|number| number.is_finite()), "{gain:?}");
            let text = serde_json::to_string(&status).expect("JSON");
            prop_assert_eq!(serde_json::from_str::<TuneStatus>(&text).expect("it is read"), status);
        }
    }
}
