//! Commands during a search, and invalid positions.

use std::time::Duration;

use readyok_protocol::session::engine::{EngineSession, Event};
use readyok_protocol::{Best, LineTooLong, Move};

use super::{Run, check_search, profile};

#[test]
fn forbidden_commands_during_a_search_are_queued_in_order() {
    check_search(
        "
        > go depth 9
        = search: position startpos moves e2e4, go depth 9
        > setoption name Hash value 32
        = against BusyEngine
        > ucinewgame
        = against BusyEngine
        > position startpos
        = against BusyEngine
        > isready
        < readyok
        ! info depth 9 pv e7e5
        < info depth 9 pv e7e5
        ! bestmove e7e5
        < bestmove e7e5
        = option Hash 32
        = new game
        > isready
        = prepare
        ! ready
        < readyok
        > go depth 1
        = search: position startpos, go depth 1
        ",
    );
}

#[test]
fn a_queued_go_ends_the_running_search_like_stop() {
    check_search(
        "
        > go infinite
        = search: position startpos moves e2e4, go infinite
        > position startpos
        = against BusyEngine
        > go depth 1
        = against BusyEngine
        = stop
        ! info depth 5 pv e7e5
        < info depth 5 pv e7e5
        ! bestmove e7e5
        < bestmove e7e5
        = search: position startpos, go depth 1
        ",
    );
}

#[test]
fn a_queued_go_releases_a_delayed_bestmove() {
    check_search(
        "
        > go infinite
        = search: position startpos moves e2e4, go infinite
        ! info depth 5 pv e7e5
        < info depth 5 pv e7e5
        ! bestmove e7e5
        > go depth 2
        = against BusyEngine
        < bestmove e7e5
        = search: position startpos moves e2e4, go depth 2
        ",
    );
}

#[test]
fn stop_and_ponderhit_after_a_queued_go_apply_to_it() {
    check_search(
        "
        > go infinite
        = search: position startpos moves e2e4, go infinite
        > go ponder
        = against BusyEngine
        = stop
        > ponderhit
        > go infinite
        = against BusyEngine
        > stop
        ! info depth 5 pv e7e5
        < info depth 5 pv e7e5
        ! bestmove e7e5
        < bestmove e7e5
        = search: position startpos moves e2e4, go ponder
        = ponder hit
        = stop
        ! bestmove e7e5
        < info depth 0 time 0 pv e7e5
        < bestmove e7e5
        = search: position startpos moves e2e4, go infinite
        = stop
        ",
    );
}

#[test]
fn perft_is_queued_and_does_not_end_the_running_search() {
    check_search(
        "
        > go infinite
        = search: position startpos moves e2e4, go infinite
        > go perft 5
        = against BusyEngine
        > stop
        = stop
        ! info depth 5 pv e7e5
        < info depth 5 pv e7e5
        ! bestmove e7e5
        < bestmove e7e5
        < info string this engine does not count leaf nodes
        ",
    );
}

#[test]
fn the_queue_is_cleared_when_the_client_disconnects() {
    check_search(
        "
        > go depth 5
        = search: position startpos moves e2e4, go depth 5
        > setoption name Hash value 32
        = against BusyEngine
        > quit
        = stop
        = quit
        ! bestmove e7e5
        < info depth 0 time 0 pv e7e5
        < bestmove e7e5
        ",
    );
}

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
fn a_search_with_a_limit_runs_to_its_end_although_another_is_queued() {
    for go in ["depth 5", "nodes 200", "movetime 50", "wtime 1000 btime 1000", "ponder depth 5"] {
        let hit = if go.starts_with("ponder") { "> ponderhit\n= ponder hit" } else { "" };
        check_search(&format!(
            "
            > go {go}
            = search: position startpos moves e2e4, go {go}
            {hit}
            > go depth 1
            = against BusyEngine
            ! info depth 5 pv e7e5
            < info depth 5 pv e7e5
            ! bestmove e7e5
            < bestmove e7e5
            = search: position startpos moves e2e4, go depth 1
            "
        ));
    }
    // Without the clock of Black, who is to move, the search takes one second.
    check_search(
        "
        > go wtime 1000
        < info string `go` has no clock of the side to move: the search takes 1s
        = search: position startpos moves e2e4, go wtime 1000 movetime 1000
        > go depth 1
        = against BusyEngine
        ",
    );
    // These end only by the client.
    for go in ["go", "go infinite", "go depth 1 infinite", "go mate 3"] {
        check_search(&format!(
            "
            > {go}
            = search: position startpos moves e2e4, {go}
            > go depth 1
            = against BusyEngine
            = stop
            "
        ));
    }
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
fn quit_after_a_queued_go_takes_effect_after_it() {
    check_search(
        "
        > go depth 5
        = search: position startpos moves e2e4, go depth 5
        > go depth 1
        = against BusyEngine
        > quit
        > isready
        ! bestmove e7e5
        < info depth 0 time 0 pv e7e5
        < bestmove e7e5
        = search: position startpos moves e2e4, go depth 1
        = stop
        = quit
        ! bestmove e7e5
        < info depth 0 time 0 pv e7e5
        < bestmove e7e5
        ",
    );
}

/// Lines without a valid position, and the error message of the session.
const INVALID: [(&str, &str); 5] = [
    ("position fen 9/8/8/8/8/8/8/8 w - - 0 1", "invalid position: `8` at character 16"),
    ("position fen foo", "invalid position: `foo` at characters 14 to 16"),
    ("Position foo", "`position` without a position"),
    ("position", "`position` without a position"),
    ("joho position startpo", "`position` without a position"),
];

#[test]
fn after_an_invalid_position_no_older_one_is_searched() {
    for (line, reason) in INVALID {
        check_search(&format!(
            "
            > {line}
            < info string {reason}: nothing is searched before the next position
            = unknown: {line}
            > go depth 1
            < info string the search failed: {reason}
            < info depth 0 time 0
            < bestmove (none)
            > go infinite
            < info string the search failed: {reason}
            < info depth 0 time 0
            > stop
            < bestmove (none)
            > go ponder
            < info string the search failed: {reason}
            < info depth 0 time 0
            > ponderhit
            < bestmove (none)
            > position startpos
            > go depth 1
            = search: position startpos, go depth 1
            "
        ));
    }
}

#[test]
fn an_invalid_position_is_queued_in_order() {
    for (line, reason) in INVALID {
        check_search(&format!(
            "
            > go depth 9
            = search: position startpos moves e2e4, go depth 9
            > go depth 1
            = against BusyEngine
            > position startpos
            = against BusyEngine
            > {line}
            < info string {reason}: nothing is searched before the next position
            = unknown: {line}
            > go depth 2
            = against BusyEngine
            > go infinite
            = against BusyEngine
            > stop
            > {line}
            < info string {reason}: nothing is searched before the next position
            = unknown: {line}
            > position startpos moves d2d4
            = against BusyEngine
            > go depth 3
            = against BusyEngine
            ! bestmove e7e5
            < info depth 0 time 0 pv e7e5
            < bestmove e7e5
            = search: position startpos moves e2e4, go depth 1
            ! bestmove e7e5
            < info depth 0 time 0 pv e7e5
            < bestmove e7e5
            < info string the search failed: {reason}
            < info depth 0 time 0
            < bestmove (none)
            < info string the search failed: {reason}
            < info depth 0 time 0
            < bestmove (none)
            = search: position startpos moves d2d4, go depth 3
            "
        ));
    }
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
