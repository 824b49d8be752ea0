//! No engine process outlives `readyok`, even if it is killed and the engine ignores SIGTERM and its input.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Child;

use crate::program::{Dir, Signal, TIMEOUT, finish, is_in_use, readyok, run, signal, wait};
use crate::serve::{link, log_in};

/// A shell script that prints nothing for ten minutes and ignores SIGTERM.
fn silent_engine(dir: &Dir) -> String {
    let started = dir.path().join("started");
    format!("trap '' TERM; echo > '{}'; exec sleep 600", started.display())
}

fn check_killed(arguments: impl FnOnce(&str) -> Vec<String>) {
    check_killed_after(arguments, |_, _| ());
}

/// Kills `readyok` and checks that no process remains. `begin` gets the process and the script of the engine.
fn check_killed_after(
    arguments: impl FnOnce(&str) -> Vec<String>,
    begin: impl FnOnce(&mut Child, &str),
) {
    let dir = Dir::new();
    let value = dir.path().to_str().expect("UTF-8");
    let engine = silent_engine(&dir);
    let mut command = readyok(&dir);
    command.current_dir(dir.path()).args(arguments(&engine)).env("READYOK_TEST", value);
    let mut child = command.spawn().expect("the process starts");
    begin(&mut child, &engine);
    wait("the engine does not start", || dir.path().join("started").exists());
    assert!(child.try_wait().expect("a process").is_none(), "it has exited");
    signal(child.id(), Signal::KILL);
    child.wait().expect("it is killed");
    wait("a process remains", || !is_in_use(&format!("READYOK_TEST={value}")));
}

#[test]
fn no_engine_outlives_a_killed_process() {
    let lines = [
        &["match", "QUOTED", "QUOTED", "--depth", "1"][..],
        &["analyse", "QUOTED"],
        &["options", "QUOTED"],
        &["check", "QUOTED", "--timeout-scale", "9"],
        &["tap", "--log", "log", "--", "sh", "-c", "SCRIPT"],
    ];
    for line in lines {
        check_killed(|engine| {
            let quoted = format!("sh -c \"{engine}\"");
            let replace = |text: &&str| text.replace("QUOTED", &quoted).replace("SCRIPT", engine);
            line.iter().map(replace).collect()
        });
    }
}

/// Interrupts `readyok` once during the handshake with an engine that runs this script.
#[track_caller]
fn check_interrupted(command: &str, script: &str) {
    let dir = Dir::new();
    let value = dir.path().to_str().expect("UTF-8");
    let started = dir.path().join("started");
    let engine = format!("sh -c \"echo > '{}'; {script}\"", started.display());
    let mut process = readyok(&dir);
    process.args([command, &engine]).env("READYOK_TEST", value);
    let child = process.spawn().expect("the process starts");
    wait("the engine does not start", || started.exists());
    signal(child.id(), Signal::INT);
    let output = finish(child);
    assert_eq!((output.code(), output.text()), (Some(130), ""), "{}", output.stderr);
    wait("a process remains", || !is_in_use(&format!("READYOK_TEST={value}")));
}

#[test]
fn interrupt_during_the_handshake_ends_all_processes() {
    for command in ["analyse", "options"] {
        check_interrupted(command, "exec sleep 600");
        check_interrupted(command, "while :; do echo babble; sleep 0.01; done");
    }
}

/// Starts an engine through the WebSocket of the app.
fn add_engine(child: &mut Child, engine: &str) {
    let mut line = String::new();
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    output.read_line(&mut line).expect("a link");
    let (host, token) = link(&line);
    let session = log_in(&host, &token).expect("a session");
    let mut socket = TcpStream::connect(&host).expect("a connection");
    socket.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
    write!(
        socket,
        "GET /api/ws HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nSec-WebSocket-Protocol: readyok, {session}\r\n\
        Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
        Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )
    .expect("data is sent");
    let mut answer = String::new();
    BufReader::new(&socket).read_line(&mut answer).expect("a response");
    assert!(answer.contains(" 101 "), "{answer}");
    let program = serde_json::json!({
        "kind": "program", "path": "/bin/sh", "args": ["-c", engine], "dir": null, "env": {},
    });
    let entry = serde_json::json!({ "name": "Silent", "source": program, "protocol": "uci" });
    let command = serde_json::json!({ "kind": "add_engine", "entry": entry });
    let text = serde_json::json!({ "id": 1, "command": command }).to_string();
    let length = u16::try_from(text.len()).expect("a short command").to_be_bytes();
    // One frame of text, of a length in two bytes, under a mask of zeros (RFC 6455, section 5.2).
    let mut frame = vec![0x81, 0x80 | 0x7e];
    frame.extend(length);
    frame.extend([0; 4]);
    frame.extend(text.into_bytes());
    socket.write_all(&frame).expect("data is sent");
    // The tab stays open.
    std::mem::forget((output, socket));
}

#[test]
fn no_engine_outlives_the_app() {
    let arguments = ["serve", "--no-open", "--data", "data"];
    check_killed_after(|_| arguments.map(str::to_owned).to_vec(), add_engine);
}

/// Number of descendants of each engine process.
const COUNT: usize = 50;

/// An engine with descendants that leave its session, its process group and its environment. When all of them
/// run, it executes its arguments, or sleeps for ten minutes.
fn engine_with_descendants(dir: &Dir) -> PathBuf {
    let (tag, started) = (tag(dir), dir.path().join("started"));
    let text = format!(
        "#!/bin/sh
export TAG='{tag}' STARTED='{}'.$$
sleeper='echo >> '\"$STARTED\"'; exec sleep '\"$TAG\"
i=0
while [ $i -lt {COUNT} ]; do
    (env -i PATH=/usr/bin:/bin setsid sh -c \"$sleeper\" <&- >&- 2>&- &)
    i=$((i+1))
done
while [ \"$(cat \"$STARTED\" 2>&1 | wc -l)\" -lt {COUNT} ]; do sleep 0.01; done
[ $# = 0 ] && {{ echo > '{}'; trap '' TERM; exec sleep 600; }}
exec \"$@\"
",
        started.display(),
        dir.path().join("waits").display(),
    );
    dir.write_program("engine.sh", &text)
}

fn tag(dir: &Dir) -> String {
    let name: String =
        dir.path().to_str().expect("UTF-8").bytes().map(|byte| byte.to_string()).collect();
    format!("3600.{name}")
}

fn starts(dir: &Path) -> usize {
    let files = fs::read_dir(dir).expect("a directory").flatten();
    files.filter(|file| file.file_name().as_encoded_bytes().starts_with(b"started.")).count()
}

fn count_remaining(tag: &str) -> usize {
    let processes = fs::read_dir("/proc").expect("/proc is mounted").flatten();
    let arguments =
        processes.map(|process| fs::read(process.path().join("cmdline")).unwrap_or_default());
    arguments
        .filter(|arguments| arguments.windows(tag.len()).any(|part| part == tag.as_bytes()))
        .count()
}

#[test]
fn no_descendant_outlives_a_match() {
    let dir = Dir::new();
    let engine = engine_with_descendants(&dir);
    let engine = format!("{} {} engine", engine.display(), env!("CARGO_BIN_EXE_readyok"));
    let plan = format!(
        "game = 'chess'\nrounds = 1\nadjudication = {{ max_moves = 2 }}\nengines = [\n\
         {{ name = 'one', command = '{engine}', limits = {{ depth = 1 }}, restart = true }},\n\
         {{ name = 'two', command = '{engine}', limits = {{ depth = 1 }}, restart = true }},\n]\n"
    );
    let plan = dir.write("plan.toml", &plan);
    let mut command = readyok(&dir);
    command
        .current_dir(dir.path())
        .arg("match")
        .arg("--plan")
        .arg(plan)
        .env("READYOK_CONTAINMENT", "supervisor");
    let output = run(&mut command, b"");
    assert_eq!(output.code(), Some(0), "{}{}", output.text(), output.stderr);
    // A pairing is replayed, after one or two of its games, if the process was not scheduled
    // for a second.
    let replays = output.text().matches("the pairing is replayed").count();
    let expected = 4 + 2 * replays..=4 + 4 * replays;
    assert!(expected.contains(&starts(dir.path())), "{}{}", output.text(), output.stderr);
    wait("descendants remain", || count_remaining(&tag(&dir)) == 0);
}

#[test]
fn no_descendant_outlives_other_commands() {
    let lines = [
        &["analyse", "ENGINE READYOK engine", "--depth", "1"][..],
        &["options", "ENGINE READYOK engine"],
        &["check", "ENGINE false"],
        &["tap", "--log", "LOG", "--", "ENGINE", "true"],
    ];
    for line in lines {
        let dir = Dir::new();
        let engine = engine_with_descendants(&dir);
        let log = dir.path().join("log");
        let arguments = line.iter().map(|argument| {
            let argument = argument.replace("ENGINE", engine.to_str().expect("UTF-8"));
            let argument = argument.replace("READYOK", env!("CARGO_BIN_EXE_readyok"));
            argument.replace("LOG", log.to_str().expect("UTF-8"))
        });
        let output =
            run(readyok(&dir).args(arguments).env("READYOK_CONTAINMENT", "supervisor"), b"");
        assert_ne!(starts(dir.path()), 0, "{line:?}: {}{}", output.text(), output.stderr);
        wait("descendants remain", || count_remaining(&tag(&dir)) == 0);
    }
}

#[test]
fn no_descendant_outlives_a_killed_process() {
    for name in ["analyse", "match"] {
        let dir = Dir::new();
        let engine = engine_with_descendants(&dir);
        let mut command = readyok(&dir);
        command
            .current_dir(dir.path())
            .arg(name)
            .arg(&engine)
            .env("READYOK_CONTAINMENT", "supervisor");
        if name == "match" {
            command.arg(&engine).args(["--depth", "1"]);
        }
        let child = command.spawn().expect("the process starts");
        wait("the engine does not start", || dir.path().join("waits").exists());
        assert!(count_remaining(&tag(&dir)) >= COUNT);
        signal(child.id(), Signal::KILL);
        finish(child);
        wait("descendants remain", || count_remaining(&tag(&dir)) == 0);
    }
}

#[test]
fn rejects_an_unknown_containment_method() {
    let dir = Dir::new();
    let mut command = readyok(&dir);
    let output =
        run(command.args(["options", "/bin/true"]).env("READYOK_CONTAINMENT", "other"), b"");
    assert_ne!(output.code(), Some(0));
    assert!(output.stderr.contains("READYOK_CONTAINMENT is `other`"), "{}", output.stderr);
}
