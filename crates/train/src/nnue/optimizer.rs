//! `AdamW` (Loshchilov and Hutter 2019, arXiv 1711.05101).

use std::f32::consts::PI;

use pulp::Arch;
use rayon::prelude::*;

use crate::nnue::parameters::BOUND;

const FIRST: f32 = 0.9;
const SECOND: f32 = 0.999;
const TINY: f32 = 1e-8;

/// The number of parameters that a thread updates at a time.
const CHUNK: usize = 2048;

/// The state of the optimizer.
#[derive(Debug, Clone, PartialEq)]
pub struct Adam {
    /// The mean gradient of each parameter.
    pub first: Vec<f32>,
    /// The mean square of the gradient.
    pub second: Vec<f32>,
    /// The number of steps.
    pub steps: u32,
}

impl Adam {
    /// The optimizer for a number of parameters.
    pub fn new(parameters: usize) -> Self {
        Self { first: vec![0.0; parameters], second: vec![0.0; parameters], steps: 0 }
    }

    /// Updates parameters by the mean gradient of `count` positions, which is the sum of
    /// `gradients` divided by their number. Parameters are clipped to the range of quantized ones.
    pub fn step(
        &mut self,
        parameters: &mut [f32],
        gradients: &[Vec<f32>],
        count: f32,
        rate: f32,
        decay: f32,
    ) {
        self.steps += 1;
        let power = i32::try_from(self.steps).unwrap_or(i32::MAX);
        let unbias = [1.0 - FIRST.powi(power), 1.0 - SECOND.powi(power)];
        let arch = Arch::new();
        let moments = self.first.par_chunks_mut(CHUNK).zip(self.second.par_chunks_mut(CHUNK));
        parameters.par_chunks_mut(CHUNK).zip(moments).enumerate().for_each(
            |(chunk, (weights, (first, second)))| {
                let start = chunk * CHUNK;
                let end = start + weights.len();
                arch.dispatch(|| {
                    let mut sum = [0.0; CHUNK];
                    for gradient in gradients {
                        for (sum, part) in sum.iter_mut().zip(&gradient[start..end]) {
                            *sum += part;
                        }
                    }
                    let moments = first.iter_mut().zip(second);
                    for ((weight, (first, second)), sum) in
                        weights.iter_mut().zip(moments).zip(&sum)
                    {
                        let gradient = sum / count;
                        *first = FIRST * *first + (1.0 - FIRST) * gradient;
                        *second = SECOND * *second + (1.0 - SECOND) * gradient * gradient;
                        let mean = *first / unbias[0];
                        let size = (*second / unbias[1]).sqrt() + TINY;
                        let step = rate * (mean / size + decay * *weight);
                        *weight = (*weight - step).clamp(-BOUND, BOUND);
                    }
                });
            },
        );
    }
}

/// A cosine from the first value to the second, by progress from 0 to 1.
pub fn cosine([first, last]: [f32; 2], progress: f32) -> f32 {
    last + (first - last) * 0.5 * (1.0 + (PI * progress.clamp(0.0, 1.0)).cos())
}
