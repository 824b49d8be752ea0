//! A FEN or an EPD.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::rules::fen(bytes));
