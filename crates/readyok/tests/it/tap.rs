//! `readyok tap`: nothing is lost, nothing is added, nothing is left behind.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::Command;

use rustix::process::Signal;

use crate::program::{Dir, Output, PATIENCE, finish, readyok, run, scripted_engine, signal};

/// Bytes of every value, and no line end at the end.
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

/// Lets the client's lines of a script meet an engine that plays it.
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
fn every_byte_arrives_both_ways() {
    let dir = Dir::new();
    let sent = noise(1 << 20);
    let output = run(&mut tap(&dir, &[], &["cat"]), &sent);
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    assert!(output.stdout == sent, "{} of {} bytes", output.stdout.len(), sent.len());
}

#[test]
fn a_byte_does_not_wait_for_the_end_of_its_line() {
    let dir = Dir::new();
    let mut child = tap(&dir, &[], &["cat"]).spawn().expect("the program starts");
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
fn an_engine_learns_that_its_client_is_gone() {
    let dir = Dir::new();
    // It talks until nobody hears it, whatever its input is.
    let engine = ["sh", "-c", "while echo info; do :; done"];
    let mut child = tap(&dir, &[], &engine).spawn().expect("the program starts");
    let input = child.stdin.take();
    drop(child.stdout.take());
    finish(child);
    drop(input);
}

#[test]
fn a_strict_tap_reports_on_standard_error_and_in_its_exit_code() {
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
    let report =
        "!<     3 must: `bestmove` answers `go`, once [UCI 2006, bestmove; USI draft 1 §5.3]";
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
fn what_an_engine_never_answers_is_reported_at_the_end() {
    let output = play(&Dir::new(), &["--strict"], "> uci\n< id name Example");
    assert_eq!(output.code(), Some(3));
    assert!(output.stderr.contains("must: `uci` or `usi` is answered"), "{}", output.stderr);
}

#[test]
fn an_engine_that_is_interrupted_owes_nothing() {
    let dir = Dir::new();
    let engine = ["sh", "-c", "trap 'exit 0' TERM; echo up; while :; do sleep 0.01; done"];
    let mut child = tap(&dir, &["--strict"], &engine).spawn().expect("the program starts");
    let mut to = child.stdin.take().expect("a pipe");
    let mut from = BufReader::new(child.stdout.take().expect("a pipe"));
    to.write_all(b"uci\n").expect("the line is sent");
    from.read_line(&mut String::new()).expect("the engine speaks");
    signal(child.id(), Signal::INT);
    let output = finish(child);
    assert_eq!(output.code(), Some(0));
    assert!(!output.stderr.contains(" must: "), "{}", output.stderr);
}

#[test]
fn bytes_pass_though_the_log_is_stuck() {
    let dir = Dir::new();
    let log = dir.path().join("a.log");
    assert!(Command::new("mkfifo").arg(&log).status().expect("mkfifo is there").success());
    let options = ["--log", log.to_str().expect("UTF-8")];
    let mut child = tap(&dir, &options, &["cat"]).spawn().expect("the program starts");
    let mut log = fs::File::open(&log).expect("the tap opens it, too");
    let mut to = child.stdin.take().expect("a pipe");
    let mut from = BufReader::new(child.stdout.take().expect("a pipe"));
    let (done, on_done) = std::sync::mpsc::channel();
    let talk = std::thread::spawn(move || {
        let mut line = String::new();
        // Much more than a pipe holds, and more turns than may wait to be judged.
        for turn in 0..4000 {
            line.clear();
            writeln!(to, "info string {turn}").expect("the line is sent");
            from.read_line(&mut line).expect("the line comes back");
        }
        // Whoever does not wait for it has seen the test fail.
        let _ = done.send(());
    });
    on_done.recv_timeout(PATIENCE).expect("every line comes back");
    talk.join().expect("all lines passed");
    let mut text = String::new();
    log.read_to_string(&mut text).expect("the log");
    assert_eq!(finish(child).code(), Some(0));
    assert_eq!(text.lines().filter(|line| line.contains("<  ")).count(), 4000);
}

#[test]
fn a_lenient_tap_reports_in_its_log_only() {
    let dir = Dir::new();
    let output = play(&dir, &[], "> uci\n< bestmove e2e4");
    assert_eq!((output.code(), output.stderr.as_str()), (Some(0), ""));
    let logs = fs::read_dir(dir.path().join("readyok")).expect("the default folder");
    let logs: Vec<_> = logs.map(|log| log.expect("a log").path()).collect();
    let [log] = &logs[..] else { panic!("{logs:?}") };
    let log = fs::read_to_string(log).expect("the log");
    assert!(log.contains("must: `bestmove` answers `go`"), "{log}");
}

#[test]
fn logs_of_one_file_follow_one_another() {
    let dir = Dir::new();
    let log = dir.path().join("a.log");
    for _ in 0..2 {
        play(&dir, &["--log", log.to_str().expect("UTF-8")], "> uci");
    }
    let log = fs::read_to_string(log).expect("the log");
    assert_eq!(log.lines().filter(|line| line.starts_with("# ")).count(), 2, "{log}");
}

#[test]
fn the_exit_code_is_that_of_the_engine() {
    assert_eq!(play(&Dir::new(), &["--strict"], "> uci\n= 7").code(), Some(7));
}

#[test]
fn the_tap_ends_with_the_engine_though_the_client_says_nothing() {
    let dir = Dir::new();
    let mut child = tap(&dir, &[], &["sh", "-c", "exit 4"]).spawn().expect("the program starts");
    let open = child.stdin.take();
    assert_eq!(finish(child).code(), Some(4));
    drop(open);
}

#[test]
fn an_engine_that_cannot_be_started_is_named() {
    let output = run(&mut tap(&Dir::new(), &[], &["/nowhere/engine"]), b"");
    assert_eq!(output.code(), Some(1));
    assert!(output.stderr.starts_with("readyok: cannot start `/nowhere/engine`: "));
    assert_eq!(output.text(), "");
}

#[test]
fn a_log_that_cannot_be_written_is_named() {
    let dir = Dir::new();
    let file = dir.write("file", "");
    let log = file.join("a.log");
    let output = run(&mut tap(&dir, &["--log", log.to_str().expect("UTF-8")], &["cat"]), b"");
    assert_eq!(output.code(), Some(1));
    assert!(output.stderr.contains("a.log"), "{}", output.stderr);
}

#[test]
fn the_engine_and_its_children_end_with_the_tap() {
    let dir = Dir::new();
    let script = "sleep 1000 & echo started; wait";
    let mut child = tap(&dir, &[], &["sh", "-c", script]).spawn().expect("the program starts");
    let mut line = String::new();
    let stdout = child.stdout.take().expect("a pipe");
    BufReader::new(stdout).read_line(&mut line).expect("the engine speaks");
    signal(child.id(), Signal::TERM);
    // Whoever is left holds the error output open, and this would not come to an end.
    let output = finish(child);
    assert_eq!(output.code(), Some(128 + 15), "{}", output.stderr);
}

#[test]
fn a_client_that_is_early_is_to_blame_and_not_its_engine() {
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
    assert!(reports[0].contains("!>     2 should: nothing but `quit`"), "{}", reports[0]);
}

#[test]
fn an_engine_has_the_time_that_it_is_given_to_leave() {
    let dir = Dir::new();
    let engine = ["sh", "-c", "trap 'exit 7' TERM; echo up; while :; do sleep 0.01; done"];
    let output = run(&mut tap(&dir, &["--timeout", "0.5"], &engine), b"");
    assert_eq!(output.code(), Some(7), "{}", output.stderr);
    // Six seconds are more than it has without the option.
    let engine = ["sh", "-c", "read -r line; sleep 6; echo id name A; echo uciok"];
    let output = run(&mut tap(&dir, &["--timeout", "55"], &engine), b"uci\n");
    assert_eq!((output.text(), output.code()), ("id name A\nuciok\n", Some(0)));
}
