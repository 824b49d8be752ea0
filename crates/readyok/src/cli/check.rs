//! `readyok check`, and the output of its checks in the format of fastchess.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use readyok_arena::durable::{self, FileAccess};
use readyok_check::{
    CheckResult, ClientSuite, Level, Profile, Progress, Report, Severity, Suite, Target,
    TargetError, Verdict,
};
use readyok_client::EngineSource;
use readyok_client::unstable::join_command_line;
use readyok_protocol::{Dialect, Party};

use crate::address::{Address, Timeout};
use crate::clock::now;
use crate::connect::start_guard;
use crate::dirs;
use crate::exit::{Code, Failure};
use crate::terminal::{Canvas, printable, terminal_size};

mod known;

const HELP: &str = "\
ENGINE is a name from engines.toml, `narikin`, tcp://host:port, a path, a program in PATH, or a quoted command line.

Examples:
  readyok check ./my-engine
  readyok check 'gnuchess --uci' --only search. --only exit.
  readyok check ./my-engine --level soak --only soak.
  readyok check ./my-engine --baseline known-failures.txt --update-baseline
  readyok check fairy-stockfish --usi --junit check.xml --markdown check.md
  readyok check --list
  readyok check --gui -- my-gui --engine {engine}
  readyok check --gui -- \\
      sh -c 'printf \"new\\nsd 1\\ngo\\n\" | polyglot -noini -ec {engine}'

With --gui the command starts a client. {engine} is replaced by the path of a mock engine, a program without arguments. The client is started once for each check, and its standard input is empty.

The exit code is 0 if the engine or client conforms, 1 if it violates a must, and 2 if a must could not be checked. With --baseline it is 0 if only listed checks fail, and 1 if another check fails or a listed one passes.";

/// Check whether an engine or a GUI conforms to UCI or USI
///
/// The report shows each failure with the rule, its source, a transcript and advice.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
#[expect(clippy::struct_excessive_bools, reason = "independent flags of a command")]
pub(super) struct Args {
    /// Engine to check
    #[arg(required_unless_present_any = ["list", "gui"], conflicts_with = "gui")]
    engine: Option<String>,
    /// Check a client: a GUI, a match runner or a library
    #[arg(long, conflicts_with = "profile")]
    gui: bool,
    /// End the client after this time without output, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 12.0, requires = "gui")]
    idle_timeout: f64,
    /// Command that starts the client
    #[arg(last = true, value_name = "CLIENT COMMAND", requires = "gui")]
    client: Vec<OsString>,
    /// Use USI [default: UCI, then USI]
    #[arg(long, conflicts_with = "profile")]
    usi: bool,
    /// Apply the rules of this protocol edition only
    #[arg(long, value_enum)]
    profile: Option<Profile>,
    /// List the checks and exit
    #[arg(long)]
    list: bool,
    /// Run only checks whose id starts with this prefix
    #[arg(long, value_name = "PREFIX")]
    only: Vec<String>,
    /// Skip checks whose id starts with this prefix
    #[arg(long, value_name = "PREFIX")]
    skip: Vec<String>,
    /// Run N sessions concurrently [default: number of CPUs, 1 for tcp://]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Multiply all timeouts by this factor
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    timeout_scale: f64,
    /// Set the timeout of the handshake and of `isready`, in seconds
    #[arg(long, value_name = "SECONDS", conflicts_with = "gui")]
    timeout: Option<Timeout>,
    /// Extent of the run [default: quick on a terminal and without --only, otherwise full]
    #[arg(long, value_enum, conflicts_with = "gui")]
    level: Option<Level>,
    /// Games of each soak check of `--level soak` [default: 200]
    #[arg(long, value_name = "GAMES", conflicts_with = "gui")]
    soak_games: Option<usize>,
    /// End the run after this time, in seconds; checks that have not ended are inconclusive
    #[arg(long, value_name = "SECONDS")]
    max_time: Option<f64>,
    /// Known failures, one check id per line: they do not fail the run, and have to be removed when they pass
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Remove passing checks from the file of known failures, or create the file
    #[arg(long, requires = "baseline")]
    update_baseline: bool,
    /// Seed the random number generator
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Write JSON to this file
    #[arg(long, value_name = "FILE", conflicts_with = "list")]
    json_file: Option<PathBuf>,
    /// Write a badge for shields.io to this file, as JSON of its endpoint
    #[arg(long, value_name = "FILE", conflicts_with = "list")]
    badge: Option<PathBuf>,
    /// Print the root causes as annotations of GitHub
    #[arg(long, conflicts_with_all = ["json", "list"])]
    annotations: bool,
    /// Write JUnit XML to this file
    #[arg(long, value_name = "FILE", conflicts_with = "list")]
    junit: Option<PathBuf>,
    /// Write Markdown to this file
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<Code, Failure> {
    if args.list {
        return list(args);
    }
    let known = args.baseline.as_deref();
    let known = known.map(|path| known::Known::read(path, args.update_baseline)).transpose()?;
    if !args.json {
        let target = args.engine.as_deref().unwrap_or("the client");
        print(&format!("checking {}\n", printable(target)))?;
    }
    let report = match &args.engine {
        Some(engine) => check_engine(args, engine)?,
        None => check_client(args)?,
    };
    for (path, text) in [
        (&args.json_file, Report::to_json as fn(&Report) -> String),
        (&args.badge, Report::to_badge),
        (&args.junit, Report::to_junit),
    ] {
        if let Some(path) = path {
            write(path, &text(&report))?;
        }
    }
    if let Some(path) = &args.markdown {
        write(path, &report.to_markdown())?;
    }
    print(&if args.json { report.to_json() } else { format!("\n{report}") })?;
    if args.annotations {
        print(&annotations(&report))?;
    }
    if let Some(known) = known {
        return known.compare(&report, args.json);
    }
    Ok(match report.exit_status() {
        0 => Code::Done,
        1 => Code::Nonconforming,
        _ => Code::Unjudged,
    })
}

/// Annotations of GitHub: an error for each cause that violates a must, a warning for others.
fn annotations(report: &Report) -> String {
    let escaped =
        |text: &str| printable(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let mut lines = String::new();
    for cause in report.causes() {
        let (Some(check), Some(severity)) = (cause.check(), cause.severity()) else { continue };
        let fails = cause.root.is_some_and(|root| matches!(root.verdict, Verdict::Fail(_)));
        let kind = match severity {
            Severity::Must if fails => "error",
            Severity::Must | Severity::Should => "warning",
            Severity::May => "notice",
        };
        let seen = cause.root.map_or_else(|| "not selected".into(), |root| root.verdict.text());
        let name = cause.name().map(|name| format!(" Cause: {name}.")).unwrap_or_default();
        let text = format!("{}.{name} Seen: {seen}. Advice: {}.", check.rule, check.advice);
        let _ = writeln!(lines, "::{kind} title={}::{}", cause.id, escaped(&text));
    }
    lines
}

fn max_time(args: &Args) -> Result<Option<Duration>, Failure> {
    let duration = |seconds| {
        Duration::try_from_secs_f64(seconds)
            .map_err(|error| Failure::usage(format!("--max-time: {error}")))
    };
    args.max_time.map(duration).transpose()
}

fn check_engine(args: &Args, engine: &str) -> Result<Report, Failure> {
    let address = Address::find(engine, &dirs::env).map_err(Failure::usage)?;
    let timeout = args.timeout.or(address.timeout);
    let mut suite = Suite::new(target(address)?)
        .only(&args.only)
        .skip(&args.skip)
        .timeout_scale(args.timeout_scale)
        .seed(args.seed)
        .level(level(args))
        .on_progress(progress(args.json));
    if args.usi {
        suite = suite.dialect(Dialect::Usi);
    }
    if let Some(time) = max_time(args)? {
        suite = suite.max_time(time);
    }
    if let Some(profile) = args.profile {
        suite = suite.profile(profile);
    }
    if let Some(jobs) = args.jobs {
        suite = suite.jobs(jobs);
    }
    if let Some(timeout) = timeout {
        suite = suite.start_timeout(timeout.duration());
    }
    if let Some(games) = args.soak_games {
        suite = suite.soak_games(games);
    }
    suite.run().map_err(|error| not_checked(&error))
}

/// The failure of a run without results, after the last error output of the engine.
fn not_checked(error: &TargetError) -> Failure {
    if !error.error_output().is_empty() {
        let lines = error.error_output().join("\n  ");
        let text = format!("the last error output of the engine:\n  {lines}\n");
        write_flushed(&mut io::stderr(), &text);
    }
    Failure::usage(error.message().to_string())
}

fn check_client(args: &Args) -> Result<Report, Failure> {
    let mock_engine = std::env::current_exe().map_err(Failure::usage)?;
    let idle_timeout = Duration::try_from_secs_f64(args.idle_timeout)
        .map_err(|error| Failure::usage(format!("--idle-timeout: {error}")))?;
    let guard = start_guard().map_err(Failure::usage)?;
    let mut suite = ClientSuite::new(&args.client, mock_engine)
        .guarded(&guard)
        .only(&args.only)
        .skip(&args.skip)
        .timeout_scale(args.timeout_scale)
        .idle_timeout(idle_timeout)
        .seed(args.seed)
        .on_progress(progress(args.json));
    if let Some(time) = max_time(args)? {
        suite = suite.max_time(time);
    }
    if args.usi {
        suite = suite.dialect(Dialect::Usi);
    }
    if let Some(jobs) = args.jobs {
        suite = suite.jobs(jobs);
    }
    suite.run().map_err(Failure::usage)
}

/// Width of the progress bar.
const BAR_WIDTH: usize = 24;

/// The extent of the run: on a terminal a short one, unless checks are selected.
fn level(args: &Args) -> Level {
    let is_short = || args.only.is_empty() && io::stdout().is_terminal();
    args.level.unwrap_or_else(|| if is_short() { Level::Quick } else { Level::Full })
}

/// Prints the start and each failure, and draws a progress bar if standard error is a terminal. With `silent` only
/// the progress bar is drawn.
fn progress(silent: bool) -> impl Fn(Progress<'_>) + Send + Sync {
    let shown = io::stderr().is_terminal();
    let canvas = Mutex::new(Canvas::new(io::stderr(), terminal_size));
    let begin = now();
    move |progress: Progress<'_>| {
        let (row, line) = match progress {
            Progress::Started { name, dialect, total } => {
                let name = printable(name);
                let line = format!("{name} ({}): {total} checks", dialect.handshake());
                (Some(bar(0, total, "", begin.elapsed())), Some(line))
            }
            Progress::Checked { done, total, last } => {
                let row = bar(done, total, last.check.id, begin.elapsed());
                let line = matches!(last.verdict, Verdict::Fail(_)).then(|| {
                    let text = printable(&last.verdict.text());
                    format!("{} {}: {text}", last.severity, last.check.id)
                });
                ((done < total).then_some(row), line)
            }
        };
        let mut canvas = canvas.lock().unwrap_or_else(PoisonError::into_inner);
        let line = line.filter(|_| !silent);
        // The report is sufficient if drawing fails.
        if shown && line.is_some() {
            let _ = canvas.draw(None::<String>);
        }
        if let Some(line) = line {
            write_flushed(&mut io::stdout(), &format!("{line}\n"));
        }
        if shown {
            let _ = canvas.draw(row);
        }
    }
}

/// A progress bar with the remaining time.
fn bar(done: usize, total: usize, id: &str, elapsed: Duration) -> String {
    let full = BAR_WIDTH * done / total.max(1);
    let bar = "#".repeat(full) + &"-".repeat(BAR_WIDTH - full);
    let left = match u32::try_from(done) {
        Ok(count) if 3 < count => {
            let rest = u32::try_from(total.saturating_sub(done)).unwrap_or(u32::MAX);
            let left = elapsed.saturating_mul(rest) / count;
            format!(", about {} s left", left.as_secs() + 1)
        }
        _ => String::new(),
    };
    format!("[{bar}] {done}/{total}{left} {id}")
}

fn list(args: &Args) -> Result<Code, Failure> {
    let side = if args.gui { Party::Client } else { Party::Engine };
    if let Some(path) = &args.markdown {
        write(path, &readyok_check::list_markdown(side))?;
    } else {
        let list = if args.json { readyok_check::list_json } else { readyok_check::list_text };
        print(&list(side))?;
    }
    Ok(Code::Done)
}

/// The engine of an address as the target of the checks.
fn target(address: Address) -> Result<Target, Failure> {
    match address.source {
        EngineSource::BuiltIn => Ok(Target::in_process("narikin", |input, output| {
            // On a failure the checks see the end of the output.
            if let Ok(narikin) = narikin::runner() {
                let _ = narikin.run(input, output);
            }
        })),
        EngineSource::Program(program) => {
            Ok(Target::from(program).guarded(&start_guard().map_err(Failure::usage)?))
        }
        EngineSource::Tcp { address } => Ok(Target::tcp(address)),
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    durable::replace(path, text.as_bytes(), FileAccess::Default)
        .map_err(|error| Failure::usage(format!("cannot write `{}`: {error}", path.display())))
}

fn print(text: &str) -> Result<(), Failure> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        // The reader may close the pipe early.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::usage(error)),
        _ => Ok(()),
    }
}

const PASSED: &str = "\x1b[1;32m Passed\x1b[0m";
const FAILED: &str = "\x1b[1;31m Failed\x1b[0m";
const WARNED: &str = "\x1b[1;33m Warning\x1b[0m";
const HEADING: &str = "\x1b[1;33m Your engine's stdout output was:\x1b[0m\n";

/// `readyok match --fastchess --compliance`: prints the results of the checks in the format of fastchess. As
/// with fastchess, the exit code is 0 or 1.
pub(super) fn run_compliance(command: &str, args: &[String]) -> Result<Code, Failure> {
    let tokens = std::iter::once(command).chain(args.iter().map(String::as_str));
    let line = if args.is_empty() {
        // A name of the engine list may contain spaces.
        command.to_owned()
    } else {
        join_command_line(tokens)
            .ok_or_else(|| Failure::usage("an argument contains a NUL character"))?
    };
    let (mut out, mut err) = (io::stdout(), io::stderr());
    let passes = match check_command_line(&line) {
        Ok(report) => print_steps(&report, &mut out, &mut err),
        Err(error) => {
            let (_, failed) = step(1, "Start the engine", FAILED);
            write_flushed(&mut err, &format!("{failed} {}\n", printable(&error)));
            false
        }
    };
    Ok(if passes { Code::Done } else { Code::Failed })
}

fn check_command_line(line: &str) -> Result<Report, String> {
    let address = Address::find(line, &dirs::env).map_err(|error| error.to_string())?;
    let target = target(address).map_err(|error| error.to_string())?;
    let suite = Suite::new(target).on_progress(progress(true));
    suite.run().map_err(|error: TargetError| error.to_string())
}

/// Prints the results of all checks that were run. Returns whether the engine passes.
fn print_steps(report: &Report, out: &mut impl Write, err: &mut impl Write) -> bool {
    let run = report.results.iter().filter(|result| !matches!(result.verdict, Verdict::Skip(_)));
    for (number, result) in (1..).zip(run) {
        let rule = result.check.rule;
        match (&result.verdict, result.severity) {
            (Verdict::Pass, _) => {
                let (start, end) = step(number, rule, PASSED);
                write_flushed(out, &(start + &end));
            }
            (_, Severity::Must) => {
                let (start, end) = step(number, rule, FAILED);
                write_flushed(out, &start);
                write_flushed(err, &(end + &explanation(result)));
            }
            (_, _) => {
                let (start, end) = step(number, rule, WARNED);
                write_flushed(out, &(start + &end + &observation(result)));
            }
        }
    }
    let passes = report.exit_status() == 0;
    if passes {
        write_flushed(out, "Engine passed all compliance checks.\n");
    }
    passes
}

/// The text before and after a step.
fn step(number: u32, rule: &str, result: &str) -> (String, String) {
    (format!("Step {number}: {rule}..."), format!("\r{result} Step {number}: {rule}\n"))
}

fn observation(result: &CheckResult) -> String {
    format!(" {}: {}\n", result.check.id, printable(&result.verdict.text()))
}

/// The observation, the transcript and the advice.
fn explanation(result: &CheckResult) -> String {
    let lines = result.transcript.iter().flat_map(|transcript| transcript.lines());
    let lines: Vec<String> = lines.map(|line| format!(" {}\n", printable(line))).collect();
    let transcript =
        if lines.is_empty() { String::new() } else { HEADING.to_owned() + &lines.concat() };
    format!("{} {}\n{transcript}", observation(result), result.check.advice)
}

fn write_flushed(out: &mut impl Write, text: &str) {
    // Fails if the output is closed.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the engine passes, and the text on both outputs.
    fn check(only: &str, engine: fn(io::PipeReader, io::PipeWriter)) -> (bool, String, String) {
        let target = Target::in_process("engine", engine);
        let report = Suite::new(target).only([only]).run().expect("an engine");
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let passes = print_steps(&report, &mut out, &mut err);
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        (passes, text(out), text(err))
    }

    fn narikin(input: io::PipeReader, output: io::PipeWriter) {
        // The checks see the end of the output.
        let _ = narikin::runner().map(|runner| runner.run(input, output));
    }

    /// Answers `stop` without a search.
    fn nonconforming(input: io::PipeReader, mut output: io::PipeWriter) {
        for line in io::BufRead::lines(io::BufReader::new(input)).map_while(Result::ok) {
            let answer = match line.split(' ').next().unwrap_or_default() {
                "uci" => "id name Example\nid author A\nuciok\n",
                "isready" => "readyok\n",
                "go" | "stop" => "bestmove e2e4\n",
                "quit" => return,
                _ => "",
            };
            // The other side may have closed the pipe.
            let _ = output.write_all(answer.as_bytes());
        }
    }

    #[test]
    fn prints_passed_steps_of_conforming_engine() {
        let (passes, out, err) = check("handshake.name", narikin);
        let step = "Step 1: ";
        assert!(out.starts_with(step), "{out}");
        assert!(out.contains("...\r\u{1b}[1;32m Passed\u{1b}[0m Step 1: "), "{out}");
        assert!(out.ends_with("\nEngine passed all compliance checks.\n"), "{out}");
        assert_eq!((passes, err.as_str()), (true, ""));
    }

    #[test]
    fn prints_transcript_of_violated_must() {
        let (passes, out, err) = check("lexical.idle-stop", nonconforming);
        assert!(out.starts_with("Step 1: ") && out.ends_with("..."), "{out}");
        assert!(err.starts_with("\r\u{1b}[1;31m Failed\u{1b}[0m Step 1: "), "{err}");
        assert!(err.contains(" Your engine's stdout output was:"), "{err}");
        assert!(err.contains("< bestmove e2e4"), "{err}");
        assert!(!passes);
    }
}
