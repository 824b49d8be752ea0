//! Scripts of sessions, with one step per line:
//!
//! ```text
//! > go infinite        send this line
//! . 300                record output for 300 ms
//! ? readyok            wait for a line with this first token, with a short timeout
//! < bestmove           wait for a line with this first token; end the session after the timeout
//! ```

use std::io;
use std::time::Duration;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step<'a> {
    Send(&'a str),
    Listen(Duration),
    TryAwait(&'a str),
    Await(&'a str),
}

pub(super) fn parse(script: &str) -> io::Result<Vec<Step<'_>>> {
    script.lines().filter(|line| !line.is_empty()).map(parse_step).collect()
}

fn parse_step(line: &str) -> io::Result<Step<'_>> {
    let step = match line.split_once(' ') {
        Some((">", text)) => Some(Step::Send(text)),
        Some((".", time)) => time.parse().ok().map(Duration::from_millis).map(Step::Listen),
        Some(("?", token)) => Some(Step::TryAwait(token)),
        Some(("<", token)) => Some(Step::Await(token)),
        _ => None,
    };
    step.ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidData, format!("invalid step: `{line}`"))
    })
}

#[cfg(test)]
mod tests {
    use super::super::engines::ENGINES;
    use super::*;

    #[test]
    fn parses_steps() {
        assert_eq!(
            parse("> go depth 1\n. 300\n? info\n\n< bestmove\n").unwrap(),
            [
                Step::Send("go depth 1"),
                Step::Listen(Duration::from_millis(300)),
                Step::TryAwait("info"),
                Step::Await("bestmove"),
            ]
        );
    }

    #[test]
    fn rejects_invalid_steps() {
        for line in ["go", ". soon", "! quit"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn parses_every_script() {
        for engine in ENGINES {
            for (scenario, script) in engine.scenarios {
                assert!(parse(&engine.session(script)).is_ok(), "{} {scenario}", engine.name);
            }
        }
    }
}
