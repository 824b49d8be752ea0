//! A file of KIF or KI2.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::record::kif(bytes));
