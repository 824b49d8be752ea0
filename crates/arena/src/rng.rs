//! Random numbers that are the same on every host.

/// Number `index` of the sequence of a seed: `SplitMix64` (Steele, Lea and Flood 2014,
/// doi 10.1145/2660193.2660195), a different number for each index.
pub(crate) fn number(seed: u64, index: u64) -> u64 {
    let step = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut mixed = seed.wrapping_add(step);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    #[test]
    fn matches_the_reference_implementation() {
        // The first outputs of `splitmix64.c` (Vigna 2015) for these seeds.
        assert_eq!(super::number(0, 0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(super::number(1_234_567, 0), 6_457_827_717_110_365_317);
        assert_eq!(super::number(1_234_567, 1), 3_203_168_211_198_807_973);
    }
}
