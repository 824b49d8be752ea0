//! Matches that are interrupted or killed, and go on.

use std::collections::BTreeSet;
use std::fs;

use rustix::process::Signal;
use serde_json::Value;

use crate::program::{Dir, Output, finish, is_in_use, readyok, run, signal, wait};
use crate::worker_killed::write_engine;

/// The indices of the pairings that are stored, each with its two games.
fn stored(dir: &Dir) -> Vec<u64> {
    let text = fs::read_to_string(dir.path().join("m.jsonl")).unwrap_or_default();
    // The last line of a program that was killed can be torn.
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

/// Every pairing is stored once and recorded once.
fn check_complete(dir: &Dir, output: &Output, before: usize, rounds: u64) {
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let text = output.text();
    if 0 < before {
        assert!(text.contains(&format!("goes on after {before} pairings")), "{text}");
    }
    let end = format!("everything was played: {rounds} pairings, {} games", 2 * rounds);
    assert!(text.contains(&end), "{text}");
    let indices = stored(dir);
    assert_eq!(indices.len() as u64, rounds);
    assert_eq!(indices.into_iter().collect::<BTreeSet<_>>(), (0..rounds).collect());
    let games = fs::read_to_string(dir.path().join("games.pgn")).expect("records");
    assert_eq!(games.matches("[Event ").count() as u64, 2 * rounds);
}

/// Narikin, which is asked for a move only once a file is there.
fn write_waiting_engine(dir: &Dir) -> String {
    let script = format!(
        "#!/bin/sh
while read -r line; do
    case $line in go*) while [ ! -e '{}' ]; do sleep 0.02; done ;; esac
    printf '%s\\n' \"$line\"
done | '{}' engine
",
        dir.path().join("go-on").display(),
        env!("CARGO_BIN_EXE_readyok")
    );
    let path = dir.write_program("waiting", &script);
    path.to_str().expect("UTF-8").to_owned()
}

fn has_happened(dir: &Dir, what: &str) -> bool {
    fs::read_to_string(dir.path().join("e.jsonl")).is_ok_and(|events| events.contains(what))
}

#[test]
fn an_interrupt_lets_the_running_games_end_and_the_match_goes_on_later() {
    let dir = Dir::new();
    let engine = write_waiting_engine(&dir);
    let mut command = readyok(&dir);
    command.current_dir(dir.path()).args(["match", &engine, "narikin", "--rounds", "4"]);
    command.args(["--depth", "1", "--max-moves", "6", "--pgn", "games.pgn"]);
    let child = command.args(["--results", "m.jsonl", "--events", "e.jsonl"]).spawn();
    let child = child.expect("the program starts");
    let has_happened = |what: &str| has_happened(&dir, what);
    wait("no game starts", || has_happened("\"event\":\"game-start\""));
    signal(child.id(), Signal::INT);
    wait("it does not stop", || has_happened("\"event\":\"stopping\""));
    assert!(!has_happened("\"event\":\"game-end\""), "the game waits");
    dir.write("go-on", "");
    let output = finish(child);
    assert_eq!(output.code(), Some(130), "{}", output.stderr);
    assert!(output.text().contains("interrupted: 1 pairings, 2 games"), "{}", output.text());
    let events = fs::read_to_string(dir.path().join("e.jsonl")).expect("events");
    for event in ["game-start", "game-end"] {
        assert_eq!(events.matches(&format!("\"event\":\"{event}\"")).count(), 2, "{events}");
    }
    assert_eq!(stored(&dir), [0]);
    let mut command = readyok(&dir);
    command.current_dir(dir.path()).args(["match", "--resume", "m.jsonl", "--pgn", "games.pgn"]);
    check_complete(&dir, &run(&mut command, b""), 1, 4);
}

/// Who sends it, as `timeout` or a manager of services, kills soon after.
#[test]
fn a_termination_ends_a_match_at_once() {
    let dir = Dir::new();
    let engine = write_waiting_engine(&dir);
    let mut command = readyok(&dir);
    command.current_dir(dir.path()).args(["match", &engine, "narikin", "--rounds", "4"]);
    command.args(["--depth", "1", "--max-moves", "6", "--results", "m.jsonl"]);
    let child = command.args(["--events", "e.jsonl"]).spawn().expect("the program starts");
    wait("no game starts", || has_happened(&dir, "\"event\":\"game-start\""));
    signal(child.id(), Signal::TERM);
    let output = finish(child);
    assert_eq!(output.code(), Some(130), "{}", output.stderr);
    assert_eq!(stored(&dir), [0_u64; 0]);
}

/// At which `go` to an engine the program is killed: in the first game, and in later pairings.
const KILLED_AT: [u32; 4] = [1, 20, 33, 40];

#[test]
fn a_match_that_is_killed_again_and_again_loses_nothing_and_repeats_nothing() {
    const ROUNDS: u64 = 16;
    let dir = Dir::new();
    let engine = write_engine(&dir, "held");
    let mut words = vec!["match", &engine, "narikin", "--rounds", "16", "--concurrency", "2"];
    words.extend(["--depth", "1", "--max-moves", "6", "--results", "m.jsonl"]);
    let resume = ["match", "--resume", "m.jsonl", "--concurrency", "2"];
    let (held, mark) = (dir.path().join("held-now"), dir.path().to_str().expect("UTF-8"));
    let mut most = 0;
    for at in KILLED_AT {
        let mut command = readyok(&dir);
        command.current_dir(dir.path()).env("READYOK_HOLD_AT", at.to_string());
        command.env("READYOK_HELD", &held).env("READYOK_TEST", mark);
        command.args(&words).args(["--pgn", "games.pgn"]);
        let mut child = command.spawn().expect("the program starts");
        wait("no engine is held", || held.exists());
        signal(child.id(), Signal::KILL);
        child.wait().expect("it was killed");
        wait("an engine is left", || !is_in_use(&format!("READYOK_TEST={mark}")));
        fs::remove_file(&held).expect("it was there");
        let pairs = stored(&dir).len();
        assert!(most <= pairs && (pairs as u64) < ROUNDS, "{most}, then {pairs} pairings");
        most = pairs;
        words = resume.to_vec();
    }
    assert!(0 < most, "nothing was played between the kills");
    let mut command = readyok(&dir);
    command.current_dir(dir.path()).args(resume).args(["--pgn", "games.pgn"]);
    check_complete(&dir, &run(&mut command, b""), most, ROUNDS);
}
