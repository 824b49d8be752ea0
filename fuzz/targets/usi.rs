//! A position and moves in USI notation.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::rules::usi(bytes));
