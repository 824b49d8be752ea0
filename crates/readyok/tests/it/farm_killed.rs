//! A queue of a server, two coordinators and three workers, each of which is killed once. It needs `nats-server` and
//! `READYOK_REAL_ENGINES`.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use readyok_arena::event::End;
use readyok_arena::queue::nats::{Access, Admin, Connection, QueuedMatch};
use readyok_arena::store::Reader;

use crate::matches_real::{Running, games};
use crate::nats_server::NatsServer;
use crate::port::free_port;
use crate::program::{Dir, Signal, readyok, run, signal, wait};
use crate::real::engine;
use crate::small_match::{plan, play_here};

const ROUNDS: u64 = 60;
/// Seconds. Renewals are late on a busy host.
const LEASE: &str = "5";

struct Farm {
    dir: Dir,
    queue: String,
}

impl Farm {
    fn coordinator(&self, args: &[&str], results: &Path) -> Running {
        let mut command = readyok(&self.dir);
        command.args(["match", "--queue", &self.queue, "--lease", LEASE, "--json"]);
        command.args(args).arg("--results").arg(results);
        let name = results.file_stem().and_then(OsStr::to_str).expect("UTF-8");
        command.stdout(Stdio::null()).stderr(self.log(name));
        Running(command.spawn().expect("a coordinator"))
    }

    fn worker(&self, name: &str) -> Running {
        let mut command = readyok(&self.dir);
        command.args(["worker", "--queue", &self.queue, "--name", name, "--allow-any", "--cache"]);
        command.arg(self.dir.path().join(name)).stdout(Stdio::null()).stderr(self.log(name));
        Running(command.spawn().expect("a worker"))
    }

    /// The open matches; none while the server is down.
    fn matches(&self) -> Vec<QueuedMatch> {
        let access = Access { server: self.queue.clone(), ..Access::default() };
        let Ok(connection) = Connection::open(&access) else { return Vec::new() };
        Admin::new(&connection).open_matches().unwrap_or_default()
    }

    fn pairs(&self) -> u64 {
        self.matches().iter().map(|found| found.status.pairs).sum()
    }

    /// Waits until the matches have made progress.
    fn progress(&self) {
        let before = self.pairs();
        for _ in 0..3000 {
            if self.pairs() > before {
                return;
            }
            thread::sleep(Duration::from_millis(100));
        }
        panic!("no pair is played: {}", self.state());
    }

    /// The file of the error output of a process.
    fn log(&self, name: &str) -> File {
        let path = self.dir.path().join(name).with_extension("log");
        File::options().append(true).create(true).open(path).expect("a log")
    }

    /// The matches, and the error output of all processes.
    fn state(&self) -> String {
        let mut text = format!("{:#?}", self.matches());
        for entry in fs::read_dir(self.dir.path()).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension() == Some(OsStr::new("log")) {
                let log = fs::read_to_string(&path).unwrap_or_default();
                let _ = write!(text, "\n{}: {log}", path.display());
            }
        }
        text
    }
}

fn kill(running: &mut Running) {
    signal(running.0.id(), Signal::KILL);
    running.0.wait().expect("it was killed");
}

/// The indices of the stored pairs.
fn indices(results: &Path) -> Vec<u64> {
    let pairs = Reader::open(results).expect("results");
    let mut indices: Vec<u64> = pairs.map(|pair| pair.expect("a pair").pairing.index).collect();
    indices.sort_unstable();
    indices
}

#[test]
fn counts_are_exact_though_each_process_is_killed() {
    let Some(nats) = engine("nats-server") else { return };
    let dir = Dir::new();
    let port = free_port();
    let store = dir.path().join("nats");
    let start = || NatsServer::start(&nats, port, &store, &[]);
    let mut server = Some(start());
    let farm = Farm { dir, queue: format!("nats://127.0.0.1:{port}") };
    let program = env!("CARGO_BIN_EXE_readyok");
    let engines = ["one", "two"].map(|name| {
        let script = format!("#!/bin/sh\n# {name}\nexec '{program}' engine\n");
        let path = farm.dir.write_program(name, &script);
        path.to_str().expect("UTF-8").to_owned()
    });
    let matches: Vec<(PathBuf, PathBuf, PathBuf)> = [[40, 160], [60, 120]]
        .into_iter()
        .enumerate()
        .map(|(number, nodes)| {
            let mut plan = plan(&engines, ROUNDS, nodes, "max_moves = 20");
            let here = farm.dir.path().join(format!("here-{number}.jsonl"));
            assert_eq!(play_here(&here, &plan, 2).end, End::Complete);
            // Time to kill processes.
            plan.wait_ms = NonZeroU64::new(300);
            let text = toml::to_string(&plan).expect("a plan");
            let file = farm.dir.write(&format!("plan-{number}.toml"), &text);
            (file, here, farm.dir.path().join(format!("there-{number}.jsonl")))
        })
        .collect();

    let mut coordinators: Vec<Running> = matches
        .iter()
        .map(|(plan, _, results)| {
            farm.coordinator(
                &["--no-calibration", "--plan", plan.to_str().expect("UTF-8")],
                results,
            )
        })
        .collect();
    wait("not all matches are open", || farm.matches().len() == 2);
    let ids: Vec<String> = farm.matches().into_iter().map(|found| found.id).collect();
    let mut workers: Vec<Running> = ["a", "b", "c"].map(|name| farm.worker(name)).into();
    farm.progress();
    // Workers: each is replaced.
    for (worker, name) in workers.iter_mut().zip(["d", "e", "f"]) {
        kill(worker);
        *worker = farm.worker(name);
        farm.progress();
    }
    // The server.
    drop(server.take());
    thread::sleep(Duration::from_millis(300));
    server = Some(start());
    farm.progress();
    // Coordinators: one continues with its file, and the match of the other one is taken over from the queue alone.
    for coordinator in &mut coordinators {
        kill(coordinator);
    }
    let first = matches.first().expect("two matches");
    let resumed = first.2.to_str().expect("UTF-8").to_owned();
    let found = Reader::open(&first.2).expect("results").plan_hash().to_string();
    let other = ids.iter().find(|id| !found.starts_with(id.as_str())).expect("two matches");
    let taken = farm.dir.path().join("taken-over.jsonl");
    let mut command = readyok(&farm.dir);
    command.args(["match", "--queue", &farm.queue, "--lease", LEASE, "--json"]);
    command.args(["--resume", &resumed]).stdout(Stdio::null());
    let mut first_again = Running(command.spawn().expect("a coordinator"));
    let mut second_again = farm.coordinator(&["--take-over", other], &taken);
    for coordinator in [&mut first_again, &mut second_again] {
        assert!(coordinator.0.wait().expect("a process").success());
    }
    for (results, here) in [(&first.2, &first.1), (&taken, &matches[1].1)] {
        assert_eq!(indices(results), (0..ROUNDS).collect::<Vec<_>>());
        assert_eq!(games(results), games(here));
    }
    // The history has both.
    let list = run(
        readyok(&farm.dir).args(["queue", "list", "--all", "--json", "--queue", &farm.queue]),
        b"",
    );
    let list: Vec<QueuedMatch> = serde_json::from_str(list.text()).expect("JSON");
    assert_eq!(list.len(), 2);
    assert!(list.iter().all(|found| found.status.pairs == ROUNDS), "{list:?}");
    // A worker leaves at the first SIGTERM.
    for worker in &mut workers {
        signal(worker.0.id(), Signal::TERM);
        assert_eq!(worker.0.wait().expect("a process").code(), Some(130));
    }
    drop(server);
}
