//! The queue between coordinator and workers: leases, losses, stops.

use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use readyok_arena::event::{Event, JsonLines, Listener};
use readyok_arena::pairing::{PairResult, Pairing};
use readyok_arena::plan::EngineId;
use readyok_arena::queue::{
    DELIVERIES, Dispatcher, Jobs, LocalDispatcher, LocalJobs, MAX_FILE_BYTES, MatchSpec, NoStart,
    Report, ReturnReason, SpecError, Stop, StopToken, WorkerId, local,
};
use readyok_arena::runner::{PairPlayer, PlayContext, PlayerError, WorkError, work};

use crate::sample;

struct Bench {
    order: MatchSpec,
    dispatcher: LocalDispatcher,
    jobs: LocalJobs,
    reports: Receiver<Report>,
}

impl Bench {
    /// A queue with some jobs.
    fn with(offered: u64) -> Self {
        let (sender, reports) = channel();
        let (dispatcher, jobs) = local(sender);
        let order = MatchSpec::new(&sample::plan(&["a", "b"], 10));
        let mut bench = Self { order, dispatcher, jobs, reports };
        for index in 0..offered {
            let job = bench.order.job(sample::pairing(index));
            bench.dispatcher.offer(job).expect("a queue");
        }
        bench
    }

    fn worker(&self) -> impl Jobs + use<> {
        let worker = self.jobs.of(WorkerId("w".to_owned()));
        assert_eq!(self.told(), [Report::Joined(WorkerId("w".to_owned()))]);
        worker
    }

    fn told(&self) -> Vec<Report> {
        self.reports.try_iter().collect()
    }
}

fn returned(index: u64, why: ReturnReason) -> Report {
    Report::Returned { index, why }
}

#[test]
fn hands_out_jobs_in_order_and_brings_results_back() {
    let bench = Bench::with(2);
    let mut worker = bench.worker();
    for index in 0..2 {
        let lease = worker.take().expect("a queue").expect("a job");
        assert_eq!(lease.job(), &bench.order.job(sample::pairing(index)));
        lease.finish(sample::pair(index)).expect("a queue");
        let result = Box::new(sample::pair(index));
        assert_eq!(
            bench.told(),
            [Report::Done { worker: WorkerId("w".to_owned()), result, records: None }]
        );
    }
}

#[test]
fn whoever_finds_nothing_in_a_complete_queue_goes_home_while_others_play() {
    let mut bench = Bench::with(1);
    let (mut busy, mut idle) = (bench.worker(), bench.worker());
    let lease = busy.take().expect("a queue").expect("a job");
    bench.dispatcher.complete();
    assert!(idle.take().expect("a queue").is_none());
    // What is given back waits for whoever gave it back.
    drop(lease);
    assert_eq!(bench.told(), [returned(0, ReturnReason::Requeued)]);
    let lease = busy.take().expect("a queue").expect("a job");
    assert_eq!((lease.job().pairing.index, lease.job().deliveries), (0, 1));
    lease.finish(sample::pair(0)).expect("a queue");
    assert!(busy.take().expect("a queue").is_none());
}

#[test]
fn a_queue_that_becomes_complete_wakes_who_waits() {
    let mut bench = Bench::with(0);
    let mut worker = bench.worker();
    let waiting = thread::spawn(move || worker.take().expect("a queue").is_none());
    bench.dispatcher.complete();
    assert!(waiting.join().expect("a worker"));
}

#[test]
fn a_job_whose_worker_panics_is_the_next_one_to_be_taken() {
    let bench = Bench::with(2);
    let mut worker = bench.worker();
    let panicked = thread::spawn(move || {
        let _lease = worker.take();
        panic!("a worker is lost");
    });
    assert!(panicked.join().is_err());
    let left = Report::Left(WorkerId("w".to_owned()));
    assert_eq!(bench.told(), [returned(0, ReturnReason::Requeued), left]);
    let mut worker = bench.worker();
    let lease = worker.take().expect("a queue").expect("a job");
    assert_eq!((lease.job().pairing.index, lease.job().deliveries), (0, 1));
}

#[test]
fn a_job_that_kills_its_workers_dies_itself() {
    let bench = Bench::with(2);
    let mut worker = bench.worker();
    for _ in 1..DELIVERIES {
        drop(worker.take().expect("a queue").expect("a job"));
        assert_eq!(bench.told(), [returned(0, ReturnReason::Requeued)]);
    }
    drop(worker.take().expect("a queue").expect("a job"));
    assert_eq!(bench.told(), [returned(0, ReturnReason::TooManyDeliveries)]);
    assert_eq!(worker.take().expect("a queue").expect("a job").job().pairing.index, 1);
}

#[test]
fn a_job_that_cannot_be_played_is_not_tried_again() {
    let bench = Bench::with(1);
    let mut worker = bench.worker();
    worker.take().expect("a queue").expect("a job").fail("no such opening".to_owned());
    assert_eq!(bench.told(), [returned(0, ReturnReason::Failed("no such opening".to_owned()))]);
}

/// Has engines that do not work here.
struct Unfit;

impl PairPlayer for Unfit {
    fn play(
        &mut self,
        _: &Pairing,
        _: &mut PlayContext<'_>,
    ) -> Result<Option<PairResult>, PlayerError> {
        Err(PlayerError::NoStart(unfit()))
    }
}

fn unfit() -> NoStart {
    NoStart { engine: "a".to_owned(), why: "does not start (no library)".to_owned() }
}

#[test]
fn a_job_whose_engine_does_not_work_here_goes_back_and_no_other_is_taken() {
    let bench = Bench::with(2);
    let mut worker = bench.worker();
    assert_eq!(work(&mut worker, &mut Unfit), Err(WorkError::NoStart(unfit())));
    assert_eq!(bench.told(), [returned(0, ReturnReason::Requeued)]);
    assert_eq!(worker.take().expect("a queue").expect("a job").job().pairing.index, 0);
}

#[test]
fn a_stop_withdraws_what_nobody_has_taken_and_sends_workers_home() {
    let mut bench = Bench::with(3);
    let mut worker = bench.worker();
    let lease = worker.take().expect("a queue").expect("a job");
    bench.dispatcher.stop(Stop::Finish).expect("a queue");
    assert_eq!(
        bench.told(),
        [returned(1, ReturnReason::Withdrawn), returned(2, ReturnReason::Withdrawn)]
    );
    assert_eq!(worker.stop_token().stopped(), Some(Stop::Finish));
    assert!(!worker.stop_token().is_aborted());
    assert!(worker.take().expect("a queue").is_none());
    bench.dispatcher.offer(bench.order.job(sample::pairing(9))).expect("a queue");
    assert_eq!(bench.told(), [returned(9, ReturnReason::Withdrawn)]);
    bench.dispatcher.stop(Stop::Abort).expect("a queue");
    assert!(worker.stop_token().is_aborted());
    drop(lease);
    assert_eq!(bench.told(), [returned(0, ReturnReason::Withdrawn)]);
}

#[test]
fn workers_that_wait_go_home_when_the_coordinator_does() {
    let bench = Bench::with(0);
    let mut worker = bench.worker();
    let waiting = thread::spawn(move || worker.take().expect("a queue").is_none());
    drop(bench.dispatcher);
    assert!(waiting.join().expect("a worker"));
}

#[test]
fn an_abort_is_heard_once_by_those_who_listen_and_cannot_be_taken_back() {
    let token = StopToken::default();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listen = |name: &'static str| {
        let heard = Arc::clone(&heard);
        token.on_abort(move || heard.lock().expect("a lock").push(name))
    };
    let early = listen("early");
    drop(listen("gone"));
    token.stop(Stop::Finish);
    assert!(heard.lock().expect("a lock").is_empty());
    token.stop(Stop::Abort);
    token.stop(Stop::Finish);
    token.stop(Stop::Abort);
    let late = listen("late");
    assert_eq!(*heard.lock().expect("a lock"), ["early", "late"]);
    assert!(token.is_aborted());
    drop((early, late));
}

#[test]
fn orders_and_jobs_travel_as_json() {
    let bench = Bench::with(0);
    let job = bench.order.job(sample::pairing(3));
    let text = serde_json::to_string(&(&bench.order, &job)).expect("JSON");
    assert_eq!(serde_json::from_str::<(MatchSpec, _)>(&text).expect(&text), (bench.order, job));
}

#[test]
fn programs_are_named_by_what_they_contain() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("engine");
    std::fs::write(&program, "abc").expect("space");
    let mut plan = sample::plan(&["a", "b"], 1);
    plan.engines[0].command = program.display().to_string();
    plan.engines[1].command = "tcp://localhost:1".to_owned();
    let order = MatchSpec::new(&plan).with_contents().expect("programs");
    let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let named: Vec<_> = order.programs.values().map(ToString::to_string).collect();
    assert_eq!(named, [hash]);
    plan.engines[0].command = "/nowhere/engine".to_owned();
    let error = MatchSpec::new(&plan).with_contents().expect_err("no program");
    assert!(error.to_string().contains("`/nowhere/engine`"), "{error}");
}

#[test]
fn events_are_lines_of_json_until_nobody_reads() {
    let event = Event::PairEnd { pair: 7, round: 2, complete: 8 };
    let mut bytes = Vec::new();
    let mut lines = JsonLines::new(&mut bytes);
    lines.on_event(&event);
    lines.on_event(&event);
    drop(lines);
    let text = String::from_utf8(bytes).expect("text");
    assert_eq!(text.lines().count(), 2);
    for line in text.lines() {
        assert!(line.contains("\"event\":\"pair-end\",\"pair\":7"), "{line}");
        assert_eq!(serde_json::from_str::<Event>(line).expect(line), event);
    }
    let mut full = [0; 10];
    let mut lines = JsonLines::new(&mut full[..]);
    lines.on_event(&event);
    assert!(lines.error().is_some());
    lines.on_event(&event);
}

/// A plan whose second engine has this option, in the folder of its program.
fn with_option(folder: &std::path::Path, value: &str) -> Result<MatchSpec, SpecError> {
    let program = folder.join("engine");
    std::fs::write(&program, "abc").expect("space");
    let mut plan = sample::plan(&["a", "b"], 1);
    for engine in &mut plan.engines {
        engine.command = program.display().to_string();
    }
    plan.engines[1].options.insert("EvalFile".to_owned(), value.to_owned());
    MatchSpec::new(&plan).with_contents()
}

#[test]
fn files_that_options_name_are_named_by_what_they_contain() {
    let folder = tempfile::tempdir().expect("a folder");
    let net = folder.path().join("net");
    std::fs::write(&net, "abc").expect("space");
    let check = |value: &str, expected: &[&str]| {
        let order = with_option(folder.path(), value).expect("an order");
        let words: Vec<&str> = order.files.iter().map(|file| file.word.as_str()).collect();
        assert_eq!(words, expected, "{value}");
        for file in &order.files {
            assert_eq!(file.engine, EngineId(1));
            assert_eq!(file.content, order.programs[&order.plan.engines[1].command]);
            assert_eq!(order.file(EngineId(1), value), Some(file));
            assert_eq!(order.file(EngineId(0), value), None);
        }
    };
    let path = net.to_str().expect("UTF-8");
    check(path, &[path]);
    check("./net", &["./net"]);
    // No path, and one that is not there: they go to workers as they are.
    check("net", &[]);
    check("./nothing", &[]);
}

#[test]
fn what_cannot_go_to_workers_is_told_before_the_match_begins() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("tables")).expect("a folder");
    let error = with_option(folder.path(), "./tables").expect_err("a folder");
    let text = "`./tables` of the engine `b` is a folder, which does not go to workers: name it by its \
                whole path if they have it, too";
    assert_eq!(error.to_string(), text);
    let tables = folder.path().join("tables");
    let order = with_option(folder.path(), tables.to_str().expect("UTF-8")).expect("a whole path");
    assert_eq!(
        (order.folders.into_iter().collect::<Vec<_>>(), order.files),
        (vec![tables], vec![])
    );
    let large = std::fs::File::create(folder.path().join("large")).expect("a file");
    large.set_len(MAX_FILE_BYTES + 1).expect("a length");
    let error = with_option(folder.path(), "./large").expect_err("a large file");
    assert!(
        matches!(error, SpecError::TooLarge { bytes, .. } if bytes == MAX_FILE_BYTES + 1),
        "{error}"
    );
}
