//! Random orders of openings: a permutation without memory, and the order of fastchess.

use std::collections::HashMap;
use std::num::NonZeroU64;

use crate::rng;

/// A permutation of the numbers below a size: a Feistel network over the next even number of bits, with cycle
/// walking (Black and Rogaway 2002, doi 10.1007/3-540-45760-7_9). It depends only on the size and the seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Permutation {
    size: NonZeroU64,
    /// Bits of each half.
    half: u32,
    /// One key per round of the network.
    keys: [u64; 6],
}

impl Permutation {
    pub(super) fn new(size: NonZeroU64, seed: u64) -> Self {
        let bits = u64::BITS - (size.get() - 1).leading_zeros();
        let keys = [0, 1, 2, 3, 4, 5].map(|round| rng::number(seed, round));
        Self { size, half: bits.div_ceil(2), keys }
    }

    /// The number at an index below the size.
    pub(super) fn at(&self, index: u64) -> u64 {
        let mut number = self.step(index);
        // The network permutes less than four times as many numbers: each cycle returns below the size, on average
        // within four steps.
        while number >= self.size.get() {
            number = self.step(number);
        }
        number
    }

    fn step(&self, number: u64) -> u64 {
        let mask = (1_u64 << self.half) - 1;
        let (mut left, mut right) = ((number >> self.half) & mask, number & mask);
        for &key in &self.keys {
            (left, right) = (right, left ^ (rng::number(key, right) & mask));
        }
        left << self.half | right
    }
}

/// The order in which fastchess uses a shuffled book.
///
/// It is a Fisher-Yates shuffle with the generator MT19937-64 (Matsumoto and Nishimura 2000) of the C++ standard
/// library. It is evaluated on demand: memory grows with the openings used, not with the book.
#[derive(Debug)]
pub(super) struct FastchessOrder {
    count: u64,
    rng: Mt64,
    /// The entries at the indices so far.
    drawn: Vec<u64>,
    /// The entries at later indices that were swapped.
    moved: HashMap<u64, u64>,
}

impl FastchessOrder {
    pub(super) fn new(count: NonZeroU64, seed: u64) -> Self {
        let (count, rng) = (count.get(), Mt64::new(seed));
        Self { count, rng, drawn: Vec::new(), moved: HashMap::new() }
    }

    /// The entry at an index less than the count.
    pub(super) fn at(&mut self, index: u64) -> u64 {
        loop {
            let known = usize::try_from(index).ok().and_then(|index| self.drawn.get(index));
            if let Some(&entry) = known {
                return entry;
            }
            self.draw();
        }
    }

    /// Swaps a random entry to the next index.
    fn draw(&mut self) {
        let index = self.drawn.len() as u64;
        let left = self.count.saturating_sub(index);
        let other = index + if left > 1 { self.rng.next() % left } else { 0 };
        let current = self.moved.remove(&index).unwrap_or(index);
        let entry = if other == index {
            current
        } else {
            self.moved.insert(other, current).unwrap_or(other)
        };
        self.drawn.push(entry);
    }
}

/// The generator MT19937-64.
#[derive(Debug)]
struct Mt64 {
    state: Vec<u64>,
    next: usize,
}

impl Mt64 {
    const LENGTH: usize = 312;
    const MIDDLE: usize = 156;
    const UPPER: u64 = !0 << 31;
    const TWIST: u64 = 0xb502_6f5a_a966_19e9;

    fn new(seed: u64) -> Self {
        let mut last = seed;
        let following = (1..Self::LENGTH as u64).map(|index| {
            last = (last ^ (last >> 62)).wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(index);
            last
        });
        let state = std::iter::once(seed).chain(following).collect();
        Self { state, next: Self::LENGTH }
    }

    fn next(&mut self) -> u64 {
        if self.next >= Self::LENGTH {
            self.twist();
            self.next = 0;
        }
        let mut x = self.state_at(self.next);
        self.next += 1;
        x ^= (x >> 29) & 0x5555_5555_5555_5555;
        x ^= (x << 17) & 0x71d6_7fff_eda6_0000;
        x ^= (x << 37) & 0xfff7_eee0_0000_0000;
        x ^ (x >> 43)
    }

    fn twist(&mut self) {
        for index in 0..Self::LENGTH {
            let mixed =
                (self.state_at(index) & Self::UPPER) | (self.state_at(index + 1) & !Self::UPPER);
            let twist = if mixed.is_multiple_of(2) { 0 } else { Self::TWIST };
            let value = self.state_at(index + Self::MIDDLE) ^ (mixed >> 1) ^ twist;
            if let Some(entry) = self.state.get_mut(index) {
                *entry = value;
            }
        }
    }

    /// The state is a ring.
    fn state_at(&self, index: usize) -> u64 {
        self.state.get(index % Self::LENGTH).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn order(size: u64, seed: u64) -> Vec<u64> {
        let permutation = Permutation::new(NonZeroU64::new(size).unwrap(), seed);
        (0..size).map(|place| permutation.at(place)).collect()
    }

    proptest! {
        #[test]
        fn contains_each_number_once(size in 1_u64..3000, seed: u64) {
            let mut order = order(size, seed);
            order.sort_unstable();
            prop_assert!(order.into_iter().eq(0..size));
        }

        #[test]
        fn numbers_are_below_the_size(size in 1_u64.., index: u64, seed: u64) {
            let permutation = Permutation::new(NonZeroU64::new(size).unwrap(), seed);
            prop_assert!(permutation.at(index % size) < size);
        }
    }

    #[test]
    fn the_permutation_of_a_seed_is_stable() {
        assert_eq!(order(10, 1), GOLDEN);
    }

    #[test]
    fn small_permutations_are_about_equally_frequent() {
        let mut counts = std::collections::BTreeMap::<Vec<u64>, u32>::new();
        for seed in 0..6000 {
            *counts.entry(order(3, seed)).or_default() += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|count| (800..1200).contains(count)), "{counts:?}");
    }

    const GOLDEN: [u64; 10] = [5, 6, 0, 9, 7, 8, 1, 4, 2, 3];

    /// The value is required by ISO C++, [rand.predef].
    #[test]
    fn generates_the_ten_thousandth_number_of_the_standard() {
        let mut rng = Mt64::new(5489);
        let last = (0..10_000).map(|_| rng.next()).last();
        assert_eq!(last, Some(9_981_545_732_273_789_042));
    }

    #[test]
    fn fastchess_order_is_independent_of_the_order_of_access() {
        let count = NonZeroU64::new(50).unwrap();
        let mut forward = FastchessOrder::new(count, 7);
        let all: Vec<u64> = (0..50).map(|place| forward.at(place)).collect();
        let mut backward = FastchessOrder::new(count, 7);
        let mut other: Vec<u64> = (0..50).rev().map(|place| backward.at(place)).collect();
        other.reverse();
        assert_eq!(all, other);
        // A plain Fisher-Yates shuffle.
        let (mut dense, mut rng): (Vec<u64>, _) = ((0..50).collect(), Mt64::new(7));
        for index in 0..49 {
            let left = u64::try_from(50 - index).unwrap();
            dense.swap(index, index + usize::try_from(rng.next() % left).unwrap());
        }
        assert_eq!(all, dense);
    }
}
