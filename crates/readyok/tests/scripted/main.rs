//! An engine that plays a script: `scripted FILE`.
//!
//! ```text
//! > isready       waits for this line; another one in its place ends the engine with 9
//! < readyok       says this line
//! = 3             ends with this code
//! ```
//! After its script it waits for the end of its input, and leaves with 0.

use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use std::{env, fs};

fn main() -> io::Result<ExitCode> {
    let script = fs::read_to_string(env::args().nth(1).unwrap_or_default())?;
    let mut input = io::stdin().lock().lines();
    let mut output = io::stdout();
    for step in script.lines() {
        match step.split_at_checked(2) {
            Some(("> ", wanted)) => match input.next().transpose()? {
                Some(line) if line == wanted => (),
                heard => {
                    let heard = heard.as_deref().unwrap_or("the end");
                    writeln!(io::stderr(), "waited for `{wanted}`, heard `{heard}`")?;
                    return Ok(ExitCode::from(9));
                }
            },
            Some(("< ", said)) => {
                writeln!(output, "{said}")?;
                output.flush()?;
            }
            Some(("= ", code)) => {
                return Ok(ExitCode::from(code.parse::<u8>().map_err(io::Error::other)?));
            }
            _ => return Err(io::Error::other(format!("no step: `{step}`"))),
        }
    }
    for line in input {
        line?;
    }
    Ok(ExitCode::SUCCESS)
}
