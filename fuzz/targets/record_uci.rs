//! Lines of FEN, EPD, UCI, moves and links.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::record::uci(bytes));
