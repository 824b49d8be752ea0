//! Records sessions with real engines as the transcripts in `testdata/transcripts`.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use self::engines::{ENGINES, Engine};
use self::process::{Answer, Process};
use self::script::Step;
use self::transcript::Transcript;

mod engines;
mod process;
mod script;
mod transcript;

/// Timeouts of a session.
#[derive(Clone, Copy, Debug)]
struct Timeouts {
    /// Timeout of a required reply.
    required: Duration,
    /// Timeout of a reply that some engines never send.
    optional: Duration,
    /// Timeout of the exit after `quit`.
    quit: Duration,
}

impl Timeouts {
    fn with(engine: &Engine) -> Self {
        let short = Duration::from_secs(2);
        Self { required: engine.timeout, optional: short, quit: short }
    }
}

/// Records every scenario, or those of the engine `only`, and writes one file for each to `out`.
pub(crate) fn run(out: &Path, only: Option<&str>) -> io::Result<()> {
    let selected: Vec<&Engine> =
        ENGINES.iter().filter(|engine| only.is_none_or(|name| name == engine.name)).collect();
    if selected.is_empty() {
        let names: Vec<&str> = ENGINES.iter().map(|engine| engine.name).collect();
        return Err(io::Error::new(
            ErrorKind::NotFound,
            format!("unknown engine; expected one of {}", names.join(", ")),
        ));
    }
    fs::create_dir_all(out)?;
    // Engines write logs to the working directory and search for books there.
    let scratch = std::env::temp_dir().join(format!("xtask-record-{}", std::process::id()));
    fs::create_dir_all(&scratch)?;
    let done = selected.into_iter().try_for_each(|engine| record_engine(engine, out, &scratch));
    fs::remove_dir_all(&scratch)?;
    done
}

fn record_engine(engine: &Engine, out: &Path, scratch: &Path) -> io::Result<()> {
    let header = [
        ("engine", engine.command.join(" ")),
        ("package", output("dpkg-query", &["-W", "-f=${Package} ${Version}", engine.package])?),
        ("recorded", output("date", &["+%F"])?),
        ("dialect", engine.dialect.to_owned()),
    ];
    for &(scenario, script) in engine.scenarios {
        let file = out.join(format!("{}-{scenario}.txt", engine.name));
        crate::print_error(&format!("recording {}", file.display()));
        let session = engine.session(script);
        let steps = script::parse(&session)?;
        let process = Process::start(engine.command, scratch)?;
        let text = play(process, &steps, Timeouts::with(engine))?.to_text(&header);
        if text.contains(&*scratch.to_string_lossy()) {
            let message = format!("{}: the output contains the working directory", file.display());
            return Err(io::Error::new(ErrorKind::InvalidData, message));
        }
        fs::write(file, text)?;
    }
    Ok(())
}

/// Executes the steps of a script, then ends the engine.
fn play(mut process: Process, steps: &[Step<'_>], timeouts: Timeouts) -> io::Result<Transcript> {
    let mut transcript = Transcript::default();
    for step in steps {
        match *step {
            Step::Send(line) => {
                if !send(&mut process, &mut transcript, line) {
                    transcript.note(&format!("output closed before {line}"));
                    break;
                }
            }
            Step::Listen(time) => {
                record_lines(&mut process, &mut transcript, None, time);
            }
            Step::Await(token) => {
                if !wait_for(&mut process, &mut transcript, token, timeouts.required) {
                    break;
                }
            }
            Step::TryAwait(token) => {
                wait_for(&mut process, &mut transcript, token, timeouts.optional);
            }
        }
    }
    if send(&mut process, &mut transcript, "quit") {
        record_lines(&mut process, &mut transcript, None, timeouts.quit);
    }
    let end = process.end(timeouts.quit)?;
    transcript.note(&end);
    Ok(transcript)
}

/// Sends a line, unless the engine has closed its output.
fn send(process: &mut Process, transcript: &mut Transcript, line: &str) -> bool {
    // Records pending output first, since it is no reply to this line.
    let stop = record_lines(process, transcript, None, Duration::from_millis(1));
    let sent = !matches!(stop, Stop::Closed) && process.send(line).is_ok();
    if sent {
        transcript.sent(line);
    }
    sent
}

/// Waits for a line with this first token. Adds a note to the transcript on a timeout.
fn wait_for(
    process: &mut Process,
    transcript: &mut Transcript,
    token: &str,
    time: Duration,
) -> bool {
    match record_lines(process, transcript, Some(token), time) {
        Stop::Found => return true,
        Stop::Timeout => transcript.note(&format!("no {token} in {time:?}")),
        Stop::Closed => transcript.note(&format!("output closed before {token}")),
    }
    false
}

/// Why [`record_lines`] stopped.
#[derive(Clone, Copy, Debug)]
enum Stop {
    Found,
    Timeout,
    Closed,
}

/// Records lines until a line with the first token `token`, the timeout, or the end of the output.
fn record_lines(
    process: &mut Process,
    transcript: &mut Transcript,
    token: Option<&str>,
    time: Duration,
) -> Stop {
    let deadline = process::now() + time;
    loop {
        let remaining = deadline.saturating_duration_since(process::now());
        if remaining.is_zero() {
            return Stop::Timeout;
        }
        match process.line_within(remaining) {
            Answer::Line(line) => {
                let found = token.is_some_and(|token| first_token(&line) == token.as_bytes());
                transcript.received(line);
                if found {
                    return Stop::Found;
                }
            }
            Answer::Timeout => return Stop::Timeout,
            Answer::Closed => return Stop::Closed,
        }
    }
}

fn first_token(line: &[u8]) -> &[u8] {
    line.split(u8::is_ascii_whitespace).find(|token| !token.is_empty()).unwrap_or_default()
}

/// Trimmed standard output of a program.
fn output(program: &str, arguments: &[&str]) -> io::Result<String> {
    let output = Command::new(program).args(arguments).output()?;
    if !output.status.success() {
        let message = format!("`{program} {}` failed", arguments.join(" "));
        return Err(io::Error::other(message));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_session(command: &[&str], timeouts: Timeouts, script: &str, expected: &str) {
        let process = Process::start(command, &std::env::temp_dir()).unwrap();
        let transcript = play(process, &script::parse(script).unwrap(), timeouts).unwrap();
        assert_eq!(transcript.to_text(&[]), expected);
    }

    #[test]
    fn kills_an_engine_that_never_replies() {
        let [optional, required, quit] = [10, 20, 30].map(Duration::from_millis);
        check_session(
            &["sleep", "600"],
            Timeouts { required, optional, quit },
            "> uci\n? id\n< uciok\n> isready\n",
            "> uci\n# no id in 10ms\n# no uciok in 20ms\n> quit\n# end: killed after quit\n",
        );
    }

    #[test]
    fn session_ends_when_the_engine_crashes() {
        let long = Duration::from_mins(1);
        check_session(
            &["sh", "-c", "read line; echo id name Brief; kill -KILL $$"],
            Timeouts { required: long, optional: long, quit: long },
            "> uci\n< uciok\n> isready\n",
            "> uci\n< id name Brief\n# output closed before uciok\n# end: signal: 9 (SIGKILL)\n",
        );
    }

    #[test]
    fn first_token_ignores_leading_whitespace() {
        assert_eq!(first_token(b"  bestmove e2e4"), b"bestmove");
        assert_eq!(first_token(b""), b"");
    }
}
