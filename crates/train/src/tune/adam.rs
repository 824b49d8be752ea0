//! The optimizer Adam (Kingma and Ba 2015, arXiv:1412.6980) with a learning rate that decays along a
//! cosine (Loshchilov and Hutter 2017, arXiv:1608.03983).

use std::f32::consts::PI;

use super::loss::{Pair, count};

const FIRST: f32 = 0.9;
const SECOND: f32 = 0.999;
const TINY: f32 = 1e-9;

/// The ratio of the last learning rate to the first.
const LAST: f32 = 0.01;

/// The state of the optimizer.
pub(super) struct Adam {
    moments: Vec<[Pair; 2]>,
    rate: f32,
    step: usize,
    steps: usize,
    /// Corrects the bias of moments that start at zero.
    bias: Pair,
}

impl Adam {
    /// The optimizer for a number of weights and steps.
    pub(super) fn new(weights: usize, rate: f32, steps: usize) -> Self {
        let moments = vec![[[0.0; 2]; 2]; weights];
        Self { moments, rate, step: 0, steps: steps.max(1), bias: [1.0; 2] }
    }

    /// Begins the next step.
    pub(super) fn advance(&mut self) {
        self.step += 1;
        let [first, second] = self.bias;
        self.bias = [first * FIRST, second * SECOND];
    }

    /// Updates a weight by its gradient.
    pub(super) fn step(&mut self, number: usize, weight: &mut Pair, gradient: Pair) {
        let done = count(self.step) / count(self.steps);
        let rate = self.rate * (LAST + (1.0 - LAST) * 0.5 * (1.0 + (PI * done).cos()));
        let Some([first, second]) = self.moments.get_mut(number) else { return };
        for part in 0..2 {
            first[part] = FIRST * first[part] + (1.0 - FIRST) * gradient[part];
            second[part] = SECOND * second[part] + (1.0 - SECOND) * gradient[part].powi(2);
            let mean = first[part] / (1.0 - self.bias[0]);
            let size = (second[part] / (1.0 - self.bias[1])).sqrt();
            weight[part] -= rate * mean / (size + TINY);
        }
    }
}
