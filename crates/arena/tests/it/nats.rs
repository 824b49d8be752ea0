//! The NATS queue: joining, leaving and lost workers, restarts of server and coordinator, and access control. Requires
//! `nats-server` and `READYOK_REAL_ENGINES`.

mod access;
mod attack;
mod audit;
mod chaos;
mod farm;
mod files;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{Write as _, stderr};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, SystemTime};

use readyok_arena::event::End;
use readyok_arena::plan::EnginePlan;
use readyok_arena::queue::nats::permissions::{OWNER, WORKER_PUBLISH, WORKER_SUBSCRIBE};
use readyok_arena::queue::nats::{
    Access, Connection, CoordinatorSettings, Cost, NatsDispatcher, NewMatch, Permissions, Pool,
    Served, Slot, TakeResult,
};
use readyok_arena::queue::{
    Dispatcher, Lease, MatchSpec, Progress, Rejection, Report, ReturnReason, Speed, Stop, WorkerId,
    scale_times,
};
use readyok_arena::store::IndexSet;
use tempfile::TempDir;

use crate::cable::Cable;
use crate::nats_server::NatsServer;
use crate::port::free_port;
use crate::sample;

/// Timeout of all waits.
const TIMEOUT: Duration = Duration::from_mins(5);

/// The lease time of these tests.
const LEASE: Duration = Duration::from_secs(3);

/// The password of all logins.
const PASSWORD: &str = "secret";

/// A server for one test.
struct Server {
    running: Option<NatsServer>,
    directory: TempDir,
    port: u16,
    more: Vec<OsString>,
}

impl Server {
    /// `None` if no server is installed and none is required.
    fn start() -> Option<Self> {
        Self::with(|_| Vec::new())
    }

    /// Starts a server with additional arguments, which may name files of its directory.
    fn with(more: impl FnOnce(&Path) -> Vec<OsString>) -> Option<Self> {
        if env::var_os("READYOK_REAL_ENGINES").is_none() {
            let text = b"not tested: nats-server, which needs READYOK_REAL_ENGINES=1\n";
            stderr().write_all(text).expect("standard error is open");
            return None;
        }
        let directory = TempDir::new().expect("a directory");
        let more = more(directory.path());
        let mut server = Self { running: None, directory, port: free_port(), more };
        server.start_again();
        Some(server)
    }

    /// A server that verifies the names of these workers, with the permissions of a farm. Connections without a login are the
    /// owner's.
    fn farm(workers: &[&str]) -> Option<Self> {
        let workers: Vec<String> = workers
            .iter()
            .map(|name| {
                let list = |subjects: &[&str]| {
                    let own = subjects.iter().map(|subject| subject.replace("{{name()}}", name));
                    format!("{:?}", own.collect::<Vec<_>>())
                };
                format!(
                    "{{ user: {name:?}, password: {PASSWORD:?}, permissions: {{ publish: {}, subscribe: {} }} }}",
                    list(&WORKER_PUBLISH),
                    list(&WORKER_SUBSCRIBE)
                )
            })
            .collect();
        Self::with(|directory| {
            let settings = format!(
                "authorization {{ users: [\n{{ user: {OWNER:?}, password: {PASSWORD:?} }},\n{}\n] }}\n\
                 no_auth_user: {OWNER:?}\n",
                workers.join(",\n")
            );
            let file = directory.join("nats.conf");
            fs::write(&file, settings).expect("space");
            vec!["-c".into(), file.into_os_string()]
        })
    }

    fn kill(&mut self) {
        self.running = None;
    }

    fn start_again(&mut self) {
        let program = find("nats-server");
        let server = NatsServer::start(&program, self.port, self.directory.path(), &self.more);
        self.running = Some(server);
    }

    fn connect(&self) -> Connection {
        connect(self.port)
    }
}

fn access(port: u16) -> Access {
    Access { server: format!("nats://127.0.0.1:{port}"), ..Access::default() }
}

/// The login of a worker, which only a farm verifies.
fn worker_access(port: u16, name: &str) -> Access {
    let name = name.replace('/', "%2f");
    Access { server: format!("nats://{name}:{PASSWORD}@127.0.0.1:{port}"), ..Access::default() }
}

fn connect(port: u16) -> Connection {
    Connection::open(&access(port)).expect("a connection")
}

fn find(program: &str) -> PathBuf {
    let path = env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from);
    let mut directories = env::split_paths(&path).chain(system);
    let found = directories
        .find_map(|directory| Some(directory.join(program)).filter(|path| path.is_file()));
    found.unwrap_or_else(|| panic!("{program} is not installed"))
}

/// A match between two programs of a directory, and permissions to run them.
fn order(directory: &Path, names: [&str; 2]) -> MatchSpec {
    let mut plan = sample::plan(&names, 1000);
    for engine in &mut plan.engines {
        let path = directory.join(&engine.name);
        fs::write(&path, format!("#!/bin/sh\n# {}\n", engine.name)).expect("a program");
        path.to_str().expect("UTF-8").clone_into(&mut engine.command);
    }
    MatchSpec::new(&plan).with_contents().expect("programs that can be read")
}

/// A worker with one slot, whose jobs a test takes one by one.
struct Hand {
    pool: Arc<Pool>,
    slot: Slot,
    served: Option<Arc<Served>>,
}

impl Hand {
    fn new(port: u16, name: &str, cache: &Path) -> Self {
        Self::with(&worker_access(port, name), name, cache, Permissions::anything())
    }

    fn with(access: &Access, name: &str, cache: &Path, permissions: Permissions) -> Self {
        let pool = Pool::open(access, name, 1e6, permissions, cache.to_owned(), [1, 1000]);
        let pool = Arc::new(pool.expect("a connection"));
        Self { pool, slot: Slot::default(), served: None }
    }

    /// Waits for a match, and prepares it.
    fn serve(&mut self) -> Result<Arc<Served>, Rejection> {
        let until = SystemTime::now() + TIMEOUT;
        loop {
            if let Some(result) = self.try_serve() {
                return result;
            }
            assert!(SystemTime::now() < until, "no match is announced");
        }
    }

    /// Prepares a match, if one is announced.
    fn try_serve(&mut self) -> Option<Result<Arc<Served>, Rejection>> {
        self.pool.refresh().expect("a server that is not away for long");
        let TakeResult::Prepare(new) = self.pool.take(&mut self.slot) else { return None };
        Some(self.prepare(&new))
    }

    fn prepare(&mut self, new: &NewMatch) -> Result<Arc<Served>, Rejection> {
        match self.pool.accept(new) {
            Ok(served) => {
                self.pool.ready(new, Arc::clone(&served), Cost(1));
                self.served = Some(Arc::clone(&served));
                Ok(served)
            }
            Err(why) => {
                self.pool.reject(new, why.clone());
                Err(why)
            }
        }
    }

    /// Waits for a job; `None` after the end of the match.
    fn take(&mut self) -> Option<Box<dyn Lease>> {
        let until = SystemTime::now() + TIMEOUT;
        let pool = Arc::clone(&self.pool);
        loop {
            let is_over = |served: &Arc<Served>| served.stop_token().stopped().is_some();
            if self.served.as_ref().is_some_and(is_over) {
                self.served = None;
                return None;
            }
            pool.refresh().expect("a server that is not away for long");
            match pool.take(&mut self.slot) {
                TakeResult::Leave => return None,
                TakeResult::Wait => {}
                TakeResult::Prepare(new) => {
                    // Without a match that is accepted, this ends by its timeout.
                    let _ = self.prepare(&new);
                }
                TakeResult::Job(mut job) => return job.lease(),
            }
            assert!(SystemTime::now() < until, "no job in time");
        }
    }

    /// Plays jobs until the end of the match, and gives every `loses`-th one back.
    fn play(&mut self, loses: u64) {
        let mut count = 0_u64;
        while let Some(lease) = self.take() {
            count += 1;
            if loses > 0 && count.is_multiple_of(loses) {
                drop(lease);
                continue;
            }
            let result = sample::played(lease.job().pairing.clone());
            lease.finish(result).expect("a queue");
        }
    }
}

fn worker(name: &str) -> WorkerId {
    WorkerId(name.to_owned())
}

/// Stops a match, also after a failed assertion: otherwise workers would wait forever.
struct Ends<'a>(&'a mut NatsDispatcher);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        let stopped = self.0.stop(Stop::Finish);
        assert!(thread::panicking() || stopped.is_ok(), "{stopped:?}");
    }
}

/// Waits for this number of results, and returns how often each pairing was reported.
fn results(reports: &Receiver<Report>, count: usize) -> BTreeMap<u64, u32> {
    let mut done = BTreeMap::new();
    let until = SystemTime::now() + TIMEOUT;
    while done.len() < count {
        // Idle workers send heartbeats, which are no progress.
        let left = until.duration_since(SystemTime::now());
        let left = left.unwrap_or_else(|_| panic!("only {done:?} in time"));
        match reports.recv_timeout(left).expect("a report in time") {
            Report::Done { result, .. } => *done.entry(result.pairing.index).or_default() += 1,
            Report::Returned { why: ReturnReason::Skipped(why), index } => {
                panic!("{index} is skipped: {why}");
            }
            Report::QueueFailed(error) => panic!("{error}"),
            _ => {}
        }
    }
    done
}

fn offer(dispatcher: &mut NatsDispatcher, order: &MatchSpec, indices: impl Iterator<Item = u64>) {
    for index in indices {
        dispatcher.offer(order.job(sample::pairing(index))).expect("a queue");
    }
}

fn settings() -> CoordinatorSettings {
    CoordinatorSettings { lease: LEASE, ..CoordinatorSettings::default() }
}

fn open(
    connection: &Connection,
    order: &MatchSpec,
    resumed: bool,
) -> (NatsDispatcher, Receiver<Report>) {
    let (sender, reports): (Sender<Report>, _) = channel();
    let stored = resumed.then(IndexSet::default);
    let dispatcher =
        NatsDispatcher::open(connection, order.clone(), stored.as_ref(), settings(), sender);
    (dispatcher.expect("a queue"), reports)
}

#[test]
fn each_job_ends_once_despite_lost_workers() {
    let Some(server) = Server::start() else { return };
    let directory = TempDir::new().expect("a directory");
    let order = order(directory.path(), ["a", "b"]);
    let connection = server.connect();
    let (mut dispatcher, reports) = open(&connection, &order, false);
    offer(&mut dispatcher, &order, 0..60);
    let cache = TempDir::new().expect("a directory");
    // A worker that takes a job and disappears, like a host that loses power.
    let cable = Cable::to(server.port);
    let mut silent = Hand::new(cable.port, "silent", cache.path());
    let held = silent.take().expect("a job");
    cable.set_connected(false);
    thread::scope(|scope| {
        let _ends = Ends(&mut dispatcher);
        for name in ["one", "two", "three"] {
            let (port, cache) = (server.port, cache.path());
            scope.spawn(move || Hand::new(port, name, cache).play(7));
        }
        let done = results(&reports, 60);
        assert!(done.values().all(|&times| times == 1), "{done:?}");
    });
    dispatcher.finish(&End::Complete).expect("a server");
    // Its threads wait for an unreachable server until this process exits.
    std::mem::forget((held, silent));
}

#[test]
fn continues_after_a_restart_of_the_server() {
    let Some(mut server) = Server::start() else { return };
    let directory = TempDir::new().expect("a directory");
    let order = order(directory.path(), ["c", "d"]);
    let connection = server.connect();
    let (mut dispatcher, reports) = open(&connection, &order, false);
    offer(&mut dispatcher, &order, 0..10);
    let mut steady = Hand::new(server.port, "steady", directory.path());
    let lease = steady.take().expect("a job");
    server.kill();
    server.start_again();
    let result = sample::played(lease.job().pairing.clone());
    lease.finish(result).expect("a server that has come back");
    thread::scope(|scope| {
        let _ends = Ends(&mut dispatcher);
        scope.spawn(move || steady.play(0));
        let done = results(&reports, 10);
        assert!(done.values().all(|&times| times == 1), "{done:?}");
    });
}

/// The indices of the results that were reported.
fn indices(reports: &Receiver<Report>, count: usize) -> Vec<u64> {
    results(reports, count).into_keys().collect()
}

#[test]
fn a_restarted_coordinator_reads_results_played_meanwhile() {
    let Some(server) = Server::start() else { return };
    let directory = TempDir::new().expect("a directory");
    let order = order(directory.path(), ["e", "f"]);
    let connection = server.connect();
    let (mut dispatcher, reports) = open(&connection, &order, false);
    offer(&mut dispatcher, &order, 0..4);
    let mut hand = Hand::new(server.port, "w", directory.path());
    let leases: Vec<_> = (0..2).map(|_| hand.take().expect("a job")).collect();
    // The coordinator is killed without notice.
    dispatcher.abandon();
    drop(reports);
    for lease in leases {
        let result = sample::played(lease.job().pairing.clone());
        lease.finish(result).expect("a server");
    }
    let again = server.connect();
    let (mut dispatcher, reports) = open(&again, &order, true);
    offer(&mut dispatcher, &order, 0..4);
    assert_eq!(indices(&reports, 2), [0, 1]);
    thread::scope(|scope| {
        let _ends = Ends(&mut dispatcher);
        scope.spawn(move || hand.play(0));
        assert_eq!(indices(&reports, 2), [2, 3]);
    });
}

#[test]
fn does_not_report_stored_results_again() {
    let Some(server) = Server::start() else { return };
    let directory = TempDir::new().expect("a directory");
    let order = order(directory.path(), ["q", "r"]);
    let connection = server.connect();
    let (mut dispatcher, reports) = open(&connection, &order, false);
    offer(&mut dispatcher, &order, 0..3);
    let mut hand = Hand::new(server.port, "w", directory.path());
    for _ in 0..3 {
        let lease = hand.take().expect("a job");
        let result = sample::played(lease.job().pairing.clone());
        lease.finish(result).expect("a server");
    }
    // They are on disk, and kept on the server.
    for report in reports.iter().filter(|report| matches!(report, Report::Done { .. })).take(3) {
        let Report::Done { result, .. } = report else { panic!("{report:?}") };
        dispatcher.on_stored(&result);
    }
    dispatcher.on_synced();
    drop(dispatcher);
    let mut stored = IndexSet::default();
    stored.insert(0);
    let (sender, reports) = channel();
    let again = server.connect();
    let dispatcher = NatsDispatcher::open(&again, order.clone(), Some(&stored), settings(), sender);
    let mut dispatcher = dispatcher.expect("a queue");
    offer(&mut dispatcher, &order, 1..3);
    assert_eq!(indices(&reports, 2), [1, 2]);
    assert_eq!(reports.try_iter().count(), 0, "it knows the first one");
    dispatcher.finish(&End::Complete).expect("a server");
}

/// After the result, its grant has ended: the end of the last game would not be reported.
#[test]
fn progress_is_reported_before_the_result() {
    const PAIRS: u64 = 200;
    let Some(server) = Server::start() else { return };
    let directory = TempDir::new().expect("a directory");
    let order = order(directory.path(), ["k", "l"]);
    let connection = server.connect();
    let (mut dispatcher, reports) = open(&connection, &order, false);
    offer(&mut dispatcher, &order, 0..PAIRS);
    let ended: BTreeSet<u64> = thread::scope(|scope| {
        let _ends = Ends(&mut dispatcher);
        for name in ["one", "two", "three", "four"] {
            let (port, cache) = (server.port, directory.path());
            scope.spawn(move || {
                let mut hand = Hand::new(port, name, cache);
                while let Some(mut lease) = hand.take() {
                    let result = sample::played(lease.job().pairing.clone());
                    let last = result.games.last().expect("a game");
                    lease.report(Progress::GameEnd {
                        game: 1,
                        winner: last.winner,
                        end: last.end.clone(),
                        plies: 8,
                        duration_ms: last.duration_ms,
                        engines: Box::default(),
                    });
                    lease.finish(result).expect("a queue");
                }
            });
        }
        let mut done = 0;
        let mut ended = BTreeSet::new();
        while done < PAIRS {
            match reports.recv_timeout(TIMEOUT).expect("a report in time") {
                Report::Progress { index, .. } => assert!(ended.insert(index)),
                Report::Done { result, .. } => {
                    assert!(ended.contains(&result.pairing.index), "{}", result.pairing.index);
                    done += 1;
                }
                _ => {}
            }
        }
        ended
    });
    assert_eq!(ended.len() as u64, PAIRS);
}

#[test]
fn a_new_match_ignores_obsolete_results() {
    let Some(server) = Server::start() else { return };
    let directory = TempDir::new().expect("a directory");
    let order = order(directory.path(), ["s", "t"]);
    let connection = server.connect();
    for _ in 0..2 {
        let (mut dispatcher, reports) = open(&connection, &order, false);
        offer(&mut dispatcher, &order, 0..3);
        let mut hand = Hand::new(server.port, "w", directory.path());
        thread::scope(|scope| {
            let _ends = Ends(&mut dispatcher);
            scope.spawn(move || hand.play(0));
            assert_eq!(results(&reports, 3).len(), 3);
        });
        dispatcher.abandon();
    }
}

/// A job of a lost worker is withdrawn.
#[test]
fn a_match_stops_despite_a_lost_worker() {
    let Some(server) = Server::start() else { return };
    let directory = TempDir::new().expect("a directory");
    let order = order(directory.path(), ["u", "v"]);
    let connection = server.connect();
    let (mut dispatcher, reports) = open(&connection, &order, false);
    offer(&mut dispatcher, &order, 0..1);
    let cable = Cable::to(server.port);
    let mut silent = Hand::new(cable.port, "silent", directory.path());
    let held = silent.take().expect("a job");
    cable.set_connected(false);
    dispatcher.stop(Stop::Finish).expect("a queue");
    let returned = |report: &Report| matches!(report, Report::Returned { .. });
    let returned = reports.iter().find(returned).expect("a report");
    assert_eq!(returned, Report::Returned { index: 0, why: ReturnReason::Withdrawn });
    std::mem::forget((held, silent));
}

#[test]
fn a_worker_rejoins_a_resumed_match() {
    let Some(mut server) = Server::start() else { return };
    let directory = TempDir::new().expect("a directory");
    let order = order(directory.path(), ["i", "j"]);
    let mut hand = Hand::new(server.port, "w", directory.path());
    server.kill();
    assert!(hand.try_serve().is_none());
    server.start_again();
    for resumed in [false, true] {
        let connection = server.connect();
        let (mut dispatcher, _reports) = open(&connection, &order, resumed);
        offer(&mut dispatcher, &order, 0..1);
        drop(hand.take().expect("a job"));
        dispatcher.stop(Stop::Finish).expect("a queue");
        assert!(hand.take().is_none());
        dispatcher.finish(&End::Complete).expect("a server");
    }
}

#[test]
fn a_worker_runs_only_allowed_programs() {
    let Some(server) = Server::start() else { return };
    let directory = TempDir::new().expect("a directory");
    let order = order(directory.path(), ["g", "h"]);
    let connection = server.connect();
    let (_dispatcher, _reports) = open(&connection, &order, false);
    let cache = TempDir::new().expect("a directory");
    let accept = |permissions: Permissions| {
        Hand::with(&access(server.port), "w", cache.path(), permissions).serve()
    };
    let rejection = accept(Permissions::default()).expect_err("nothing is allowed");
    assert!(rejection.to_string().contains("is not allowed here"), "{rejection}");
    assert_eq!(fs::read_dir(cache.path()).expect("a directory").count(), 0);
    // One program is on this host, the other one is allowed by its content.
    let mut permissions = Permissions::default();
    permissions.allow_file(&directory.path().join("g"), &[], None).expect("a program");
    order.programs.values().for_each(|content| permissions.allow_content(*content, &[]));
    let served = accept(permissions).expect("a match");
    let commands: Vec<&str> =
        served.spec().plan.engines.iter().map(|engine| engine.command.as_str()).collect();
    let [own, delivered] = commands.as_slice() else { panic!("two engines") };
    assert!(own.ends_with("/g"), "{own}");
    assert!(Path::new(delivered).starts_with(cache.path()), "{delivered}");
    let status = Command::new(delivered).status().expect("a program");
    assert!(status.success());
}

/// With chosen environment variables, an allowed program may run another one.
#[test]
fn a_worker_rejects_environment_variables() {
    let Some(server) = Server::start() else { return };
    let directory = TempDir::new().expect("a directory");
    let mut plan = order(directory.path(), ["i", "j"]).plan;
    plan.engines[0].env.insert("LD_PRELOAD".to_owned(), "./other.so".to_owned());
    let order = MatchSpec::new(&plan).with_contents().expect("programs that can be read");
    let connection = server.connect();
    let (_dispatcher, _reports) = open(&connection, &order, false);
    let cache = TempDir::new().expect("a directory");
    let mut permissions = Permissions::default();
    order.programs.values().for_each(|content| permissions.allow_content(*content, &[]));
    let accept = |permissions: Permissions| {
        Hand::with(&access(server.port), "w", cache.path(), permissions).serve()
    };
    let rejection = accept(permissions).expect_err("an environment");
    assert!(rejection.to_string().contains("an environment"), "{rejection}");
    let served = accept(Permissions::anything()).expect("a match");
    assert_eq!(served.spec().plan.engines[0].env, plan.engines[0].env);
}

#[test]
fn a_slow_host_scales_times_up() {
    let mut plan = sample::plan(&["a", "b"], 1);
    let limits = |text: &str| EnginePlan {
        limits: toml::from_str(text).expect("limits"),
        ..EnginePlan::default()
    };
    plan.engines = vec![limits("tc = \"10+0.1\"\nmargin_ms = 50"), limits("nodes = 100")];
    plan.search_timeout_ms = NonZeroU64::new(1000);
    plan.engines[1].timeouts.ready_ms = NonZeroU64::new(1000);
    let played = |coordinator: Option<Speed>, here: Option<Speed>| {
        let order = MatchSpec { speed: coordinator, ..MatchSpec::new(&plan) };
        let plan = scale_times(order, here.as_ref()).plan;
        let tc = plan.engines[0].limits.tc.map(|tc| tc.to_string()).unwrap_or_default();
        assert_eq!(plan.engines[0].limits.margin_ms, 50);
        assert_eq!(plan.engines[1].limits, limits("nodes = 100").limits);
        assert_eq!(plan.engines[1].timeouts.ready_ms, plan.search_timeout_ms);
        (tc, plan.search_timeout_ms.map_or(0, NonZeroU64::get))
    };
    let check = |coordinator: Option<Speed>, here: Option<Speed>, tc: &str, stall| {
        let all = format!("{coordinator:?} {here:?}");
        assert_eq!(played(coordinator, here), (tc.to_owned(), stall), "{all}");
    };
    let host = |speed: f64| Some(Speed::Host(speed));
    let engines = |speeds: &[f64]| Some(Speed::Engines(speeds.to_vec()));
    check(host(200.0), host(100.0), "20+0.2", 2000);
    // Only timeouts are not shortened on a fast host.
    check(host(100.0), host(200.0), "5+0.05", 1000);
    // Factors are limited.
    check(host(1e12), host(1.0), "80+0.8", 8000);
    check(host(1.0), host(1e12), "1.25+0.012", 1000);
    check(host(200.0), host(0.0), "10+0.1", 1000);
    check(host(f64::NAN), host(100.0), "10+0.1", 1000);
    check(engines(&[300.0, 100.0]), engines(&[150.0, 50.0]), "20+0.2", 2000);
    // The geometric mean, since the engines have different speeds.
    check(engines(&[400.0, 100.0]), engines(&[100.0, 100.0]), "20+0.2", 2000);
    // Without a reference speed, or a speed of another kind, times do not change.
    let speed = Some(Speed::of_host());
    check(None, speed.clone(), "10+0.1", 1000);
    check(speed.clone(), speed.clone(), "10+0.1", 1000);
    check(speed, None, "10+0.1", 1000);
    check(host(200.0), engines(&[100.0]), "10+0.1", 1000);
    check(engines(&[200.0, 200.0]), engines(&[100.0]), "10+0.1", 1000);
}
