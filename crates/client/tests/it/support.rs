//! Starts engines for the tests, and checks that no process is left.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

use readyok_client::{
    Builder, Dialect, Engine, EngineError, Problem, SearchHandle, SearchResult, Timeouts, WaitLimit,
};

/// Long enough for any load of the computer.
pub(crate) const LONG: Duration = Duration::from_secs(20);
/// Long enough for a good engine to answer, and short for a test that waits.
pub(crate) const SHORT: Duration = Duration::from_millis(600);

/// The name of the status of a process that has called `abort`.
pub(crate) const ABORTED: &str =
    if cfg!(windows) { "STATUS_STACK_BUFFER_OVERRUN" } else { "SIGABRT" };

/// Long timeouts.
pub(crate) fn patient() -> Timeouts {
    let long = WaitLimit::fixed(LONG);
    Timeouts {
        handshake: long,
        ready: long,
        stop: long,
        overrun: LONG,
        stall: LONG,
        quit: long,
        ..Timeouts::default()
    }
}

/// Path of a test program, which is an example of this package: `cargo install` skips it.
pub(crate) fn test_program(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    let profile = test.ancestors().nth(2).expect("target/<profile>/deps/<test>");
    let program =
        profile.join("examples").join(name).with_extension(std::env::consts::EXE_EXTENSION);
    assert!(
        program.exists(),
        "`cargo build --examples -p readyok-client` builds {}",
        program.display()
    );
    program
}

/// A command that misbehaves by rules, and a mark that identifies its processes.
pub(crate) fn misbehaving(rules: &[&str]) -> (Command, String) {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let mark = format!("READYOK_TEST={}.{number}.", std::process::id());
    let mut command = Command::new(test_program("misbehave"));
    command.args(rules);
    if let Some((name, value)) = mark.split_once('=') {
        command.env(name, value);
    }
    (command, mark)
}

pub(crate) fn uci(timeouts: Timeouts) -> Builder {
    Engine::builder().dialect(Dialect::Uci).timeouts(timeouts)
}

/// Starts a misbehaving engine, runs a test, and checks that no process is left.
pub(crate) fn check(
    rules: &[&str],
    timeouts: Timeouts,
    test: impl FnOnce(Result<Engine, EngineError>),
) {
    check_with(uci(timeouts), rules, test);
}

fn check_with(builder: Builder, rules: &[&str], test: impl FnOnce(Result<Engine, EngineError>)) {
    let (command, mark) = misbehaving(rules);
    test(builder.spawn(command));
    check_gone(&mark);
}

/// Like [`check`], with an engine whose handshake succeeds.
pub(crate) fn check_started(rules: &[&str], timeouts: Timeouts, test: impl FnOnce(Engine)) {
    check_started_with(uci(timeouts), rules, test);
}

/// Like [`check_started`], with settings.
pub(crate) fn check_started_with(builder: Builder, rules: &[&str], test: impl FnOnce(Engine)) {
    let mut id = None;
    check_with(builder, rules, |engine| {
        let engine = engine.expect("it starts well");
        id = engine.process_id();
        test(engine);
    });
    check_reaped(id.expect("it is a process"));
}

#[expect(clippy::disallowed_methods, reason = "tests of deadlines")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Checks that no process has the mark.
pub(crate) fn check_gone(mark: &str) {
    check_soon(&format!("a process of {mark} is left"), || {
        let Ok(all) = fs::read_dir("/proc") else { return true };
        !all.flatten().any(|process| {
            let environment = fs::read(process.path().join("environ")).unwrap_or_default();
            let mark = mark.as_bytes();
            environment.windows(mark.len()).any(|part| part == mark)
        })
    });
}

/// Checks that the process was reaped.
pub(crate) fn check_reaped(id: u32) {
    // Other systems have no zombies, or no `/proc`; that of Wine has the processes of Linux.
    let is_left =
        || cfg!(target_os = "linux") && fs::exists(format!("/proc/{id}")).unwrap_or(false);
    check_soon("a zombie is left", || !is_left());
}

pub(crate) fn check_soon(otherwise: &str, done: impl Fn() -> bool) {
    // May take long under load; otherwise the test fails.
    for _ in 0..3000 {
        if done() {
            return;
        }
        thread::park_timeout(Duration::from_millis(10));
    }
    panic!("{otherwise}");
}

/// Sends `ponderhit` and waits for the answer.
pub(crate) fn hit(pondering: SearchHandle) -> Result<SearchResult, EngineError> {
    pondering.ponder_hit(None)?;
    pondering.wait()
}

/// The problem of an expected error.
pub(crate) fn problem<T>(result: Result<T, EngineError>) -> Problem {
    match result {
        Ok(_) => panic!("no error"),
        Err(error) => error.problem().clone(),
    }
}

/// A correct engine in this process that reports the received lines. The depth of endless searches counts them.
pub(crate) fn good_engine(input: impl Read, mut output: impl Write, received: &Sender<String>) {
    let mut send = |text: &str| output.write_all(text.as_bytes()).and_then(|()| output.flush());
    let mut depth = 0;
    for line in BufReader::new(input).lines().map_while(Result::ok) {
        let first = line.split(' ').next().unwrap_or_default();
        let runs_on = line.contains("infinite") || line.contains("ponder");
        let result = match first {
            "uci" => send(include_str!("data/support/good_engine.txt")),
            "usi" => send("id name Good\nusiok\n"),
            "isready" => send("readyok\n"),
            "go" if line.contains("mate") => {
                send("info depth 3 score mate 2 pv e2e4 e7e5 d1h5\nbestmove e2e4\n")
            }
            "go" if !runs_on => {
                send("info depth 4 score cp 5 pv e2e4\nbestmove e2e4 ponder e7e5\n")
            }
            "go" => {
                depth += 1;
                send(&format!("info depth {depth} score cp 3 pv d2d4\n"))
            }
            "stop" | "ponderhit" => send("bestmove d2d4\n"),
            "quit" => return,
            _ => Ok(()),
        };
        // The client may have disconnected.
        let _ = (result, received.send(line));
    }
}
