//! Chores of the workspace.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

mod docs;
mod record;

const USAGE: &str = "usage: cargo xtask record <out-dir> [<engine>]
  records sessions with the installed engines (see testdata/transcripts/README.md);
  with <engine>, only those of that engine
usage: cargo xtask docs [--check]
  writes the generated pages of docs/; with --check, fails if they are stale";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        ["record", out] => record::run(Path::new(out), None),
        ["record", out, engine] => record::run(Path::new(out), Some(engine)),
        ["docs"] => docs::write(),
        ["docs", "--check"] => docs::check(),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, USAGE)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

/// Tells the person at the terminal.
fn say(text: &str) {
    // With standard error closed there is nobody left to tell.
    let _ = writeln!(io::stderr(), "{text}");
}
