//! Features for match runners: exact clocks, and several concurrent engines.

use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use readyok_client::{
    Dialect, DropReason, Engine, Game, Limit, Problem, Search, SearchHandle, SearchResult,
    Timeouts, WaitLimit,
};

use crate::support::{
    ABORTED, LONG, SHORT, check_gone, check_started, check_started_with, good_engine, hit,
    misbehaving, now, patient, problem, uci,
};

fn depth_one() -> Search {
    Search::new(Limit::Depth(1))
}

fn move_text(played: &SearchResult) -> String {
    played.best_move().map(|mv| mv.to_string()).unwrap_or_default()
}

/// A started engine with these rules, and its mark.
fn started(rules: &[&str]) -> (Engine, String) {
    let (command, mark) = misbehaving(rules);
    (uci(patient()).spawn(command).expect("it starts well"), mark)
}

/// Plays with little time, and checks that the engine loses on time and stays usable.
fn check_loses(rules: &[&str]) {
    check_started(rules, patient(), |mut engine| {
        let game = Game::startpos();
        for (search, least) in [
            (depth_one().deadline_after(SHORT), SHORT),
            (depth_one().deadline_at(now() + SHORT / 2), Duration::ZERO),
        ] {
            let start = now();
            let lost = problem(engine.play(&game, search));
            assert!(matches!(lost, Problem::OutOfTime(_)), "{lost:?}");
            assert!(least <= start.elapsed());
        }
        let error = engine.play(&game, depth_one().deadline_after(Duration::ZERO));
        assert!(error.expect_err("there is no time").is_recoverable());
    });
}

#[test]
fn a_silent_engine_loses_on_time() {
    check_loses(&["go: "]);
}

#[test]
fn endless_info_lines_lose_on_time() {
    check_loses(&["go: !flood", "go: "]);
}

#[test]
fn endless_unknown_lines_lose_on_time() {
    check_loses(&["go: !noise", "go: "]);
}

#[test]
fn an_answer_after_the_deadline_is_ignored() {
    let rules = ["go: !wait 900 | bestmove a2a3", "go: bestmove d2d4", "stop: "];
    check_started(&rules, patient(), |mut engine| {
        let lost = engine.play(&Game::startpos(), depth_one().deadline_after(SHORT));
        let Problem::OutOfTime(late) = problem(lost) else { panic!("it is late") };
        assert!(late < patient().overrun);
        let played = engine.play(&Game::startpos(), depth_one().deadline_after(patient().overrun));
        assert_eq!(move_text(&played.expect("it plays")), "d2d4");
    });
}

#[test]
fn an_engine_that_loses_on_time_and_ignores_stop_times_out() {
    let timeouts = Timeouts { stop: WaitLimit::fixed(SHORT), ..patient() };
    check_started(&["go: ", "stop: "], timeouts, |mut engine| {
        let lost = problem(engine.play(&Game::startpos(), depth_one().deadline_after(SHORT)));
        assert!(matches!(lost, Problem::OutOfTime(_)), "{lost:?}");
        let next = problem(engine.play(&Game::startpos(), depth_one()));
        assert!(matches!(next, Problem::Timeout(_)), "{next:?}");
    });
}

#[test]
fn the_deadline_of_a_finished_search_blocks_nothing() {
    let (mut engine, mark) = started(&["go: bestmove d2d4 | !wait 900 | info string and so on"]);
    let search = engine.begin(&Game::startpos(), depth_one().deadline_after(SHORT));
    let played = search.and_then(SearchHandle::wait);
    assert_eq!(move_text(&played.expect("it plays in time")), "d2d4");
    thread::sleep(Duration::from_secs(1));
    engine.ready().expect("it answers");
    drop(engine);
    check_gone(&mark);
}

#[test]
fn the_time_of_a_ponder_search_starts_at_the_hit() {
    check_started(&["ponderhit: "], patient(), |mut engine| {
        let search = depth_one().deadline_after(SHORT);
        let pondering = engine.ponder(&Game::startpos(), search).expect("it starts");
        assert!(pondering.next_within(2 * SHORT).is_none());
        let begun = now();
        let lost = problem(hit(pondering));
        assert!(matches!(lost, Problem::OutOfTime(_)), "{lost:?}");
        assert!(SHORT <= begun.elapsed());
    });
}

#[test]
fn a_result_contains_start_and_answer_times() {
    check_started(&[], patient(), |mut engine| {
        let asked = now();
        let mut reported = None;
        let played = engine.play_with(&Game::startpos(), depth_one(), |update| {
            reported = Some(update.at);
        });
        let played = played.expect("it plays");
        let reported = reported.expect("it sends info");
        assert!(asked <= played.started);
        assert!(played.started <= reported);
        assert!(reported <= played.answered);
        assert!(played.answered <= now());
        assert_eq!(played.time(), played.answered - played.started);
    });
}

#[test]
fn the_clock_does_not_run_before_go() {
    check_started(&["isready: !wait 600 | readyok"], patient(), |mut engine| {
        let asked = now();
        let played = engine.play(&Game::startpos(), depth_one()).expect("it plays");
        assert!(asked + SHORT <= played.started, "{:?}", played.started - asked);
    });
}

#[test]
fn a_pondering_engine_is_read_while_another_one_searches() {
    let (mut talker, first) = started(&["go: !flood"]);
    let (mut thinker, second) = started(&["go: !wait 2000 | bestmove e2e4"]);
    let game = Game::startpos();
    let pondering = talker.begin(&game, depth_one().ponder()).expect("it starts");
    assert_eq!(move_text(&thinker.play(&game, depth_one()).expect("it plays")), "e2e4");
    let played = pondering.finish().expect("it is stopped");
    // More than its pipe and one read hold.
    assert!(played.info.nodes.is_some_and(|nodes| 5_000 < nodes), "{:?}", played.info.nodes);
    drop((talker, thinker));
    check_gone(&first);
    check_gone(&second);
}

#[test]
fn many_engines_search_at_the_same_time() {
    let mut marks = Vec::new();
    let mut engines: Vec<Engine> = (0..6)
        .map(|number| {
            let (engine, mark) = started(&[&format!("go: !wait {number}00 | bestmove e2e4")]);
            marks.push(mark);
            engine
        })
        .collect();
    let game = Game::startpos();
    let begin = |engine: &mut Engine| engine.begin(&game, depth_one()).expect("it starts");
    let searches: Vec<SearchHandle> = engines.iter_mut().map(begin).collect();
    for search in searches {
        assert_eq!(move_text(&search.wait().expect("it plays")), "e2e4");
    }
    drop(engines);
    for mark in &marks {
        check_gone(mark);
    }
}

#[test]
fn a_ponder_hit_of_a_started_search_ends_with_its_move() {
    let rules = [
        "go: info depth 1 score cp 2 pv e2e4",
        "ponderhit: info depth 4 score cp 3 pv e2e4 | bestmove e2e4",
    ];
    check_started(&rules, patient(), |mut engine| {
        let game = Game::startpos();
        let mut pondering = engine.begin(&game, depth_one().ponder()).expect("it starts");
        assert_eq!(pondering.next().and_then(|update| update.depth), Some(1));
        pondering.ponder_hit(None).expect("it ponders");
        let mut depth = None;
        let played = pondering.wait_with(|update| depth = update.depth).expect("it plays");
        assert_eq!(move_text(&played), "e2e4");
        assert_eq!((depth, played.ponder_hit), (Some(4), true));
    });
}

#[test]
fn a_superseded_search_has_ended() {
    check_started(&[], patient(), |mut engine| {
        let old = engine.begin(&Game::startpos(), Limit::Infinite).expect("it starts");
        let new = engine.begin(&Game::startpos(), Limit::Depth(1)).expect("it starts");
        assert_eq!(problem(old.wait()), Problem::Dropped(DropReason::Superseded));
        assert_eq!(new.wait().expect("it plays").info.depth, Some(1));
    });
}

#[test]
fn a_pending_result_survives_the_next_search() {
    check_started(&[], patient(), |mut engine| {
        let old = engine.begin(&Game::startpos(), depth_one()).expect("it starts");
        while !old.is_over() {
            thread::park_timeout(Duration::from_millis(5));
        }
        engine.play(&Game::startpos(), depth_one()).expect("it plays");
        assert_eq!(old.wait().expect("it had played").info.depth, Some(1));
    });
}

#[test]
fn a_stalled_search_is_stopped_and_the_engine_stays_usable() {
    let limit = |silence, total| WaitLimit { silence, total };
    for (rule, limit) in [("go: ", limit(SHORT, LONG)), ("go: !flood", limit(LONG, SHORT))] {
        check_started(&[rule, "go: bestmove e2e4"], patient(), |mut engine| {
            let begin = now();
            let stalled = engine.play(&Game::startpos(), depth_one().stall_limit(limit));
            assert_eq!(problem(stalled), Problem::Stalled);
            assert!(SHORT <= begin.elapsed());
            assert_eq!(
                move_text(&engine.play(&Game::startpos(), depth_one()).expect("ok")),
                "e2e4"
            );
        });
    }
}

#[test]
fn a_game_can_be_cancelled_without_an_answer() {
    check_started(&["go: ", "stop: "], patient(), |mut engine| {
        let stopper = engine.stopper();
        let canceller = thread::spawn(move || {
            thread::park_timeout(SHORT);
            stopper.cancel_game();
        });
        let game = Game::startpos();
        for _ in 0..2 {
            let cancelled = problem(engine.play(&game, Limit::Infinite));
            assert_eq!(cancelled, Problem::Dropped(DropReason::Cancelled));
        }
        engine.new_game(&game).expect("it is there");
        assert!(engine.begin(&game, Limit::Infinite).is_ok());
        canceller.join().expect("no panic");
        engine.kill();
    });
}

#[test]
fn a_received_duplicate_answers_no_later_shogi_search() {
    let rules = ["go: bestmove 7g7f | bestmove 2g2f", "go: bestmove 3c3d"];
    check_started_with(uci(patient()).dialect(Dialect::Usi), &rules, |mut engine| {
        let game = Game::startpos();
        for expected in ["7g7f", "3c3d", "3c3d"] {
            assert_eq!(move_text(&engine.play(&game, depth_one()).expect("it plays")), expected);
            thread::park_timeout(SHORT);
        }
    });
}

#[test]
fn a_crash_is_detected_while_no_call_waits() {
    let (mut engine, mark) = started(&["go: !abort"]);
    let search = engine.begin(&Game::startpos(), depth_one()).expect("it starts");
    while !search.is_over() {
        thread::park_timeout(Duration::from_millis(5));
    }
    let error = search.wait().expect_err("it crashed");
    assert_eq!(*error.problem(), Problem::Disconnected);
    assert!(error.to_string().contains(ABORTED), "{error}");
    drop(engine);
    check_gone(&mark);
}

/// The commands of two searches of a game, from the first `go` to the second.
fn check_between_searches(separate: bool, expected: &[&str]) {
    let (received, lines) = channel();
    let builder = uci(patient()).sync_between_searches(separate);
    let engine = builder.in_process(move |input, output| good_engine(input, output, &received));
    let mut engine = engine.expect("it answers");
    let game = Game::startpos();
    for _ in 0..2 {
        engine.play(&game, depth_one()).expect("it plays");
    }
    drop(engine);
    let all: Vec<String> = lines.iter().collect();
    let between = all.split(|line| line.starts_with("go")).nth(1).expect("two searches");
    assert_eq!(between, expected);
}

#[test]
fn searches_of_a_game_are_synchronized_by_default() {
    check_between_searches(true, &["isready", "position startpos"]);
    check_between_searches(false, &["position startpos"]);
}
