//! A position and moves in the Japanese notation.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::rules::japanese(bytes));
