//! The seeds of the fuzz targets keep the laws that the targets check.

use std::{fs, path::Path};

use crate::{hostile::Numbers, laws};

/// How many spoilt texts are made of each seed.
const SPOILT: usize = 100;

/// What the seeds are spoilt with: letters of all notations.
const ALPHABET: &str =
    "pnbrqkglsPNBRQKGLS123456789/ -bwhaHA~+x=#!*@[]OO0\"; \n▲△同金銀歩左右上成不打直引寄７六三(";

/// Holds a law against every seed of a target, and against many that are spoilt with letters.
pub(crate) fn check(target: &str, alphabet: &str, law: fn(&[u8])) {
    check_spoilt(target, law, |numbers, seed| {
        numbers.spoil(&String::from_utf8_lossy(seed), alphabet).into_bytes()
    });
}

/// The same with any byte, for seeds that are no text.
pub(crate) fn check_bytes(target: &str, law: fn(&[u8])) {
    let alphabet: String = (0..=u8::MAX).map(char::from).collect();
    check_spoilt(target, law, |numbers, seed| {
        let seed: String = seed.iter().copied().map(char::from).collect();
        numbers.spoil(&seed, &alphabet).chars().filter_map(|byte| byte.try_into().ok()).collect()
    });
}

fn check_spoilt(target: &str, law: fn(&[u8]), spoil: impl Fn(&mut Numbers, &[u8]) -> Vec<u8>) {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let mut replayed = 0;
    for seed in fs::read_dir(seeds).expect("a folder of seeds") {
        let seed = fs::read(seed.expect("a seed").path()).expect("a seed");
        law(&seed);
        // Each anew, so that their order, which the file system gives, changes nothing.
        let mut numbers = Numbers::new(1);
        for _ in 0..SPOILT {
            law(&spoil(&mut numbers, &seed));
        }
        replayed += 1;
    }
    assert!(0 < replayed, "no seeds for {target}");
}

#[test]
fn the_seeds_of_the_fuzz_targets_keep_their_laws() {
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
