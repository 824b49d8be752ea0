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

/// How long an engine may take.
#[derive(Clone, Copy, Debug)]
struct Timeouts {
    /// For an answer without which the session cannot go on.
    answer: Duration,
    /// For an answer that some engines are known to owe for ever.
    doubtful: Duration,
    /// For leaving after `quit`.
    quit: Duration,
}

impl Timeouts {
    fn with(engine: &Engine) -> Self {
        let short = Duration::from_secs(2);
        Self { answer: engine.patience, doubtful: short, quit: short }
    }
}

/// Plays every scenario, or those of the engine named `only`, and writes one file for each into `out`.
pub(crate) fn run(out: &Path, only: Option<&str>) -> io::Result<()> {
    let wanted: Vec<&Engine> =
        ENGINES.iter().filter(|engine| only.is_none_or(|name| name == engine.name)).collect();
    if wanted.is_empty() {
        let names: Vec<&str> = ENGINES.iter().map(|engine| engine.name).collect();
        return Err(io::Error::new(
            ErrorKind::NotFound,
            format!("no such engine; there are {}", names.join(", ")),
        ));
    }
    fs::create_dir_all(out)?;
    // Engines write logs and look for books where they are started.
    let scratch = std::env::temp_dir().join(format!("xtask-record-{}", std::process::id()));
    fs::create_dir_all(&scratch)?;
    let done = wanted.into_iter().try_for_each(|engine| record_engine(engine, out, &scratch));
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
            let message = format!("{}: the engine names the directory it runs in", file.display());
            return Err(io::Error::new(ErrorKind::InvalidData, message));
        }
        fs::write(file, text)?;
    }
    Ok(())
}

/// Goes through the steps of a script, then ends the engine.
fn play(mut process: Process, steps: &[Step<'_>], patience: Timeouts) -> io::Result<Transcript> {
    let mut transcript = Transcript::default();
    for step in steps {
        match *step {
            Step::Send(line) => {
                if !say(&mut process, &mut transcript, line) {
                    transcript.note(&format!("too late for {line}"));
                    break;
                }
            }
            Step::Listen(time) => {
                hear(&mut process, &mut transcript, None, time);
            }
            Step::Await(word) => {
                if !wait_for(&mut process, &mut transcript, word, patience.answer) {
                    break;
                }
            }
            Step::Hope(word) => {
                wait_for(&mut process, &mut transcript, word, patience.doubtful);
            }
        }
    }
    if say(&mut process, &mut transcript, "quit") {
        hear(&mut process, &mut transcript, None, patience.quit);
    }
    let end = process.end(patience.quit)?;
    transcript.note(&end);
    Ok(transcript)
}

/// Sends a line, unless the engine has closed its side and can answer no more.
fn say(process: &mut Process, transcript: &mut Transcript, line: &str) -> bool {
    // What the engine said before stands before, as it cannot be an answer.
    let heard = hear(process, transcript, None, Duration::from_millis(1));
    let sent = !matches!(heard, Heard::Closed) && process.send(line).is_ok();
    if sent {
        transcript.sent(line);
    }
    sent
}

/// Whether a line with this first word came in time; notes it if none did.
fn wait_for(
    process: &mut Process,
    transcript: &mut Transcript,
    word: &str,
    time: Duration,
) -> bool {
    match hear(process, transcript, Some(word), time) {
        Heard::Word => return true,
        Heard::TimeOut => transcript.note(&format!("no {word} in {time:?}")),
        Heard::Closed => transcript.note(&format!("output closed before {word}")),
    }
    false
}

/// Why [`hear`] stopped.
#[derive(Clone, Copy, Debug)]
enum Heard {
    Word,
    TimeOut,
    Closed,
}

/// Records lines until one whose first word is `word`, the end of the time or of the output.
fn hear(
    process: &mut Process,
    transcript: &mut Transcript,
    word: Option<&str>,
    time: Duration,
) -> Heard {
    let deadline = process::now() + time;
    loop {
        let left = deadline.saturating_duration_since(process::now());
        if left.is_zero() {
            return Heard::TimeOut;
        }
        match process.line_within(left) {
            Answer::Line(line) => {
                let found = word.is_some_and(|word| first_word(&line) == word.as_bytes());
                transcript.received(line);
                if found {
                    return Heard::Word;
                }
            }
            Answer::Silence => return Heard::TimeOut,
            Answer::Closed => return Heard::Closed,
        }
    }
}

fn first_word(line: &[u8]) -> &[u8] {
    line.split(u8::is_ascii_whitespace).find(|word| !word.is_empty()).unwrap_or_default()
}

/// What a program prints, trimmed.
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

    fn check_session(command: &[&str], patience: Timeouts, script: &str, expected: &str) {
        let process = Process::start(command, &std::env::temp_dir()).unwrap();
        let transcript = play(process, &script::parse(script).unwrap(), patience).unwrap();
        assert_eq!(transcript.to_text(&[]), expected);
    }

    #[test]
    fn an_engine_that_never_answers_is_given_up_and_killed() {
        let [doubtful, answer, quit] = [10, 20, 30].map(Duration::from_millis);
        check_session(
            &["sleep", "600"],
            Timeouts { answer, doubtful, quit },
            "> uci\n? id\n< uciok\n> isready\n",
            "> uci\n# no id in 10ms\n# no uciok in 20ms\n> quit\n# end: killed, as it ignored quit\n",
        );
    }

    #[test]
    fn an_engine_that_dies_ends_the_session() {
        let long = Duration::from_mins(1);
        check_session(
            &["sh", "-c", "read hello; echo id name Brief; kill -KILL $$"],
            Timeouts { answer: long, doubtful: long, quit: long },
            "> uci\n< uciok\n> isready\n",
            "> uci\n< id name Brief\n# output closed before uciok\n# end: signal: 9 (SIGKILL)\n",
        );
    }

    #[test]
    fn a_line_counts_by_its_first_word() {
        assert_eq!(first_word(b"  bestmove e2e4"), b"bestmove");
        assert_eq!(first_word(b""), b"");
    }
}
