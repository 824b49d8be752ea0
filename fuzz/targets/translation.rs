//! A translation file.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::translation(bytes));
