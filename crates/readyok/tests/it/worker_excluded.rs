//! The terminal output of a match in a queue that excludes a worker.
//!
//! The test needs `nats-server`; without it and `READYOK_REAL_ENGINES` it is skipped.

use std::sync::mpsc::{Receiver, channel};
use std::thread;

use readyok::matches::Lines;
use readyok_arena::event::{End, Event};
use readyok_arena::queue::nats::{Access, Admin, Connection, CoordinatorSettings, NatsDispatcher};

use crate::nats_server::NatsServer;
use crate::port::free_port;
use crate::program::{Dir, TIMEOUT, Terminal};
use crate::real::engine;
use crate::small_match::{open, plan};
use crate::worker_killed::{worker, write_engine};

/// More pairs than the worker can play.
const ROUNDS: u64 = 100_000;

fn wait_for(events: &Receiver<Event>, is_wanted: impl Fn(&Event) -> bool) {
    while !is_wanted(&events.recv_timeout(TIMEOUT).expect("an event in time")) {}
}

/// The pairs of an excluded worker are discarded and do not count. All pairs are from one worker, so no score is left.
#[test]
fn no_pair_of_an_excluded_worker_is_shown() {
    let Some(nats) = engine("nats-server") else { return };
    let dir = Dir::new();
    let engines = ["one", "two"].map(|name| write_engine(&dir, name));
    let plan = plan(&engines, ROUNDS, [50, 50], "max_moves = 10");
    let port = free_port();
    let _server = NatsServer::start(&nats, port, &dir.path().join("nats"), &[]);
    let server = format!("nats://127.0.0.1:{port}");
    let access = Access { server: server.clone(), ..Access::default() };
    let connection = Connection::open(&access).expect("a connection");
    let mut game = open(&dir.path().join("results.jsonl"), &plan);
    let terminal = Terminal::default();
    game.listen(Lines::new(terminal.clone(), 1));
    // After the lines: an event that is received is printed.
    let (sender, events) = channel();
    game.listen(sender);
    let stop = game.stop_handle();
    let order = game.spec().clone().with_contents().expect("programs");
    let reports = game.reports();
    let settings = CoordinatorSettings::default();
    let mut dispatcher =
        NatsDispatcher::open(&connection, order, None, settings, reports).expect("a queue");
    let (sender, end) = channel();
    thread::spawn(move || sender.send(game.coordinate(&mut dispatcher)));

    let _worker = worker(&dir, &server, "host", &engines, &[]);
    wait_for(&events, |event| matches!(event, Event::Score(_)));
    wait_for(&events, |event| matches!(event, Event::GameStart { .. } | Event::GameEnd { .. }));
    let admin = Admin::new(&connection);
    let found = admin.open_matches().expect("a server").pop().expect("the match");
    let exclude = |control: &mut readyok_arena::queue::nats::Control| {
        control.excluded.insert("host".to_owned());
    };
    admin.set(&found, exclude).expect("an open match");
    wait_for(&events, |event| matches!(event, Event::MatchStart { resumed: 0, .. }));
    stop.interrupt();
    stop.interrupt();
    let summary = end.recv_timeout(TIMEOUT).expect("an end in time").expect("a match");
    assert_eq!((summary.end, summary.complete, summary.scores.len()), (End::Interrupted, 0, 0));

    let text = terminal.drain();
    let (before, after) = text.split_once("warning: excluded host: ").expect("a warning");
    assert!(before.contains("one: +"), "the score was printed: {before}");
    assert!(!after.contains("one: +") && !after.contains("Elo"), "{after}");
    assert!(after.ends_with("interrupted: 0 game pairs, 0 games\n"), "{after}");
}
