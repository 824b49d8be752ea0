//! An engine's line.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::reply_bytes(bytes));
