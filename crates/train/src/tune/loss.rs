//! The loss of positions under some weights, and its gradient, on several threads.

use std::thread;

use narikin::eval::{WEIGHT_UNITS, Weight};

use super::dataset::{Dataset, Example};

/// A weight in centipawns: middlegame and endgame.
pub(super) type Pair = [f32; 2];

/// The number of partial sums. It is constant, because the order of additions affects the result.
const SUMS: usize = 8;

/// Units per centipawn.
const PER_CENTIPAWN: f32 = 8.0;
const _: () = assert!(WEIGHT_UNITS == 8, "these constants are equal");

pub(super) fn pair(weight: Weight) -> Pair {
    [weight.mg, weight.eg].map(|units| f32::from(units) / PER_CENTIPAWN)
}

#[expect(clippy::cast_possible_truncation, reason = "the conversion saturates")]
pub(super) fn weight(pair: Pair) -> Weight {
    let [mg, eg] = pair.map(|centipawns| (centipawns * PER_CENTIPAWN).round() as i16);
    Weight { mg, eg }
}

#[expect(clippy::cast_precision_loss, reason = "the divided sums are less precise")]
pub(super) fn count(number: usize) -> f32 {
    number as f32
}

/// The expected result of a score, and the target.
#[derive(Debug, Clone, Copy)]
pub(super) struct Curve {
    pub(super) lambda: f32,
    pub(super) scale: f32,
}

impl Curve {
    fn points(self, centipawns: f32) -> f32 {
        1.0 / (1.0 + (-centipawns / self.scale).exp())
    }

    fn target(self, example: &Example<'_>) -> f32 {
        self.lambda * self.points(example.score) + (1.0 - self.lambda) * example.points
    }
}

/// A loss and its gradient by the weights, in units of the scale.
#[derive(Debug, Clone)]
struct Sum {
    loss: f64,
    gradient: Vec<Pair>,
}

/// Sums over many positions.
#[derive(Debug)]
pub(super) struct Sums {
    sums: Vec<Sum>,
    threads: usize,
}

impl Sums {
    /// The sums for a number of weights.
    pub(super) fn new(weights: usize, threads: usize) -> Self {
        let sum = Sum { loss: 0.0, gradient: vec![[0.0; 2]; weights] };
        Self { sums: vec![sum; SUMS], threads: threads.clamp(1, SUMS) }
    }

    /// The mean loss of positions.
    pub(super) fn mean(
        &mut self,
        data: &Dataset,
        numbers: &[u32],
        weights: &[Pair],
        curve: Curve,
    ) -> f64 {
        let loss = self.each(numbers, |sum, number| {
            if let Some(example) = data.example(number) {
                let (value, _) = value(&example, weights);
                let error = curve.points(value) - curve.target(&example);
                sum.loss += f64::from(error * error);
            }
        });
        loss / f64::from(count(numbers.len().max(1)))
    }

    /// The loss of positions. [`Sums::gradient`] then returns its gradient.
    pub(super) fn gather(
        &mut self,
        data: &Dataset,
        numbers: &[u32],
        weights: &[Pair],
        curve: Curve,
    ) -> f64 {
        for sum in &mut self.sums {
            sum.gradient.fill([0.0; 2]);
        }
        self.each(numbers, |sum, number| {
            let Some(example) = data.example(number) else { return };
            let (value, share) = value(&example, weights);
            let points = curve.points(value);
            let error = points - curve.target(&example);
            sum.loss += f64::from(error * error);
            let slope = 2.0 * error * points * (1.0 - points) * share;
            let (in_mg, in_eg) = (slope * example.mg, slope * (1.0 - example.mg));
            for (weight, count) in example.terms() {
                if let Some([mg, eg]) = sum.gradient.get_mut(weight) {
                    *mg += in_mg * count;
                    *eg += in_eg * count;
                }
            }
        })
    }

    /// The gradient by a weight.
    pub(super) fn gradient(&self, weight: usize) -> Pair {
        let parts = self.sums.iter().filter_map(|sum| sum.gradient.get(weight));
        parts.fold([0.0; 2], |[mg, eg], part| [mg + part[0], eg + part[1]])
    }

    /// Adds all positions to the sums, and returns and resets the loss.
    fn each(&mut self, numbers: &[u32], add: impl Fn(&mut Sum, u32) + Sync) -> f64 {
        let per_sum = numbers.len().div_ceil(SUMS).max(1);
        let mut work: Vec<_> = self.sums.iter_mut().zip(numbers.chunks(per_sum)).collect();
        thread::scope(|scope| {
            for batch in work.chunks_mut(SUMS.div_ceil(self.threads)) {
                scope.spawn(|| {
                    for (sum, numbers) in batch {
                        for &number in *numbers {
                            add(sum, number);
                        }
                    }
                });
            }
        });
        self.sums.iter_mut().map(|sum| std::mem::take(&mut sum.loss)).sum()
    }
}

/// The evaluation of a position in centipawns for the first side, and its scale.
fn value(example: &Example<'_>, weights: &[Pair]) -> (f32, f32) {
    let (mut in_mg, mut in_eg) = (0.0, 0.0);
    for (weight, count) in example.terms() {
        if let Some([mg, eg]) = weights.get(weight) {
            in_mg += mg * count;
            in_eg += eg * count;
        }
    }
    let sum = in_mg * example.mg + in_eg * (1.0 - example.mg);
    let share = example.share(sum);
    (sum * share, share)
}
