//! A stream of bytes.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::lines(bytes));
