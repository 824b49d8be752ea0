//! `readyok tune`, with Narikin.

use std::fs;
use std::process::Stdio;

use crate::matches_real::Running;
use crate::program::{Dir, Output, Signal, readyok, run, signal, start_nats, wait};
use crate::real::engine;

fn at(dir: &Dir, args: &[&str]) -> Output {
    run(readyok(dir).current_dir(dir.path()).args(args), b"")
}

fn read(dir: &Dir, name: &str) -> String {
    fs::read_to_string(dir.path().join(name)).expect(name)
}

const FILE: &str = include_str!("data/tune/file.txt");

#[test]
fn values_are_those_of_their_options() {
    let dir = Dir::new();
    // In the file, `Move Overhead` is before `Hash`.
    let (head, hash) = FILE.split_at(FILE.find("[[parameters]]").expect("a parameter"));
    let overhead = hash.replace("Hash", "Move Overhead").replace("16", "100").replace("64", "200");
    let file = format!("{head}{overhead}{hash}");
    fs::write(dir.path().join("t.toml"), &file).expect("space");
    let output = at(&dir, &["tune", "t.toml", "--results", "t.jsonl"]);
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let text = output.text();
    let value = |name: &str| -> i64 {
        let (_, rest) = text.split_once(&format!("setoption name {name} value ")).expect(name);
        rest.split(' ').next().and_then(|value| value.parse().ok()).expect(name)
    };
    assert!(value("Hash") < 50 && 50 < value("Move Overhead"), "{text}");
    assert_eq!(read(&dir, "t.toml"), file, "the options have another file");
}

#[test]
fn tunes_an_option_and_resumes() {
    let dir = Dir::new();
    fs::write(dir.path().join("tune.toml"), FILE).expect("space");
    let args =
        ["tune", "tune.toml", "--results", "t.jsonl", "--report", "t.html", "--interval", "2"];
    let output = at(&dir, &args);
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let text = output.text();
    for part in [
        "2/4 game pairs  Hash ",
        "4/4 game pairs  Hash ",
        "setoption name Hash value 1",
        "options: t.options.toml",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("resume:"), "{text}");
    assert!(text.contains("warning: without `openings` in the file all games start"), "{text}");
    assert!(!text.contains("--openings") && !text.contains("repeat"), "{text}");
    assert!(
        read(&dir, "t.options.toml")
            .starts_with("# After 4 of 4 game pairs\n[options]\nHash = \"1")
    );
    assert!(read(&dir, "t.html").contains("<h3>Hash</h3>"));
    let results = read(&dir, "t.jsonl");
    assert!(results.contains("\"options\":[{\"Hash\":\""), "{results}");
    // As after a crash.
    let lines: Vec<&str> = results.split_inclusive('\n').collect();
    fs::write(dir.path().join("half.jsonl"), lines[..3].concat()).expect("space");
    let output = at(&dir, &["tune", "--resume", "half.jsonl", "--options", "o.toml"]);
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    assert!(output.text().contains("resumed after 2 game pairs"), "{}", output.text());
    assert_eq!(read(&dir, "half.jsonl").lines().count(), 5);
    assert!(read(&dir, "o.toml").contains("Hash = "));
}

#[test]
fn rejects_unknown_options_and_invalid_files() {
    let dir = Dir::new();
    let play = |text: &str| {
        fs::write(dir.path().join("tune.toml"), text).expect("space");
        at(&dir, &["tune", "tune.toml", "--results", "x.jsonl"])
    };
    play(&FILE.replace("max = 64", "max = 2")).reports(2, "needs `start` between `min` and `max`");
    let output = play(&FILE.replace("name = \"Hash\"", "name = \"Nonsense\""));
    assert_eq!(output.code(), Some(1), "{}", output.stderr);
    assert!(output.text().contains("narikin plus failed"), "{}", output.text());
    let args = ["match", "narikin", "narikin", "--depth", "1", "--max-moves", "1"];
    at(&dir, &[&args[..], &["--results", "m.jsonl"]].concat());
    at(&dir, &["tune", "--resume", "m.jsonl"]).reports(2, "not a tuning");
}

/// The number of complete lines of a results file.
fn lines(dir: &Dir, name: &str) -> usize {
    let text = fs::read_to_string(dir.path().join(name)).unwrap_or_default();
    text.matches('\n').count()
}

#[test]
fn has_the_same_values_after_sigkill() {
    let dir = Dir::new();
    let file = FILE.replace("pairs = 4", "pairs = 100").replace("max_moves = 2", "max_moves = 20");
    fs::write(dir.path().join("tune.toml"), file).expect("space");
    let whole = at(&dir, &["tune", "tune.toml", "--results", "whole.jsonl"]);
    assert_eq!(whole.code(), Some(0), "{}", whole.stderr);

    let mut command = readyok(&dir);
    command.current_dir(dir.path()).args(["tune", "tune.toml", "--results", "killed.jsonl"]);
    let mut killed = Running(command.stdout(Stdio::null()).spawn().expect("a tuning"));
    wait("no pair is complete", || lines(&dir, "killed.jsonl") > 3);
    signal(killed.0.id(), Signal::KILL);
    killed.0.wait().expect("it was killed");
    assert!(lines(&dir, "killed.jsonl") < 101, "it was killed too late");
    let output = at(&dir, &["tune", "--resume", "killed.jsonl"]);
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    assert_eq!(lines(&dir, "killed.jsonl"), lines(&dir, "whole.jsonl"));
    assert_eq!(read(&dir, "killed.options.toml"), read(&dir, "whole.options.toml"));
}

#[test]
fn tunes_on_a_queue() {
    let Some(nats) = engine("nats-server") else { return };
    let dir = Dir::new();
    fs::write(dir.path().join("tune.toml"), FILE).expect("space");
    let (_server, address) = start_nats(&nats, &dir);
    let mut worker = readyok(&dir);
    worker.args(["worker", "--queue", &address, "--allow-any", "--cache"]);
    worker.arg(dir.path().join("cache")).stdout(Stdio::null()).stderr(Stdio::null());
    let _worker = Running(worker.spawn().expect("a worker"));
    let output = at(&dir, &["tune", "tune.toml", "--results", "q.jsonl", "--queue", &address]);
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    assert!(
        read(&dir, "q.options.toml")
            .starts_with("# After 4 of 4 game pairs\n[options]\nHash = \"1")
    );
    assert!(read(&dir, "q.jsonl").contains("\"worker\""));
}
