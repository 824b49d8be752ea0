//! Lines of EPD.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::rules::epds(bytes));
