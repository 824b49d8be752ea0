//! The NATS queue: joining, leaving and lost workers, restarts of server and coordinator, and access control. Requires
//! `nats-server` and `READYOK_REAL_ENGINES`.

mod access;
mod chaos;
mod farm;
mod files;

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _, stderr};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, SystemTime};

use readyok_arena::event::End;
use readyok_arena::plan::EnginePlan;
use readyok_arena::queue::nats::{
    Access, Connection, CoordinatorSettings, Matches, NatsDispatcher, Permissions, Served,
    measure_speed, scale_times,
};
use readyok_arena::queue::{
    DELIVERIES, Dispatcher, Jobs, MatchSpec, Report, ReturnReason, Stop, WorkerId,
};
use readyok_arena::store::IndexSet;
use tempfile::TempDir;

use crate::nats_server::NatsServer;
use crate::port::free_port;
use crate::sample;

/// Timeout of all waits.
const TIMEOUT: Duration = Duration::from_mins(2);

/// The lease time of these tests.
const LEASE: Duration = Duration::from_secs(3);

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

fn connect(port: u16) -> Connection {
    let server = format!("nats://127.0.0.1:{port}");
    Connection::open(&Access { server, ..Access::default() }).expect("a connection")
}

/// Connections to a server that can be closed.
struct Cable {
    port: u16,
    ends: Arc<Mutex<Option<Vec<TcpStream>>>>,
}

impl Cable {
    fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let ends = Arc::new(Mutex::new(Some(Vec::new())));
        let open = Arc::clone(&ends);
        thread::spawn(move || {
            for here in listener.incoming().map_while(Result::ok) {
                let Ok(there) = TcpStream::connect(("127.0.0.1", server)) else { return };
                // A closed listener accepts no connection.
                let mut open = open.lock().expect("no panic");
                let Some(ends) = open.as_mut() else { continue };
                for (mut from, mut to) in [(&here, &there), (&there, &here)]
                    .map(|(a, b)| (a.try_clone(), b.try_clone()))
                    .map(|(a, b)| (a.expect("a handle"), b.expect("a handle")))
                {
                    thread::spawn(move || io::copy(&mut from, &mut to));
                }
                ends.extend([here, there]);
            }
        });
        Self { port, ends }
    }

    fn cut(&self) {
        let ends = self.ends.lock().expect("no panic").take();
        for end in ends.into_iter().flatten() {
            // The other end may be closed already.
            let _ = end.shutdown(Shutdown::Both);
        }
    }

    fn reconnect(&self) {
        self.ends.lock().expect("no panic").get_or_insert_default();
    }
}

fn find(program: &str) -> PathBuf {
    let path = env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from);
    let mut directories = env::split_paths(&path).chain(system);
    let found =
        directories.find_map(|directory| Some(directory.join(program)).filter(|it| it.is_file()));
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

fn serve(connection: &Connection, cache: &Path) -> Arc<Served> {
    let permissions = Permissions::anything();
    let mut matches = Matches::new(connection, worker("w"));
    let served = matches.next(&permissions, cache, TIMEOUT, |why| panic!("{why}"));
    Arc::new(served.expect("a server").expect("a match"))
}

fn worker(name: &str) -> WorkerId {
    WorkerId(name.to_owned())
}

/// Plays jobs until the end of the match, and drops every `loses`-th one that was not lost before, since a job fails
/// after too many deliveries.
fn play(jobs: &mut dyn Jobs, loses: u64) {
    let mut count = 0_u64;
    while let Some(lease) = jobs.take().expect("a queue") {
        count += 1;
        if loses > 0 && count.is_multiple_of(loses) && lease.job().deliveries == 0 {
            drop(lease);
            continue;
        }
        let result = sample::played(lease.job().pairing.clone());
        lease.finish(result).expect("a queue");
    }
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
            Report::Returned {
                why: ReturnReason::TooManyDeliveries | ReturnReason::Failed(_),
                index,
            } => {
                panic!("{index} is lost");
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
    let mut silent = serve(&connect(cable.port), cache.path()).jobs(worker("silent"));
    let held = silent.take().expect("a queue").expect("a job");
    cable.cut();
    thread::scope(|scope| {
        let _ends = Ends(&mut dispatcher);
        for name in ["one", "two", "three"] {
            let (server, cache) = (&server, cache.path());
            scope.spawn(move || {
                let connection = server.connect();
                let served = serve(&connection, cache);
                play(&mut served.jobs(worker(name)), 7);
            });
        }
        let done = results(&reports, 60);
        assert!(done.values().all(|&times| times == 1), "{done:?}");
    });
    dispatcher.finish(&End::Complete).expect("a server");
    // Its threads wait for an unreachable server until this process exits.
    std::mem::forget((held, silent));
}

#[test]
fn a_restarted_coordinator_learns_of_a_failed_job() {
    let Some(server) = Server::start() else { return };
    let directory = TempDir::new().expect("a directory");
    let order = order(directory.path(), ["a", "b"]);
    let cable = Cable::to(server.port);
    let (mut dispatcher, reports) = open(&connect(cable.port), &order, false);
    offer(&mut dispatcher, &order, 0..2);
    let cache = TempDir::new().expect("a directory");
    let served = serve(&server.connect(), cache.path());
    let mut jobs = served.jobs(worker("w"));
    cable.cut();
    let (mut times, mut others) = (0, Vec::new());
    while times < DELIVERIES {
        let lease = jobs.take().expect("a queue").expect("a job");
        if lease.job().pairing.index == 0 {
            assert_eq!(lease.job().deliveries, times);
            times += 1;
        } else {
            others.push(lease);
        }
    }
    drop(others);
    let lease = jobs.take().expect("a queue").expect("a job");
    assert_eq!(lease.job().pairing.index, 1, "the other one is not given out any more");
    let result = sample::played(lease.job().pairing.clone());
    lease.finish(result).expect("a queue");
    thread::scope(|scope| {
        let _ends = Ends(&mut dispatcher);
        scope.spawn(|| play(&mut jobs, 0));
        cable.reconnect();
        let ends = reports.iter().filter_map(|report| match report {
            Report::Returned { index, why: ReturnReason::TooManyDeliveries } => {
                Some((index, false))
            }
            Report::Done { result, .. } => Some((result.pairing.index, true)),
            _ => None,
        });
        assert_eq!(
            ends.take(2).collect::<BTreeMap<_, _>>(),
            BTreeMap::from([(0, false), (1, true)])
        );
    });
    dispatcher.finish(&End::Complete).expect("a server");
}

#[test]
fn continues_after_a_restart_of_the_server() {
    let Some(mut server) = Server::start() else { return };
    let directory = TempDir::new().expect("a directory");
    let order = order(directory.path(), ["c", "d"]);
    let connection = server.connect();
    let (mut dispatcher, reports) = open(&connection, &order, false);
    offer(&mut dispatcher, &order, 0..10);
    let cache = TempDir::new().expect("a directory");
    let workers = server.connect();
    let served = serve(&workers, cache.path());
    let mut jobs = served.jobs(worker("steady"));
    let lease = jobs.take().expect("a queue").expect("a job");
    server.kill();
    server.start_again();
    let result = sample::played(lease.job().pairing.clone());
    lease.finish(result).expect("a server that has come back");
    thread::scope(|scope| {
        let _ends = Ends(&mut dispatcher);
        scope.spawn(move || play(&mut jobs, 0));
        let done = results(&reports, 10);
        assert!(done.values().all(|&times| times == 1), "{done:?}");
    });
}

#[test]
fn a_restarted_coordinator_reads_results_played_meanwhile() {
    let Some(server) = Server::start() else { return };
    let directory = TempDir::new().expect("a directory");
    let order = order(directory.path(), ["e", "f"]);
    let cache = TempDir::new().expect("a directory");
    let connection = server.connect();
    let (mut dispatcher, reports) = open(&connection, &order, false);
    offer(&mut dispatcher, &order, 0..4);
    let workers = server.connect();
    let mut jobs = serve(&workers, cache.path()).jobs(worker("w"));
    let leases: Vec<_> = (0..2).map(|_| jobs.take().expect("a queue").expect("a job")).collect();
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
    let known: Vec<u64> = reports
        .try_iter()
        .filter_map(|report| match report {
            Report::Done { result, .. } => Some(result.pairing.index),
            _ => None,
        })
        .collect();
    assert_eq!(known, [0, 1]);
    thread::scope(|scope| {
        let _ends = Ends(&mut dispatcher);
        scope.spawn(move || play(&mut jobs, 0));
        assert_eq!(results(&reports, 2).len(), 2);
    });
}

#[test]
fn does_not_report_stored_results_again() {
    let Some(server) = Server::start() else { return };
    let directory = TempDir::new().expect("a directory");
    let order = order(directory.path(), ["q", "r"]);
    let cache = TempDir::new().expect("a directory");
    let connection = server.connect();
    let (mut dispatcher, reports) = open(&connection, &order, false);
    offer(&mut dispatcher, &order, 0..3);
    let workers = server.connect();
    let mut jobs = serve(&workers, cache.path()).jobs(worker("w"));
    for _ in 0..3 {
        let lease = jobs.take().expect("a queue").expect("a job");
        let result = sample::played(lease.job().pairing.clone());
        lease.finish(result).expect("a server");
    }
    dispatcher.abandon();
    drop(reports);
    let mut stored = IndexSet::default();
    stored.insert(0);
    let (sender, reports) = channel();
    let again = server.connect();
    let dispatcher = NatsDispatcher::open(&again, order.clone(), Some(&stored), settings(), sender);
    let mut dispatcher = dispatcher.expect("a queue");
    offer(&mut dispatcher, &order, 0..3);
    let known = reports.try_iter().filter_map(|report| match report {
        Report::Done { result, .. } => Some(result.pairing.index),
        _ => None,
    });
    assert_eq!(known.collect::<Vec<_>>(), [1, 2]);
    dispatcher.finish(&End::Complete).expect("a server");
}

/// Message names of the previous run are not deduplicated.
#[test]
fn a_new_match_ignores_obsolete_results() {
    let Some(server) = Server::start() else { return };
    let directory = TempDir::new().expect("a directory");
    let order = order(directory.path(), ["s", "t"]);
    let cache = TempDir::new().expect("a directory");
    let connection = server.connect();
    for _ in 0..2 {
        let (mut dispatcher, reports) = open(&connection, &order, false);
        offer(&mut dispatcher, &order, 0..3);
        let workers = server.connect();
        let mut jobs = serve(&workers, cache.path()).jobs(worker("w"));
        thread::scope(|scope| {
            let _ends = Ends(&mut dispatcher);
            scope.spawn(move || play(&mut jobs, 0));
            assert_eq!(results(&reports, 3).len(), 3);
        });
        dispatcher.abandon();
    }
}

/// Its job is not delivered again before the stop, and is withdrawn.
#[test]
fn a_match_stops_despite_a_lost_worker() {
    let Some(server) = Server::start() else { return };
    let directory = TempDir::new().expect("a directory");
    let order = order(directory.path(), ["u", "v"]);
    let cache = TempDir::new().expect("a directory");
    let connection = server.connect();
    let (mut dispatcher, reports) = open(&connection, &order, false);
    offer(&mut dispatcher, &order, 0..1);
    let cable = Cable::to(server.port);
    let mut silent = serve(&connect(cable.port), cache.path()).jobs(worker("silent"));
    let held = silent.take().expect("a queue").expect("a job");
    let next = || reports.recv_timeout(TIMEOUT).expect("a report");
    assert!(matches!(next(), Report::Joined(_)));
    cable.cut();
    assert!(matches!(next(), Report::Left(_)));
    dispatcher.stop(Stop::Finish).expect("a queue");
    assert!(matches!(next(), Report::Returned { index: 0, why: ReturnReason::Withdrawn }));
    std::mem::forget((held, silent));
}

#[test]
fn a_worker_rejoins_a_resumed_match() {
    let Some(mut server) = Server::start() else { return };
    let directory = TempDir::new().expect("a directory");
    let order = order(directory.path(), ["i", "j"]);
    let cache = TempDir::new().expect("a directory");
    let workers = server.connect();
    let mut matches = Matches::new(&workers, worker("w"));
    let permissions = Permissions::anything();
    let mut next = |timeout| {
        let served = matches.next(&permissions, cache.path(), timeout, |why| panic!("{why}"));
        served.expect("a server that is not away for long")
    };
    server.kill();
    assert!(next(Duration::ZERO).is_none());
    server.start_again();
    for resumed in [false, true] {
        let connection = server.connect();
        let (mut dispatcher, _reports) = open(&connection, &order, resumed);
        offer(&mut dispatcher, &order, 0..1);
        let served = Arc::new(next(TIMEOUT).expect("a match"));
        let mut jobs = served.jobs(worker("w"));
        drop(jobs.take().expect("a queue").expect("a job"));
        dispatcher.stop(Stop::Finish).expect("a queue");
        assert!(jobs.take().expect("a queue").is_none());
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
    let accept = |permissions: &Permissions| {
        let mut reasons = Vec::new();
        let mut matches = Matches::new(&connection, worker("w"));
        let wait = Duration::ZERO;
        let served =
            matches.next(permissions, cache.path(), wait, |why| reasons.push(why.to_owned()));
        (served.expect("a server"), reasons)
    };
    let (none, reasons) = accept(&Permissions::default());
    assert!(none.is_none() && reasons.len() == 1, "{reasons:?}");
    assert!(reasons.iter().all(|why| why.contains("is not allowed here")), "{reasons:?}");
    assert_eq!(fs::read_dir(cache.path()).expect("a directory").count(), 0);
    // One program is on this host, the other one is allowed by its content.
    let mut permissions = Permissions::default();
    permissions.allow_file(&directory.path().join("g"), &[], None).expect("a program");
    order.programs.values().for_each(|content| permissions.allow_content(*content, &[]));
    let (served, reasons) = accept(&permissions);
    let served = served.expect("a match");
    assert_eq!(reasons, [""; 0]);
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
    let mut reasons = Vec::new();
    let on_rejected = |why: &str| reasons.push(why.to_owned());
    let served = Matches::new(&connection, worker("w")).next(
        &permissions,
        cache.path(),
        Duration::ZERO,
        on_rejected,
    );
    assert!(served.expect("a server").is_none());
    assert!(matches!(&reasons[..], [why] if why.contains("an environment")), "{reasons:?}");
    // `Permissions::anything` allows it.
    assert_eq!(serve(&connection, cache.path()).spec().plan.engines[0].env, plan.engines[0].env);
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
    let played = |coordinator, here| {
        let order = MatchSpec { speed: coordinator, ..MatchSpec::new(&plan) };
        let plan = scale_times(order, here).plan;
        let tc = plan.engines[0].limits.tc.map(|tc| tc.to_string()).unwrap_or_default();
        assert_eq!(plan.engines[0].limits.margin_ms, 50);
        assert_eq!(plan.engines[1].limits, limits("nodes = 100").limits);
        assert_eq!(plan.engines[1].timeouts.ready_ms, plan.search_timeout_ms);
        (tc, plan.search_timeout_ms.map_or(0, NonZeroU64::get))
    };
    let check = |coordinator, here, tc: &str, stall| {
        assert_eq!(played(coordinator, here), (tc.to_owned(), stall), "{coordinator:?} {here}");
    };
    check(Some(200.0), 100.0, "20+0.2", 2000);
    // Only timeouts are not shortened on a fast host.
    check(Some(100.0), 200.0, "5+0.05", 1000);
    // Factors are limited.
    check(Some(1e12), 1.0, "80+0.8", 8000);
    check(Some(1.0), 1e12, "1.25+0.012", 1000);
    check(Some(200.0), 0.0, "10+0.1", 1000);
    check(Some(f64::NAN), 100.0, "10+0.1", 1000);
    // Without a reference speed, times do not change.
    let speed = measure_speed();
    check(None, speed, "10+0.1", 1000);
    check(Some(speed), speed, "10+0.1", 1000);
}
