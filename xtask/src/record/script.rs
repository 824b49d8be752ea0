//! Scripts: what is said to an engine, and what is waited for.
//!
//! One step a line:
//!
//! ```text
//! > go infinite        send this line
//! . 300                listen for 300 ms
//! ? readyok            wait a little for a line that begins with this word
//! < bestmove           wait for one, and give the session up if none comes
//! ```

use std::io;
use std::time::Duration;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step<'a> {
    Send(&'a str),
    Listen(Duration),
    Hope(&'a str),
    Await(&'a str),
}

pub(super) fn parse(script: &str) -> io::Result<Vec<Step<'_>>> {
    script.lines().filter(|line| !line.is_empty()).map(parse_step).collect()
}

fn parse_step(line: &str) -> io::Result<Step<'_>> {
    let step = match line.split_once(' ') {
        Some((">", text)) => Some(Step::Send(text)),
        Some((".", time)) => time.parse().ok().map(Duration::from_millis).map(Step::Listen),
        Some(("?", word)) => Some(Step::Hope(word)),
        Some(("<", word)) => Some(Step::Await(word)),
        _ => None,
    };
    step.ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidData, format!("not a step of a script: `{line}`"))
    })
}

#[cfg(test)]
mod tests {
    use super::super::engines::ENGINES;
    use super::*;

    #[test]
    fn every_line_is_one_step() {
        assert_eq!(
            parse("> go depth 1\n. 300\n? info\n\n< bestmove\n").unwrap(),
            [
                Step::Send("go depth 1"),
                Step::Listen(Duration::from_millis(300)),
                Step::Hope("info"),
                Step::Await("bestmove"),
            ]
        );
    }

    #[test]
    fn anything_else_is_refused() {
        for line in ["go", ". soon", "! quit"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn every_script_of_every_engine_can_be_read() {
        for engine in ENGINES {
            for (scenario, script) in engine.scenarios {
                assert!(parse(&engine.session(script)).is_ok(), "{} {scenario}", engine.name);
            }
        }
    }
}
