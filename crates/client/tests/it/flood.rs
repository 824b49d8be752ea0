//! Engines that send more than is read.

use std::fs;
use std::io::{Write as _, stderr};
use std::thread;
use std::time::Duration;

use readyok_client::{Game, Limit, Problem, TimeoutKind, Timeouts, WaitLimit};

use crate::support::{LONG, SHORT, check_started, check_started_with, now, patient, problem, uci};

/// Prints the number of lines, which depends on the computer and is not tested.
fn state(lines: u64, time: Duration) {
    let rate = f64::from(u32::try_from(lines).unwrap_or(u32::MAX)) / time.as_secs_f64();
    let text = format!("read {lines} lines of a flood in {time:.1?}, {rate:.0} a second\n");
    stderr().write_all(text.as_bytes()).expect("standard error is open");
}

/// Memory of this process in megabytes. Zero if unknown.
fn memory() -> u64 {
    let text = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or(0) * 4096 / 1_000_000
}

#[test]
fn a_flood_without_a_reader_uses_no_memory_and_blocks_no_engine() {
    check_started_with(uci(patient()), &["go: !flood"], |mut engine| {
        let limit = readyok_client::Search::new(Limit::Infinite).lines(3);
        let mut analysis = engine.analyse(&Game::startpos(), limit).expect("it starts");
        assert!(analysis.next().is_some());
        let begin = now();
        let before = memory();
        thread::park_timeout(Duration::from_secs(2));
        let grown = memory().saturating_sub(before);
        assert!(grown < 100, "{grown} MB");
        let played = analysis.finish().expect("it is stopped");
        assert_eq!(played.lines.len(), 3);
        // Far more than fits in memory: the engine was never blocked permanently.
        let nodes = played.info.nodes.expect("each line has them");
        state(nodes, begin.elapsed());
        assert!(10_000 < nodes, "{nodes}");
    });
}

#[test]
fn a_million_lines_are_read_in_their_order() {
    let builder = uci(patient());
    check_started_with(builder, &["go: !flood"], |mut engine| {
        let begin = now();
        let limit = readyok_client::Search::new(Limit::Infinite).lines(3);
        let analysis = engine.analyse(&Game::startpos(), limit).expect("it starts");
        let mut last = None;
        // The flood numbers its lines. The total time is not limited, the time between two lines is.
        while last < Some(1_000_000) {
            let update = analysis.next_within(LONG).expect("the flood continues");
            assert!(last < update.info.nodes, "{last:?} before {:?}", update.info.nodes);
            last = update.info.nodes;
        }
        state(last.unwrap_or(0), begin.elapsed());
        drop(analysis.finish().expect("it is stopped"));
    });
}

#[test]
fn a_flood_does_not_delay_a_deadline() {
    let timeouts = Timeouts { stop: WaitLimit::fixed(SHORT), ..patient() };
    check_started(&["go: !flood", "stop: "], timeouts, |mut engine| {
        let analysis = engine.analyse(&Game::startpos(), Limit::Infinite).expect("it starts");
        assert_eq!(problem(analysis.finish()), Problem::Timeout(TimeoutKind::Stop));
    });
}

#[test]
fn a_flood_does_not_prevent_the_exit() {
    let timeouts = Timeouts { quit: WaitLimit::fixed(SHORT), ..patient() };
    for rules in [&["go: !flood"][..], &["go: !flood", "quit: !deaf"]] {
        check_started(rules, timeouts, |mut engine| {
            drop(engine.analyse(&Game::startpos(), Limit::Infinite).expect("it starts"));
        });
        check_started(rules, timeouts, |mut engine| {
            let mut analysis = engine.analyse(&Game::startpos(), Limit::Infinite).expect("ok");
            assert!(analysis.next().is_some());
            drop(analysis);
            // The exit status depends on the rules; only the exit itself is tested.
            let exit = engine.quit().unwrap_or_else(|error| error.exit());
            assert!(exit.is_some());
        });
    }
}

#[test]
fn a_flood_of_answers_between_searches_is_held_back() {
    check_started(&["setoption: !repeat bestmove a2a3"], patient(), |mut engine| {
        engine.set_option("Hash", "17").expect("it has it");
        let before = memory();
        thread::park_timeout(SHORT);
        let grown = memory().saturating_sub(before);
        assert!(grown < 100, "{grown} MB");
        let played = engine.play(&Game::startpos(), Limit::Depth(1)).expect("it plays");
        assert_eq!(played.best_move().map(|mv| mv.to_string()).as_deref(), Some("e2e4"));
    });
}

#[test]
fn a_flood_is_read_with_limited_rate() {
    const RATE: u32 = 100_000;
    let builder = uci(patient());
    check_started_with(builder.read_rate(RATE), &["go: !flood"], |mut engine| {
        let begin = now();
        let analysis = engine.analyse(&Game::startpos(), Limit::Infinite).expect("ok");
        while begin.elapsed() < SHORT {
            assert!(analysis.next_within(SHORT).is_some());
        }
        let nodes = analysis.finish().expect("it is stopped").info.nodes;
        // One full pipe and one read, in addition to the bytes in the elapsed time; a line has at least fifty bytes.
        let bytes = begin.elapsed().as_millis() * u128::from(RATE) / 1000 + 200_000;
        assert!(nodes.is_some_and(|nodes| u128::from(nodes) < bytes / 50), "{nodes:?}");
    });
}
