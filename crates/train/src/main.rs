//! The command line: see the library of this package.

fn main() -> std::process::ExitCode {
    narikin_train::cli::run(std::env::args_os())
}
