//! The `readyok` executable, see the library of this package.

use std::process::ExitCode;

fn main() -> ExitCode {
    // `check --gui` starts this executable as the mock engine, with the arguments of the client.
    readyok_check::serve_as_mock_engine().unwrap_or_else(|| readyok::cli::run(std::env::args_os()))
}
