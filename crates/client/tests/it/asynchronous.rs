//! Async calls, tested with tokio, on which the client does not depend.

use std::cell::Cell;
use std::future::IntoFuture as _;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use readyok_client::{
    Builder, Dialect, Engine, EngineError, Game, Limit, Problem, Search, SearchHandle,
    SearchResult, TimeoutKind, Timeouts, WaitLimit,
};
use readyok_protocol::Party;
use tokio::time::timeout;

use crate::support::{
    SHORT, check_gone, check_reaped, good_engine, misbehaving, patient, problem, uci,
};

/// Starts a misbehaving engine, runs a test, and checks that no process of it is left after the runtime is dropped.
fn check(rules: &[&str], timeouts: Timeouts, test: impl AsyncFnOnce(Engine)) {
    let (command, mark) = misbehaving(rules);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let id = runtime.block_on(async {
        let engine = uci(timeouts).spawn_async(command).await.expect("it starts well");
        let id = engine.process_id().expect("it is a process");
        test(engine).await;
        id
    });
    drop(runtime);
    check_gone(&mark);
    check_reaped(id);
}

async fn finish(search: SearchHandle) -> Result<SearchResult, EngineError> {
    search.stop();
    search.await
}

async fn ponder_hit(search: SearchHandle) -> Result<SearchResult, EngineError> {
    search.ponder_hit(None)?;
    search.await
}

#[test]
fn plays_and_analyses() {
    check(&[], patient(), async |mut engine| {
        engine.ready_async().await.expect("it answers");
        let played = engine
            .begin(&Game::startpos(), Limit::Depth(1))
            .expect("it starts")
            .await
            .expect("it plays");
        assert!(played.best_move().is_some());
        let search = Search::new(Limit::Infinite).lines(2);
        let analysis = engine.analyse(&Game::startpos(), search).expect("it starts");
        assert!(finish(analysis).await.expect("it is stopped").best_move().is_some());
        let pondering = engine.ponder(&Game::startpos(), Limit::Depth(1)).expect("it starts");
        assert!(ponder_hit(pondering).await.expect("it plays").best_move().is_some());
        assert!(
            engine.quit_async().await.expect("it leaves").is_some_and(|status| status.success())
        );
    });
}

#[test]
fn dropping_a_future_stops_its_search() {
    check(&[], patient(), async |mut engine| {
        let game = Game::startpos();
        for _ in 0..2 {
            let search = engine.begin(&game, Limit::Infinite).expect("it starts").into_future();
            assert!(timeout(Duration::from_millis(50), search).await.is_err());
        }
        let played =
            engine.begin(&game, Limit::Depth(1)).expect("it starts").await.expect("it plays");
        assert_eq!(played.info.depth, Some(1));
    });
}

#[test]
fn a_timed_out_engine_is_terminated() {
    let timeouts = Timeouts { stop: WaitLimit::fixed(SHORT), ..patient() };
    check(&["stop: "], timeouts, async |mut engine| {
        let analysis = engine.analyse(&Game::startpos(), Limit::Infinite).expect("it starts");
        assert_eq!(problem(finish(analysis).await), Problem::Timeout(TimeoutKind::Stop));
    });
}

#[test]
fn output_does_not_prevent_a_loss_on_time() {
    for rules in [["go: "], ["go: !flood"]] {
        check(&rules, patient(), async |mut engine| {
            let search = Search::new(Limit::Depth(9)).deadline_after(SHORT);
            let lost = problem(engine.begin(&Game::startpos(), search).expect("it starts").await);
            assert!(matches!(lost, Problem::OutOfTime(_)), "{lost:?}");
        });
    }
}

#[test]
fn an_engine_that_ignores_quit_is_terminated() {
    let timeouts = Timeouts { quit: WaitLimit::fixed(SHORT), ..patient() };
    check(&["quit: !deaf"], timeouts, async |engine| {
        assert_eq!(problem(engine.quit_async().await), Problem::Timeout(TimeoutKind::Exit));
    });
}

#[test]
fn a_slow_reader_gets_the_latest_of_each_variation() {
    check(&["go: !flood"], patient(), async |mut engine| {
        let analysis = engine.analyse(&Game::startpos(), Limit::Infinite).expect("it starts");
        assert!(analysis.update().await.is_some());
        tokio::time::sleep(SHORT).await;
        assert!(timeout(SHORT, analysis.update()).await.expect("in time").is_some());
        assert_eq!(finish(analysis).await.expect("it is stopped").lines.len(), 3);
    });
}

/// Sends many lines immediately, and nothing more until it is stopped.
fn talkative(input: impl Read, mut output: impl Write) {
    for line in BufReader::new(input).lines().map_while(Result::ok) {
        let result = match line.split(' ').next() {
            Some("uci") => output.write_all(b"uciok\n"),
            Some("isready") => output.write_all(b"readyok\n"),
            Some("go") => (1..=MUCH)
                .try_for_each(|number| writeln!(output, "info multipv {number} score cp 1")),
            Some("stop") => output.write_all(b"bestmove e2e4\n"),
            _ => continue,
        };
        result.expect("the input is open");
    }
}

const MUCH: u32 = 600;

#[tokio::test]
async fn a_busy_task_yields_to_others() {
    let engine = uci(patient()).in_process_async(talkative).await;
    let mut engine = engine.expect("it starts well");
    let analysis = engine.analyse(&Game::startpos(), Limit::Infinite).expect("it starts");
    assert!(analysis.update().await.is_some());
    tokio::time::sleep(SHORT).await;
    let turns = Cell::new(0);
    let other = async {
        loop {
            turns.set(turns.get() + 1);
            tokio::task::yield_now().await;
        }
    };
    let reader = async {
        for _ in 1..MUCH {
            assert!(analysis.update().await.is_some());
        }
    };
    tokio::select! {
        biased;
        () = other => (),
        () = reader => (),
    }
    assert!(3 < turns.get(), "{} turns", turns.get());
    finish(analysis).await.expect("it is stopped");
}

#[test]
fn dropping_the_runtime_leaves_no_process() {
    for rules in [&[][..], &["quit: !deaf"], &["go: !flood"]] {
        let (command, mark) = misbehaving(rules);
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let mut engine =
            runtime.block_on(uci(patient()).spawn_async(command)).expect("it starts well");
        let id = engine.process_id().expect("it is a process");
        let (started, has_started) = channel();
        runtime.spawn(async move {
            let game = Game::startpos();
            let analysis = engine.analyse(&game, Limit::Infinite).expect("it starts");
            started.send(()).expect("the test waits");
            while analysis.update().await.is_some() {}
        });
        has_started.recv().expect("it starts");
        runtime.shutdown_background();
        check_gone(&mark);
        check_reaped(id);
    }
}

#[tokio::test]
async fn a_cancelled_handshake_leaves_no_process() {
    let (command, mark) = misbehaving(&["uci: "]);
    let starting = uci(patient()).spawn_async(command);
    assert!(timeout(Duration::from_millis(100), starting).await.is_err());
    check_gone(&mark);
}

#[tokio::test]
async fn an_engine_without_uci_is_started_in_usi() {
    let (command, mark) = misbehaving(&["uci: !exit 1"]);
    let builder = Builder::default().timeouts(patient());
    let engine = builder.spawn_async(command).await.expect("it knows usi");
    assert_eq!(engine.dialect(), Dialect::Usi);
    drop(engine);
    check_gone(&mark);
}

#[tokio::test]
async fn an_engine_can_run_in_process() {
    let (received, lines) = channel();
    let serve = move |input, output| good_engine(input, output, &received);
    let mut engine = uci(patient()).in_process_async(serve).await.expect("it answers");
    assert!(engine.begin(&Game::startpos(), Limit::Depth(1)).expect("it starts").await.is_ok());
    assert_eq!(engine.quit_async().await.expect("it leaves"), None);
    assert_eq!(lines.iter().filter(|line| line.starts_with("go")).count(), 1);
}

#[tokio::test]
async fn a_task_can_play() {
    let (command, mark) = misbehaving(&[]);
    let task = tokio::spawn(async move {
        let mut engine = uci(patient()).spawn_async(command).await?;
        engine.begin(&Game::startpos(), Limit::Depth(1))?.await
    });
    assert!(task.await.expect("no panic").expect("it plays").best_move().is_some());
    check_gone(&mark);
}

#[test]
fn a_listener_receives_both_sides_and_raw_lines() {
    let lines: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = Arc::clone(&lines);
    let on_line = move |by: Party, line: &str| {
        let sign = if by == Party::Client { '>' } else { '<' };
        log.lock().expect("no panic").push(format!("{sign} {line}"));
    };
    let (command, mark) = misbehaving(&["secret: info string received | !exit 3"]);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let builder = uci(patient()).on_line(on_line);
        let mut engine = builder.spawn_async(command).await.expect("it starts well");
        let search = engine.begin(&Game::startpos(), Limit::Infinite).expect("it can be asked");
        assert!(engine.send_raw("two\nlines").is_err());
        engine.send_raw("isready").expect("it is there");
        assert!(finish(search).await.expect("it is stopped").best_move().is_some());
        engine.send_raw("secret").expect("it is there");
        assert_eq!(engine.ended().await.problem(), &Problem::Disconnected);
    });
    drop(runtime);
    check_gone(&mark);
    let lines = lines.lock().expect("no panic");
    for line in
        ["> uci", "< uciok", "> go infinite", "> stop", "> secret", "< info string received"]
    {
        assert!(lines.iter().any(|other| other == line), "no `{line}` in {lines:#?}");
    }
}
