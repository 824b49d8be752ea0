//! A client's lines and an engine's deeds.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::client_session(bytes));
