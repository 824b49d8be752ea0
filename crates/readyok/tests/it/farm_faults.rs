//! A queue of a server, two coordinators and three workers that are killed, suspended and disconnected in a random order.
//! It needs `nats-server` and `READYOK_REAL_ENGINES`.
//!
//! `READYOK_FAULTS` sets the number of faults, and `READYOK_FAULTS_SEED` repeats their order.

use std::env;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{Write as _, stderr};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, SystemTime};

use readyok_arena::event::End;
use readyok_arena::plan::Plan;
use readyok_arena::queue::nats::{Access, Admin, Connection, QueuedMatch};
use readyok_arena::queue::status::Phase;
use readyok_arena::store::Reader;

use crate::cable::Cable;
use crate::matches_real::{Running, games};
use crate::nats_server::NatsServer;
use crate::port::free_port;
use crate::program::{Dir, Signal, readyok, run, signal, wait};
use crate::real::engine;
use crate::small_match::{plan, play_here};

/// The number of faults.
const FAULTS: u64 = 30;

/// The seed, unless there are more faults.
const SEED: u64 = 1;

/// Seconds.
const LEASE: &str = "3";

/// The pause after each game: the matches must not end before the last fault.
const GAME_PAUSE_MS: u64 = 300;

/// Pauses between two faults, in milliseconds.
const PAUSES_MS: std::ops::Range<u64> = 50..700;

/// Timeout of each further pair after the last fault.
const TIMEOUT: Duration = Duration::from_mins(5);

/// The processes of the farm.
const COORDINATORS: usize = 2;
const WORKERS: [&str; 3] = ["a", "b", "c"];

#[derive(Clone, Copy, Debug)]
enum Fault {
    Kill,
    Suspend,
    Disconnect,
}

#[derive(Clone, Debug)]
enum Role {
    Coordinator {
        plan: PathBuf,
        results: PathBuf,
        /// The match of another coordinator, whose file this one does not have.
        taken_over: Option<String>,
    },
    Worker,
}

/// A coordinator or a worker, with its connection to the server.
struct Member {
    name: String,
    role: Role,
    cable: Cable,
    running: Option<Running>,
    fault: Option<Fault>,
    is_finished: bool,
}

struct Server {
    nats: PathBuf,
    port: u16,
    store: PathBuf,
    running: Option<NatsServer>,
    fault: Option<Fault>,
}

/// What was done, which a failure prints.
struct Sequence {
    seed: u64,
    steps: Vec<String>,
}

impl Drop for Sequence {
    fn drop(&mut self) {
        if thread::panicking() {
            let text = format!("READYOK_FAULTS_SEED={}\n{}\n", self.seed, self.steps.join("\n"));
            // The test has failed already.
            let _ = stderr().write_all(text.as_bytes());
        }
    }
}

struct Farm {
    dir: Dir,
    server: Server,
    members: Vec<Member>,
    random: fastrand::Rng,
    sequence: Sequence,
}

impl Server {
    fn start(&mut self) {
        self.running = Some(NatsServer::start(&self.nats, self.port, &self.store, &[]));
    }

    fn fail(&mut self, fault: Fault) {
        match (fault, &self.running) {
            (Fault::Suspend, Some(running)) => signal(running.0.id(), Signal::STOP),
            // All connections are lost, too.
            _ => self.running = None,
        }
        self.fault = Some(fault);
    }

    fn repair(&mut self) {
        match (self.fault.take(), &self.running) {
            (Some(Fault::Suspend), Some(running)) => signal(running.0.id(), Signal::CONT),
            (Some(_), _) => self.start(),
            (None, _) => {}
        }
    }
}

impl Member {
    fn new(name: &str, role: Role, server: u16) -> Self {
        let cable = Cable::to(server);
        Self { name: name.to_owned(), role, cable, running: None, fault: None, is_finished: false }
    }

    fn start(&mut self, dir: &Dir) {
        let mut command = readyok(dir);
        let queue = format!("nats://127.0.0.1:{}", self.cable.port);
        match &self.role {
            Role::Worker => {
                command.args(["worker", "--queue", &queue, "--name", &self.name, "--allow-any"]);
                command.arg("--cache").arg(dir.path().join(&self.name));
            }
            Role::Coordinator { plan, results, taken_over } => {
                command.args(["match", "--queue", &queue, "--lease", LEASE, "--json"]);
                if results.exists() {
                    command.arg("--resume").arg(results);
                } else if let Some(id) = taken_over {
                    command.args(["--take-over", id, "--results"]).arg(results);
                } else {
                    command.args(["--no-calibration", "--plan"]).arg(plan);
                    command.arg("--results").arg(results);
                }
            }
        }
        command.stdout(Stdio::null()).stderr(log(dir, &self.name));
        self.running = Some(Running(command.spawn().expect("it starts")));
    }

    fn fail(&mut self, fault: Fault) {
        match (fault, &mut self.running) {
            (Fault::Disconnect, _) => self.cable.set_connected(false),
            (Fault::Suspend, Some(running)) => signal(running.0.id(), Signal::STOP),
            // Dropping it kills it.
            _ => self.running = None,
        }
        self.fault = Some(fault);
    }

    fn repair(&mut self, dir: &Dir) {
        match (self.fault.take(), &self.running) {
            (Some(Fault::Disconnect), _) => self.cable.set_connected(true),
            (Some(Fault::Suspend), Some(running)) => signal(running.0.id(), Signal::CONT),
            _ => {}
        }
        if !self.is_finished && self.has_ended() {
            self.start(dir);
        }
    }

    /// Whether it has no process. A process may exit while the server is away.
    fn has_ended(&mut self) -> bool {
        self.running.is_none() || self.ended().is_some()
    }

    /// The status of its process, if that has ended.
    fn ended(&mut self) -> Option<ExitStatus> {
        let status = self.running.as_mut()?.0.try_wait().expect("a process");
        let is_coordinator = matches!(self.role, Role::Coordinator { .. });
        self.is_finished |= is_coordinator && status.is_some_and(|status| status.success());
        status
    }
}

/// The file of the error output of a process.
fn log(dir: &Dir, name: &str) -> File {
    let path = dir.path().join(name).with_extension("log");
    File::options().append(true).create(true).open(path).expect("a log")
}

impl Farm {
    fn step(&mut self, text: String) {
        self.sequence.steps.push(text);
    }

    /// Breaks a process that is in order, if most of them are.
    fn fail(&mut self) -> bool {
        let members = self.members.iter_mut().enumerate();
        let in_order = members.filter_map(|(number, member)| {
            (member.fault.is_none() && !member.has_ended()).then_some(number)
        });
        let in_order: Vec<usize> = in_order.collect();
        let is_server_in_order = self.server.fault.is_none();
        if in_order.len() < 3 {
            return false;
        }
        let fault = [Fault::Kill, Fault::Suspend, Fault::Disconnect][self.random.usize(0..3)];
        let number = self.random.usize(0..in_order.len() + usize::from(is_server_in_order));
        if let Some(&number) = in_order.get(number) {
            self.members[number].fail(fault);
            self.step(format!("{fault:?} {}", self.members[number].name));
        } else {
            self.server.fail(fault);
            self.step(format!("{fault:?} the server"));
        }
        true
    }

    /// Repairs each broken process with a probability.
    fn repair(&mut self, probability: f64) {
        if self.server.fault.is_some() && self.random.f64() < probability {
            self.server.repair();
            self.step("repair the server".to_owned());
        }
        for number in 0..self.members.len() {
            let member = &mut self.members[number];
            let is_broken = member.fault.is_some() || (!member.is_finished && member.has_ended());
            if is_broken && self.random.f64() < probability {
                let ended = if member.fault.is_none() { member.ended() } else { None };
                let ended = ended.map(|why| format!(", which has ended: {why}"));
                member.repair(&self.dir);
                let text = format!("repair {}{}", member.name, ended.unwrap_or_default());
                self.step(text);
            }
        }
    }

    fn coordinators(&mut self) -> &mut [Member] {
        &mut self.members[..COORDINATORS]
    }

    /// The matches, also finished ones; none while the server is down.
    fn matches(&self) -> Vec<QueuedMatch> {
        let server = format!("nats://127.0.0.1:{}", self.server.port);
        let Ok(connection) = Connection::open(&Access { server, ..Access::default() }) else {
            return Vec::new();
        };
        Admin::new(&connection).matches().unwrap_or_default()
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

/// The indices of the stored pairs.
fn indices(results: &Path) -> Vec<u64> {
    let pairs = Reader::open(results).expect("results");
    let mut indices: Vec<u64> = pairs.map(|pair| pair.expect("a pair").pairing.index).collect();
    indices.sort_unstable();
    indices
}

/// A number in an environment variable.
fn number_in(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a number")))
}

#[test]
fn each_pair_counts_once_despite_faults() {
    let Some(nats) = engine("nats-server") else { return };
    let faults = number_in("READYOK_FAULTS").unwrap_or(FAULTS);
    let default = if faults == FAULTS { SEED } else { fastrand::u64(..) };
    let seed = number_in("READYOK_FAULTS_SEED").unwrap_or(default);
    let rounds = faults.max(40);
    let dir = Dir::new();
    let store = dir.path().join("nats");
    let mut server = Server { nats, port: free_port(), store, running: None, fault: None };
    server.start();
    let program = env!("CARGO_BIN_EXE_readyok");
    let engines = ["one", "two"].map(|name| {
        let script = format!("#!/bin/sh\n# {name}\nexec '{program}' engine\n");
        let path = dir.write_program(name, &script);
        path.to_str().expect("UTF-8").to_owned()
    });
    let plans: Vec<Plan> =
        [[40, 160], [60, 120]].map(|nodes| plan(&engines, rounds, nodes, "max_moves = 20")).into();
    let here: Vec<PathBuf> =
        (0..COORDINATORS).map(|number| dir.path().join(format!("here-{number}.jsonl"))).collect();
    for (plan, here) in plans.iter().zip(&here) {
        assert_eq!(play_here(here, plan, 2).end, End::Complete);
    }
    let port = server.port;
    let mut farm = Farm {
        dir,
        server,
        members: Vec::new(),
        random: fastrand::Rng::with_seed(seed),
        sequence: Sequence { seed, steps: Vec::new() },
    };
    for (mut plan, number) in plans.into_iter().zip(0..) {
        plan.wait_ms = NonZeroU64::new(GAME_PAUSE_MS);
        let text = toml::to_string(&plan).expect("a plan");
        let plan = farm.dir.write(&format!("plan-{number}.toml"), &text);
        let results = farm.dir.path().join(format!("there-{number}.jsonl"));
        let role = Role::Coordinator { plan, results, taken_over: None };
        farm.members.push(Member::new(&format!("coordinator-{number}"), role, port));
    }
    farm.members.extend(WORKERS.map(|name| Member::new(name, Role::Worker, port)));
    for number in 0..farm.members.len() {
        farm.members[number].start(&farm.dir);
        // The first coordinator creates the queue.
        let open = COORDINATORS.min(number + 1);
        wait("a match is not open", || farm.matches().len() == open);
    }
    let ids: Vec<String> = farm.matches().into_iter().map(|found| found.id).collect();

    let mut count = 0;
    while count < faults
        && !farm.coordinators().iter_mut().all(|coordinator| coordinator.is_finished)
    {
        count += u64::from(farm.fail());
        let pause = farm.random.u64(PAUSES_MS);
        thread::sleep(Duration::from_millis(pause));
        farm.repair(0.5);
    }
    let played = farm.sequence.steps.len();
    assert!(count == faults, "the matches have ended after {count} faults, {played} steps");
    farm.repair(1.0);

    // The match of the second coordinator is taken over from the queue alone.
    let resumed = fs::read_to_string(farm.dir.path().join("there-0.jsonl")).expect("results");
    let other = ids.iter().find(|id| !resumed.contains(id.as_str())).expect("two matches").clone();
    let found = farm.matches().into_iter().find(|found| found.id == other);
    let is_open = found.is_some_and(|found| found.phase != Phase::Finished);
    let taken = farm.dir.path().join("taken-over.jsonl");
    let second = &mut farm.coordinators()[1];
    let is_taken_over = is_open && !second.has_ended();
    if is_taken_over {
        second.fail(Fault::Kill);
        if let Role::Coordinator { results, taken_over, .. } = &mut second.role {
            (*results, *taken_over) = (taken, Some(other));
        }
        farm.step("take the second match over".to_owned());
    }
    let (mut pairs, mut until) = (0, SystemTime::now() + TIMEOUT);
    while !farm.coordinators().iter_mut().all(|coordinator| coordinator.is_finished) {
        let now = farm.matches().iter().map(|found| found.status.pairs).sum::<u64>();
        if now > pairs {
            (pairs, until) = (now, SystemTime::now() + TIMEOUT);
        }
        assert!(SystemTime::now() < until, "{}", farm.state());
        farm.repair(1.0);
        thread::sleep(Duration::from_millis(200));
    }

    for (member, here) in farm.members.iter().zip(&here) {
        let Role::Coordinator { results, .. } = &member.role else { panic!("a coordinator") };
        assert_eq!(indices(results), (0..rounds).collect::<Vec<_>>(), "{}", farm.state());
        assert_eq!(games(results), games(here));
    }
    // The history has both.
    let address = format!("nats://127.0.0.1:{port}");
    let list = run(
        readyok(&farm.dir).args(["queue", "list", "--all", "--json", "--queue", &address]),
        b"",
    );
    let list: Vec<QueuedMatch> = serde_json::from_str(list.text()).expect("JSON");
    assert_eq!(list.len(), COORDINATORS);
    assert!(list.iter().all(|found| found.status.pairs == rounds), "{list:?}");
    assert!(list.iter().all(|found| found.status.invalid == 0), "{list:?}");
    // A worker leaves at the first SIGTERM.
    for worker in &mut farm.members[COORDINATORS..] {
        let running = worker.running.as_mut().expect("a worker");
        signal(running.0.id(), Signal::TERM);
        assert_eq!(running.0.wait().expect("a process").code(), Some(0));
    }
}
