//! A Polyglot book.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::rules::polyglot(bytes));
