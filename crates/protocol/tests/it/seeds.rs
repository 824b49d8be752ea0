//! The seeds of the fuzz targets satisfy their properties.

use std::fs;
use std::path::Path;

use crate::laws;

/// Checks a property for every seed of a target.
fn check(target: &str, law: fn(&[u8])) {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let mut replayed = 0;
    for seed in fs::read_dir(seeds).unwrap() {
        law(&fs::read(seed.unwrap().path()).unwrap());
        replayed += 1;
    }
    assert!(0 < replayed, "no seeds for {target}");
}

#[test]
fn the_seeds_of_the_fuzz_targets_satisfy_their_properties() {
    check("command", laws::command_bytes);
    check("reply", laws::reply_bytes);
    check("lines", laws::lines);
    check("client_session", laws::client_session);
    check("engine_session", laws::engine_session);
    check("translation", laws::translation);
}
