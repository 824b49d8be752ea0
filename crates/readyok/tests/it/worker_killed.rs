//! Workers that are killed during a pairing, with engines that no longer read their input.
//!
//! The tests need `nats-server`; without it and `READYOK_REAL_ENGINES` they are skipped.

use std::process::Stdio;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use readyok_arena::event::End;
use readyok_arena::queue::nats::{Access, Connection, CoordinatorSettings, NatsDispatcher};

use crate::matches_real::{Running, games};
use crate::program::{Dir, Signal, TIMEOUT, is_in_use, readyok, signal, start_nats, wait};
use crate::real::engine;
use crate::small_match::{open, plan, play_here};

/// What a worker may be silent here: each that is killed costs as much.
const LEASE: Duration = Duration::from_secs(5);

const ROUNDS: u64 = 6;

/// At which `go` to one of its engines each worker is killed: in a first game, in a later one, and
/// when a pairing is done.
const KILLED_AT: [u32; 3] = [1, 50, 100];

/// Narikin behind a script, which may hold at some `go`. From then on nothing ends it but SIGKILL.
pub(crate) fn write_engine(dir: &Dir, name: &str) -> String {
    let script = format!(
        "#!/bin/sh
# {name}
trap '' TERM
asked=0
while read -r line; do
    case $line in go*) asked=$((asked + 1)) ;; esac
    if [ \"$asked\" = \"$READYOK_HOLD_AT\" ]; then
        echo > \"$READYOK_HELD\"
        exec sleep 600
    fi
    printf '%s\\n' \"$line\"
done | '{}' engine
",
        env!("CARGO_BIN_EXE_readyok")
    );
    let path = dir.write_program(name, &script);
    path.to_str().expect("UTF-8").to_owned()
}

pub(crate) fn worker(
    dir: &Dir,
    server: &str,
    name: &str,
    engines: &[String],
    held: &[(&str, &str)],
) -> Running {
    let mut command = readyok(dir);
    command.args(["worker", "--queue", server, "--name", name, "--cache"]);
    command.arg(dir.path().join(name)).envs(held.iter().copied());
    for engine in engines {
        command.args(["--engine", engine]);
    }
    command.stdout(Stdio::null()).stderr(Stdio::null());
    Running(command.spawn().expect("a worker"))
}

#[test]
fn every_pairing_counts_once_though_workers_are_killed() {
    let Some(nats) = engine("nats-server") else { return };
    let dir = Dir::new();
    let engines = ["one", "two"].map(|name| write_engine(&dir, name));
    let plan = plan(&engines, ROUNDS, [50, 200], "max_moves = 40");
    let [here, there] = ["here.jsonl", "there.jsonl"].map(|name| dir.path().join(name));
    let expected = play_here(&here, &plan, 2);
    assert_eq!((&expected.end, expected.complete), (&End::Complete, ROUNDS));

    let (_server, server) = start_nats(&nats, &dir);
    let access = Access { server: server.clone(), ..Access::default() };
    let connection = Connection::open(&access).expect("a connection");
    let game = open(&there, &plan);
    let order = game.spec().clone().with_contents().expect("programs");
    let reports = game.reports();
    let settings = CoordinatorSettings { lease: LEASE, ..CoordinatorSettings::default() };
    let mut dispatcher =
        NatsDispatcher::open(&connection, order, None, settings, reports).expect("a queue");
    let (sender, end) = channel();
    thread::spawn(move || sender.send(game.coordinate(&mut dispatcher)));

    let victims = KILLED_AT.map(|at| {
        let at = at.to_string();
        let held = dir.path().join(format!("at-{at}-held"));
        let path = held.to_str().expect("UTF-8");
        let environment = [("READYOK_HOLD_AT", at.as_str()), ("READYOK_HELD", path)];
        (worker(&dir, &server, &format!("at-{at}"), &engines, &environment), held)
    });
    for (mut victim, held) in victims {
        wait("an engine does not get so far", || held.exists());
        let mark = format!("READYOK_HELD={}", held.display());
        assert!(is_in_use(&mark), "its engines run");
        signal(victim.0.id(), Signal::KILL);
        victim.0.wait().expect("it was killed");
        wait("engines are left of a worker that was killed", || !is_in_use(&mark));
    }

    let _well = worker(&dir, &server, "well", &engines, &[]);
    let summary = end.recv_timeout(TIMEOUT).expect("an end in time").expect("a match");
    assert_eq!(summary, expected);
    assert_eq!(games(&there), games(&here));
}
