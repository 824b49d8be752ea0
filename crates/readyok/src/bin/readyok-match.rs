//! `readyok match` as a program of its own, which takes less memory: see the library of this package.

use std::process::ExitCode;

fn main() -> ExitCode {
    readyok::cli::run_match(std::env::args_os())
}
