//! The command line: see the library of this package.

use std::process::ExitCode;

fn main() -> ExitCode {
    // A client that is checked starts this program as its engine, with whatever arguments.
    readyok_check::serve_as_mock_engine().unwrap_or_else(|| readyok::cli::run(std::env::args_os()))
}
