//! A shogi position and moves in UCI notation.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::rules::fairy(bytes));
