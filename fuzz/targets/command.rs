//! A client's line.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::command_bytes(bytes));
