//! A file of CSA.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::record::csa(bytes));
