//! Replays the seeds of the fuzz targets against the properties that the targets check.

use std::{fs, path::Path};

use crate::{hostile::Rng, laws};

/// The number of corrupted texts per seed.
const CORRUPTED: usize = 100;

/// The alphabet of corruptions: letters of all notations.
const ALPHABET: &str =
    "pnbrqkglsPNBRQKGLS123456789/ -bwhaHA~+x=#!*@[]OO0\"; \n▲△同金銀歩左右上成不打直引寄７六三(";

/// Checks a property for every seed of a target, and for corrupted seeds.
pub(crate) fn check(target: &str, alphabet: &str, law: fn(&[u8])) {
    check_corrupted(target, law, |rng, seed| {
        rng.corrupt(&String::from_utf8_lossy(seed), alphabet).into_bytes()
    });
}

/// Like [`check`] with corruption by arbitrary bytes, for seeds that are not text.
pub(crate) fn check_bytes(target: &str, law: fn(&[u8])) {
    let alphabet: String = (0..=u8::MAX).map(char::from).collect();
    check_corrupted(target, law, |rng, seed| {
        let seed: String = seed.iter().copied().map(char::from).collect();
        rng.corrupt(&seed, &alphabet).chars().filter_map(|byte| byte.try_into().ok()).collect()
    });
}

fn check_corrupted(target: &str, law: fn(&[u8]), corrupt: impl Fn(&mut Rng, &[u8]) -> Vec<u8>) {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let mut replayed = 0;
    for seed in fs::read_dir(seeds).expect("a directory of seeds") {
        let seed = fs::read(seed.expect("a seed").path()).expect("a seed");
        law(&seed);
        // A new generator per seed, so the order of the directory does not matter.
        let mut rng = Rng::new(1);
        for _ in 0..CORRUPTED {
            law(&corrupt(&mut rng, &seed));
        }
        replayed += 1;
    }
    assert!(0 < replayed, "no seeds for {target}");
}

#[test]
fn seeds_of_the_fuzz_targets_satisfy_their_properties() {
    for (target, law) in [
        ("fen", laws::fen as fn(&[u8])),
        ("sfen", laws::sfen),
        ("san", laws::san),
        ("japanese", laws::japanese),
        ("western", laws::western),
        ("epd", laws::epds),
        ("uci", laws::uci),
        ("usi", laws::usi),
        ("fairy", laws::fairy),
    ] {
        check(target, ALPHABET, law);
    }
    check_bytes("polyglot", laws::polyglot);
}
