//! The command line: see the library of this package.

fn main() -> std::process::ExitCode {
    readyok::cli::run(std::env::args_os())
}
