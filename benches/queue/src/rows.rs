//! The rows of the table.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

use async_nats::{ConnectOptions, jetstream};
use futures_util::{StreamExt, stream};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::coordinator::Coordinator;
use crate::process::{cpu_time, peak_mb};
use crate::server::Server;
use crate::share::Shares;
use crate::worker::{Load, Workers, publish};
use crate::{Line, games};

const MATCHES: usize = 3;
const PAIR_BYTES: usize = 36_000;
const FORGED: u64 = 10_000;
const PARALLEL_FORGED: usize = 100;
const PROGRAM_BYTES: usize = 41_000_000;

/// Time for the messages of a start.
const SETTLE: Duration = Duration::from_secs(10);

/// Rates of a server and coordinators.
struct Rates {
    received: f64,
    sent: f64,
    /// In percent of a core.
    server_cpu: f64,
    coordinator_cpu: f64,
}

fn measure(server: &Server, coordinators: &[Coordinator], seconds: u64) -> Rates {
    let cpu = |coordinators: &[Coordinator]| -> Duration {
        coordinators.iter().map(|coordinator| cpu_time(coordinator.pid())).sum()
    };
    let (started, before) = (Instant::now(), server.counters());
    let [server_before, before_cpu] = [cpu_time(server.id()), cpu(coordinators)];
    thread::sleep(Duration::from_secs(seconds));
    let (elapsed, after) = (started.elapsed().as_secs_f64(), server.counters());
    let percent = |time: Duration| 100.0 * time.as_secs_f64() / elapsed;
    Rates {
        received: (after.received - before.received) / elapsed,
        sent: (after.sent - before.sent) / elapsed,
        server_cpu: percent(cpu_time(server.id()) - server_before),
        coordinator_cpu: percent(cpu(coordinators) - before_cpu),
    }
}

fn load(pair_ms: u64, bytes: usize) -> Load {
    Load { pair_ms, games: games::of_length(bytes).to_string() }
}

fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < Duration::from_mins(10), "{what} takes too long");
        thread::sleep(Duration::from_millis(20));
    }
}

fn open_matches(server: &str) -> Vec<Coordinator> {
    let names = (0..MATCHES).map(|number| format!("match {number}"));
    names.map(|name| Coordinator::start(server, &name, 0)).collect()
}

/// Idle workers of matches that are paused before the workers start, or while they prepare the matches.
pub(crate) fn idle(runtime: &Runtime, count: usize, seconds: u64, pause: Pause) -> Vec<Line> {
    let server = Server::start();
    let address = server.address();
    let coordinators = open_matches(&address);
    let pause_all = || coordinators.iter().for_each(|coordinator| coordinator.pause(&address));
    if pause == Pause::Before {
        pause_all();
    }
    let workers = Workers::start(runtime, &address, count, load(0, 0));
    let totals = &workers.totals;
    let has_started = |count: usize| totals.connected.load(Relaxed) >= count as u64;
    if pause == Pause::Meanwhile {
        wait_for("the connections", || has_started(count / 4));
        pause_all();
    }
    wait_for("the connections", || has_started(count));
    thread::sleep(SETTLE);
    let rates = measure(&server, &coordinators, seconds);
    let cpu = rates.server_cpu + rates.coordinator_cpu;
    vec![
        Line::new("messages/s in", rates.received, Some(100.0)),
        Line::new("messages/s out", rates.sent, Some(400.0)),
        Line::new("consumers", server.consumers(), Some(10.0)),
        Line::new("CPU of the server and the coordinators, % of a core", cpu, Some(5.0)),
        Line::new("CPU of the coordinators alone, % of a core", rates.coordinator_cpu, None),
        Line::new("server, MB", peak_mb(server.id()), Some(150.0)),
        Line::new("errors", totals.errors.load(Relaxed) as f64, Some(0.0)),
    ]
}

/// When matches are paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    Before,
    Meanwhile,
}

/// Busy slots of one match.
pub(crate) fn busy(runtime: &Runtime, slots: usize, seconds: u64) -> Vec<Line> {
    const PAIRS_PER_SECOND: u64 = 100;
    let server = Server::start();
    let address = server.address();
    let coordinators = [Coordinator::start(&address, "busy", 0)];
    let load = load(slots as u64 * 1000 / PAIRS_PER_SECOND, PAIR_BYTES);
    let workers = Workers::start(runtime, &address, slots, load);
    let totals = &workers.totals;
    wait_for("the preparation", || totals.prepared.load(Relaxed) == slots as u64);
    // All slots have played a pair.
    wait_for("the start", || totals.pairs.load(Relaxed) >= 2 * slots as u64);
    let before = totals.pairs.load(Relaxed);
    let started = Instant::now();
    let rates = measure(&server, &coordinators, seconds);
    let pairs = totals.pairs.load(Relaxed) - before;
    let pairs_per_second = pairs as f64 / started.elapsed().as_secs_f64();
    let [coordinator] = &coordinators;
    let (_, ignored) = coordinator.counts(&address);
    vec![
        Line::new("pairs/s", pairs_per_second, None),
        Line::new("messages/s in", rates.received, None),
        Line::new("messages/s out", rates.sent, None),
        Line::new(
            "CPU of the server and the coordinator, % of a core",
            rates.server_cpu + rates.coordinator_cpu,
            Some(100.0),
        ),
        Line::new("CPU of the coordinator alone, % of a core", rates.coordinator_cpu, None),
        Line::new("coordinator, MB", peak_mb(coordinator.pid()), Some(100.0)),
        Line::new("server, MB", peak_mb(server.id()), None),
        Line::new("messages without effect", ignored as f64, None),
        Line::new("errors", totals.errors.load(Relaxed) as f64, Some(0.0)),
    ]
}

/// Workers that download a program.
pub(crate) fn files(runtime: &Runtime, count: usize) -> Vec<Line> {
    let server = Server::start();
    let address = server.address();
    let _coordinator = Coordinator::start(&address, "files", PROGRAM_BYTES);
    let uploaded = peak_mb(server.id());
    let started = Instant::now();
    let workers = Workers::start(runtime, &address, count, load(60_000, 0));
    let totals = &workers.totals;
    wait_for("the download", || totals.prepared.load(Relaxed) == count as u64);
    let seconds = started.elapsed().as_secs_f64();
    let megabytes = totals.downloaded_bytes.load(Relaxed) as f64 / 1e6;
    vec![
        Line::new("server, MB", peak_mb(server.id()), Some(350.0)),
        Line::new("server after the upload, MB", uploaded, None),
        Line::new("MB/s of all downloads", megabytes / seconds, None),
        Line::new("errors", totals.errors.load(Relaxed) as f64, Some(0.0)),
    ]
}

/// Results without a grant.
pub(crate) fn forged(runtime: &Runtime) -> Vec<Line> {
    let server = Server::start();
    let address = server.address();
    let coordinator = Coordinator::start(&address, "forged", 0);
    let before = peak_mb(coordinator.pid());
    let subject = format!("readyok.results.{}.evil", coordinator.id);
    let games = games::of_length(PAIR_BYTES);
    let started = cpu_time(coordinator.pid());
    runtime.block_on(async {
        let client = ConnectOptions::new().connect(&address).await.expect("a server");
        let context = jetstream::new(client);
        let sent = stream::iter(0..FORGED).map(|index| {
            let grant = json!({ "index": index, "term": 1, "serial": index, "at_ms": 0, "mac": "0".repeat(64) });
            let text = json!({ "done": { "grant": grant, "result": {
                "pairing": { "index": index, "round": 1, "first": 0, "second": 1, "games": 2, "opening": { "index": 0 } },
                "games": games,
            } } });
            let (context, subject, text) = (&context, &subject, text.to_string());
            async move {
                // The inbox of a worker has a limit.
                while !publish(context, subject, &text).await {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        });
        sent.buffer_unordered(PARALLEL_FORGED).collect::<Vec<()>>().await;
    });
    wait_for("the count of ignored results", || coordinator.counts(&address).1 >= FORGED);
    let cpu = cpu_time(coordinator.pid()) - started;
    vec![
        Line::new("coordinator, MB", peak_mb(coordinator.pid()), Some(40.0)),
        Line::new("coordinator before, MB", before, None),
        Line::new(
            "CPU of the coordinator for each result, µs",
            cpu.as_secs_f64() * 1e6 / FORGED as f64,
            None,
        ),
        Line::new("server, MB", peak_mb(server.id()), None),
    ]
}

/// The shares of matches that workers play.
pub(crate) fn farm(runtime: &Runtime, count: usize, seconds: u64) -> Vec<Line> {
    const PAIR_MS: u64 = 4_000;
    let server = Server::start();
    let address = server.address();
    let coordinators = open_matches(&address);
    let workers = Workers::start(runtime, &address, count, load(PAIR_MS, 0));
    let totals = &workers.totals;
    wait_for("the preparation", || totals.pairs.load(Relaxed) >= 2 * count as u64);
    let spent = || totals.spent.lock().expect("no panic").clone();
    let before = spent();
    let rates = measure(&server, &coordinators, seconds);
    let spent = spent();
    let spent = coordinators.iter().map(|coordinator| {
        let [before, after] = [&before, &spent].map(|all| all.get(&coordinator.id).copied());
        Duration::from_millis(after.unwrap_or_default() - before.unwrap_or_default())
    });
    let deviation = deviation_of(&spent.collect::<Vec<_>>());
    let goal = (seconds >= 300).then_some(3.0);
    let cpu = rates.server_cpu + rates.coordinator_cpu;
    vec![
        Line::new(&format!("deviation over {seconds} s, points"), deviation, goal),
        Line::new("CPU of the server and the coordinators, % of a core", cpu, None),
        Line::new("errors", totals.errors.load(Relaxed) as f64, Some(0.0)),
    ]
}

/// The deviations of simulated workers, with the real choice of the next match.
pub(crate) fn shares() -> Vec<Line> {
    let line = |workers: u64, minutes: u64, goal| {
        let what = format!("deviation with {workers} workers over {minutes} min, points");
        Line::new(&what, deviation(workers, Duration::from_mins(minutes)), goal)
    };
    vec![
        line(300, 1, None),
        line(300, 5, Some(3.0)),
        line(30, 5, None),
        line(3, 5, None),
        line(3, 60, None),
    ]
}

fn deviation(workers: u64, end: Duration) -> f64 {
    let ids: Vec<String> = (0..MATCHES).map(|number| format!("match {number}")).collect();
    let priorities: BTreeMap<String, i32> = ids.iter().map(|id| (id.clone(), 0)).collect();
    let mut random = fastrand::Rng::with_seed(1);
    let mut spent: BTreeMap<String, Duration> = BTreeMap::new();
    for number in 0..workers {
        let mut shares = Shares::of(&format!("w{number}"));
        shares.set(&priorities);
        let (mut now, mut current) = (Duration::ZERO, None::<String>);
        while now < end {
            let id = shares.order(current.as_deref()).swap_remove(0);
            let pair = Duration::from_millis(random.u64(2_000..20_000));
            shares.start(&id);
            shares.end(&id, pair);
            *spent.entry(id.clone()).or_default() += pair.min(end - now);
            now += pair;
            current = Some(id);
        }
    }
    deviation_of(&spent.into_values().collect::<Vec<_>>())
}

/// The largest deviation of a share of the time, in percentage points.
fn deviation_of(spent: &[Duration]) -> f64 {
    let all: Duration = spent.iter().sum();
    let fair = 1.0 / MATCHES as f64;
    let shares = spent.iter().map(|spent| spent.div_duration_f64(all));
    shares.map(|share| 100.0 * (share - fair).abs()).fold(0.0, f64::max)
}
