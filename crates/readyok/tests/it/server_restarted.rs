//! A match whose NATS server is killed and restarted. The test needs `nats-server` and
//! `READYOK_REAL_ENGINES`.

use std::fs;
use std::process::Stdio;

use crate::matches_real::{Running, games};
use crate::nats_server::NatsServer;
use crate::port::free_port;
use crate::program::{Dir, finish, is_in_use, readyok, run, wait};
use crate::real::engine;

#[test]
fn a_match_continues_after_its_server_restarts() {
    let Some(nats) = engine("nats-server") else { return };
    let dir = Dir::new();
    let mark = format!("READYOK_ENGINE={}", dir.path().display());
    let script = format!(
        "#!/bin/sh\n{mark}\nexport READYOK_ENGINE\nexec '{}' engine\n",
        env!("CARGO_BIN_EXE_readyok")
    );
    let program = dir.write_program("marked", &script);
    let program = program.to_str().expect("UTF-8");
    let args = ["match", program, program, "--rounds", "8", "--nodes", "100", "--plain"];
    let position = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -\n";
    dir.write("book.epd", position);
    let play = |more: &[&str]| {
        let mut command = readyok(&dir);
        command.current_dir(dir.path()).args(args).args(["--openings", "book.epd"]).args(more);
        command
    };
    let here = run(&mut play(&["--results", "here.jsonl"]), b"");
    assert_eq!(here.code(), Some(0), "{}", here.stderr);

    let (port, store) = (free_port(), dir.path().join("nats"));
    let server = NatsServer::start(&nats, port, &store, &[]);
    let address = format!("nats://127.0.0.1:{port}");
    let mut worker = readyok(&dir);
    worker.args(["worker", "--allow-any", "--queue", &address, "--name", "one", "--cache"]);
    worker.arg(dir.path().join("cache")).args(["--engine", program]);
    worker.stdout(Stdio::null()).stderr(Stdio::null());
    let mut worker = Running(worker.spawn().expect("a worker"));
    let args = ["--results", "there.jsonl", "--queue", &address, "--events", "e.jsonl"];
    let child = play(&args).spawn().expect("the program starts");
    wait("no pairing is played", || {
        let events = fs::read_to_string(dir.path().join("e.jsonl"));
        events.is_ok_and(|events| events.contains("\"event\":\"pair-end\""))
    });
    drop(server);
    let _again = NatsServer::start(&nats, port, &store, &[]);
    let there = finish(child);
    assert_eq!(there.code(), Some(0), "{}", there.stderr);
    assert!(there.text().contains("8 game pairs, 16 games"), "{}", there.text());
    wait("an engine is left", || !is_in_use(&mark));
    assert!(worker.0.try_wait().expect("a process").is_none(), "the worker stays");
    let [here, there] = ["here.jsonl", "there.jsonl"].map(|name| games(&dir.path().join(name)));
    assert_eq!(here, there);
}
