//! A scripted mock engine: `scripted FILE`, or `scripted answers FILE [LOG]`: see [`answers`]. `answers960` also plays
//! Chess960.
//!
//! ```text
//! > isready       expects this line; exits with 9 on another line
//! ~ go ponder     expects a line that begins with this
//! < readyok       prints this line
//! + FILE          creates this file
//! = 3             exits with this code
//! ```
//! After the script it waits for the end of its input and exits with 0.

mod answers;

use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use std::{env, fs};

fn main() -> io::Result<ExitCode> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [mode, rules, log @ ..] = arguments.as_slice()
        && mode.starts_with("answers")
    {
        let log = log.first().map(String::as_str);
        return answers::run(&fs::read_to_string(rules)?, log, mode == "answers960");
    }
    let script = fs::read_to_string(arguments.first().map(String::as_str).unwrap_or_default())?;
    let mut input = io::stdin().lock().lines();
    let mut output = io::stdout();
    for step in script.lines() {
        match step.split_at_checked(2) {
            Some((kind @ ("> " | "~ "), expected)) => match input.next().transpose()? {
                Some(line) if line == expected => (),
                Some(line) if kind == "~ " && line.starts_with(expected) => (),
                other => {
                    let other = other.as_deref().unwrap_or("the end");
                    writeln!(io::stderr(), "expected `{expected}`, received `{other}`")?;
                    return Ok(ExitCode::from(9));
                }
            },
            Some(("< ", line)) => {
                writeln!(output, "{line}")?;
                output.flush()?;
            }
            Some(("+ ", file)) => fs::write(file, "")?,
            Some(("= ", code)) => {
                return Ok(ExitCode::from(code.parse::<u8>().map_err(io::Error::other)?));
            }
            _ => return Err(io::Error::other(format!("invalid step: `{step}`"))),
        }
    }
    for line in input {
        line?;
    }
    Ok(ExitCode::SUCCESS)
}
