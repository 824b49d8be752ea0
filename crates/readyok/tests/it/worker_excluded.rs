//! Terminal, page and fastchess output of a match in a queue that excludes a worker.
//!
//! The test needs `nats-server`; without it and `READYOK_REAL_ENGINES` it is skipped.

use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use readyok::matches::{Dashboard, Lines};
use readyok_arena::event::{End, Event};
use readyok_arena::fastchess::Printer;
use readyok_arena::queue::nats::{Access, Admin, Connection, CoordinatorSettings, NatsDispatcher};
use readyok_server::QueueDashboard as _;
use readyok_server::wire::{QueueAction, QueueMatch};

use crate::match_views::invocation;
use crate::program::{Dir, TIMEOUT, Terminal, readyok, start_nats};
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
    let (_server, server) = start_nats(&nats, &dir);
    let access = Access { server: server.clone(), ..Access::default() };
    let connection = Connection::open(&access).expect("a connection");
    let mut game = open(&dir.path().join("results.jsonl"), &plan);
    let terminal = Terminal::default();
    game.listen(Lines::new(terminal.clone(), 1));
    let fastchess = Terminal::default();
    let (_, options) = invocation(&["one", "two"]);
    game.listen(Printer::new(&plan, ROUNDS, &options, fastchess.clone()));
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
    let id = admin.open_matches().expect("a server").pop().expect("the match").id;
    let dashboard = Dashboard::open(&access, dir.path().join("queue"), |_, _| Err(String::new()));
    let dashboard = dashboard.expect("a queue");
    let page_with = |is_wanted: fn(&QueueMatch) -> bool| {
        const PAUSE: Duration = Duration::from_millis(50);
        for _ in 0..TIMEOUT.as_millis() / PAUSE.as_millis() {
            let page = dashboard.details(&id, true).expect("a server").expect("the match");
            if is_wanted(&page) {
                return page;
            }
            thread::sleep(PAUSE);
        }
        panic!("the page does not change in time");
    };
    let page = page_with(|page| page.status.pairs > 0);
    let names = page.conditions.engines.iter().map(|engine| engine.name.as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["one", "two"]);
    // The coordinator has sent the hashes of the programs.
    assert!(page.conditions.engines.iter().all(|engine| engine.hash.is_some()), "{page:?}");
    assert!(page.status.standings.iter().any(|row| row.wins + row.draws > 0), "{page:?}");
    let shown = readyok(&dir).args(["queue", "show", &id, "--queue", &server]).output();
    let shown = String::from_utf8(shown.expect("it runs").stdout).expect("UTF-8");
    for expected in [
        "engine          one: ",
        " 50 nodes",
        "adjudication    draw after 10 moves",
        "seed            ",
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    let exclude = QueueAction::Exclude { worker: "host".to_owned() };
    assert_eq!(dashboard.act(&id, exclude), Ok(id.clone()));
    wait_for(&events, |event| matches!(event, Event::MatchStart { resumed: 0, .. }));
    let QueueMatch { control, status, .. } = page_with(|page| page.status.pairs == 0);
    assert!(control.excluded.contains("host"), "{control:?}");
    assert!(status.scores.is_empty() && status.curve.is_empty() && status.elo.is_none());
    assert!(status.standings.iter().all(|row| row.wins + row.draws + row.losses == 0));
    assert!(status.workers.iter().all(|row| row.counts.games == 0), "{:?}", status.workers);
    stop.interrupt();
    stop.interrupt();
    let summary = end.recv_timeout(TIMEOUT).expect("an end in time").expect("a match");
    assert_eq!((summary.end, summary.complete, summary.scores.len()), (End::Interrupted, 0, 0));

    let text = terminal.drain();
    let (before, after) = text.split_once("warning: excluded host: ").expect("a warning");
    assert!(before.contains("one: +"), "the score was printed: {before}");
    assert!(!after.contains("one: +") && !after.contains("Elo"), "{after}");
    assert!(after.ends_with("interrupted: 0 game pairs, 0 games\n"), "{after}");

    let reports = fastchess.drain();
    let (before, after) = reports.rsplit_once("excluded host: ").expect("a warning");
    assert!(before.contains("Results of one vs two"), "{before}");
    assert!(!after.contains("Results of"), "{after}");
}
