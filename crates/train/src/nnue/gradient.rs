//! The loss of positions and its gradient.
#![expect(clippy::inline_always, reason = "the loops are compiled once per level of CPU features")]

use narikin::network::Activation;
use pulp::Arch;

use crate::nnue::parameters::{BLOCK, Shape};
use crate::nnue::positions::Position;

/// The function of the parameters that training minimizes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Objective {
    /// The activation function.
    pub activation: Activation,
    /// Centipawns per output of 1.
    pub centipawns: f32,
    /// The score with an expected result of 1 / (1 + 1 / e) = 73 %, in centipawns.
    pub scale: f32,
    /// The weight of the result in the target, from 0 to 1; the rest is the score.
    pub wdl: f32,
}

impl Objective {
    /// The expected result of a score.
    #[inline(always)]
    pub fn expected(&self, centipawns: f32) -> f32 {
        1.0 / (1.0 + (-centipawns / self.scale).exp())
    }

    /// The expected result that a position should have.
    #[inline(always)]
    pub fn target(&self, position: &Position<'_>) -> f32 {
        (1.0 - self.wdl) * self.expected(position.score) + self.wdl * position.points
    }

    /// The squared error of a value in centipawns.
    pub fn loss(&self, position: &Position<'_>, centipawns: f32) -> f64 {
        let error = self.expected(centipawns) - self.target(position);
        f64::from(error * error)
    }
}

/// Memory for the hidden layer of a position.
#[derive(Debug, Clone)]
struct Hidden {
    /// The sums, then the activations, of both perspectives.
    sums: Vec<f32>,
    active: Vec<f32>,
    gradient: Vec<f32>,
}

/// Computes outputs and gradients of a network.
#[derive(Debug, Clone)]
pub struct Pass {
    shape: Shape,
    arch: Arch,
    hidden: Hidden,
}

impl Pass {
    /// A pass through networks of a shape.
    pub fn new(shape: Shape) -> Self {
        let zeros = vec![0.0; 2 * shape.hidden];
        let hidden = Hidden { sums: zeros.clone(), active: zeros.clone(), gradient: zeros };
        Self { shape, arch: Arch::new(), hidden }
    }

    /// The output for a position, before the sigmoid.
    pub fn output(
        &mut self,
        parameters: &[f32],
        activation: Activation,
        position: &Position<'_>,
    ) -> f32 {
        let (shape, hidden) = (self.shape, &mut self.hidden);
        self.arch.dispatch(
            #[inline(always)]
            || match activation {
                Activation::ClippedRelu => forward::<false>(shape, parameters, hidden, position),
                Activation::SquaredClippedRelu => {
                    forward::<true>(shape, parameters, hidden, position)
                }
            },
        )
    }

    /// Adds the gradient of the loss of each position. Returns the loss.
    pub fn add_gradient<'a>(
        &mut self,
        parameters: &[f32],
        objective: &Objective,
        positions: impl Iterator<Item = Position<'a>>,
        gradient: &mut [f32],
    ) -> f64 {
        let (shape, hidden) = (self.shape, &mut self.hidden);
        self.arch.dispatch(
            #[inline(always)]
            || match objective.activation {
                Activation::ClippedRelu => {
                    backward::<false>(shape, parameters, hidden, objective, positions, gradient)
                }
                Activation::SquaredClippedRelu => {
                    backward::<true>(shape, parameters, hidden, objective, positions, gradient)
                }
            },
        )
    }
}

/// Sums the columns of the active features.
#[inline(always)]
fn accumulate<const N: usize>(
    weights: &[f32],
    biases: &[f32],
    width: usize,
    features: &[u16],
    sums: &mut [f32],
) {
    let (sums, _) = sums.as_chunks_mut::<N>();
    let (biases, _) = biases.as_chunks::<N>();
    for (block, (sums, biases)) in sums.iter_mut().zip(biases).enumerate() {
        let mut sum = *biases;
        for &feature in features {
            let start = usize::from(feature) * width + block * N;
            let Some(column) = weights[start..].first_chunk::<N>() else { continue };
            for (sum, weight) in sum.iter_mut().zip(column) {
                *sum += weight;
            }
        }
        *sums = sum;
    }
}

/// The number of partial sums of a dot product.
const LANES: usize = BLOCK;

#[inline(always)]
fn dot(first: &[f32], second: &[f32]) -> f32 {
    let mut sums = [0.0; LANES];
    for (first, second) in first.as_chunks::<LANES>().0.iter().zip(second.as_chunks::<LANES>().0) {
        for (sum, (first, second)) in sums.iter_mut().zip(first.iter().zip(second)) {
            *sum += first * second;
        }
    }
    sums.iter().sum()
}

#[inline(always)]
fn forward<const SQUARED: bool>(
    shape: Shape,
    parameters: &[f32],
    hidden: &mut Hidden,
    position: &Position<'_>,
) -> f32 {
    let width = shape.hidden;
    let weights = &parameters[shape.hidden_weights()];
    let biases = &parameters[shape.hidden_biases()];
    let (ours, theirs) = hidden.sums.split_at_mut(width);
    for (sums, features) in [(ours, position.ours), (theirs, position.theirs)] {
        if width.is_multiple_of(2 * BLOCK) {
            accumulate::<{ 2 * BLOCK }>(weights, biases, width, features, sums);
        } else {
            accumulate::<BLOCK>(weights, biases, width, features, sums);
        }
    }
    for (active, sum) in hidden.active.iter_mut().zip(&hidden.sums) {
        let clipped = sum.clamp(0.0, 1.0);
        *active = if SQUARED { clipped * clipped } else { clipped };
    }
    let output = &parameters[shape.output_weights()][position.bucket * 2 * width..][..2 * width];
    dot(output, &hidden.active) + parameters[shape.output_biases()][position.bucket]
}

#[inline(always)]
fn backward<'a, const SQUARED: bool>(
    shape: Shape,
    parameters: &[f32],
    hidden: &mut Hidden,
    objective: &Objective,
    positions: impl Iterator<Item = Position<'a>>,
    gradient: &mut [f32],
) -> f64 {
    let width = shape.hidden;
    let mut loss = 0.0;
    let (hidden_weights, rest) = gradient.split_at_mut(shape.hidden_weights().end);
    let (hidden_biases, rest) = rest.split_at_mut(width);
    let (output_weights, output_biases) = rest.split_at_mut(shape.output_weights().len());
    let slope = objective.centipawns / objective.scale;
    for position in positions {
        let output = forward::<SQUARED>(shape, parameters, hidden, &position);
        let points = objective.expected(output * objective.centipawns);
        let error = points - objective.target(&position);
        loss += f64::from(error * error);
        let by_output = 2.0 * error * points * (1.0 - points) * slope;
        let bucket = position.bucket * 2 * width..(position.bucket + 1) * 2 * width;
        let weights = &parameters[shape.output_weights()][bucket.clone()];
        output_biases[position.bucket] += by_output;
        for (sum, active) in output_weights[bucket].iter_mut().zip(&hidden.active) {
            *sum += by_output * active;
        }
        for ((by_sum, sum), weight) in hidden.gradient.iter_mut().zip(&hidden.sums).zip(weights) {
            let inside = if *sum > 0.0 && *sum < 1.0 { 1.0 } else { 0.0 };
            let inner = if SQUARED { 2.0 * sum * inside } else { inside };
            *by_sum = by_output * weight * inner;
        }
        let (ours, theirs) = hidden.gradient.split_at(width);
        for (by_sum, features) in [(ours, position.ours), (theirs, position.theirs)] {
            for (sum, part) in hidden_biases.iter_mut().zip(by_sum) {
                *sum += part;
            }
            for &feature in features {
                let start = usize::from(feature) * width;
                let column = &mut hidden_weights[start..start + width];
                for (sum, part) in column.iter_mut().zip(by_sum) {
                    *sum += part;
                }
            }
        }
    }
    loss
}
