//! `readyok tap`: relays all bytes, reports violations, and ends all processes.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::Command;
use std::time::Duration;

use readyok::tap::{Content, Entry, Monitor};
use readyok_protocol::Party;

use crate::program::{Dir, Output, Signal, TIMEOUT, finish, readyok, run, scripted_engine, signal};

/// Random bytes without a final line end.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_u32;
    let mut bytes: Vec<u8> = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.to_be_bytes()[0]
    })
    .take(length)
    .collect();
    bytes.push(0xff);
    bytes
}

fn tap(dir: &Dir, options: &[&str], engine: &[&str]) -> Command {
    let mut command = readyok(dir);
    command.arg("tap").args(options).arg("--").args(engine);
    command
}

/// Runs a tap with the client's lines of a script, and an engine that plays the script.
fn play(dir: &Dir, options: &[&str], script: &str) -> Output {
    let script: Vec<_> = script.lines().map(str::trim_start).collect();
    let client = script.iter().filter_map(|step| step.strip_prefix("> "));
    let input: String = client.flat_map(|line| [line, "\n"]).collect();
    let path = dir.write("script", &script.join("\n"));
    let engine = scripted_engine();
    let engine = [engine.to_str().expect("UTF-8"), path.to_str().expect("UTF-8")];
    run(&mut tap(dir, options, &engine), input.as_bytes())
}

#[test]
fn relays_every_byte_in_both_directions() {
    let dir = Dir::new();
    let sent = noise(1 << 20);
    let output = run(&mut tap(&dir, &[], &["cat"]), &sent);
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    assert!(output.stdout == sent, "{} of {} bytes", output.stdout.len(), sent.len());
}

#[test]
fn relays_incomplete_lines() {
    let dir = Dir::new();
    let mut child = tap(&dir, &[], &["cat"]).spawn().expect("the process starts");
    let mut to = child.stdin.take().expect("a pipe");
    let mut from = child.stdout.take().expect("a pipe");
    to.write_all(b"u").expect("the byte is sent");
    let mut byte = [0];
    from.read_exact(&mut byte).expect("the byte comes back");
    assert_eq!(byte, *b"u");
    drop(to);
    assert_eq!(finish(child).code(), Some(0));
}

#[test]
fn closes_the_engine_output_when_the_client_is_gone() {
    let dir = Dir::new();
    // Writes until its output is closed and ignores its input.
    let engine = ["sh", "-c", "while echo info; do :; done"];
    let mut child = tap(&dir, &[], &engine).spawn().expect("the process starts");
    let input = child.stdin.take();
    drop(child.stdout.take());
    finish(child);
    drop(input);
}

#[test]
fn strict_tap_reports_on_standard_error_and_in_its_exit_code() {
    let dir = Dir::new();
    let log = dir.path().join("a.log");
    let output = play(
        &dir,
        &["--strict", "--log", log.to_str().expect("UTF-8")],
        "> uci
         < id name Example
         < uciok
         < bestmove e2e4",
    );
    assert_eq!(output.text(), "id name Example\nuciok\nbestmove e2e4\n");
    assert_eq!(output.code(), Some(3));
    let report = "!<     3 must search.one-bestmove: `bestmove` answers `go`, once [UCI 2006, bestmove; USI draft 1 §5.3]";
    assert!(output.stderr.trim_end().ends_with(report), "{}", output.stderr);
    let log = fs::read_to_string(log).expect("the log");
    let (title, entries) = log.split_once('\n').expect("a title");
    assert!(title.starts_with("# readyok "), "{title}");
    let columns: Vec<_> = entries.lines().map(|line| line[12..].trim_start()).collect();
    assert_eq!(
        columns,
        [
            ">      1 uci",
            "<      1 id name Example",
            "<      2 uciok",
            "<      3 bestmove e2e4",
            report
        ]
    );
}

#[test]
fn reports_missing_replies_at_the_end() {
    let output = play(&Dir::new(), &["--strict"], "> uci\n< id name Example");
    output.reports(3, "must handshake.completes: `uci` or `usi` is answered");
}

#[test]
fn reports_no_missing_replies_after_an_interrupt() {
    let dir = Dir::new();
    let engine = ["sh", "-c", "trap 'exit 0' TERM; echo up; while :; do sleep 0.01; done"];
    let mut child = tap(&dir, &["--strict"], &engine).spawn().expect("the process starts");
    let mut to = child.stdin.take().expect("a pipe");
    let mut from = BufReader::new(child.stdout.take().expect("a pipe"));
    to.write_all(b"uci\n").expect("the line is sent");
    from.read_line(&mut String::new()).expect("a line");
    signal(child.id(), Signal::INT);
    let output = finish(child);
    assert_eq!(output.code(), Some(0));
    assert!(!output.stderr.contains(" must "), "{}", output.stderr);
}

#[test]
fn relays_while_the_log_is_blocked() {
    let dir = Dir::new();
    let log = dir.path().join("a.log");
    assert!(Command::new("mkfifo").arg(&log).status().expect("mkfifo is installed").success());
    let options = ["--log", log.to_str().expect("UTF-8")];
    let mut child = tap(&dir, &options, &["cat"]).spawn().expect("the process starts");
    let mut log = fs::File::open(&log).expect("the tap opens it");
    let mut to = child.stdin.take().expect("a pipe");
    let mut from = BufReader::new(child.stdout.take().expect("a pipe"));
    let (done, on_done) = std::sync::mpsc::channel();
    let session = std::thread::spawn(move || {
        let mut line = String::new();
        // Exceeds the size of a pipe and the queue of the monitor.
        for turn in 0..4000 {
            line.clear();
            writeln!(to, "info string {turn}").expect("the line is sent");
            from.read_line(&mut line).expect("the line comes back");
        }
        // Fails if the test has already failed.
        let _ = done.send(());
    });
    on_done.recv_timeout(TIMEOUT).expect("every line comes back");
    session.join().expect("all lines passed");
    let mut text = String::new();
    log.read_to_string(&mut text).expect("the log");
    assert_eq!(finish(child).code(), Some(0));
    assert_eq!(text.lines().filter(|line| line.contains("<  ")).count(), 4000);
}

#[test]
fn lenient_tap_reports_in_its_log_only() {
    let dir = Dir::new();
    let output = play(&dir, &[], "> uci\n< bestmove e2e4");
    assert_eq!((output.code(), output.stderr.as_str()), (Some(0), ""));
    let logs = fs::read_dir(dir.path().join("readyok")).expect("the default directory");
    let logs: Vec<_> = logs.map(|log| log.expect("a log").path()).collect();
    let [log] = &logs[..] else { panic!("{logs:?}") };
    let log = fs::read_to_string(log).expect("the log");
    assert!(log.contains("must search.one-bestmove: `bestmove` answers `go`"), "{log}");
}

#[test]
fn appends_to_an_existing_log() {
    let dir = Dir::new();
    let log = dir.path().join("a.log");
    for _ in 0..2 {
        play(&dir, &["--log", log.to_str().expect("UTF-8")], "> uci");
    }
    let log = fs::read_to_string(log).expect("the log");
    assert_eq!(log.lines().filter(|line| line.starts_with("# ")).count(), 2, "{log}");
}

#[test]
fn returns_the_exit_code_of_the_engine() {
    assert_eq!(play(&Dir::new(), &["--strict"], "> uci\n= 7").code(), Some(7));
}

#[test]
fn exits_with_the_engine_while_the_client_is_idle() {
    let dir = Dir::new();
    let mut child = tap(&dir, &[], &["sh", "-c", "exit 4"]).spawn().expect("the process starts");
    let open = child.stdin.take();
    assert_eq!(finish(child).code(), Some(4));
    drop(open);
}

#[test]
fn names_an_engine_that_cannot_be_started() {
    let output = run(&mut tap(&Dir::new(), &[], &["/nowhere/engine"]), b"");
    assert_eq!(output.code(), Some(1));
    assert!(output.stderr.starts_with("readyok: cannot start `/nowhere/engine`: "));
    assert_eq!(output.text(), "");
}

#[test]
fn names_a_log_that_cannot_be_written() {
    let dir = Dir::new();
    let file = dir.write("file", "");
    let log = file.join("a.log");
    run(&mut tap(&dir, &["--log", log.to_str().expect("UTF-8")], &["cat"]), b"")
        .reports(1, "a.log");
}

#[test]
fn terminates_the_engine_and_its_children() {
    let dir = Dir::new();
    let script = "sleep 1000 & echo started; wait";
    let mut child = tap(&dir, &[], &["sh", "-c", script]).spawn().expect("the process starts");
    let mut line = String::new();
    let stdout = child.stdout.take().expect("a pipe");
    BufReader::new(stdout).read_line(&mut line).expect("a line");
    signal(child.id(), Signal::TERM);
    // A remaining process would hold standard error open, and this would not return.
    let output = finish(child);
    assert_eq!(output.code(), Some(128 + 15), "{}", output.stderr);
}

#[test]
fn blames_an_early_command_on_the_client() {
    let output = play(
        &Dir::new(),
        &["--strict"],
        "> uci
         > go depth 1
         < id name Example
         < option name Hash type spin default 16 min 1 max 64
         < option name Threads type spin default 1 min 1 max 8
         < uciok
         < info depth 1 score cp 20 pv e2e4
         < bestmove e2e4",
    );
    assert_eq!(output.code(), Some(0));
    let reports: Vec<_> = output.stderr.lines().collect();
    assert_eq!(reports.len(), 1, "{reports:?}");
    assert!(
        reports[0].contains("!>     2 should gui.conduct.handshake-first: nothing but `quit`"),
        "{}",
        reports[0]
    );
}

#[test]
fn waits_for_the_exit_until_the_timeout() {
    let dir = Dir::new();
    let engine = ["sh", "-c", "trap 'exit 7' TERM; echo up; while :; do sleep 0.01; done"];
    let output = run(&mut tap(&dir, &["--timeout", "0.5"], &engine), b"");
    assert_eq!(output.code(), Some(7), "{}", output.stderr);
    // Six seconds exceed the default.
    let engine = ["sh", "-c", "read -r line; sleep 6; echo id name A; echo uciok"];
    let output = run(&mut tap(&dir, &["--timeout", "55"], &engine), b"uci\n");
    assert_eq!((output.text(), output.code()), ("id name A\nuciok\n", Some(0)));
}

/// Replays a session: `#` is what it shows, `>` from the client, `<` from the engine. The expected findings follow each
/// line, with `!`.
fn replayed(session: &str) -> String {
    let mut monitor = Monitor::default();
    let mut observed = Vec::new();
    for line in session.lines() {
        let (side, text) = match line.split_at(2) {
            ("> ", text) => (Party::Client, text),
            ("< ", text) => (Party::Engine, text),
            ("# ", _) => {
                observed.push(line.to_owned());
                continue;
            }
            ("! ", _) => continue,
            _ => panic!("invalid step: {line}"),
        };
        observed.push(line.to_owned());
        monitor.observe(side, Duration::ZERO, format!("{text}\n").as_bytes(), &mut |entry| {
            if let Content::Finding(finding) = &entry.content {
                observed.push(format!("! {finding}"));
            }
        });
    }
    observed.join("\n")
}

#[test]
fn reports_the_violations_of_both_sides() {
    let sessions = include_str!("data/tap_sessions.txt");
    let replayed: Vec<_> = sessions.trim_end().split("\n\n").map(replayed).collect();
    let replayed = replayed.join("\n\n") + "\n";
    if std::env::var_os("READYOK_BLESS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/data/tap_sessions.txt");
        fs::write(path, &replayed).expect("it can be written");
        return;
    }
    assert_eq!(replayed, sessions);
}

#[test]
fn the_log_can_be_json() {
    let dir = Dir::new();
    let log = dir.path().join("a.log");
    let options = ["--json", "--log", log.to_str().expect("UTF-8")];
    play(&dir, &options, "> uci\n< id name \"A\"\n< uciok\n< bestmove");
    let log = fs::read_to_string(log).expect("the log");
    let entries: Vec<serde_json::Value> =
        log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(
        entries[0]["title"].as_str().is_some_and(|title| title.starts_with("readyok ")),
        "{log}"
    );
    assert_eq!(entries[2]["line"], "id name \"A\"");
    assert_eq!(entries[2]["side"], "engine");
    let found: Vec<_> = entries.iter().filter(|entry| entry["rule"].is_string()).collect();
    assert_eq!(found[1]["rule"], "search.one-bestmove", "{log}");
    assert_eq!((&found[1]["severity"], &found[1]["number"]), (&"must".into(), &3.into()), "{log}");
}

fn entries(monitor: &mut Monitor, side: Party, bytes: &[u8]) -> Vec<String> {
    let mut all = Vec::new();
    let mut report = |entry: &Entry<'_>| {
        all.push(match &entry.content {
            Content::Line(line) => format!("{} {}", entry.line, line.escape_ascii()),
            Content::Finding(finding) => format!("{} {finding}", entry.line),
        });
    };
    monitor.observe(side, Duration::ZERO, bytes, &mut report);
    all
}

#[test]
fn numbers_lines_across_chunks() {
    let mut monitor = Monitor::default();
    assert_eq!(entries(&mut monitor, Party::Client, b"uc"), [""; 0]);
    assert_eq!(entries(&mut monitor, Party::Client, b"i\r"), ["1 uci"]);
    assert_eq!(entries(&mut monitor, Party::Client, b"\nquit\n"), ["2 quit"]);
    assert_eq!(entries(&mut monitor, Party::Engine, b"\n"), ["1 "]);
}

#[test]
fn counts_an_incomplete_line_at_the_end() {
    let mut monitor = Monitor::default();
    assert_eq!(entries(&mut monitor, Party::Client, b"uci\nquit"), ["1 uci"]);
    let mut last = Vec::new();
    monitor.close(Party::Client, Duration::ZERO, &mut |entry| last.push(entry.line));
    assert_eq!(last, [2]);
}

#[test]
fn reports_an_overlong_line_once() {
    let mut monitor = Monitor::default();
    let flood = vec![b'x'; 3 << 20];
    let found = entries(&mut monitor, Party::Engine, &flood);
    assert_eq!(
        found,
        [
            "1 note: a line is longer than 1048576 bytes [not a protocol rule: relayed without a check]"
        ]
    );
    assert_eq!(entries(&mut monitor, Party::Engine, &flood), [""; 0]);
}

#[test]
fn reports_invalid_utf8() {
    let mut monitor = Monitor::default();
    let found = entries(&mut monitor, Party::Engine, b"info string caf\xe9\n");
    assert_eq!(found[0], r"1 info string caf\xe9");
    assert_eq!(
        found[1],
        "1 note: bytes that are not UTF-8: `\u{fffd}` [USI draft 1 §2: 7-bit ASCII; UTF-8 as \
         deployed today]"
    );
}
