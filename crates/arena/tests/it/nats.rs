//! The queue over a server of NATS, where `nats-server` is installed and `READYOK_REAL_ENGINES` is
//! set: workers that come, go and die, a server and a coordinator that start anew, and who is let in.

mod access;
mod chaos;
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

use readyok_arena::plan::EnginePlan;
use readyok_arena::queue::nats::{
    Access, Connection, Matches, NatsDispatcher, Permissions, Served, measure_speed, scale_times,
};
use readyok_arena::queue::{
    DELIVERIES, Dispatcher, Jobs, MatchSpec, Report, ReturnReason, Stop, WorkerId,
};
use readyok_arena::store::IndexSet;
use tempfile::TempDir;

use crate::nats_server::NatsServer;
use crate::port::free_port;
use crate::sample;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_mins(2);

/// What a worker may be silent here.
const LEASE: Duration = Duration::from_secs(3);

/// A server of this test's own.
struct Server {
    running: Option<NatsServer>,
    folder: TempDir,
    port: u16,
    more: Vec<OsString>,
}

impl Server {
    /// None where there is no server and none is asked for.
    fn start() -> Option<Self> {
        Self::with(|_| Vec::new())
    }

    /// The same with arguments of its own, which may name files that are put into its folder.
    fn with(more: impl FnOnce(&Path) -> Vec<OsString>) -> Option<Self> {
        if env::var_os("READYOK_REAL_ENGINES").is_none() {
            let text = b"not tested: nats-server, which needs READYOK_REAL_ENGINES=1\n";
            stderr().write_all(text).expect("standard error is open");
            return None;
        }
        let folder = TempDir::new().expect("a folder");
        let more = more(folder.path());
        let mut server = Self { running: None, folder, port: free_port(), more };
        server.start_again();
        Some(server)
    }

    fn kill(&mut self) {
        self.running = None;
    }

    fn start_again(&mut self) {
        let program = find("nats-server");
        let server = NatsServer::start(&program, self.port, self.folder.path(), &self.more);
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

/// Connections to a server that can be cut.
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
                // A cable that was cut takes nobody.
                let mut open = open.lock().expect("nobody has panicked");
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
        let ends = self.ends.lock().expect("nobody has panicked").take();
        for end in ends.into_iter().flatten() {
            // The other side may have closed it already.
            let _ = end.shutdown(Shutdown::Both);
        }
    }

    fn mend(&self) {
        self.ends.lock().expect("nobody has panicked").get_or_insert_default();
    }
}

fn find(program: &str) -> PathBuf {
    let path = env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from);
    let mut folders = env::split_paths(&path).chain(system);
    let found = folders.find_map(|folder| Some(folder.join(program)).filter(|it| it.is_file()));
    found.unwrap_or_else(|| panic!("{program} is not installed"))
}

/// A match between two programs that lie in a folder, and leave to run them.
fn order(folder: &Path, names: [&str; 2]) -> MatchSpec {
    let mut plan = sample::plan(&names, 1000);
    for engine in &mut plan.engines {
        let path = folder.join(&engine.name);
        fs::write(&path, format!("#!/bin/sh\n# {}\n", engine.name)).expect("a program");
        path.to_str().expect("UTF-8").clone_into(&mut engine.command);
    }
    MatchSpec::new(&plan).with_contents().expect("programs that can be read")
}

fn serve(connection: &Connection, cache: &Path) -> Served {
    let permissions = Permissions::anything();
    let mut matches = Matches::new(connection, worker("w"));
    let served = matches.next(&permissions, cache, PATIENCE, |why| panic!("{why}"));
    served.expect("a server").expect("a match")
}

fn worker(name: &str) -> WorkerId {
    WorkerId(name.to_owned())
}

/// Plays jobs until the match is over, and drops every `loses`-th one, if nobody has lost it before: lost too
/// often, a job is dead.
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

/// Ends a match, also after a failure: workers would wait for ever, and nobody would hear of it.
struct Ends<'a>(&'a mut NatsDispatcher);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        let stopped = self.0.stop(Stop::Finish);
        assert!(thread::panicking() || stopped.is_ok(), "{stopped:?}");
    }
}

/// Waits until so many results have come, and gives how often each did.
fn results(reports: &Receiver<Report>, count: usize) -> BTreeMap<u64, u32> {
    let mut done = BTreeMap::new();
    let until = SystemTime::now() + PATIENCE;
    while done.len() < count {
        // Workers that have nothing to do say that they are there, which is no progress.
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

fn open(
    connection: &Connection,
    order: &MatchSpec,
    resumed: bool,
) -> (NatsDispatcher, Receiver<Report>) {
    let (sender, reports): (Sender<Report>, _) = channel();
    let stored = resumed.then(IndexSet::default);
    let dispatcher =
        NatsDispatcher::open(connection, order.clone(), stored.as_ref(), LEASE, sender);
    (dispatcher.expect("a queue"), reports)
}

#[test]
fn every_job_ends_once_though_workers_lose_some_and_one_falls_silent() {
    let Some(server) = Server::start() else { return };
    let folder = TempDir::new().expect("a folder");
    let order = order(folder.path(), ["a", "b"]);
    let connection = server.connect();
    let (mut dispatcher, reports) = open(&connection, &order, false);
    offer(&mut dispatcher, &order, 0..60);
    let cache = TempDir::new().expect("a folder");
    // One that takes a job and is never heard of again, as if its machine had lost its power.
    let cable = Cable::to(server.port);
    let mut silent =
        serve(&connect(cable.port), cache.path()).jobs(worker("silent")).expect("a queue");
    let held = silent.take().expect("a queue").expect("a job");
    cable.cut();
    thread::scope(|scope| {
        let _ends = Ends(&mut dispatcher);
        for name in ["one", "two", "three"] {
            let (server, cache) = (&server, cache.path());
            scope.spawn(move || {
                let connection = server.connect();
                let served = serve(&connection, cache);
                play(&mut served.jobs(worker(name)).expect("a queue"), 7);
            });
        }
        let done = results(&reports, 60);
        assert!(done.values().all(|&times| times == 1), "{done:?}");
    });
    dispatcher.clear().expect("a server");
    // Its threads wait for a server that they cannot reach, until this program ends.
    std::mem::forget((held, silent));
}

#[test]
fn a_coordinator_that_was_away_hears_of_a_job_that_nobody_ends() {
    let Some(server) = Server::start() else { return };
    let folder = TempDir::new().expect("a folder");
    let order = order(folder.path(), ["a", "b"]);
    let cable = Cable::to(server.port);
    let (mut dispatcher, reports) = open(&connect(cable.port), &order, false);
    offer(&mut dispatcher, &order, 0..2);
    let cache = TempDir::new().expect("a folder");
    let served = serve(&server.connect(), cache.path());
    let mut jobs = served.jobs(worker("w")).expect("a queue");
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
        cable.mend();
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
    dispatcher.clear().expect("a server");
}

#[test]
fn goes_on_when_the_server_is_killed_and_starts_anew() {
    let Some(mut server) = Server::start() else { return };
    let folder = TempDir::new().expect("a folder");
    let order = order(folder.path(), ["c", "d"]);
    let connection = server.connect();
    let (mut dispatcher, reports) = open(&connection, &order, false);
    offer(&mut dispatcher, &order, 0..10);
    let cache = TempDir::new().expect("a folder");
    let workers = server.connect();
    let served = serve(&workers, cache.path());
    let mut jobs = served.jobs(worker("steady")).expect("a queue");
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
fn a_coordinator_that_comes_back_finds_what_was_played_without_it() {
    let Some(server) = Server::start() else { return };
    let folder = TempDir::new().expect("a folder");
    let order = order(folder.path(), ["e", "f"]);
    let cache = TempDir::new().expect("a folder");
    let connection = server.connect();
    let (mut dispatcher, reports) = open(&connection, &order, false);
    offer(&mut dispatcher, &order, 0..4);
    let workers = server.connect();
    let mut jobs = serve(&workers, cache.path()).jobs(worker("w")).expect("a queue");
    let leases: Vec<_> = (0..2).map(|_| jobs.take().expect("a queue").expect("a job")).collect();
    // The coordinator is killed, which tells nobody anything.
    std::mem::forget(dispatcher);
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
fn what_is_stored_is_not_told_again() {
    let Some(server) = Server::start() else { return };
    let folder = TempDir::new().expect("a folder");
    let order = order(folder.path(), ["q", "r"]);
    let cache = TempDir::new().expect("a folder");
    let connection = server.connect();
    let (mut dispatcher, reports) = open(&connection, &order, false);
    offer(&mut dispatcher, &order, 0..3);
    let workers = server.connect();
    let mut jobs = serve(&workers, cache.path()).jobs(worker("w")).expect("a queue");
    for _ in 0..3 {
        let lease = jobs.take().expect("a queue").expect("a job");
        let result = sample::played(lease.job().pairing.clone());
        lease.finish(result).expect("a server");
    }
    std::mem::forget(dispatcher);
    drop(reports);
    let mut stored = IndexSet::default();
    stored.insert(0);
    let (sender, reports) = channel();
    let again = server.connect();
    let dispatcher = NatsDispatcher::open(&again, order.clone(), Some(&stored), LEASE, sender);
    let mut dispatcher = dispatcher.expect("a queue");
    offer(&mut dispatcher, &order, 0..3);
    let known = reports.try_iter().filter_map(|report| match report {
        Report::Done { result, .. } => Some(result.pairing.index),
        _ => None,
    });
    assert_eq!(known.collect::<Vec<_>>(), [1, 2]);
    dispatcher.clear().expect("a server");
}

/// The names of messages of the time before do not count.
#[test]
fn a_match_that_begins_anew_hears_all_results() {
    let Some(server) = Server::start() else { return };
    let folder = TempDir::new().expect("a folder");
    let order = order(folder.path(), ["s", "t"]);
    let cache = TempDir::new().expect("a folder");
    let connection = server.connect();
    for _ in 0..2 {
        let (mut dispatcher, reports) = open(&connection, &order, false);
        offer(&mut dispatcher, &order, 0..3);
        let workers = server.connect();
        let mut jobs = serve(&workers, cache.path()).jobs(worker("w")).expect("a queue");
        thread::scope(|scope| {
            let _ends = Ends(&mut dispatcher);
            scope.spawn(move || play(&mut jobs, 0));
            assert_eq!(results(&reports, 3).len(), 3);
        });
        std::mem::forget(dispatcher);
    }
}

/// Its job has gone to nobody yet, and a stop withdraws it.
#[test]
fn a_match_stops_though_a_worker_has_gone_with_its_job() {
    let Some(server) = Server::start() else { return };
    let folder = TempDir::new().expect("a folder");
    let order = order(folder.path(), ["u", "v"]);
    let cache = TempDir::new().expect("a folder");
    let connection = server.connect();
    let (mut dispatcher, reports) = open(&connection, &order, false);
    offer(&mut dispatcher, &order, 0..1);
    let cable = Cable::to(server.port);
    let mut silent =
        serve(&connect(cable.port), cache.path()).jobs(worker("silent")).expect("a queue");
    let held = silent.take().expect("a queue").expect("a job");
    let next = || reports.recv_timeout(PATIENCE).expect("a report");
    assert!(matches!(next(), Report::Joined(_)));
    cable.cut();
    assert!(matches!(next(), Report::Left(_)));
    dispatcher.stop(Stop::Finish).expect("a queue");
    assert!(matches!(next(), Report::Returned { index: 0, why: ReturnReason::Withdrawn }));
    std::mem::forget((held, silent));
}

#[test]
fn a_worker_comes_back_to_a_match_that_goes_on() {
    let Some(mut server) = Server::start() else { return };
    let folder = TempDir::new().expect("a folder");
    let order = order(folder.path(), ["i", "j"]);
    let cache = TempDir::new().expect("a folder");
    let workers = server.connect();
    let mut matches = Matches::new(&workers, worker("w"));
    let permissions = Permissions::anything();
    let mut next = |patience| {
        let served = matches.next(&permissions, cache.path(), patience, |why| panic!("{why}"));
        served.expect("a server that is not away for long")
    };
    server.kill();
    assert!(next(Duration::ZERO).is_none());
    server.start_again();
    for resumed in [false, true] {
        let connection = server.connect();
        let (mut dispatcher, _reports) = open(&connection, &order, resumed);
        offer(&mut dispatcher, &order, 0..1);
        let served = next(PATIENCE).expect("a match");
        let mut jobs = served.jobs(worker("w")).expect("a queue");
        drop(jobs.take().expect("a queue").expect("a job"));
        dispatcher.stop(Stop::Finish).expect("a queue");
        assert!(jobs.take().expect("a queue").is_none());
        dispatcher.clear().expect("a server");
    }
}

#[test]
fn a_worker_runs_only_what_its_owner_allows() {
    let Some(server) = Server::start() else { return };
    let folder = TempDir::new().expect("a folder");
    let order = order(folder.path(), ["g", "h"]);
    let connection = server.connect();
    let (_dispatcher, _reports) = open(&connection, &order, false);
    let cache = TempDir::new().expect("a folder");
    let refused = |permissions: &Permissions| {
        let mut said = Vec::new();
        let mut matches = Matches::new(&connection, worker("w"));
        let wait = Duration::ZERO;
        let served = matches.next(permissions, cache.path(), wait, |why| said.push(why.to_owned()));
        (served.expect("a server"), said)
    };
    let (none, said) = refused(&Permissions::default());
    assert!(none.is_none() && said.len() == 1, "{said:?}");
    assert!(said.iter().all(|why| why.contains("is not allowed here")), "{said:?}");
    assert_eq!(fs::read_dir(cache.path()).expect("a folder").count(), 0);
    // One program is on this machine, the other one is allowed by its content.
    let mut permissions = Permissions::default();
    permissions.allow_file(&folder.path().join("g"), &[]).expect("a program");
    order.programs.values().for_each(|content| permissions.allow_content(*content, &[]));
    let (served, said) = refused(&permissions);
    let served = served.expect("a match");
    assert_eq!(said, [""; 0]);
    let commands: Vec<&str> =
        served.spec().plan.engines.iter().map(|engine| engine.command.as_str()).collect();
    let [own, delivered] = commands.as_slice() else { panic!("two engines") };
    assert!(own.ends_with("/g"), "{own}");
    assert!(Path::new(delivered).starts_with(cache.path()), "{delivered}");
    let status = Command::new(delivered).status().expect("a program");
    assert!(status.success());
}

/// With variables of its choice a program that is allowed may run another one.
#[test]
fn a_worker_gives_programs_no_environment() {
    let Some(server) = Server::start() else { return };
    let folder = TempDir::new().expect("a folder");
    let mut plan = order(folder.path(), ["i", "j"]).plan;
    plan.engines[0].env.insert("LD_PRELOAD".to_owned(), "./other.so".to_owned());
    let order = MatchSpec::new(&plan).with_contents().expect("programs that can be read");
    let connection = server.connect();
    let (_dispatcher, _reports) = open(&connection, &order, false);
    let cache = TempDir::new().expect("a folder");
    let mut permissions = Permissions::default();
    order.programs.values().for_each(|content| permissions.allow_content(*content, &[]));
    let mut said = Vec::new();
    let hear = |why: &str| said.push(why.to_owned());
    let served = Matches::new(&connection, worker("w")).next(
        &permissions,
        cache.path(),
        Duration::ZERO,
        hear,
    );
    assert!(served.expect("a server").is_none());
    assert!(matches!(&said[..], [why] if why.contains("an environment")), "{said:?}");
    // Who allows everything allows that.
    assert_eq!(serve(&connection, cache.path()).spec().plan.engines[0].env, plan.engines[0].env);
}

#[test]
fn a_slow_machine_gives_more_time() {
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
    // Only patience is not shortened on a fast one.
    check(Some(100.0), 200.0, "5+0.05", 1000);
    // Nobody is as fast or as slow as that.
    check(Some(1e12), 1.0, "80+0.8", 8000);
    check(Some(1.0), 1e12, "1.25+0.012", 1000);
    check(Some(200.0), 0.0, "10+0.1", 1000);
    check(Some(f64::NAN), 100.0, "10+0.1", 1000);
    // Without a measurement of the coordinator times are the same everywhere.
    let speed = measure_speed();
    check(None, speed, "10+0.1", 1000);
    check(Some(speed), speed, "10+0.1", 1000);
}
