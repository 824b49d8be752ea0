//! The command line of the library.

fn main() -> std::process::ExitCode {
    narikin_train::cli::run(std::env::args_os())
}
