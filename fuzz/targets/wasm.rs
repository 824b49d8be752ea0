//! Calls of the interface for JavaScript.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::wasm::calls(bytes));
