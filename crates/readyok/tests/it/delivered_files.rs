//! Transfer of engine files to workers. The tests need `nats-server` and `READYOK_REAL_ENGINES`.

use std::fs;
use std::process::Stdio;

use crate::matches_real::Running;
use crate::program::{Dir, finish, readyok, run, start_nats, wait};
use crate::real::engine;

/// Narikin behind a script that requires a file of weights and writes its path to `READYOK_READ`.
fn write_reader(dir: &Dir) -> String {
    let script = format!(
        "#!/bin/sh
exec 3>&1
has_read=
while read -r line; do
    case $line in
        uci) echo 'option name Weights type string default <none>' >&3 ;;
        'setoption name Weights value '*)
            path=${{line#setoption name Weights value }}
            [ \"$(cat \"$path\")\" = weights ] || exit 3
            printf '%s' \"$path\" > \"$READYOK_READ\"
            has_read=yes
            continue ;;
        go*) [ \"$has_read\" ] || exit 3 ;;
    esac
    printf '%s\\n' \"$line\"
done | '{}' engine
",
        env!("CARGO_BIN_EXE_readyok")
    );
    let path = dir.write_program("reader", &script);
    path.to_str().expect("UTF-8").to_owned()
}

#[test]
fn an_engine_reads_its_file_on_a_worker_that_does_not_have_the_path() {
    let Some(nats) = engine("nats-server") else { return };
    let dir = Dir::new();
    let (reader, weights) = (write_reader(&dir), dir.write("net", "weights\n"));
    let (_server, address) = start_nats(&nats, &dir);
    let mut command = readyok(&dir);
    command.current_dir(dir.path()).args(["match", &reader, "narikin", "--rounds", "2"]);
    command.args(["--nodes", "50", "--max-moves", "10", "--plain", "--results", "m.jsonl"]);
    command.args(["--events", "e.jsonl", "--queue", &address, "--option"]);
    let child = command.arg(format!("1=Weights={}", weights.display())).spawn();
    let child = child.expect("the program starts");
    wait("the match does not begin", || {
        let events = fs::read_to_string(dir.path().join("e.jsonl"));
        events.is_ok_and(|events| events.contains("\"event\":\"match-start\""))
    });
    fs::remove_file(&weights).expect("it was there");

    let (cache, read) = (dir.path().join("cache"), dir.path().join("read"));
    let mut worker = readyok(&dir);
    worker.args(["worker", "--queue", &address, "--engine", &reader, "--engine", "narikin"]);
    worker.arg("--cache").arg(&cache).env("READYOK_READ", &read);
    worker.stdout(Stdio::null()).stderr(Stdio::null());
    let _worker = Running(worker.spawn().expect("a worker"));
    let output = finish(child);
    assert_eq!(output.code(), Some(0), "{}{}", output.text(), output.stderr);
    assert!(output.text().contains("2 game pairs, 4 games"), "{}", output.text());
    assert!(!output.text().contains("crashes"), "{}", output.text());
    let path = fs::read_to_string(read).expect("it has read a file");
    assert!(path.starts_with(cache.to_str().expect("UTF-8")), "{path}");
}

#[test]
fn a_match_whose_engine_needs_a_directory_does_not_start() {
    let Some(nats) = engine("nats-server") else { return };
    let dir = Dir::new();
    let reader = write_reader(&dir);
    fs::create_dir(dir.path().join("weights")).expect("a directory");
    let (_server, address) = start_nats(&nats, &dir);
    let mut command = readyok(&dir);
    command.current_dir(dir.path()).args(["match", &reader, "narikin", "--nodes", "50"]);
    command.args(["--queue", &address, "--option"]);
    command.arg("1=Weights=./weights");
    run(&mut command, b"").reports(1, "is a directory, which is not sent to workers");
}
