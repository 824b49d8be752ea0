//! The queue between coordinator and workers: leases, lost workers, stops.

use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use readyok_arena::event::Event;
use readyok_arena::listener::{JsonLines, Listener};
use readyok_arena::match_state::MatchState;
use readyok_arena::pairing::{PairResult, Pairing};
use readyok_arena::plan::EngineId;
use readyok_arena::queue::{
    DELIVERIES, Dispatcher, LocalDispatcher, LocalJobs, LocalWorker, MAX_FILE_BYTES, MatchSpec,
    NoStart, Report, ReturnReason, SpecError, Stop, StopToken, WorkerId, local,
};
use readyok_arena::runner::{PairPlayer, PlayContext, PlayerError, WorkError, work};

use crate::sample;

struct TestQueue {
    order: MatchSpec,
    dispatcher: LocalDispatcher,
    jobs: LocalJobs,
    reports: Receiver<Report>,
}

impl TestQueue {
    /// A queue with some jobs.
    fn with(offered: u64) -> Self {
        let (sender, reports) = channel();
        let (dispatcher, jobs) = local(sender);
        let order = MatchSpec::new(&sample::plan(&["a", "b"], 10));
        let mut queue = Self { order, dispatcher, jobs, reports };
        for index in 0..offered {
            let job = queue.order.job(sample::pairing(index));
            queue.dispatcher.offer(job).expect("a queue");
        }
        queue
    }

    fn worker(&self) -> LocalWorker {
        let worker = self.jobs.of(WorkerId("w".to_owned()));
        assert_eq!(self.reports(), [Report::Wanted]);
        worker
    }

    fn reports(&self) -> Vec<Report> {
        self.reports.try_iter().collect()
    }
}

fn returned(index: u64, why: ReturnReason) -> Report {
    Report::Returned { index, why }
}

#[test]
fn delivers_jobs_in_order_and_returns_results() {
    let queue = TestQueue::with(2);
    let mut worker = queue.worker();
    for index in 0..2 {
        let lease = worker.take().expect("a job");
        assert_eq!(lease.job(), &queue.order.job(sample::pairing(index)));
        lease.finish(sample::pair(index)).expect("a queue");
        let result = Box::new(sample::pair(index));
        assert_eq!(
            queue.reports(),
            [Report::Done { worker: WorkerId("w".to_owned()), result, records: None }]
        );
    }
}

#[test]
fn an_idle_worker_of_a_complete_queue_exits_while_others_play() {
    let mut queue = TestQueue::with(1);
    let (mut busy, mut idle) = (queue.worker(), queue.worker());
    let lease = busy.take().expect("a job");
    queue.dispatcher.complete();
    assert!(idle.take().is_none());
    // A returned job is available to the worker that returned it.
    drop(lease);
    assert_eq!(queue.reports(), [returned(0, ReturnReason::Requeued)]);
    let lease = busy.take().expect("a job");
    assert_eq!(lease.job().pairing.index, 0);
    lease.finish(sample::pair(0)).expect("a queue");
    assert!(busy.take().is_none());
}

#[test]
fn completing_the_queue_wakes_waiting_workers() {
    let mut queue = TestQueue::with(0);
    let mut worker = queue.worker();
    let waiting = thread::spawn(move || worker.take().is_none());
    queue.dispatcher.complete();
    assert!(waiting.join().expect("a worker"));
}

#[test]
fn a_job_of_a_panicked_worker_is_delivered_next() {
    let queue = TestQueue::with(2);
    let mut worker = queue.worker();
    let panicked = thread::spawn(move || {
        let _lease = worker.take();
        panic!("a worker is lost");
    });
    assert!(panicked.join().is_err());
    assert_eq!(queue.reports(), [returned(0, ReturnReason::Requeued)]);
    let mut worker = queue.worker();
    let lease = worker.take().expect("a job");
    assert_eq!(lease.job().pairing.index, 0);
}

#[test]
fn a_job_that_kills_its_workers_is_given_up() {
    let queue = TestQueue::with(2);
    let mut worker = queue.worker();
    for _ in 1..DELIVERIES {
        drop(worker.take().expect("a job"));
        assert_eq!(queue.reports(), [returned(0, ReturnReason::Requeued)]);
    }
    drop(worker.take().expect("a job"));
    assert_eq!(queue.reports(), [returned(0, ReturnReason::TooManyDeliveries)]);
    assert_eq!(worker.take().expect("a job").job().pairing.index, 1);
}

#[test]
fn a_job_that_cannot_be_played_is_not_retried() {
    let queue = TestQueue::with(1);
    let mut worker = queue.worker();
    worker.take().expect("a job").fail("no such opening".to_owned());
    assert_eq!(queue.reports(), [returned(0, ReturnReason::Failed("no such opening".to_owned()))]);
}

/// An engine of this player does not start.
struct Broken;

impl PairPlayer for Broken {
    fn play(
        &mut self,
        _: &Pairing,
        _: &mut PlayContext<'_>,
    ) -> Result<Option<PairResult>, PlayerError> {
        Err(PlayerError::NoStart(start_failure()))
    }
}

fn start_failure() -> NoStart {
    NoStart { engine: "a".to_owned(), why: "does not start (no library)".to_owned() }
}

#[test]
fn a_worker_with_a_broken_engine_returns_its_job_and_takes_no_other() {
    let queue = TestQueue::with(2);
    let mut worker = queue.worker();
    assert_eq!(work(&mut worker, &mut Broken), Err(WorkError::NoStart(start_failure())));
    assert_eq!(queue.reports(), [returned(0, ReturnReason::Requeued)]);
    assert_eq!(worker.take().expect("a job").job().pairing.index, 0);
}

#[test]
fn a_stop_withdraws_waiting_jobs_and_ends_workers() {
    let mut queue = TestQueue::with(3);
    let mut worker = queue.worker();
    let lease = worker.take().expect("a job");
    queue.dispatcher.stop(Stop::Finish).expect("a queue");
    assert_eq!(
        queue.reports(),
        [returned(1, ReturnReason::Withdrawn), returned(2, ReturnReason::Withdrawn)]
    );
    assert_eq!(worker.stop_token().stopped(), Some(Stop::Finish));
    assert!(!worker.stop_token().is_aborted());
    assert!(worker.take().is_none());
    queue.dispatcher.offer(queue.order.job(sample::pairing(9))).expect("a queue");
    assert_eq!(queue.reports(), [returned(9, ReturnReason::Withdrawn)]);
    queue.dispatcher.stop(Stop::Abort).expect("a queue");
    assert!(worker.stop_token().is_aborted());
    drop(lease);
    assert_eq!(queue.reports(), [returned(0, ReturnReason::Withdrawn)]);
}

#[test]
fn waiting_workers_exit_with_the_coordinator() {
    let queue = TestQueue::with(0);
    let mut worker = queue.worker();
    let waiting = thread::spawn(move || worker.take().is_none());
    drop(queue.dispatcher);
    assert!(waiting.join().expect("a worker"));
}

#[test]
fn an_abort_calls_each_callback_once_and_is_permanent() {
    let token = StopToken::default();
    let received = Arc::new(Mutex::new(Vec::new()));
    let listen = |name: &'static str| {
        let received = Arc::clone(&received);
        token.on_abort(move || received.lock().expect("a lock").push(name))
    };
    let early = listen("early");
    drop(listen("gone"));
    token.stop(Stop::Finish);
    assert!(received.lock().expect("a lock").is_empty());
    token.stop(Stop::Abort);
    token.stop(Stop::Finish);
    token.stop(Stop::Abort);
    let late = listen("late");
    assert_eq!(*received.lock().expect("a lock"), ["early", "late"]);
    assert!(token.is_aborted());
    drop((early, late));
}

#[test]
fn specs_and_jobs_are_serialized_as_json() {
    let queue = TestQueue::with(0);
    let job = queue.order.job(sample::pairing(3));
    let text = serde_json::to_string(&(&queue.order, &job)).expect("JSON");
    assert_eq!(serde_json::from_str::<(MatchSpec, _)>(&text).expect(&text), (queue.order, job));
}

#[test]
fn programs_are_identified_by_content() {
    let directory = tempfile::tempdir().expect("a directory");
    let program = directory.path().join("engine");
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
fn writes_events_as_json_lines_until_an_error() {
    let event = Event::PairEnd { pair: 7, round: 2, complete: 8 };
    let state = MatchState::new(&sample::plan(&["a", "b"], 8), 8);
    let mut bytes = Vec::new();
    let mut lines = JsonLines::new(&mut bytes);
    lines.on_event(&event, &state);
    lines.on_event(&event, &state);
    drop(lines);
    let text = String::from_utf8(bytes).expect("text");
    assert_eq!(text.lines().count(), 2);
    for line in text.lines() {
        assert!(line.contains("\"event\":\"pair-end\",\"pair\":7"), "{line}");
        assert_eq!(serde_json::from_str::<Event>(line).expect(line), event);
    }
    let mut full = [0; 10];
    let mut lines = JsonLines::new(&mut full[..]);
    lines.on_event(&event, &state);
    assert!(lines.error().is_some());
    lines.on_event(&event, &state);
}

/// A plan whose second engine has this option, in the directory of its program.
fn with_option(directory: &std::path::Path, value: &str) -> Result<MatchSpec, SpecError> {
    let program = directory.join("engine");
    std::fs::write(&program, "abc").expect("space");
    let mut plan = sample::plan(&["a", "b"], 1);
    for engine in &mut plan.engines {
        engine.command = program.display().to_string();
    }
    plan.engines[1].options.insert("EvalFile".to_owned(), value.to_owned());
    MatchSpec::new(&plan).with_contents()
}

#[test]
fn files_in_options_are_identified_by_content() {
    let directory = tempfile::tempdir().expect("a directory");
    let net = directory.path().join("net");
    std::fs::write(&net, "abc").expect("space");
    let check = |value: &str, expected: &[&str]| {
        let order = with_option(directory.path(), value).expect("an order");
        let texts: Vec<&str> = order.files.iter().map(|file| file.text.as_str()).collect();
        assert_eq!(texts, expected, "{value}");
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
    // Not a path, and a path of a missing file: they are sent unchanged.
    check("net", &[]);
    check("./nothing", &[]);
}

#[test]
fn rejects_files_that_cannot_be_sent_to_workers() {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::create_dir(directory.path().join("tables")).expect("a directory");
    let error = with_option(directory.path(), "./tables").expect_err("a directory");
    let text = "`./tables` of the engine `b` is a directory, which is not sent to workers: use the \
                absolute path of a directory that exists on their hosts";
    assert_eq!(error.to_string(), text);
    let tables = directory.path().join("tables");
    let order =
        with_option(directory.path(), tables.to_str().expect("UTF-8")).expect("a whole path");
    assert_eq!(
        (order.directories.into_iter().collect::<Vec<_>>(), order.files),
        (vec![tables], vec![])
    );
    let large = std::fs::File::create(directory.path().join("large")).expect("a file");
    large.set_len(MAX_FILE_BYTES + 1).expect("a length");
    let error = with_option(directory.path(), "./large").expect_err("a large file");
    assert!(
        matches!(error, SpecError::TooLarge { bytes, .. } if bytes == MAX_FILE_BYTES + 1),
        "{error}"
    );
}
