//! Looks whether a program keeps to its protocol: `conforms <program> [<arguments>]`, and with
//! `conforms --usi <program> [<arguments>]` to USI.

use std::process::ExitCode;

use readyok_check::{Suite, Target};
use readyok_protocol::Dialect;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).peekable();
    let usi = arguments.next_if_eq("--usi").is_some();
    let Some(program) = arguments.next() else { return ExitCode::from(2) };
    let suite = Suite::new(Target::program(program, arguments));
    let suite = if usi { suite.dialect(Dialect::Usi) } else { suite };
    let (text, status) = match suite.run() {
        Ok(report) => (report.to_string(), report.exit_status()),
        Err(error) => (format!("{error}\n"), 2),
    };
    // A closed standard output is ignored.
    let _ = std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes());
    ExitCode::from(status)
}
