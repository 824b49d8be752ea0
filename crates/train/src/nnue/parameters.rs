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

/// The relative noise of the weights of a copied unit, so that both copies learn different things.
const COPY_NOISE: f32 = 0.1;

/// The parameters of a network with more hidden units that gives nearly the same outputs: units are copied, and each output
/// weight is divided at random between the copies (Chen et al., `Net2Net`, arXiv 1511.05641). `None` if the other
/// dimensions differ, or the number of units is not a multiple.
pub fn widened(from: Shape, parameters: &[f32], to: Shape, rng: &mut Rng) -> Option<Vec<f32>> {
    let fits = from.features == to.features && parameters.len() == from.parameters();
    if !fits || from.hidden == 0 || !to.hidden.is_multiple_of(from.hidden) {
        return None;
    }
    let copies = to.hidden / from.hidden;
    if copies == 1 {
        return Some(parameters.to_vec());
    }
    let mut wide = Vec::with_capacity(to.parameters());
    for weights in parameters[..from.hidden_biases().end].chunks(from.hidden) {
        for copy in 0..copies {
            let noise = if copy == 0 { 0.0 } else { COPY_NOISE };
            wide.extend(
                weights.iter().map(|weight| weight * (1.0 + noise * (2.0 * rng.f32() - 1.0))),
            );
        }
    }
    // For each output weight, the parts of all copies.
    let shares: Vec<Vec<f32>> = (0..2 * from.hidden)
        .map(|_| {
            let parts: Vec<f32> = (0..copies).map(|_| 0.25 + rng.f32()).collect();
            let sum: f32 = parts.iter().sum();
            parts.into_iter().map(|part| part / sum).collect()
        })
        .collect();
    for bucket in parameters[from.output_weights()].chunks(2 * from.hidden) {
        for (weights, shares) in bucket.chunks(from.hidden).zip(shares.chunks(from.hidden)) {
            for copy in 0..copies {
                wide.extend(weights.iter().zip(shares).map(|(weight, parts)| weight * parts[copy]));
            }
        }
    }
    wide.extend(&parameters[from.output_biases()]);
    Some(wide)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output for a feature of the first bucket, without activation function.
    fn output(shape: Shape, parameters: &[f32], feature: usize) -> f32 {
        let units = |at: usize| &parameters[at..at + shape.hidden];
        let biases = units(shape.hidden_biases().start);
        let column = units(feature * shape.hidden);
        let sums = biases.iter().zip(column).map(|(bias, weight)| bias + weight);
        let output = units(shape.output_weights().start);
        sums.zip(output).map(|(sum, weight)| sum * weight).sum()
    }

    #[test]
    fn a_wider_network_has_nearly_the_same_outputs() {
        let narrow = Shape { features: 8, hidden: 32 };
        let wide = Shape { hidden: 96, ..narrow };
        let mut rng = Rng::with_seed(3);
        let parameters = narrow.initial(&mut rng);
        let copies = widened(narrow, &parameters, wide, &mut rng).expect("a multiple");
        assert_eq!(copies.len(), wide.parameters());
        for feature in 0..narrow.features {
            let (before, after) =
                (output(narrow, &parameters, feature), output(wide, &copies, feature));
            assert!((before - after).abs() < 0.02, "{before} {after}");
        }
        let [first, second] = [0, 32].map(|unit| copies[unit]);
        assert!(first.to_bits() != second.to_bits(), "copies of a unit differ");
        assert_eq!(widened(narrow, &parameters, narrow, &mut rng), Some(parameters.clone()));
        let other = Shape { hidden: 80, ..narrow };
        assert_eq!(widened(narrow, &parameters, other, &mut rng), None);
    }
}
