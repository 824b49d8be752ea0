//! Vectors of 16-bit integers.

/// Numbers per block: the widest registers have 512 bits.
pub(super) const LANES: usize = 32;

/// A block of numbers, aligned for the widest registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(64))]
pub(super) struct Lanes(pub(super) [i16; LANES]);

/// Blocks of a slice, whose length is a multiple of [`LANES`].
pub(super) fn from_slice(numbers: &[i16]) -> Vec<Lanes> {
    let (blocks, _) = numbers.as_chunks::<LANES>();
    blocks.iter().map(|&block| Lanes(block)).collect()
}

pub(super) fn add(sums: &mut [Lanes], column: &[Lanes]) {
    for (sums, weights) in sums.iter_mut().zip(column) {
        for (sum, weight) in sums.0.iter_mut().zip(weights.0) {
            *sum = sum.wrapping_add(weight);
        }
    }
}

/// The sum of weighted activations: sums clipped to 0 and `most`.
pub(super) fn dot_clipped(sums: &[Lanes], weights: &[Lanes], most: i16) -> i64 {
    dot(sums, weights, |sum, weight| i32::from(sum.clamp(0, most)) * i32::from(weight))
}

/// The sum of weighted activations: squares of sums clipped to 0 and `most`.
pub(super) fn dot_squared(sums: &[Lanes], weights: &[Lanes], most: i16) -> i64 {
    dot(sums, weights, |sum, weight| {
        let active = i32::from(sum.clamp(0, most));
        active * active * i32::from(weight)
    })
}

fn dot(sums: &[Lanes], weights: &[Lanes], term: impl Fn(i16, i16) -> i32) -> i64 {
    let blocks = sums.iter().zip(weights);
    let pairs = blocks.flat_map(|(sums, weights)| sums.0.iter().zip(&weights.0));
    pairs.map(|(&sum, &weight)| i64::from(term(sum, weight))).sum()
}
