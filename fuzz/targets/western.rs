//! A position and moves in the Western notation of shogi.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::rules::western(bytes));
