//! A file of JKF.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::record::jkf(bytes));
