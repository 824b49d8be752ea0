//! A position and moves in the words of USI.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::rules::usi(bytes));
