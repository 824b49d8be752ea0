//! A position and moves in SAN.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::rules::san(bytes));
