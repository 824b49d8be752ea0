//! An order by lot that takes no memory.

use std::num::NonZeroU64;

use crate::rng;

/// A permutation of the numbers below a size: a Feistel network over the next even number of bits,
/// gone through again while it leads out of the numbers (cycle walking; Black and Rogaway 2002,
/// doi 10.1007/3-540-45760-7_9). It depends on nothing but the size and the seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Permutation {
    size: NonZeroU64,
    /// Bits of each half.
    half: u32,
    /// One for each round of the network.
    keys: [u64; 6],
}

impl Permutation {
    pub(super) fn new(size: NonZeroU64, seed: u64) -> Self {
        let bits = u64::BITS - (size.get() - 1).leading_zeros();
        let keys = [0, 1, 2, 3, 4, 5].map(|round| rng::number(seed, round));
        Self { size, half: bits.div_ceil(2), keys }
    }

    /// The number at a place, which is below the size.
    pub(super) fn at(&self, place: u64) -> u64 {
        let mut number = self.once(place);
        // Numbers are fewer than four times the size, and who walks on comes back to the start, so
        // that this ends, and on average soon.
        while number >= self.size.get() {
            number = self.once(number);
        }
        number
    }

    fn once(&self, number: u64) -> u64 {
        let mask = (1_u64 << self.half) - 1;
        let (mut left, mut right) = ((number >> self.half) & mask, number & mask);
        for &key in &self.keys {
            (left, right) = (right, left ^ (rng::number(key, right) & mask));
        }
        left << self.half | right
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use proptest::prelude::*;

    use super::Permutation;

    fn order(size: u64, seed: u64) -> Vec<u64> {
        let permutation = Permutation::new(NonZeroU64::new(size).unwrap(), seed);
        (0..size).map(|place| permutation.at(place)).collect()
    }

    proptest! {
        #[test]
        fn every_number_comes_once(size in 1_u64..3000, seed: u64) {
            let mut order = order(size, seed);
            order.sort_unstable();
            prop_assert!(order.into_iter().eq(0..size));
        }

        #[test]
        fn every_place_of_a_large_order_is_below_the_size(size in 1_u64.., place: u64, seed: u64) {
            let permutation = Permutation::new(NonZeroU64::new(size).unwrap(), seed);
            prop_assert!(permutation.at(place % size) < size);
        }
    }

    #[test]
    fn the_order_of_a_seed_never_changes() {
        assert_eq!(order(10, 1), GOLDEN);
    }

    #[test]
    fn all_orders_of_few_come_about_equally_often() {
        let mut counts = std::collections::BTreeMap::<Vec<u64>, u32>::new();
        for seed in 0..6000 {
            *counts.entry(order(3, seed)).or_default() += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|count| (800..1200).contains(count)), "{counts:?}");
    }

    const GOLDEN: [u64; 10] = [5, 6, 0, 9, 7, 8, 1, 4, 2, 3];
}
