//! `readyok match --fastchess --compliance`: the checks of `readyok check`, told in the form that
//! fastchess has for its own.

use std::io::{self, Write};

use readyok_check::{CheckResult, Report, Severity, Suite, TargetError, Verdict};

use crate::address::Address;
use crate::cli::check::{progress, subject};
use crate::dirs;
use crate::exit::{Code, Failure};
use crate::text::printable;

const PASSED: &str = "\x1b[1;32m Passed\x1b[0m";
const FAILED: &str = "\x1b[1;31m Failed\x1b[0m";
const WARNED: &str = "\x1b[1;33m Warning\x1b[0m";
const HEADING: &str = "\x1b[1;33m Your engine's stdout output was:\x1b[0m\n";

/// Checks an engine. As with fastchess the code is 0 if it passes and 1 if not, for whatever reason.
pub(super) fn run(command: &str, args: &[String]) -> Result<Code, Failure> {
    let words = std::iter::once(command).chain(args.iter().map(String::as_str));
    let line = if args.is_empty() {
        // A name of the user's list may have spaces.
        command.to_owned()
    } else {
        shlex::try_join(words).map_err(Failure::failed)?
    };
    let (mut out, mut err) = (io::stdout(), io::stderr());
    let passes = match judge(&line) {
        Ok(report) => tell(&report, &mut out, &mut err),
        Err(why) => {
            let (_, failed) = step(1, "Start the engine", FAILED);
            say(&mut err, &format!("{failed} {}\n", printable(&why)));
            false
        }
    };
    Ok(if passes { Code::Done } else { Code::Failed })
}

fn judge(line: &str) -> Result<Report, String> {
    let address = Address::find(line, &dirs::env).map_err(|error| error.to_string())?;
    let subject = subject(address).map_err(|error| error.to_string())?;
    let suite = Suite::new(subject).on_progress(progress());
    suite.run().map_err(|error: TargetError| error.to_string())
}

/// Tells everything that was judged, and whether the engine passes.
fn tell(report: &Report, out: &mut impl Write, err: &mut impl Write) -> bool {
    let judged = report.results.iter().filter(|it| !matches!(it.verdict, Verdict::Skip(_)));
    for (number, result) in (1..).zip(judged) {
        let rule = result.check.rule;
        match (&result.verdict, result.severity) {
            (Verdict::Pass, _) => {
                let (begin, end) = step(number, rule, PASSED);
                say(out, &(begin + &end));
            }
            (_, Severity::Must) => {
                let (begin, end) = step(number, rule, FAILED);
                say(out, &begin);
                say(err, &(end + &explained(result)));
            }
            (_, _) => {
                let (begin, end) = step(number, rule, WARNED);
                say(out, &(begin + &end + &seen(result)));
            }
        }
    }
    let passes = report.exit_status() == 0;
    if passes {
        say(out, "Engine passed all compliance checks.\n");
    }
    passes
}

/// What is said before and after a step.
fn step(number: u32, rule: &str, result: &str) -> (String, String) {
    (format!("Step {number}: {rule}..."), format!("\r{result} Step {number}: {rule}\n"))
}

fn seen(result: &CheckResult) -> String {
    format!(" {}: {}\n", result.check.id, printable(&result.verdict.text()))
}

/// What was seen and said, and what to change.
fn explained(result: &CheckResult) -> String {
    let lines = result.dialogue.iter().flat_map(|dialogue| dialogue.lines());
    let lines: Vec<String> = lines.map(|line| format!(" {}\n", printable(line))).collect();
    let said = if lines.is_empty() { String::new() } else { HEADING.to_owned() + &lines.concat() };
    format!("{} {}\n{said}", seen(result), result.check.advice)
}

fn say(to: &mut impl Write, text: &str) {
    // With the output closed there is nobody left to tell.
    let _ = to.write_all(text.as_bytes()).and_then(|()| to.flush());
}

#[cfg(test)]
mod tests {
    use readyok_check::Target;

    use super::*;

    /// What is told on both outputs, by an engine that has this said for it.
    fn told(only: &str, engine: fn(io::PipeReader, io::PipeWriter)) -> (bool, String, String) {
        let subject = Target::in_process("engine", engine);
        let report = Suite::new(subject).only([only]).run().expect("an engine");
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let passes = tell(&report, &mut out, &mut err);
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        (passes, text(out), text(err))
    }

    fn narikin(input: io::PipeReader, output: io::PipeWriter) {
        // Its output ends if it cannot go on.
        let _ = narikin::runner().map(|runner| runner.run(input, output));
    }

    /// Answers a `stop` that nothing is to be said to.
    fn odd(input: io::PipeReader, mut output: io::PipeWriter) {
        for line in io::BufRead::lines(io::BufReader::new(input)).map_while(Result::ok) {
            let answer = match line.split(' ').next().unwrap_or_default() {
                "uci" => "id name Odd\nid author nobody\nuciok\n",
                "isready" => "readyok\n",
                "go" | "stop" => "bestmove e2e4\n",
                "quit" => return,
                _ => "",
            };
            // The other side may have left.
            let _ = output.write_all(answer.as_bytes());
        }
    }

    #[test]
    fn an_engine_that_conforms_passes_each_step() {
        let (passes, out, err) = told("handshake.name", narikin);
        let step = "Step 1: ";
        assert!(out.starts_with(step), "{out}");
        assert!(out.contains("...\r\u{1b}[1;32m Passed\u{1b}[0m Step 1: "), "{out}");
        assert!(out.ends_with("\nEngine passed all compliance checks.\n"), "{out}");
        assert_eq!((passes, err.as_str()), (true, ""));
    }

    #[test]
    fn an_engine_that_breaks_a_must_is_shown_what_it_said() {
        let (passes, out, err) = told("lexical.idle-stop", odd);
        assert!(out.starts_with("Step 1: ") && out.ends_with("..."), "{out}");
        assert!(err.starts_with("\r\u{1b}[1;31m Failed\u{1b}[0m Step 1: "), "{err}");
        assert!(err.contains(" Your engine's stdout output was:"), "{err}");
        assert!(err.contains("< bestmove e2e4"), "{err}");
        assert!(!passes);
    }
}
