//! The program is killed, and its engine hears neither SIGTERM nor the end of its input.

use std::fs;
use std::thread;
use std::time::Duration;

use rustix::process::Signal;

use crate::program::{Dir, readyok, signal};

/// Says nothing, and would stay for ten minutes. It has a folder of its own.
fn engine(dir: &Dir) -> String {
    let started = dir.path().join("started");
    format!("trap '' TERM; echo > '{}'; exec sleep 600", started.display())
}

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

fn check(words: impl FnOnce(&str) -> Vec<String>) {
    let dir = Dir::new();
    let value = dir.path().to_str().expect("UTF-8");
    let mut command = readyok(&dir);
    command.current_dir(dir.path()).args(words(&engine(&dir))).env("READYOK_TEST", value);
    let mut child = command.spawn().expect("the program starts");
    wait("the engine does not start", || dir.path().join("started").exists());
    assert!(child.try_wait().expect("a process").is_none(), "it has ended");
    signal(child.id(), Signal::KILL);
    child.wait().expect("it was killed");
    wait("something is left", || !is_in_use(&format!("READYOK_TEST={value}")));
}

#[test]
fn no_engine_outlives_a_program_that_is_killed() {
    let lines = [
        &["match", "QUOTED", "QUOTED", "--depth", "1"][..],
        &["analyse", "QUOTED"],
        &["options", "QUOTED"],
        &["check", "QUOTED", "--timeout-scale", "9"],
        &["tap", "--log", "log", "--", "sh", "-c", "SCRIPT"],
    ];
    for line in lines {
        check(|engine| {
            let quoted = format!("sh -c \"{engine}\"");
            let word = |word: &&str| word.replace("QUOTED", &quoted).replace("SCRIPT", engine);
            line.iter().map(word).collect()
        });
    }
}
