//! Lines of SFEN with moves.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::record::usi(bytes));
