//! Hash keys for parts of a position.

/// A number that looks random, the same for the same index.
pub(super) const fn key(index: u64) -> u64 {
    // SplitMix64, by Steele, Lea and Flood (2014).
    let mut z = index.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A key for each coloured piece on each square.
pub(super) const fn keys<const SQUARES: usize, const PIECES: usize>() -> [[u64; SQUARES]; PIECES] {
    let mut keys = [[0; SQUARES]; PIECES];
    let mut piece = 0;
    while piece < PIECES {
        let mut square = 0;
        while square < SQUARES {
            keys[piece][square] = key((piece * SQUARES + square) as u64);
            square += 1;
        }
        piece += 1;
    }
    keys
}
