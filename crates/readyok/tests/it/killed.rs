//! The program is killed, and its engine hears neither SIGTERM nor the end of its input.

use std::fs;
use std::thread;
use std::time::Duration;

use rustix::process::Signal;

use crate::program::{Dir, readyok, signal};

/// Says nothing, and would stay for ten minutes.
const ENGINE: &str = "trap '' TERM; echo > started; exec sleep 600";

/// Waits until something is so.
fn wait(what: &str, so: impl Fn() -> bool) {
    for _ in 0..6000 {
        if so() {
            return;
        }
        thread::park_timeout(Duration::from_millis(10));
    }
    panic!("{what}");
}

fn is_in_use(mark: &str) -> bool {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut environments = processes.filter_map(|it| fs::read(it.path().join("environ")).ok());
    environments.any(|it| it.windows(mark.len()).any(|part| part == mark.as_bytes()))
}

fn check(words: &[&str]) {
    let dir = Dir::new();
    let value = dir.path().to_str().expect("UTF-8");
    let mut command = readyok(&dir);
    command.current_dir(dir.path()).args(words).env("READYOK_TEST", value);
    let mut child = command.spawn().expect("the program starts");
    wait("the engine does not start", || dir.path().join("started").exists());
    assert!(child.try_wait().expect("a process").is_none(), "it has ended");
    signal(child.id(), Signal::KILL);
    child.wait().expect("it was killed");
    wait("something is left", || !is_in_use(&format!("READYOK_TEST={value}")));
}

#[test]
fn no_engine_outlives_a_program_that_is_killed() {
    let quoted = &format!("sh -c \"{ENGINE}\"");
    check(&["match", quoted, quoted, "--depth", "1"]);
    check(&["analyse", quoted]);
    check(&["options", quoted]);
    check(&["check", quoted, "--timeout-scale", "9"]);
    check(&["tap", "--log", "log", "--", "sh", "-c", ENGINE]);
}
