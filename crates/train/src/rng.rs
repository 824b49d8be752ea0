//! Random number generators that are reproducible on all hosts.

use fastrand::Rng;

/// The generator with index `index` of a seed. Neighboring indices are independent: the seeds are
/// those of `SplitMix64` (Steele, Lea and Flood 2014, doi 10.1145/2660193.2660195).
pub(crate) fn of(seed: u64, index: u64) -> Rng {
    let step = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut mixed = seed.wrapping_add(step);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    Rng::with_seed(mixed ^ (mixed >> 31))
}
