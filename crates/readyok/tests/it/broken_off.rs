//! Matches that are interrupted or killed and then resumed.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::program::{Dir, Output, Signal, finish, is_in_use, readyok, run, signal, wait};
use crate::worker_killed::write_engine;

/// The indices of the stored game pairs, each with two games.
fn stored(dir: &Dir) -> Vec<u64> {
    let text = fs::read_to_string(dir.path().join("m.jsonl")).unwrap_or_default();
    // The last line after SIGKILL can be a partial record.
    let lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    let lines = lines.map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let pairs = lines.filter_map(|mut line| line.get_mut("pair").map(Value::take));
    pairs
        .map(|pair| {
            assert_eq!(pair["games"].as_array().map(Vec::len), Some(2));
            pair["pairing"]["index"].as_u64().expect("an index")
        })
        .collect()
}

/// Every game pair is stored and exported once.
fn check_complete(dir: &Dir, output: &Output, before: usize, rounds: u64) {
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let text = output.text();
    if 0 < before {
        assert!(text.contains(&format!("resumed after {before} game pair")), "{text}");
    }
    let end = format!("finished: {rounds} game pairs, {} games", 2 * rounds);
    assert!(text.contains(&end), "{text}");
    let indices = stored(dir);
    assert_eq!(indices.len() as u64, rounds);
    assert_eq!(indices.into_iter().collect::<BTreeSet<_>>(), (0..rounds).collect());
    let games = fs::read_to_string(dir.path().join("games.pgn")).expect("records");
    assert_eq!(games.matches("[Event ").count() as u64, 2 * rounds);
}

/// Narikin behind a script that delays `go` until a file exists.
fn write_waiting_engine(dir: &Dir) -> String {
    let script = format!(
        "#!/bin/sh
while read -r line; do
    case $line in go*) while [ ! -e '{}' ]; do sleep 0.02; done ;; esac
    printf '%s\\n' \"$line\"
done | '{}' engine
",
        dir.path().join("resume").display(),
        env!("CARGO_BIN_EXE_readyok")
    );
    let path = dir.write_program("waiting", &script);
    path.to_str().expect("UTF-8").to_owned()
}

fn has_event(dir: &Dir, text: &str) -> bool {
    fs::read_to_string(dir.path().join("e.jsonl")).is_ok_and(|events| events.contains(text))
}

#[test]
fn an_interrupt_finishes_running_games_and_the_match_can_be_resumed() {
    let dir = Dir::new();
    let engine = write_waiting_engine(&dir);
    let mut command = readyok(&dir);
    command.current_dir(dir.path()).args(["match", &engine, "narikin", "--rounds", "4"]);
    command.args(["--depth", "1", "--max-moves", "6", "--pgn", "games.pgn"]);
    let child = command.args(["--results", "m.jsonl", "--events", "e.jsonl"]).spawn();
    let child = child.expect("the process starts");
    let has_event = |text: &str| has_event(&dir, text);
    wait("no game starts", || has_event("\"event\":\"game-start\""));
    signal(child.id(), Signal::INT);
    wait("it does not stop", || has_event("\"event\":\"stopping\""));
    assert!(!has_event("\"event\":\"game-end\""), "the game waits");
    dir.write("resume", "");
    let output = finish(child);
    assert_eq!(output.code(), Some(130), "{}", output.stderr);
    assert!(output.text().contains("interrupted: 1 game pair, 2 games"), "{}", output.text());
    let events = fs::read_to_string(dir.path().join("e.jsonl")).expect("events");
    for event in ["game-start", "game-end"] {
        assert_eq!(events.matches(&format!("\"event\":\"{event}\"")).count(), 2, "{events}");
    }
    assert_eq!(stored(&dir), [0]);
    let mut command = readyok(&dir);
    command.current_dir(dir.path()).args(["match", "--resume", "m.jsonl", "--pgn", "games.pgn"]);
    check_complete(&dir, &run(&mut command, b""), 1, 4);
}

/// `timeout` and service managers send SIGKILL soon after SIGTERM.
#[test]
fn sigterm_ends_a_match_immediately() {
    let dir = Dir::new();
    let engine = write_waiting_engine(&dir);
    let mut command = readyok(&dir);
    command.current_dir(dir.path()).args(["match", &engine, "narikin", "--rounds", "4"]);
    command.args(["--depth", "1", "--max-moves", "6", "--results", "m.jsonl"]);
    let child = command.args(["--events", "e.jsonl"]).spawn().expect("the process starts");
    wait("no game starts", || has_event(&dir, "\"event\":\"game-start\""));
    signal(child.id(), Signal::TERM);
    let output = finish(child);
    assert_eq!(output.code(), Some(130), "{}", output.stderr);
    assert_eq!(stored(&dir), [0_u64; 0]);
}

/// The number of the `go` command at which the process is killed: in the first game and in later pairs.
const KILLED_AT: [u32; 4] = [1, 20, 33, 40];

#[test]
fn repeated_kills_neither_lose_nor_repeat_games() {
    const ROUNDS: u64 = 16;
    let dir = Dir::new();
    let engine = write_engine(&dir, "held");
    let mut args = vec!["match", &engine, "narikin", "--rounds", "16", "--concurrency", "2"];
    args.extend(["--depth", "1", "--max-moves", "6", "--results", "m.jsonl"]);
    let resume = ["match", "--resume", "m.jsonl", "--concurrency", "2"];
    let (held, mark) = (dir.path().join("held-now"), dir.path().to_str().expect("UTF-8"));
    let mut most = 0;
    for at in KILLED_AT {
        let mut command = readyok(&dir);
        command.current_dir(dir.path()).env("READYOK_HOLD_AT", at.to_string());
        command.env("READYOK_HELD", &held).env("READYOK_TEST", mark);
        command.args(&args).args(["--pgn", "games.pgn"]);
        let mut child = command.spawn().expect("the process starts");
        wait("no engine is held", || held.exists());
        signal(child.id(), Signal::KILL);
        child.wait().expect("it was killed");
        wait("an engine is left", || !is_in_use(&format!("READYOK_TEST={mark}")));
        fs::remove_file(&held).expect("it was there");
        let pairs = stored(&dir).len();
        assert!(most <= pairs && (pairs as u64) < ROUNDS, "{most}, then {pairs} pairs");
        most = pairs;
        args = resume.to_vec();
    }
    assert!(0 < most, "nothing was played between the kills");
    let mut command = readyok(&dir);
    command.current_dir(dir.path()).args(resume).args(["--pgn", "games.pgn"]);
    check_complete(&dir, &run(&mut command, b""), most, ROUNDS);
}
