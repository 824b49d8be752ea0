//! Engines that share standard input and output with other threads of their process.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// What the engine says to the lines, up to its end.
#[track_caller]
fn heard(argument: &str, lines: &str) -> Vec<String> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_printer"))
        .arg(argument)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    input.write_all(lines.as_bytes()).unwrap();
    let (said, all) = mpsc::channel();
    thread::spawn(move || said.send(BufReader::new(output).lines().collect::<Result<_, _>>()));
    let all = all.recv_timeout(Duration::from_secs(20));
    // It is asked to quit by then; one that hangs is not waited for.
    let _ = child.kill();
    child.wait().unwrap();
    all.expect("the engine ends").unwrap()
}

#[test]
fn stdio_locks_are_not_required() {
    let heard = heard("hold", "uci\nisready\ngo depth 1\nisready\nquit\n");
    assert_eq!(heard.iter().filter(|line| *line == "readyok").count(), 2, "{heard:?}");
    assert_eq!(heard.last().unwrap(), "bestmove e2e4");
}

#[test]
fn output_of_other_threads_does_not_split_lines() {
    let heard = heard("print", "uci\ngo depth 1\nquit\n");
    let mut printed = 0..;
    for line in heard.iter().skip_while(|line| *line != "uciok").skip(1) {
        if line.starts_with("printed") {
            assert_eq!(line, &format!("printed {} end", printed.next().unwrap()));
            continue;
        }
        let is_told = line.starts_with("info string told ") && line.ends_with(" end");
        let is_count = line.starts_with("info string ") && line.contains(" more");
        let is_last = line.starts_with("info depth ") && line.ends_with(" pv e2e4");
        let is_whole = is_told || is_count || is_last || line == "bestmove e2e4";
        assert!(is_whole, "a torn line: {line}");
    }
    assert_eq!(printed.next(), Some(500));
}
