//! Searches run and their deadlines are enforced even if no call waits.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use readyok_client::{
    Builder, Clock, Clocks, Dialect, Engine, EngineError, Event, Game, Limit, Move, Notice, Party,
    Problem, Search, SearchHandle, SearchResult, Stopper, TimeoutKind, Timeouts, WaitLimit,
};

use crate::support::{
    LONG, SHORT, check_gone, check_started, misbehaving, now, patient, problem, uci,
};

/// Time for other work during a search.
const WORK: Duration = Duration::from_secs(1);
/// Time between two lines of the counting engine.
const TICK: Duration = Duration::from_millis(10);
/// Minimum of the counting engine's nodes after [`WORK`] under high load.
const MIN_NODES: u64 = 500;

/// An engine whose node count is the time since `go` in milliseconds.
fn counting(input: impl Read, output: impl Write + Send + 'static) {
    let output = Arc::new(Mutex::new(output));
    let write = |text: &str| {
        let mut output = output.lock().expect("no panic");
        // The client may have disconnected.
        let _ = output.write_all(text.as_bytes()).and_then(|()| output.flush());
    };
    let mut search: Option<(Arc<AtomicBool>, thread::JoinHandle<()>)> = None;
    for line in BufReader::new(input).lines().map_while(Result::ok) {
        match line.split(' ').next().unwrap_or_default() {
            "uci" => write("uciok\n"),
            "isready" => write("readyok\n"),
            "go" => {
                let stopped = Arc::new(AtomicBool::new(false));
                let (stop, output) = (Arc::clone(&stopped), Arc::clone(&output));
                let ticker = thread::spawn(move || {
                    let begin = now();
                    while !stop.load(Ordering::SeqCst) {
                        thread::park_timeout(TICK);
                        let nodes = begin.elapsed().as_millis();
                        let mut output = output.lock().expect("no panic");
                        let _ = writeln!(output, "info depth 1 nodes {nodes} score cp 1 pv e2e4");
                    }
                });
                search = Some((stopped, ticker));
            }
            "stop" | "ponderhit" => {
                if let Some((stopped, ticker)) = search.take() {
                    stopped.store(true, Ordering::SeqCst);
                    ticker.join().expect("no panic");
                    write("bestmove e2e4 ponder e7e5\n");
                }
            }
            "quit" => break,
            _ => (),
        }
    }
    if let Some((stopped, ticker)) = search {
        stopped.store(true, Ordering::SeqCst);
        ticker.join().expect("no panic");
    }
}

fn nodes(result: Result<SearchResult, EngineError>) -> u64 {
    result.expect("it answers").info.nodes.unwrap_or_default()
}

fn check_nodes(result: Result<SearchResult, EngineError>) {
    let nodes = nodes(result);
    assert!(MIN_NODES <= nodes, "{nodes} nodes");
}

fn hit(search: SearchHandle) -> Result<SearchResult, EngineError> {
    search.ponder_hit(None)?;
    search.wait()
}

/// The counting engine over pollable pipes, and over streams that cannot be polled.
fn engines() -> Vec<Engine> {
    let pipes = uci(patient()).in_process(counting);
    let (input, to_engine) = std::io::pipe().expect("a pipe");
    let (from_engine, output) = std::io::pipe().expect("a pipe");
    thread::spawn(move || counting(input, output));
    let streams = uci(patient()).over(from_engine, to_engine);
    [pipes, streams].map(|engine| engine.expect("it starts well")).into()
}

#[test]
fn a_search_runs_while_its_caller_does_other_work() {
    let game = Game::startpos();
    for mut engine in engines() {
        for _ in 0..2 {
            let search = engine.analyse(&game, Limit::Infinite).expect("it starts");
            thread::sleep(WORK);
            check_nodes(search.finish());
            let search = engine.begin(&game, Limit::Infinite).expect("it starts");
            thread::sleep(WORK);
            check_nodes(search.finish());
            let search = engine.ponder(&game, Limit::millis(1)).expect("it starts");
            thread::sleep(WORK);
            check_nodes(hit(search));
        }
    }
}

#[tokio::test]
async fn a_search_runs_while_its_task_does_other_work() {
    let engine = uci(patient()).in_process_async(counting).await;
    let mut engine = engine.expect("it starts well");
    let search = engine.analyse(&Game::startpos(), Limit::Infinite).expect("it starts");
    tokio::time::sleep(WORK).await;
    search.stop();
    check_nodes(search.await);
    let search = engine.ponder(&Game::startpos(), Limit::millis(1)).expect("it starts");
    tokio::time::sleep(WORK).await;
    search.ponder_hit(None).expect("it ponders");
    check_nodes(search.await);
}

#[test]
fn stockfish_searches_while_its_caller_does_other_work() {
    if std::env::var_os("READYOK_REAL_ENGINES").is_none() {
        return;
    }
    let path = crate::real::find("stockfish");
    let mut engine = Engine::spawn(std::process::Command::new(&path)).expect("it starts");
    let game = Game::startpos();
    let second = Limit::millis(u64::try_from(WORK.as_millis()).expect("a second"));
    let expected = nodes(engine.play(&game, second));
    let check = |measured: u64, mode: &str| {
        // Other processes may have used most of the CPU time.
        assert!(expected / 4 <= measured, "{mode}: {measured} of {expected} nodes");
    };
    engine.push_button("Clear Hash").expect("it has it");
    let search = engine.analyse(&game, Limit::Infinite).expect("it starts");
    thread::sleep(WORK);
    check(nodes(search.finish()), "analyse");
    engine.push_button("Clear Hash").expect("it has it");
    let search = engine.ponder(&game, Limit::millis(1)).expect("it starts");
    thread::sleep(WORK);
    check(nodes(hit(search)), "ponder");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let builder = Engine::builder().dialect(Dialect::Uci);
        let engine = builder.spawn_async(std::process::Command::new(path)).await;
        let mut engine = engine.expect("it starts");
        let search = engine.analyse(&game, Limit::Infinite).expect("it starts");
        tokio::time::sleep(WORK).await;
        search.stop();
        check(nodes(search.await), "task");
    });
}

#[test]
fn stockfish_ponders_while_its_opponent_thinks() {
    if std::env::var_os("READYOK_REAL_ENGINES").is_none() {
        return;
    }
    let path = crate::real::find("stockfish");
    let clock = Clock::fischer(10 * WORK, WORK / 10);
    let limit = || Search::new(Limit::clock(Clocks::new(clock, clock)));
    let start = || {
        let (builder, log) = logged(Engine::builder().dialect(Dialect::Uci));
        (builder.spawn(std::process::Command::new(&path)).expect("it starts"), log)
    };
    let mut players = [start(), start()];
    let mut game = Game::startpos();
    let mut pondering: [Option<(Game, SearchHandle)>; 2] = [None, None];
    let (mut calls, mut hits) = ([0; 2], [0; 2]);
    for ply in 0..24 {
        let side = ply % 2;
        let (engine, _) = &mut players[side];
        let result = match pondering[side].take() {
            Some((expected, search)) if expected.position() == game.position() => {
                hits[side] += 1;
                hit(search)
            }
            _ => engine.play(&game, limit()),
        };
        let result = result.expect("it plays");
        let Some(best) = result.best_move() else { break };
        game.play(best);
        if let Some(reply) = result.ponder {
            let mut expected = game.clone();
            expected.play(reply);
            let search = engine.ponder(&expected, limit()).expect("it starts");
            pondering[side] = Some((expected, search));
            calls[side] += 1;
        }
        // Time of the opponent, during which each `go ponder` is sent.
        thread::sleep(WORK / 10);
    }
    drop(pondering);
    for (side, (engine, log)) in players.iter_mut().enumerate() {
        engine.ready().expect("it is there");
        assert!(8 < calls[side], "{calls:?}");
        assert_eq!(count(log, "> go ponder"), calls[side]);
        assert_eq!(count(log, "> ponderhit"), hits[side]);
    }
}

/// A log of both directions.
type Log = Arc<Mutex<Vec<String>>>;

fn logged(builder: Builder) -> (Builder, Log) {
    let log = Log::default();
    let lines = Arc::clone(&log);
    let builder = builder.on_line(move |side: Party, line: &str| {
        let sign = if side == Party::Client { '>' } else { '<' };
        lines.lock().expect("no panic").push(format!("{sign} {line}"));
    });
    (builder, log)
}

fn count(log: &Log, start: &str) -> usize {
    log.lock().expect("no panic").iter().filter(|line| line.starts_with(start)).count()
}

fn mv(text: &str) -> Move {
    text.parse().expect("a move")
}

#[test]
fn each_call_of_ponder_sends_go_ponder_for_hits_and_misses() {
    for separate in [true, false] {
        let (command, mark) =
            misbehaving(&["go: ", "ponderhit: bestmove e2e4", "stop: bestmove a2a3"]);
        let (builder, log) = logged(uci(patient()).sync_between_searches(separate));
        let mut white = builder.spawn(command).expect("it starts well");
        let mut black = uci(patient()).in_process(counting).expect("it starts well");
        let mut game = Game::startpos();
        game.extend([mv("e2e4"), mv("e7e5")]);
        for round in 0..6 {
            let pondering = white.ponder(&game, Limit::millis(1)).expect("it starts");
            let opponent = black.begin(&game, Limit::Infinite).expect("it starts");
            while count(&log, "> go ponder") <= round {
                thread::park_timeout(Duration::from_millis(1));
            }
            opponent.finish().expect("it answers");
            if round % 2 == 0 {
                assert_eq!(hit(pondering).expect("it plays").best_move(), Some(mv("e2e4")));
            } else {
                drop(pondering);
            }
        }
        white.ready().expect("it answers");
        assert_eq!(count(&log, "> go ponder"), 6);
        assert_eq!(count(&log, "> ponderhit"), 3);
        assert_eq!(count(&log, "> stop"), 3);
        drop((white, black));
        check_gone(&mark);
    }
}

#[test]
fn pondering_after_a_move_is_one_parameter() {
    let clock = Clock::fischer(60 * WORK, WORK);
    let search = || Search::new(Limit::clock(Clocks::new(clock, clock))).ponder_after();
    for separate in [true, false] {
        let (command, mark) = misbehaving(&[
            "go: bestmove e2e4 ponder e7e5",
            "go: ",
            "go: ",
            "go: bestmove d2d4",
            "ponderhit: bestmove g1f3 ponder b8c6",
        ]);
        let (builder, log) = logged(uci(patient()).sync_between_searches(separate));
        let mut engine = builder.spawn(command).expect("it starts well");
        let mut game = Game::startpos();
        let first = engine.play(&game, search()).expect("it plays");
        assert!(!first.ponder_hit);
        game.extend([mv("e2e4"), mv("e7e5")]);
        while count(&log, "> go ponder") == 0 {
            thread::park_timeout(Duration::from_millis(1));
        }
        // The opponent plays the expected move.
        let second = engine.play(&game, search()).expect("it plays");
        assert!(second.ponder_hit);
        assert_eq!(second.best_move(), Some(mv("g1f3")));
        game.extend([mv("g1f3"), mv("d7d6")]);
        while count(&log, "> go ponder") == 1 {
            thread::park_timeout(Duration::from_millis(1));
        }
        // The opponent plays another move: the old search is stopped, and its answer ignored.
        let third = engine.play(&game, Search::new(Limit::Nodes(7))).expect("it plays");
        assert!(!third.ponder_hit);
        assert_eq!((count(&log, "> ponderhit"), count(&log, "> stop")), (1, 1));
        assert_eq!(count(&log, "> go nodes 7"), 1);
        let log = log.lock().expect("no panic");
        let ponder = log.iter().find(|line| line.starts_with("> go ponder")).expect("one");
        assert!(ponder.contains("btime 61000 winc 1000 binc 1000"), "{ponder}");
        let position = log.iter().filter(|line| line.starts_with("> position")).nth(1);
        assert_eq!(position.map(String::as_str), Some("> position startpos moves e2e4 e7e5"));
        drop(log);
        drop(engine);
        check_gone(&mark);
    }
}

#[test]
fn a_ponder_hit_needs_the_same_kind_of_search() {
    let (command, mark) = misbehaving(&["go: bestmove e2e4 ponder e7e5", "go: "]);
    let (builder, log) = logged(uci(patient()));
    let mut engine = builder.spawn(command).expect("it starts well");
    let mut game = Game::startpos();
    engine.play(&game, Search::new(Limit::millis(10)).ponder_after()).expect("it plays");
    game.extend([mv("e2e4"), mv("e7e5")]);
    let other = Search::new(Limit::millis(10)).option("Hash", "64");
    assert!(!engine.begin(&game, other).expect("it starts").finish().expect("ok").ponder_hit);
    assert_eq!(count(&log, "> ponderhit"), 0);
    drop(engine);
    check_gone(&mark);
}

/// HIARCS repeats its own move as the expected reply (python-chess reports it as an illegal ponder move). After the last
/// move of a period its clock would look like sudden death.
#[test]
fn an_impossible_reply_and_an_ended_period_are_not_pondered_on() {
    let clock = Clock::fischer(60 * WORK, WORK);
    let clocks = Clocks::new(clock, clock);
    let last = Clocks { moves_to_go: Some(1), ..clocks };
    for (answer, clocks) in [
        ("e2e4 ponder e2e4", clocks),
        ("e2e4 ponder e2e3", clocks),
        ("e2e4 ponder 0000", clocks),
        ("e2e4 ponder xyzzy", clocks),
        ("e2e4 ponder e7e5", last),
    ] {
        let (command, mark) =
            misbehaving(&[&format!("go: bestmove {answer}"), "go: bestmove d2d4"]);
        let (builder, log) = logged(uci(patient()));
        let mut engine = builder.spawn(command).expect("it starts well");
        let mut game = Game::startpos();
        let search = Search::new(Limit::clock(clocks)).ponder_after();
        game.extend(engine.play(&game, search.clone()).expect("it plays").best_move());
        engine.ready().expect("it answers");
        game.play(mv("e7e5"));
        assert!(!engine.play(&game, search).expect("it plays").ponder_hit, "{answer}");
        assert_eq!(count(&log, "> go ponder"), 0, "{answer}");
        drop(engine);
        check_gone(&mark);
    }
}

fn wait_until_over(search: &SearchHandle) {
    while !search.is_over() {
        thread::park_timeout(Duration::from_millis(5));
    }
}

#[test]
fn deadlines_are_enforced_while_no_call_waits() {
    let short = WaitLimit::fixed(SHORT);
    let late = Timeouts { ready: short, stop: short, ..patient() };
    check_started(&["isready: "], late, |mut engine| {
        let search = engine.begin(&Game::startpos(), Limit::Infinite).expect("it starts");
        wait_until_over(&search);
        assert_eq!(problem(search.wait()), Problem::Timeout(TimeoutKind::Ready));
    });
    check_started(&["stop: "], late, |mut engine| {
        let search = engine.begin(&Game::startpos(), Limit::Infinite).expect("it starts");
        search.stop();
        wait_until_over(&search);
        assert_eq!(problem(search.wait()), Problem::Timeout(TimeoutKind::Stop));
    });
    check_started(&["go: "], patient(), |mut engine| {
        let limit = Search::new(Limit::Infinite).deadline_after(SHORT);
        let search = engine.begin(&Game::startpos(), limit).expect("it starts");
        wait_until_over(&search);
        assert!(matches!(problem(search.wait()), Problem::OutOfTime(_)));
    });
    let overrun = Timeouts { overrun: SHORT, ..patient() };
    check_started(&["go: "], overrun, |mut engine| {
        let search = engine.begin(&Game::startpos(), Limit::millis(1)).expect("it starts");
        wait_until_over(&search);
        search.wait().expect("`stop` helps");
        let notices = engine.drain_notices();
        assert!(notices.iter().any(|notice| matches!(notice, Notice::Event(Event::Overrun(_)))));
    });
}

#[test]
fn a_panic_in_a_callback_leaves_a_usable_engine() {
    check_started(&["go: !flood", "go: bestmove d2d4"], patient(), |mut engine| {
        let game = Game::startpos();
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            engine.play_with(&game, Limit::Infinite, |_| {
                std::panic::resume_unwind(Box::new("the caller panics"));
            })
        }));
        assert!(panicked.is_err());
        let result = engine.play(&game, Limit::Depth(1)).expect("it plays");
        assert_eq!(result.best_move(), Some(mv("d2d4")));
    });
}

#[test]
fn an_engine_can_quit_while_a_handle_waits() {
    check_started(&[], patient(), |mut engine| {
        let search = engine.begin(&Game::startpos(), Limit::Infinite).expect("it starts");
        let waiter = thread::spawn(move || search.wait());
        thread::park_timeout(SHORT / 4);
        assert!(engine.quit().expect("it exits").is_some_and(|status| status.success()));
        assert_eq!(problem(waiter.join().expect("no panic")), Problem::Disconnected);
    });
}

#[test]
fn a_listener_may_use_the_engine() {
    let stopper: Arc<Mutex<Option<Stopper>>> = Arc::default();
    let own = Arc::clone(&stopper);
    let (command, mark) = misbehaving(&["go: info depth 1 score cp 1 pv e2e4"]);
    let builder = uci(patient()).on_line(move |_, line| {
        if line.starts_with("info")
            && let Some(stopper) = own.lock().expect("no panic").clone()
        {
            stopper.stop();
        }
    });
    let mut engine = builder.spawn(command).expect("it starts well");
    *stopper.lock().expect("no panic") = Some(engine.stopper());
    let result = engine.play(&Game::startpos(), Limit::Infinite).expect("it is stopped");
    assert!(result.best_move().is_some());
    let search = engine.begin(&Game::startpos(), Limit::Infinite).expect("it starts");
    wait_until_over(&search);
    assert!(search.wait().expect("it is stopped").best_move().is_some());
    *stopper.lock().expect("no panic") = None;
    drop(engine);
    check_gone(&mark);
}

#[test]
fn an_idle_engine_is_read() {
    let (builder, log) = logged(uci(patient()));
    let (command, mark) = misbehaving(&["setoption: !wait 1500 | info string late"]);
    let mut engine = builder.spawn(command).expect("it starts well");
    engine.set_option("Hash", "17").expect("it has it");
    let begin = now();
    while count(&log, "< info string late") == 0 {
        assert!(begin.elapsed() < LONG, "nothing is read");
        thread::park_timeout(Duration::from_millis(10));
    }
    drop(engine);
    check_gone(&mark);
}
