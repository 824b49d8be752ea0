//! A position of shogi and moves in the words of UCI.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::rules::fairy(bytes));
