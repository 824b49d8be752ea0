//! Checks a transcript on standard input: `> ` before commands, `< ` before replies.
//! Prints malformed lines and violations of the protocol:
//! `cargo run --example check_transcript < session.txt`.
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "an example")]

use std::io;
use std::time::Instant;

use readyok_protocol::{Command, Dialect, Observer, Reply};

fn main() -> io::Result<()> {
    let start = Instant::now();
    let mut observer = Observer::new(Dialect::Uci);
    for line in io::stdin().lines() {
        let line = line?;
        let (diagnostics, violations) = if let Some(text) = line.strip_prefix("> ") {
            let command = Command::read(text, Dialect::Uci);
            (command.diagnostics, observer.observe_command(&command.value, start.elapsed()))
        } else if let Some(text) = line.strip_prefix("< ") {
            let reply = Reply::read(text, Dialect::Uci);
            (reply.diagnostics, observer.observe_reply(&reply.value, start.elapsed()))
        } else {
            continue;
        };
        for diagnostic in diagnostics {
            println!("{line}: {diagnostic}");
        }
        for violation in violations {
            println!("{line}: {violation}");
        }
    }
    for violation in observer.end_of_output() {
        println!("at the end: {violation}");
    }
    Ok(())
}
