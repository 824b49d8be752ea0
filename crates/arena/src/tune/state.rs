//! The progress of a tuning: its values with their history.

use crate::event::Rating;
use crate::match_state::Thinned;
use crate::pairing::PairResult;
use crate::plan::Plan;
use crate::tune::status::{TunePoint, TuneStatus, TunedParameter};
use crate::tune::{Tuner, float};

/// Maximum number of values in the curve of a status, averages not counted: a published state must fit into one
/// message of a queue.
const MAX_CURVE_VALUES: usize = 8000;

/// The values of a tuning and their averages.
#[derive(Clone, Debug)]
pub struct TuneState {
    tuner: Tuner,
    pairs: u64,
    /// The sums of the values after each pair.
    sums: Vec<f64>,
    history: Thinned<Snapshot>,
}

/// The state after a number of pairs.
#[derive(Clone, Debug)]
struct Snapshot {
    pairs: u64,
    values: Vec<f64>,
    sums: Vec<f64>,
}

impl TuneState {
    /// The state before the first pair; `None` if the plan is not a tuning.
    pub fn new(plan: &Plan) -> Option<Self> {
        let tuner = Tuner::new(plan)?;
        let sums = vec![0.0; tuner.values().len()];
        Some(Self { tuner, pairs: 0, sums, history: Thinned::default() })
    }

    /// Adds a stored pair.
    pub fn add(&mut self, pair: &PairResult) {
        self.tuner.add(pair);
        self.pairs += 1;
        for (sum, value) in self.sums.iter_mut().zip(self.tuner.values()) {
            *sum += value;
        }
        let snapshot = self.history.is_due().then(|| self.snapshot());
        self.history.add(snapshot);
    }

    /// The current values.
    pub fn tuner(&self) -> &Tuner {
        &self.tuner
    }

    /// The averages of the latest values: the result of the tuning. The start values before the first pair.
    pub fn averages(&self) -> Vec<f64> {
        averages(&self.history.with_last(None), &self.snapshot()).0
    }

    /// What views show.
    pub fn status(&self) -> TuneStatus {
        let history = self.history.with_last((self.pairs > 0).then(|| self.snapshot()));
        let (averages, averaged) = averages(&history, &self.snapshot());
        let parameters = self.tuner.parameters().iter().zip(self.tuner.values()).zip(&averages);
        let parameters = parameters.map(|((parameter, &value), &average)| TunedParameter {
            name: parameter.name.clone(),
            start: parameter.start,
            value,
            average,
            rounded: parameter.text(average, 0.5),
            low: parameter.min,
            high: parameter.max,
            min: parameter.min,
            max: parameter.max,
            c: self.tuner.gains(parameter, self.pairs).c,
            decimal: parameter.decimal,
        });
        TuneStatus {
            pairs: self.pairs,
            averaged,
            parameters: parameters.collect(),
            curve: self.curve(&history),
            gain: Rating::default(),
        }
    }

    fn curve(&self, history: &[Snapshot]) -> Vec<TunePoint> {
        let points = (MAX_CURVE_VALUES / self.sums.len().max(1)).max(2);
        let stride = history.len().div_ceil(points).max(1);
        // The last point is always shown.
        let shown = history.iter().rev().step_by(stride).rev();
        shown
            .map(|snapshot| TunePoint {
                pairs: snapshot.pairs,
                values: snapshot.values.clone(),
                averages: averages(history, snapshot).0,
            })
            .collect()
    }

    fn snapshot(&self) -> Snapshot {
        let values = self.tuner.values().to_vec();
        Snapshot { pairs: self.pairs, values, sums: self.sums.clone() }
    }
}

/// The averages of the values of the latest pairs before a snapshot, and the number of these pairs. The first one is
/// known as exactly as the history is dense.
fn averages(history: &[Snapshot], at: &Snapshot) -> (Vec<f64>, u64) {
    let before = history.partition_point(|snapshot| snapshot.pairs <= at.pairs / 2);
    let before = before.checked_sub(1).and_then(|index| history.get(index));
    let pairs = at.pairs - before.map_or(0, |before| before.pairs);
    if pairs == 0 {
        return (at.values.clone(), 0);
    }
    let earlier = |index| before.and_then(|before| before.sums.get(index)).copied().unwrap_or(0.0);
    let sums = at.sums.iter().enumerate();
    (sums.map(|(index, sum)| (sum - earlier(index)) / float(pairs)).collect(), pairs)
}
