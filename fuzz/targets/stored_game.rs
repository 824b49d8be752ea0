//! A game of the library.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::library::stored_game(bytes));
