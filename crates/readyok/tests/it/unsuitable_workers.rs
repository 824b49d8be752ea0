//! Workers that cannot play a match, with and without suitable workers. Requires `nats-server` and
//! `READYOK_REAL_ENGINES`.

use std::fs::{self, File};
use std::process::Stdio;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use readyok_arena::event::End;
use readyok_arena::plan::Plan;
use readyok_arena::queue::nats::{
    Access, Admin, Connection, CoordinatorSettings, NatsDispatcher, QueuedMatch,
};
use readyok_arena::runner::{MatchError, Summary};
use readyok_arena::store::Reader;

use crate::matches_real::{Running, games};
use crate::nats_server::NatsServer;
use crate::program::{Dir, TIMEOUT, is_in_use, readyok, start_nats, wait};
use crate::real::engine;
use crate::small_match::{self, open, play_here};

const ROUNDS: u64 = 4;

/// Longer than the start of a second worker.
const LEASE: Duration = Duration::from_secs(30);

/// A match that all workers reject reports this after twice this time.
const SHORT_LEASE: Duration = Duration::from_secs(2);

/// Narikin behind a script that, by the environment, does not start, exits in its first search, does not start a
/// second time, or starts only then.
fn write_engine(dir: &Dir, name: &str) -> String {
    let program = env!("CARGO_BIN_EXE_readyok");
    let script = format!(
        "#!/bin/sh
# {name}
case $READYOK_BAD in
    {name}-start) exit 3 ;;
    {name}-search)
        while read -r line; do
            case $line in go*) exit 3 ;; esac
            printf '%s\\n' \"$line\"
        done | '{program}' engine
        exit 3 ;;
    {name}-later)
        [ -e \"$READYOK_ONCE\" ] && exit 3
        echo > \"$READYOK_ONCE\" ;;
    {name}-first)
        [ -e \"$READYOK_ONCE\" ] || {{ echo > \"$READYOK_ONCE\"; exit 3; }} ;;
esac
exec '{program}' engine
"
    );
    let path = dir.write_program(name, &script);
    path.to_str().expect("UTF-8").to_owned()
}

/// The plan with additional adjudication.
fn plan(engines: &[String; 2], more: &str) -> Plan {
    small_match::plan(engines, ROUNDS, [50, 100], &format!("max_moves = 20 {more}"))
}

/// A server and the engines of a match.
struct Place {
    dir: Dir,
    engines: [String; 2],
    address: String,
    _server: NatsServer,
}

impl Place {
    fn start() -> Option<Self> {
        let nats = engine("nats-server")?;
        let dir = Dir::new();
        let engines = ["one", "two"].map(|name| write_engine(&dir, name));
        let (server, address) = start_nats(&nats, &dir);
        Some(Self { dir, engines, address, _server: server })
    }

    /// A worker with this defect.
    fn worker(&self, name: &str, bad: &str) -> Worker<'_> {
        let log = self.dir.path().join(format!("{name}.txt"));
        let mut command = readyok(&self.dir);
        command.args(["worker", "--queue", &self.address, "--name", name, "--slots", "3"]);
        command.arg("--cache").arg(self.dir.path().join(name));
        for engine in &self.engines {
            command.args(["--engine", engine]);
        }
        command.env("READYOK_BAD", bad).env("READYOK_TEST", self.mark());
        command.env("READYOK_ONCE", self.dir.path().join(format!("{name}-once")));
        command.stdout(Stdio::null()).stderr(File::create(&log).expect("a file"));
        Worker {
            running: Running(command.spawn().expect("a worker")),
            name: name.to_owned(),
            place: self,
        }
    }

    /// Starts a match for workers.
    fn play(
        &self,
        results: &str,
        plan: &Plan,
        lease: Duration,
    ) -> Receiver<Result<Summary, MatchError>> {
        let access = Access { server: self.address.clone(), ..Access::default() };
        let connection = Connection::open(&access).expect("a connection");
        let game = open(&self.dir.path().join(results), plan);
        let order = game.spec().clone().with_contents().expect("programs");
        let reports = game.reports();
        let settings = CoordinatorSettings { lease, ..CoordinatorSettings::default() };
        let dispatcher = NatsDispatcher::open(&connection, order, None, settings, reports);
        let mut dispatcher = dispatcher.expect("a queue");
        let (sender, end) = channel();
        thread::spawn(move || sender.send(game.coordinate(&mut dispatcher)));
        end
    }

    /// A marker in the environment of all processes of a worker.
    fn mark(&self) -> &str {
        self.dir.path().to_str().expect("UTF-8")
    }

    /// The worker of each stored pair.
    fn players(&self, results: &str) -> Vec<String> {
        let pairs = Reader::open(&self.dir.path().join(results)).expect("results");
        pairs.map(|pair| pair.expect("a pair").worker.expect("a worker").0).collect()
    }
}

struct Worker<'a> {
    running: Running,
    name: String,
    place: &'a Place,
}

impl Worker<'_> {
    fn has_logged(&self, text: &str) -> bool {
        let log = fs::read_to_string(self.place.dir.path().join(format!("{}.txt", self.name)));
        log.is_ok_and(|log| log.contains(text))
    }

    /// Waits until it rejects a match for a reason.
    fn rejects(&mut self, why: &str) {
        wait("no match is rejected", || self.has_logged("rejected match"));
        assert!(self.has_logged(why), "another reason than {why}");
        assert!(
            self.running.0.try_wait().expect("a process").is_none(),
            "the worker is still running"
        );
    }
}

/// With an unsuitable worker first, the match has the same results as with the suitable worker alone.
fn check_with_suitable_worker(bad: &str, why: &str) {
    let Some(place) = Place::start() else { return };
    let plan = plan(&place.engines, "");
    let here = place.dir.path().join("here.jsonl");
    let expected = play_here(&here, &plan, 1);
    assert_eq!((&expected.end, expected.complete), (&End::Complete, ROUNDS));

    let end = place.play("there.jsonl", &plan, LEASE);
    let mut unsuitable = place.worker("unsuitable", bad);
    unsuitable.rejects(why);
    let good = place.worker("good", "");
    let summary = end.recv_timeout(TIMEOUT).expect("an end in time").expect("a match");
    assert_eq!(summary, expected);
    assert_eq!(games(&place.dir.path().join("there.jsonl")), games(&here));
    assert_eq!(place.players("there.jsonl"), ["good"; 4]);
    drop((unsuitable, good));
    let mark = format!("READYOK_TEST={}", place.mark());
    wait("an engine is left", || !is_in_use(&mark));
}

#[test]
fn a_worker_whose_engine_does_not_start_has_no_results() {
    check_with_suitable_worker("two-start", "the engine `two` does not start");
}

#[test]
fn a_worker_whose_engine_dies_in_its_first_search_has_no_results() {
    check_with_suitable_worker("two-search", "the engine `two` crashes");
}

#[test]
fn a_worker_whose_engine_starts_only_once_gives_its_jobs_back() {
    check_with_suitable_worker("one-later", "the engine `one` does not start");
}

#[test]
fn a_temporary_failure_of_an_engine_is_retried() {
    let Some(place) = Place::start() else { return };
    let plan = plan(&place.engines, "");
    let end = place.play("there.jsonl", &plan, LEASE);
    let mut only = place.worker("only", "one-first");
    only.rejects("the engine `one` does not start");
    let summary = end.recv_timeout(TIMEOUT).expect("an end in time").expect("a match");
    assert_eq!((summary.end, summary.complete), (End::Complete, ROUNDS));
    assert_eq!(place.players("there.jsonl"), ["only"; 4]);
}

/// The warnings of the only open match, once they contain a text.
fn warnings_with(place: &Place, text: &str) -> QueuedMatch {
    let access = Access { server: place.address.clone(), ..Access::default() };
    let admin = Admin::new(&Connection::open(&access).expect("a connection"));
    let found = || admin.open_matches().expect("a server").pop();
    wait("there is no such warning", || {
        let found = found();
        let mut warnings = found.iter().flat_map(|found| &found.status.warnings);
        warnings.any(|warning| warning.contains(text))
    });
    found().expect("a match")
}

#[test]
fn a_match_whose_engine_starts_nowhere_waits_for_another_worker() {
    let Some(place) = Place::start() else { return };
    let plan = plan(&place.engines, "");
    let end = place.play("there.jsonl", &plan, SHORT_LEASE);
    let workers = ["a", "b"].map(|name| place.worker(name, "one-start"));
    let found = warnings_with(&place, "all workers reject the match, which waits for others: a, b");
    let warnings = found.status.warnings.join("\n");
    for name in ["a", "b"] {
        let expected = format!("`{name}` rejects the match: the engine `one` does not start");
        assert!(warnings.contains(&expected), "{warnings}");
    }
    let good = place.worker("good", "");
    let summary = end.recv_timeout(TIMEOUT).expect("an end in time").expect("a match");
    assert_eq!((summary.end, summary.complete), (End::Complete, ROUNDS));
    assert_eq!(place.players("there.jsonl"), ["good"; 4]);
    drop((workers, good));
}

#[test]
fn a_worker_without_the_tablebases_of_a_match_plays_the_next_one() {
    let Some(place) = Place::start() else { return };
    let tables = place.dir.path().join("no-such-directory");
    let tables = format!(", tablebases = {{ paths = ['{}'] }}", tables.display());
    let waiting = place.play("with.jsonl", &plan(&place.engines, &tables), SHORT_LEASE);
    let mut worker = place.worker("poor", "");
    worker.rejects("the tablebases cannot be opened");
    let found = warnings_with(&place, "all workers reject the match");
    let end = place.play("without.jsonl", &plan(&place.engines, ""), SHORT_LEASE);
    let summary = end.recv_timeout(TIMEOUT).expect("an end in time").expect("a match");
    assert_eq!((summary.end, summary.complete), (End::Complete, ROUNDS));
    assert_eq!(place.players("without.jsonl"), ["poor"; 4]);
    let access = Access { server: place.address.clone(), ..Access::default() };
    let admin = Admin::new(&Connection::open(&access).expect("a connection"));
    admin.stop(&found).expect("an open match");
    let summary = waiting.recv_timeout(TIMEOUT).expect("an end in time").expect("a match");
    assert_eq!((summary.end, summary.complete), (End::Stopped, 0));
}
