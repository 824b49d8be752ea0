//! Engines that share standard input and output with other threads of their process.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Path of a test program, which is an example of this package: `cargo install` skips it.
fn test_program(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    let profile = test.ancestors().nth(2).expect("target/<profile>/deps/<test>");
    let program =
        profile.join("examples").join(name).with_extension(std::env::consts::EXE_EXTENSION);
    assert!(
        program.exists(),
        "`cargo build --examples -p readyok-engine` builds {}",
        program.display()
    );
    program
}

/// The output of the engine for these lines.
#[track_caller]
fn output_of(argument: &str, lines: &str) -> Vec<String> {
    let mut child = Command::new(test_program("printer"))
        .arg(argument)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    input.write_all(lines.as_bytes()).unwrap();
    let (sender, all) = mpsc::channel();
    thread::spawn(move || sender.send(BufReader::new(output).lines().collect::<Result<_, _>>()));
    let all = all.recv_timeout(Duration::from_secs(20));
    // Only an engine that hangs is still running.
    let _ = child.kill();
    child.wait().unwrap();
    all.expect("the engine ends").unwrap()
}

#[test]
fn stdio_locks_are_not_required() {
    let lines = output_of("hold", "uci\nisready\ngo depth 1\nisready\nquit\n");
    assert_eq!(lines.iter().filter(|line| *line == "readyok").count(), 2, "{lines:?}");
    assert_eq!(lines.last().unwrap(), "bestmove e2e4");
}

#[test]
fn output_of_other_threads_does_not_split_lines() {
    let lines = output_of("print", "uci\ngo depth 1\nquit\n");
    let mut printed = 0..;
    for line in lines.iter().skip_while(|line| *line != "uciok").skip(1) {
        if line.starts_with("printed") {
            assert_eq!(line, &format!("printed {} end", printed.next().unwrap()));
            continue;
        }
        let is_reported = line.starts_with("info string reported ") && line.ends_with(" end");
        let is_count = line.starts_with("info string ") && line.contains(" more");
        let is_last = line.starts_with("info depth ") && line.ends_with(" pv e2e4");
        let is_whole = is_reported || is_count || is_last || line == "bestmove e2e4";
        assert!(is_whole, "an incomplete line: {line}");
    }
    assert_eq!(printed.next(), Some(500));
}
