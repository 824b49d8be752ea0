//! The program is killed, and its engine hears neither SIGTERM nor the end of its input.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::Child;

use rustix::process::Signal;

use crate::program::{Dir, PATIENCE, finish, readyok, signal, wait};
use crate::serve::{link, log_in};

/// Says nothing, and would stay for ten minutes. It has a folder of its own.
fn engine(dir: &Dir) -> String {
    let started = dir.path().join("started");
    format!("trap '' TERM; echo > '{}'; exec sleep 600", started.display())
}

/// Whether a process has this in its environment.
pub(crate) fn is_in_use(mark: &str) -> bool {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut environments = processes.filter_map(|it| fs::read(it.path().join("environ")).ok());
    environments.any(|it| it.windows(mark.len()).any(|part| part == mark.as_bytes()))
}

fn check(words: impl FnOnce(&str) -> Vec<String>) {
    check_after(words, |_, _| ());
}

/// `begin` is given the program and what the shell has to run as the engine.
fn check_after(words: impl FnOnce(&str) -> Vec<String>, begin: impl FnOnce(&mut Child, &str)) {
    let dir = Dir::new();
    let value = dir.path().to_str().expect("UTF-8");
    let engine = engine(&dir);
    let mut command = readyok(&dir);
    command.current_dir(dir.path()).args(words(&engine)).env("READYOK_TEST", value);
    let mut child = command.spawn().expect("the program starts");
    begin(&mut child, &engine);
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

/// Interrupts the program once while it waits for the greeting of an engine that goes on like this.
#[track_caller]
fn check_interrupted(verb: &str, goes_on: &str) {
    let dir = Dir::new();
    let value = dir.path().to_str().expect("UTF-8");
    let started = dir.path().join("started");
    let engine = format!("sh -c \"echo > '{}'; {goes_on}\"", started.display());
    let mut command = readyok(&dir);
    command.args([verb, &engine]).env("READYOK_TEST", value);
    let child = command.spawn().expect("the program starts");
    wait("the engine does not start", || started.exists());
    signal(child.id(), Signal::INT);
    let output = finish(child);
    assert_eq!((output.code(), output.text()), (Some(130), ""), "{}", output.stderr);
    wait("something is left", || !is_in_use(&format!("READYOK_TEST={value}")));
}

#[test]
fn an_interrupt_before_the_greeting_ends_the_program_and_the_engine() {
    for verb in ["analyse", "options"] {
        check_interrupted(verb, "exec sleep 600");
        check_interrupted(verb, "while :; do echo babble; sleep 0.01; done");
    }
}

/// Has the app start an engine, as its page would.
fn add_engine(child: &mut Child, engine: &str) {
    let mut line = String::new();
    let mut said = BufReader::new(child.stdout.take().expect("a pipe"));
    said.read_line(&mut line).expect("it says where it is");
    let (host, token) = link(&line);
    let session = log_in(&host, &token).expect("a session");
    let mut socket = TcpStream::connect(&host).expect("it listens");
    socket.set_read_timeout(Some(PATIENCE)).expect("it can wait");
    write!(
        socket,
        "GET /api/ws HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nSec-WebSocket-Protocol: readyok, {session}\r\n\
        Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
        Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )
    .expect("it reads");
    let mut answer = String::new();
    BufReader::new(&socket).read_line(&mut answer).expect("it answers");
    assert!(answer.contains(" 101 "), "{answer}");
    let program = serde_json::json!({
        "kind": "program", "path": "/bin/sh", "args": ["-c", engine], "dir": null, "env": {},
    });
    let entry = serde_json::json!({ "name": "Deaf", "source": program, "protocol": "uci" });
    let command = serde_json::json!({ "kind": "add_engine", "entry": entry });
    let text = serde_json::json!({ "id": 1, "command": command }).to_string();
    let length = u16::try_from(text.len()).expect("a short command").to_be_bytes();
    // One frame of text, of a length in two bytes, under a mask of zeros (RFC 6455, section 5.2).
    let mut frame = vec![0x81, 0x80 | 0x7e];
    frame.extend(length);
    frame.extend([0; 4]);
    frame.extend(text.into_bytes());
    socket.write_all(&frame).expect("it reads");
    // The tab stays for as long as the app.
    std::mem::forget((said, socket));
}

#[test]
fn no_engine_outlives_the_app() {
    let words = ["serve", "--no-open", "--data", "data"];
    check_after(|_| words.map(str::to_owned).to_vec(), add_engine);
}
