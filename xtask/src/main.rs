//! Maintenance tasks of the workspace.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

mod dist;
mod docs;
mod record;
mod terms;

const USAGE: &str = "usage: cargo xtask record <out-dir> [<engine>]
  records sessions with the installed engines (see testdata/transcripts/README.md);
  with <engine>, only those of that engine
usage: cargo xtask dist [--target <target>] [--binary <file>]
  builds the packages of a release in target/dist: archive, .deb, wheel, npm packages, SBOM, checksums;
  with --binary, packages an existing executable
usage: cargo xtask docs [--check]
  writes docs/rules.md and the names of values for Python and JavaScript; with --check, fails if they are stale
usage: cargo xtask terms [--check | <path>]
  counts deprecated terms (xtask/terms.toml); with --check, fails if there are more than allowed;
  with <path>, lists those of files whose path starts with it";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        ["record", out] => record::run(Path::new(out), None),
        ["record", out, engine] => record::run(Path::new(out), Some(engine)),
        ["dist", ref arguments @ ..] => match dist::Request::parse(arguments) {
            Some(request) => dist::run(&request),
            None => Err(io::Error::new(io::ErrorKind::InvalidInput, USAGE)),
        },
        ["docs"] => docs::write(),
        ["docs", "--check"] => docs::check(),
        ["terms"] => terms::list(Path::new("."), None).map(|text| print(&text)),
        ["terms", "--check"] => terms::check(Path::new(".")),
        ["terms", path] => terms::list(Path::new("."), Some(path)).map(|text| print(&text)),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, USAGE)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print_error(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

fn print(text: &str) {
    let _ = io::stdout().write_all(text.as_bytes());
}

fn print_error(text: &str) {
    // Fails if standard error is closed.
    let _ = writeln!(io::stderr(), "{text}");
}
