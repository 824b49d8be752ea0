//! An SFEN.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::rules::sfen(bytes));
