//! Several matches and workers: shares, priorities, invalid results, takeovers, and losses of each process.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use readyok_arena::event::End;
use readyok_arena::game::{Agreement, Replay};
use readyok_arena::pairing::{PairResult, Pairing};
use readyok_arena::queue::nats::{
    Access, Admin, Connection, CoordinatorSettings, Cost, Departure, NatsDispatcher, OpenError,
    Permissions, Pool, Slot, TakeResult,
};
use readyok_arena::queue::status::Phase;
use readyok_arena::queue::{Dispatcher, MatchSpec};
use readyok_arena::runner::{Match, Settings, Summary};
use readyok_arena::schedule::{Next, Schedule};
use readyok_arena::store::{IndexSet, Reader, Store};
use readyok_rules::Side;
use tempfile::TempDir;

use super::{Server, TIMEOUT, access, order, settings, worker, worker_access};
use crate::sample;

/// The moves that the engines of these tests find again.
fn agreement(replay: &Replay, pairing: &Pairing) -> Agreement {
    let played = sample::played(pairing.clone()).games;
    let games = replay.games.iter().zip(&played);
    let equal = games.map(|(recorded, game)| {
        let moves = recorded.iter().zip(&game.moves);
        moves.filter(|(recorded, made)| recorded.0 == made.mv).count() as u64
    });
    Agreement { searches: replay.searches(), equal: equal.sum() }
}

/// A worker that produces sample results, in a thread.
pub(super) struct Farmhand {
    pool: Arc<Pool>,
    threads: Vec<thread::JoinHandle<Vec<String>>>,
}

impl Farmhand {
    pub(super) fn start(port: u16, name: &str, cache: PathBuf, delay: Duration) -> Self {
        Self::with(port, name, cache, delay, |_| ())
    }

    /// A worker that changes its results.
    pub(super) fn with(
        port: u16,
        name: &str,
        cache: PathBuf,
        delay: Duration,
        change: fn(&mut PairResult),
    ) -> Self {
        let access = worker_access(port, name);
        let pool = Pool::open(&access, name, 1e6, Permissions::anything(), cache, [1, 1]);
        let pool = Arc::new(pool.expect("a connection"));
        let (one, two) = (Arc::clone(&pool), Arc::clone(&pool));
        let player = thread::spawn(move || {
            let mut slot = Slot::default();
            let mut played = Vec::new();
            loop {
                match one.take(&mut slot) {
                    TakeResult::Leave => return played,
                    TakeResult::Wait => {}
                    TakeResult::Prepare(new) => match one.accept(&new) {
                        Ok(served) => one.ready(&new, served, Cost(1)),
                        // The match has just ended.
                        Err(why) => one.reject(&new, why),
                    },
                    TakeResult::Job(mut job) => {
                        let lease = job.lease().expect("a lease");
                        thread::sleep(delay);
                        if let Some(replay) = lease.job().replay.clone() {
                            let agreement = agreement(&replay, &lease.job().pairing);
                            lease.finish_replay(agreement).expect("a queue");
                            continue;
                        }
                        let mut result = sample::played(lease.job().pairing.clone());
                        change(&mut result);
                        lease.finish(result).expect("a queue");
                        played.push(job.served().id().to_owned());
                    }
                }
            }
        });
        thread::spawn(move || {
            while Arc::strong_count(&two) > 1 {
                two.refresh().expect("a server");
                thread::sleep(Duration::from_millis(200));
            }
        });
        Self { pool, threads: vec![player] }
    }

    /// Leaves, and returns the matches of its pairs.
    pub(super) fn leave(self) -> Vec<String> {
        self.pool.leave(Departure::Finish);
        self.threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    }
}

/// A match with this number of pairs in a thread.
pub(super) fn coordinate(
    port: u16,
    path: PathBuf,
    spec: MatchSpec,
    priority: i32,
) -> thread::JoinHandle<Summary> {
    coordinate_with(access(port), path, spec, priority)
}

pub(super) fn coordinate_with(
    access: Access,
    path: PathBuf,
    spec: MatchSpec,
    priority: i32,
) -> thread::JoinHandle<Summary> {
    thread::spawn(move || {
        let resumed = path.exists();
        let store = if resumed {
            Store::resume(&path, |_| ()).expect("a file").0
        } else {
            Store::create(&path, &spec.plan).expect("a new file")
        };
        let stored = resumed.then(|| store.stored().clone());
        run(&access, store, spec, stored.as_ref(), priority)
    })
}

fn run(
    access: &Access,
    store: Store,
    spec: MatchSpec,
    stored: Option<&IndexSet>,
    priority: i32,
) -> Summary {
    let connection = Connection::open(access).expect("a connection");
    let game = Match::new(store, Settings::default()).expect("a match");
    let settings = CoordinatorSettings { priority, ..settings() };
    let reports = game.reports();
    let dispatcher = NatsDispatcher::open(&connection, spec, stored, settings, reports);
    let mut dispatcher = dispatcher.expect("a queue");
    let summary = game.coordinate(&mut dispatcher).expect("a match");
    dispatcher.finish(&summary.end).expect("a server");
    summary
}

/// A match of this number of pairs.
pub(super) fn spec(directory: &Path, names: [&str; 2], pairs: u32) -> MatchSpec {
    let mut plan = order(directory, names).plan;
    plan.rounds = pairs;
    MatchSpec::new(&plan).with_contents().expect("programs that can be read")
}

pub(super) fn id_of(spec: &MatchSpec) -> String {
    spec.plan_hash.to_string().chars().take(32).collect()
}

/// Waits until a condition of the queue holds.
pub(super) fn wait_for<T>(
    connection: &Connection,
    mut condition: impl FnMut(&Admin) -> Option<T>,
) -> T {
    let admin = Admin::new(connection);
    let until = SystemTime::now() + TIMEOUT;
    loop {
        if let Some(found) = condition(&admin) {
            return found;
        }
        assert!(SystemTime::now() < until, "{:?}", admin.matches());
        thread::sleep(Duration::from_millis(50));
    }
}

pub(super) fn pairs(path: &Path) -> Vec<PairResult> {
    Reader::open(path).expect("a file").map(|pair| pair.expect("a pair")).collect()
}

/// Each pair is stored once, with the expected result.
pub(super) fn check_complete(path: &Path, count: u64) {
    let pairs = pairs(path);
    let mut indices: Vec<u64> = pairs.iter().map(|pair| pair.pairing.index).collect();
    indices.sort_unstable();
    assert_eq!(indices, (0..count).collect::<Vec<_>>());
    for pair in pairs {
        let expected = sample::played(pair.pairing.clone());
        assert_eq!(pair.games, expected.games);
    }
}

#[test]
fn a_dead_coordinator_does_not_block_other_matches() {
    let Some(server) = Server::start() else { return };
    let directory = TempDir::new().expect("a directory");
    let dead = spec(directory.path(), ["a", "b"], 50);
    let connection = server.connect();
    let (sender, _reports) = channel();
    let dispatcher = NatsDispatcher::open(&connection, dead.clone(), None, settings(), sender);
    dispatcher.expect("a queue").abandon();
    let live = spec(directory.path(), ["c", "d"], 5);
    let hand = Farmhand::start(server.port, "w", directory.path().join("cache"), Duration::ZERO);
    let path = directory.path().join("live");
    let summary = coordinate(server.port, path.clone(), live, 0).join().expect("no panic");
    assert_eq!((summary.end, summary.complete), (End::Complete, 5));
    check_complete(&path, 5);
    let found = wait_for(&connection, |admin| {
        let found = admin.find(&id_of(&dead)).expect("a match");
        (found.phase == Phase::Orphaned).then_some(found)
    });
    assert_eq!(found.name, "a vs b");
    Admin::new(&connection).remove(&found).expect("a match without a coordinator");
    let left = Admin::new(&connection).matches().expect("a server");
    assert!(left.iter().all(|found| found.phase == Phase::Finished), "{left:?}");
    hand.leave();
}

#[test]
fn workers_play_all_matches_by_priority() {
    let Some(server) = Server::start() else { return };
    let directory = TempDir::new().expect("a directory");
    let connection = server.connect();
    let specs: Vec<MatchSpec> =
        [["a", "b"], ["c", "d"], ["e", "f"]].map(|names| spec(directory.path(), names, 6)).into();
    let runs: Vec<_> = specs
        .iter()
        .zip([0, 0, 5])
        .map(|(spec, priority)| {
            let path = directory.path().join(id_of(spec));
            coordinate(server.port, path, spec.clone(), priority)
        })
        .collect();
    wait_for(&connection, |admin| {
        let open = admin.open_matches().expect("a server");
        (open.iter().filter(|found| found.phase == Phase::Running).count() == 3).then_some(())
    });
    let delay = Duration::from_millis(100);
    let hands = ["one", "two"]
        .map(|name| Farmhand::start(server.port, name, directory.path().join(name), delay));
    for run in runs {
        assert_eq!(run.join().expect("no panic").complete, 6);
    }
    let played: Vec<Vec<String>> = hands.map(Farmhand::leave).into();
    let first: Vec<&String> = played.iter().filter_map(|ids| ids.first()).collect();
    assert!(first.iter().all(|id| **id == id_of(&specs[2])), "{played:?}");
    let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
    for id in played.iter().flatten() {
        *counts.entry(id).or_default() += 1;
    }
    assert!(counts.values().eq(&[6, 6, 6]), "{counts:?}");
}

#[test]
fn quarantines_invalid_results_and_excludes_their_worker() {
    let Some(server) = Server::start() else { return };
    let directory = TempDir::new().expect("a directory");
    let connection = server.connect();
    let spec = spec(directory.path(), ["a", "b"], 12);
    let (path, delay) = (directory.path().join("results"), Duration::from_millis(100));
    let run = coordinate(server.port, path.clone(), spec.clone(), 0);
    let bad = Farmhand::with(
        server.port,
        "bad",
        directory.path().join("bad"),
        Duration::ZERO,
        |result| result.games[0].winner = Some(Side::Second),
    );
    // Three invalid results exclude it.
    let found = wait_for(&connection, |admin| {
        let found = admin.open_matches().expect("a server").pop()?;
        found.control.excluded.contains("bad").then_some(found)
    });
    assert!(found.status.pairs == 0, "{found:?}");
    let good = Farmhand::start(server.port, "good", directory.path().join("good"), delay);
    assert_eq!(run.join().expect("no panic").complete, 12);
    check_complete(&path, 12);
    assert!(pairs(&path).iter().all(|pair| pair.worker == Some(worker("good"))));
    let found = Admin::new(&connection).find(&id_of(&spec)).expect("a match");
    assert!(found.status.invalid >= 3, "{found:?}");
    // Results of the excluded worker, which may arrive in any number, do not replace them.
    for entry in &found.status.quarantine {
        assert_eq!(entry.worker, worker("bad"));
        assert!(entry.why.contains("wrong winner"), "{entry:?}");
    }
    bad.leave();
    good.leave();
}

#[test]
fn excludes_a_worker_retroactively() {
    let Some(server) = Server::start() else { return };
    let directory = TempDir::new().expect("a directory");
    let connection = server.connect();
    // Far more pairs than the first worker completes before its exclusion.
    let spec = spec(directory.path(), ["a", "b"], 60);
    let path = directory.path().join("results");
    let run = coordinate(server.port, path.clone(), spec, 0);
    let start =
        |name: &str, delay| Farmhand::start(server.port, name, directory.path().join(name), delay);
    let one = start("one", Duration::from_millis(500));
    let found = wait_for(&connection, |admin| {
        admin.open_matches().expect("a server").pop().filter(|found| found.status.pairs >= 2)
    });
    let admin = Admin::new(&connection);
    admin
        .set(&found, |control| {
            control.excluded.insert("one".to_owned());
        })
        .expect("an open match");
    let two = start("two", Duration::ZERO);
    assert_eq!(run.join().expect("no panic").complete, 60);
    check_complete(&path, 60);
    assert!(pairs(&path).iter().all(|pair| pair.worker == Some(worker("two"))));
    one.leave();
    two.leave();
}

#[test]
fn another_host_takes_a_match_over() {
    let Some(server) = Server::start() else { return };
    let directory = TempDir::new().expect("a directory");
    let connection = server.connect();
    let spec = spec(directory.path(), ["a", "b"], 8);
    let (sender, reports) = channel();
    let mut dispatcher =
        NatsDispatcher::open(&connection, spec.clone(), None, settings(), sender).expect("a queue");
    let mut schedule = Schedule::open(&spec.plan).expect("a schedule");
    for _ in 0..3 {
        let Next::Pairing(pairing) = schedule.next().expect("a pairing") else {
            panic!("no pairing")
        };
        dispatcher.offer(spec.job(pairing)).expect("a queue");
    }
    let hand = Farmhand::start(server.port, "w", directory.path().join("cache"), Duration::ZERO);
    assert_eq!(super::results(&reports, 3).len(), 3);
    dispatcher.abandon();
    // The programs of the plan are not on the new host.
    for engine in &spec.plan.engines {
        std::fs::remove_file(&engine.command).expect("a program");
    }
    let admin = Admin::new(&connection);
    let found = admin.find(&id_of(&spec)).expect("a match");
    let spec = admin.spec(&found).expect("a match");
    let path = directory.path().join("taken-over");
    let store = Store::adopt(&path, &spec, None).expect("a new file");
    // The hashes of the programs are those of the first host.
    let programs = Reader::open(&path).expect("a file").origin().programs;
    assert_eq!(programs, spec.programs);
    assert_eq!(programs.len(), 2, "{programs:?}");
    let stored = store.stored().clone();
    let summary = run(&access(server.port), store, spec, Some(&stored), 0);
    assert_eq!((summary.end, summary.complete), (End::Complete, 8));
    check_complete(&path, 8);
    hand.leave();
}

#[test]
fn an_equal_match_is_rejected_while_it_has_a_coordinator() {
    let Some(server) = Server::start() else { return };
    let directory = TempDir::new().expect("a directory");
    let connection = server.connect();
    let spec = spec(directory.path(), ["a", "b"], 8);
    let open = || {
        let (sender, _reports) = channel();
        NatsDispatcher::open(&connection, spec.clone(), None, settings(), sender)
    };
    let _first = open().expect("a queue");
    let rejected = open().expect_err("the match has a coordinator");
    assert!(matches!(rejected, OpenError::Coordinated { .. }), "{rejected}");
    let text = rejected.to_string();
    let start = format!("match `{}` is coordinated by `", &id_of(&spec)[..8]);
    assert!(text.starts_with(&start) && text.ends_with("use another seed"), "{text}");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "it compares two waits")]
fn a_worker_that_prepares_a_match_is_not_idle() {
    let Some(server) = Server::start() else { return };
    let directory = TempDir::new().expect("a directory");
    let connection = server.connect();
    let spec = spec(directory.path(), ["a", "b"], 8);
    let (sender, _reports) = channel();
    let _dispatcher = NatsDispatcher::open(&connection, spec, None, settings(), sender);
    let cache = directory.path().join("cache");
    let access = access(server.port);
    let pool = Pool::open(&access, "w", 1e6, Permissions::anything(), cache, [1, 1]);
    let pool = pool.expect("a connection");
    let mut slot = Slot::default();
    let until = SystemTime::now() + TIMEOUT;
    let new = loop {
        pool.refresh().expect("a server");
        if let TakeResult::Prepare(new) = pool.take(&mut slot) {
            break new;
        }
        assert!(SystemTime::now() < until, "the match is not offered");
    };
    let idle = Duration::from_millis(20);
    thread::sleep(idle);
    assert_eq!(pool.idle_time(), Duration::ZERO);
    let served = pool.accept(&new).expect("a permitted match");
    assert_eq!(pool.idle_time(), Duration::ZERO);
    let before = Instant::now();
    pool.ready(&new, served, Cost(1));
    assert!(pool.idle_time() <= before.elapsed());
    pool.leave(Departure::Finish);
}
