//! The interface for JavaScript, natively: the seeds of the fuzz target and random calls.
#![cfg(feature = "records")]

#[expect(unreachable_pub, reason = "the fuzz target uses it")]
mod laws;

use std::fs;
use std::path::Path;

use readyok_wasm::{last_output, names, set_input};

#[test]
fn seeds_of_the_fuzz_target_satisfy_its_property() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/wasm");
    let mut replayed = 0;
    for seed in fs::read_dir(seeds).expect("a directory of seeds") {
        laws::calls(&fs::read(seed.expect("a seed").path()).expect("a seed"));
        replayed += 1;
    }
    assert!(0 < replayed);
}

/// Calls with texts of all kinds, by a linear congruential generator with a fixed seed.
#[test]
fn random_calls_satisfy_the_property() {
    let texts: [&[u8]; 12] = [
        b"",
        b"e4",
        b"e2e4\0e7e5\0g1f3",
        b"7g7f\x003c3d\x008h2b+",
        b"1. e4 {c} e5 (1... c5) 2. Nf3 *\n\n[Event \"x\"]\n\n1. d4 $300 *",
        "手合割：平手\n   1 ７六歩(77)\n   2 投了\n".as_bytes(),
        b"PI\n+\n+7776FU\n%TORYO\n",
        b"{\"comments\":[\"x\"],\"clock\":1.5,\"marks\":[{\"color\":\"red\",\"from\":\"a1\"}]}",
        b"4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1",
        b"4k4/9/9/9/9/9/9/9/4K4 b 2P 1",
        b"1-0",
        b"\xff\x00{",
    ];
    let mut state = 1_u64;
    let mut random = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u8::try_from((state >> 33) % below).unwrap_or_default()
    };
    for _ in 0..300 {
        let mut calls = Vec::new();
        for _ in 0..60 {
            let text = texts[usize::from(random(12))];
            calls.extend([random(25), random(4), random(12), random(210)]);
            calls.push(u8::try_from(text.len()).unwrap_or(u8::MAX));
            calls.extend_from_slice(text);
        }
        laws::calls(&calls);
    }
}

#[test]
fn names_are_five_lines() {
    set_input(b"");
    assert!(names() > 0);
    let names = String::from_utf8(last_output()).expect("UTF-8");
    let lines: Vec<&str> = names.lines().collect();
    assert_eq!(lines.len(), 5);
    assert!(
        lines[0].starts_with("chess ")
            && lines[1].starts_with("uci ")
            && lines[3].starts_with("pgn ")
    );
}
