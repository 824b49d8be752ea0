//! The parameters of a network during training.

use std::ops::Range;

use fastrand::Rng;
use narikin::network::OUTPUT_BUCKETS as BUCKETS;

/// The bound of all parameters, so that quantized sums do not overflow.
pub const BOUND: f32 = 1.98;

/// The dimensions of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// The number of features.
    pub features: usize,
    /// The number of hidden units per perspective.
    pub hidden: usize,
}

/// The hidden units are computed in blocks of this size.
pub const BLOCK: usize = 32;

impl Shape {
    /// The weights of the hidden layer: for each feature, those of all units.
    pub fn hidden_weights(self) -> Range<usize> {
        0..self.features * self.hidden
    }

    /// The biases of the hidden units.
    pub fn hidden_biases(self) -> Range<usize> {
        let start = self.hidden_weights().end;
        start..start + self.hidden
    }

    /// The weights of the output layer: for each bucket, the units of the side to move, then those of
    /// its opponent.
    pub fn output_weights(self) -> Range<usize> {
        let start = self.hidden_biases().end;
        start..start + BUCKETS * 2 * self.hidden
    }

    /// The bias of each bucket.
    pub fn output_biases(self) -> Range<usize> {
        let start = self.output_weights().end;
        start..start + BUCKETS
    }

    /// The number of parameters.
    pub fn parameters(self) -> usize {
        self.output_biases().end
    }

    /// Random initial parameters. An active unit has about the same variance in both layers.
    pub fn initial(self, rng: &mut Rng) -> Vec<f32> {
        /// The typical number of active features of a position.
        const ACTIVE: f32 = 30.0;
        let mut parameters = vec![0.0; self.parameters()];
        let mut fill = |range: Range<usize>, bound: f32| {
            for weight in &mut parameters[range] {
                *weight = (2.0 * rng.f32() - 1.0) * bound;
            }
        };
        fill(self.hidden_weights(), 1.0 / ACTIVE.sqrt());
        // All buckets begin as the same function.
        let first = self.output_weights().start;
        let per_bucket = 2 * self.hidden;
        let spread = u16::try_from(per_bucket).map_or(256.0, f32::from).sqrt();
        fill(first..first + per_bucket, 1.0 / spread);
        for bucket in 1..BUCKETS {
            parameters.copy_within(first..first + per_bucket, first + bucket * per_bucket);
        }
        // Half of the range of the activation function.
        parameters[self.hidden_biases()].fill(0.25);
        parameters
    }
}
