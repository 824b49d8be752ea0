//! The seeds of the fuzz targets keep the laws that the targets check.

use std::fs;
use std::path::Path;

use super::laws;

/// Holds a law against every seed of a target.
fn check(target: &str, law: fn(&[u8])) {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let mut replayed = 0;
    for seed in fs::read_dir(seeds).expect("a folder") {
        law(&fs::read(seed.expect("an entry").path()).expect("a file"));
        replayed += 1;
    }
    assert!(0 < replayed, "no seeds for {target}");
}

#[test]
fn the_seeds_of_the_fuzz_targets_keep_their_laws() {
    check("record_pgn", laws::pgn);
    check("record_kif", laws::kif);
    check("record_csa", laws::csa);
    check("record_jkf", laws::jkf);
    check("record_usi", laws::usi);
}
