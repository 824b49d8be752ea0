//! Commands during a search, and invalid positions.

use std::time::Duration;

use readyok_protocol::session::engine::{EngineSession, Event};
use readyok_protocol::{Best, LineTooLong, Move};

use super::{Run, profile};

#[test]
fn only_the_last_queued_position_before_each_go_is_stored() {
    let mut run = Run::new();
    run.check("> go infinite\n= against BeforeUciOk\n= search: position startpos, go infinite");
    for (first, stop) in [("e2e4", "= stop"), ("d2d4", "")] {
        for _ in 0..300 {
            run.check("> position startpos moves g1f3\n= against BusyEngine");
        }
        run.check(&format!(
            "
            > position startpos moves {first}
            = against BusyEngine
            > setoption name Clear Hash
            = against BusyEngine
            > go depth 1
            = against BusyEngine
            {stop}
            "
        ));
    }
    run.check(
        "
        ! bestmove e7e5
        < info depth 0 time 0 pv e7e5
        < bestmove e7e5
        = option Clear Hash
        = against SearchBeforeReady
        = search: position startpos moves e2e4, go depth 1
        ! bestmove e7e5
        < info depth 0 time 0 pv e7e5
        < bestmove e7e5
        = option Clear Hash
        = against SearchBeforeReady
        = search: position startpos moves d2d4, go depth 1
        ",
    );
}

#[test]
fn ten_thousand_queued_searches_are_answered_in_their_order() {
    let mut run = Run::new();
    run.check("> go depth 1\n= against BeforeUciOk\n= search: position startpos, go depth 1");
    for number in 0..10_000 {
        for line in [
            format!("setoption name Hash value {}", number % 1024 + 1),
            format!("position startpos moves {}", ["e2e4", "d2d4"][number % 2]),
            format!("go nodes {number}"),
        ] {
            run.session.receive_line(&line, run.now, &mut run.out);
        }
    }
    run.session.end_of_input(&mut run.out);
    while run.happened().is_some() {}
    for number in 0..10_000 {
        run.session
            .best_move("e7e5".parse::<Move>().unwrap().into(), run.now, &mut run.out)
            .unwrap();
        let events: Vec<String> = std::iter::from_fn(|| run.happened()).collect();
        let hash = format!("option Hash {}", number % 1024 + 1);
        let mv = ["e2e4", "d2d4"][number % 2];
        let search = format!("search: position startpos moves {mv}, go nodes {number}");
        assert!(events.contains(&hash) && events.contains(&search), "{number}: {events:?}");
        assert_eq!(events.contains(&"quit".to_owned()), number == 9_999, "{events:?}");
    }
    assert_eq!(run.out.lines().filter(|line| line.starts_with("bestmove")).count(), 10_000);
}

#[test]
fn a_flood_during_a_search_is_dropped_at_the_memory_limit() {
    let mut run = Run::new();
    run.check("> go infinite\n= against BeforeUciOk\n= search: position startpos, go infinite");
    let long = format!("setoption name Hash value {}", "1".repeat(1 << 20));
    let flood = (0..1000).position(|_| {
        run.session.receive_line(&long, run.now, &mut run.out);
        std::iter::from_fn(|| run.session.poll_event()).any(|event| event == Event::Dropped)
    });
    assert!(flood.is_some_and(|flood| (200..300).contains(&flood)), "{flood:?}");
    assert_eq!(run.out, "info string too many commands during a search: one was dropped\n");
    run.out.clear();
    let dropped = format!("position startpos moves{}", " e2e4".repeat(1 << 19));
    run.session.receive_line(&dropped, run.now, &mut run.out);
    while run.happened().is_some() {}
    run.out.clear();
    // A short line still fits, and must not search an older position.
    run.session.receive_line("go depth 1", run.now, &mut run.out);
    run.session.receive_line("stop", run.now, &mut run.out);
    run.session.best_move(Best::None.into(), run.now, &mut run.out).unwrap();
    let expected = format!("{ANSWER_OF_FULL_QUEUE}info depth 0 time 0\nbestmove (none)\n");
    assert!(run.out.ends_with(&expected), "{}", run.out);
}

const ANSWER_OF_FULL_QUEUE: &str =
    "info string the search failed: the position or the search was dropped by the full queue\n";

#[test]
fn a_dropped_search_is_answered_in_its_order() {
    let mut run = Run::new();
    run.check("> go infinite\n= against BeforeUciOk\n= search: position startpos, go infinite");
    for length in [1 << 20, 1 << 10, 1] {
        let line = format!("setoption name Hash value {}", "1".repeat(length));
        let fits = |run: &mut Run| {
            run.session.receive_line(&line, run.now, &mut run.out);
            std::iter::from_fn(|| run.session.poll_event()).all(|event| event != Event::Dropped)
        };
        while fits(&mut run) {}
    }
    // Only a few short lines fit.
    for line in ["position startpos moves e2e4", "go depth 1", "stop"].repeat(100) {
        run.session.receive_line(line, run.now, &mut run.out);
    }
    while run.session.poll_event().is_some() {}
    run.out.clear();
    let mut searches = 0;
    while run.session.protocol_state().is_searching() {
        searches += 1;
        run.session.best_move(Best::None.into(), run.now, &mut run.out).unwrap();
    }
    let dropped = run.out.matches(ANSWER_OF_FULL_QUEUE).count();
    assert!((1..10).contains(&searches), "{searches}");
    assert_eq!(searches + dropped, 1 + 100);
    let answers = run.out.lines().filter(|line| line.starts_with("bestmove")).count();
    assert_eq!(answers, 1 + 100);
    run.out.clear();
    while run.session.poll_event().is_some() {}
    run.check("> position startpos\n> go depth 2\n= against SearchBeforeReady\n= search: position startpos, go depth 2");
}

#[test]
fn a_line_that_is_too_long_may_have_been_a_position() {
    let mut run = Run::new();
    run.session.receive_line("usi", run.now, &mut run.out);
    run.out.clear();
    while run.happened().is_some() {}
    run.session.receive_oversized_line(LineTooLong { limit: 7 }, &mut run.out);
    let reason = LineTooLong { limit: 7 }.to_string();
    run.check(&format!(
        "
        < info string {reason}
        > go ponder mate 1000
        = against SearchWithoutPosition
        < info string the search failed: {reason}, and may have been a position
        < info depth 0 time 0
        > ponderhit
        < checkmate timeout
        > go mate infinite
        = against SearchWithoutPosition
        < info string the search failed: {reason}, and may have been a position
        < info depth 0 time 0
        < checkmate timeout
        "
    ));
}

#[test]
fn a_queued_search_without_a_position_before_a_handshake_satisfies_the_properties() {
    let script = "go infinite\nposition fen x\ngo infinite\nusi\nstop\nquit";
    crate::laws::engine_session(script.as_bytes());
}

#[test]
fn a_stop_reaches_the_queued_search_after_a_position() {
    let mut session = EngineSession::new(profile()).unwrap();
    let (mut out, now) = (String::new(), Duration::ZERO);
    for line in ["go depth 1", "go infinite", "position startpos moves e2e4", "stop"] {
        session.receive_line(line, now, &mut out);
    }
    for _ in 0..2 {
        session.best_move(Move::NULL.into(), now, &mut out).unwrap();
    }
    assert_eq!(out.lines().filter(|line| line.starts_with("bestmove")).count(), 2, "{out}");
}
