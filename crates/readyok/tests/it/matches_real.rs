//! Matches of Narikin against real engines, locally and through two workers over a NATS server. The
//! tests need these programs and `READYOK_REAL_ENGINES`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;

use serde_json::Value;

use crate::nats_server::NatsServer;
use crate::port::free_port;
use crate::program::{Dir, readyok, run, wait};
use crate::real::engine;

/// Ends a process with its handle.
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    fn drop(&mut self) {
        // The process may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The moves, the winner and the end of each game, by pairing.
pub(crate) fn games(results: &Path) -> Vec<(u64, Vec<Value>)> {
    let text = fs::read_to_string(results).expect("results");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let mut pairs: Vec<(u64, Vec<Value>)> = lines
        .filter_map(|line| line.get("pair").cloned())
        .map(|pair| {
            let games = pair["games"].as_array().expect("games").iter().map(|game| {
                let moves = game["moves"].as_array().expect("moves");
                let moves: Vec<Value> = moves.iter().map(|made| made["move"].clone()).collect();
                serde_json::json!([moves, game["winner"], game["termination"]])
            });
            (pair["pairing"]["index"].as_u64().expect("an index"), games.collect())
        })
        .collect();
    pairs.sort_by_key(|&(index, _)| index);
    pairs
}

/// Writes an engine that delays `go` until a file exists. It first creates the file `READYOK_THERE`, if
/// the variable is set.
fn write_gate(dir: &Dir, engine: &str, resume: &Path) -> String {
    let script = format!(
        "#!/bin/sh
while read -r line; do
    case $line in go*)
        [ -z \"$READYOK_THERE\" ] || echo > \"$READYOK_THERE\"
        while [ ! -e '{}' ]; do sleep 0.02; done ;;
    esac
    printf '%s\\n' \"$line\"
done | '{engine}'
",
        resume.display()
    );
    let path = dir.write_program("gate", &script);
    path.to_str().expect("UTF-8").to_owned()
}

/// The workers that have started games.
fn workers(events: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(events).expect("events");
    let events = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let starts = events.filter(|event| event["event"] == "game-start");
    starts.map(|event| event["worker"].as_str().expect("a worker").to_owned()).collect()
}

/// Plays ten pairs locally and by two workers, and checks that the games are equal.
fn check(opponent: &str, args: &[&str], openings: &str) {
    let (Some(opponent), Some(nats)) = (engine(opponent), engine("nats-server")) else { return };
    let dir = Dir::new();
    let resume = dir.write("resume", "");
    let opponent = &write_gate(&dir, opponent.to_str().expect("UTF-8"), &resume);
    let book = dir.write("book.txt", openings);
    let play = |more: &[&str]| {
        let mut command = readyok(&dir);
        command.current_dir(dir.path()).args(["match", "narikin", opponent]).args(args);
        command.args(["--rounds", "10", "--nodes", "200", "--plain", "--openings"]).arg(&book);
        let output = run(command.args(more), b"");
        assert_eq!(output.code(), Some(0), "{}", output.stderr);
        let text = output.text();
        assert!(text.contains("10 game pairs, 20 games"), "{text}");
        for fault in ["illegal", "crashes", "no answer", "not start", "on time"] {
            assert!(!text.contains(fault), "{text}");
        }
    };
    play(&["--results", "here.jsonl", "--concurrency", "2"]);
    fs::remove_file(&resume).expect("it was there");
    let port = free_port();
    let _server = NatsServer::start(&nats, port, &dir.path().join("nats"), &[]);
    let address = format!("nats://127.0.0.1:{port}");
    let there = ["one", "two"].map(|name| dir.path().join(format!("{name}-there")));
    let running = ["one", "two"].map(|name| {
        let cache = dir.path().join(name);
        let mut command = readyok(&dir);
        command.args(["worker", "--allow-any", "--queue", &address, "--name", name, "--cache"]);
        command.arg(cache).args(["--engine", opponent, "--engine"]);
        command.arg(env!("CARGO_BIN_EXE_readyok"));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.env("READYOK_THERE", dir.path().join(format!("{name}-there")));
        Running(command.spawn().expect("a worker"))
    });
    let begin = || {
        wait("a worker does not come", || there.iter().all(|path| path.exists()));
        fs::write(&resume, "").expect("a file");
    };
    thread::scope(|scope| {
        scope.spawn(begin);
        play(&["--results", "there.jsonl", "--queue", &address, "--events", "events.jsonl"]);
    });
    drop(running);
    let names = workers(&dir.path().join("events.jsonl"));
    assert_eq!(names, ["one", "two"].map(str::to_owned).into());
    let [here, there] = ["here.jsonl", "there.jsonl"].map(|name| games(&dir.path().join(name)));
    assert_eq!(here.len(), 10);
    assert_eq!(here, there);
}

#[test]
fn narikin_and_stockfish_play_ten_pairs_of_chess() {
    let openings =
        include_str!("data/matches_real/narikin_and_stockfish_play_ten_pairs_of_chess.txt");
    check("stockfish", &["--book-format", "epd", "--option", "2=Hash=1"], openings);
}

#[test]
fn narikin_and_fairy_stockfish_play_ten_pairs_of_shogi() {
    let openings =
        include_str!("data/matches_real/narikin_and_fairy_stockfish_play_ten_pairs_of_shogi.txt");
    let args = ["--game", "shogi", "--book-format", "sfen", "--max-moves", "256"];
    check("fairy-stockfish", &args, openings);
}
