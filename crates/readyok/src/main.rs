//! The command line: parses arguments, calls a library, prints.
fn main() {}
