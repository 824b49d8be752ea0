//! A file of PGN.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::record::pgn(bytes));
