//! What a match runner needs: clocks that nobody can argue with, and several engines in one thread.

use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use readyok_client::{
    Dialect, DropReason, Engine, Game, Limit, Patience, Played, Problem, Search, WaitLimit,
};

use crate::support::{
    SHORT, check_gone, check_started, check_started_with, good_engine, misbehaving, now, patient,
    problem, uci,
};

fn depth_one() -> Search {
    Search::new(Limit::Depth(1))
}

fn word(played: &Played) -> String {
    played.best_move().map(|it| it.to_string()).unwrap_or_default()
}

/// An engine with these rules, and its mark.
fn inline(rules: &[&str]) -> (Engine, String) {
    let (command, mark) = misbehaving(rules);
    (uci(patient()).inline().spawn(command).expect("it starts well"), mark)
}

/// Has an engine play with little time, expects that it loses, and that it can go on.
fn check_loses(rules: &[&str]) {
    check_started(rules, patient(), |mut engine| {
        let game = Game::startpos();
        for (search, least) in [
            (depth_one().lost_after(SHORT), SHORT),
            (depth_one().lost_at(now() + SHORT / 2), Duration::ZERO),
        ] {
            let start = now();
            let lost = problem(engine.play(&game, search));
            assert!(matches!(lost, Problem::OutOfTime(_)), "{lost:?}");
            assert!(least <= start.elapsed());
        }
        let error = engine.play(&game, depth_one().lost_after(Duration::ZERO));
        assert!(error.expect_err("there is no time").is_recoverable());
    });
}

#[test]
fn a_silent_engine_loses_on_time() {
    check_loses(&["go: "]);
}

#[test]
fn an_engine_that_never_stops_talking_loses_on_time() {
    check_loses(&["go: !flood", "go: "]);
}

#[test]
fn an_engine_that_never_stops_talking_nonsense_loses_on_time() {
    check_loses(&["go: !noise", "go: "]);
}

#[test]
fn an_answer_after_the_deadline_does_not_count_and_does_no_harm() {
    let rules = ["go: !wait 900 | bestmove a2a3", "go: bestmove d2d4", "stop: "];
    check_started(&rules, patient(), |mut engine| {
        let lost = engine.play(&Game::startpos(), depth_one().lost_after(SHORT));
        let Problem::OutOfTime(late) = problem(lost) else { panic!("it is late") };
        assert!(late < patient().overrun);
        let played = engine.play(&Game::startpos(), depth_one().lost_after(patient().overrun));
        assert_eq!(word(&played.expect("it plays")), "d2d4");
    });
}

#[test]
fn an_engine_that_has_lost_on_time_and_does_not_stop_is_late() {
    let patience = Patience { stop: WaitLimit::fixed(SHORT), ..patient() };
    check_started(&["go: ", "stop: "], patience, |mut engine| {
        let lost = problem(engine.play(&Game::startpos(), depth_one().lost_after(SHORT)));
        assert!(matches!(lost, Problem::OutOfTime(_)), "{lost:?}");
        let next = problem(engine.play(&Game::startpos(), depth_one()));
        assert!(matches!(next, Problem::Late(_)), "{next:?}");
    });
}

#[test]
fn the_deadline_of_a_search_that_is_over_keeps_nobody_waiting() {
    let (mut engine, mark) = inline(&["go: bestmove d2d4 | !wait 900 | info string and so on"]);
    let thinking = engine.begin(&Game::startpos(), depth_one().lost_after(SHORT));
    let played = thinking.and_then(|thinking| thinking.complete(&mut engine, &[]));
    assert_eq!(word(&played.expect("it plays in time")), "d2d4");
    thread::sleep(Duration::from_secs(1));
    engine.ready().expect("it answers");
    drop(engine);
    check_gone(&mark);
}

#[test]
fn the_time_of_a_pondering_engine_runs_from_the_hit() {
    check_started(&["ponderhit: "], patient(), |mut engine| {
        let search = depth_one().lost_after(SHORT);
        let mut pondering = engine.ponder(&Game::startpos(), search).expect("it starts");
        assert!(pondering.next_within(2 * SHORT).is_none());
        let hit = now();
        let lost = problem(pondering.hit());
        assert!(matches!(lost, Problem::OutOfTime(_)), "{lost:?}");
        assert!(SHORT <= hit.elapsed());
    });
}

#[test]
fn a_search_knows_when_it_began_and_when_it_was_answered() {
    check_started(&[], patient(), |mut engine| {
        let asked = now();
        let mut told = None;
        let played = engine.play_with(&Game::startpos(), depth_one(), |update| {
            told = Some(update.at);
        });
        let played = played.expect("it plays");
        let told = told.expect("it tells something");
        assert!(asked <= played.started);
        assert!(played.started <= told);
        assert!(told <= played.answered);
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
fn an_engine_that_ponders_is_read_while_another_one_thinks() {
    let (mut talker, first) = inline(&["go: !flood"]);
    let (mut thinker, second) = inline(&["go: !wait 2000 | bestmove e2e4"]);
    let game = Game::startpos();
    let mut pondering = talker.begin(&game, depth_one().ponder()).expect("it starts");
    // It begins as soon as somebody looks.
    while pondering.so_far().is_empty() {
        Engine::wait_for_any(&[&talker], None);
        assert!(!pondering.is_over(&mut talker));
    }
    let thinking = thinker.begin(&game, depth_one()).expect("it starts");
    assert_eq!(word(&thinking.complete(&mut thinker, &[&talker]).expect("it plays")), "e2e4");
    pondering.stop();
    let played = pondering.complete(&mut talker, &[]).expect("it is stopped");
    // More than its pipe and one read hold.
    assert!(played.info.nodes.is_some_and(|nodes| 5_000 < nodes), "{:?}", played.info.nodes);
    drop((talker, thinker));
    check_gone(&first);
    check_gone(&second);
}

#[test]
fn one_thread_waits_for_many_engines_of_all_kinds() {
    let mut marks = Vec::new();
    let mut engines: Vec<Engine> = (0..6)
        .map(|number| {
            let (command, mark) = misbehaving(&[&format!("go: !wait {number}00 | bestmove e2e4")]);
            marks.push(mark);
            let builder = uci(patient());
            let builder = if number % 2 == 0 { builder.inline() } else { builder };
            builder.spawn(command).expect("it starts well")
        })
        .collect();
    let game = Game::startpos();
    let begin = |engine: &mut Engine| Some(engine.begin(&game, depth_one()).expect("it starts"));
    let mut searches: Vec<_> = engines.iter_mut().map(begin).collect();
    while searches.iter().any(Option::is_some) {
        Engine::wait_for_any(&engines.iter().collect::<Vec<_>>(), None);
        for (search, engine) in searches.iter_mut().zip(&mut engines) {
            if let Some(mut thinking) = search.take() {
                if thinking.is_over(engine) {
                    assert_eq!(word(&thinking.complete(engine, &[]).expect("it plays")), "e2e4");
                } else {
                    *search = Some(thinking);
                }
            }
        }
    }
    drop(engines);
    for mark in &marks {
        check_gone(mark);
    }
}

#[test]
fn a_ponder_hit_of_a_search_that_was_begun_ends_with_its_move() {
    let rules = [
        "go: info depth 1 score cp 2 pv e2e4",
        "ponderhit: info depth 4 score cp 3 pv e2e4 | bestmove e2e4",
    ];
    check_started(&rules, patient(), |mut engine| {
        let game = Game::startpos();
        let mut pondering = engine.begin(&game, depth_one().ponder()).expect("it starts");
        while pondering.so_far().is_empty() {
            Engine::wait_for_any(&[&engine], None);
            assert!(!pondering.is_over(&mut engine));
        }
        pondering.hit(&mut engine, None).expect("it ponders");
        let mut depth = None;
        let played = pondering.complete_with(&mut engine, &[], |update| depth = update.depth);
        assert_eq!(word(&played.expect("it plays")), "e2e4");
        assert_eq!(depth, Some(4));
    });
}

#[test]
fn a_search_that_gave_way_to_another_one_is_over() {
    check_started(&[], patient(), |mut engine| {
        let old = engine.begin(&Game::startpos(), Limit::Infinite).expect("it starts");
        let new = engine.begin(&Game::startpos(), Limit::Depth(1)).expect("it starts");
        let superseded = Problem::Dropped(DropReason::Superseded);
        assert_eq!(problem(old.complete(&mut engine, &[])), superseded);
        assert_eq!(new.complete(&mut engine, &[]).expect("it plays").info.depth, Some(1));
    });
}

#[test]
fn a_search_of_another_engine_is_refused() {
    let (mut other, mark) = inline(&[]);
    check_started(&[], patient(), |mut engine| {
        let mut search = engine.begin(&Game::startpos(), depth_one().ponder()).expect("it starts");
        assert_eq!(problem(search.hit(&mut other, None)), Problem::OtherEngine);
        assert_eq!(problem(search.complete(&mut other, &[])), Problem::OtherEngine);
    });
    drop(other);
    check_gone(&mark);
}

#[test]
fn a_second_answer_that_has_come_answers_no_later_search_of_a_shogi_engine() {
    let rules = ["go: bestmove 7g7f | bestmove 2g2f", "go: bestmove 3c3d"];
    for builder in [uci(patient()), uci(patient()).inline()] {
        check_started_with(builder.dialect(Dialect::Usi), &rules, |mut engine| {
            let game = Game::startpos();
            for expected in ["7g7f", "3c3d", "3c3d"] {
                assert_eq!(word(&engine.play(&game, depth_one()).expect("it plays")), expected);
                thread::park_timeout(SHORT);
            }
        });
    }
}

#[test]
fn a_crash_is_seen_without_a_thread() {
    let (mut engine, mark) = inline(&["go: !abort"]);
    let mut thinking = engine.begin(&Game::startpos(), depth_one()).expect("it starts");
    while !thinking.is_over(&mut engine) {
        Engine::wait_for_any(&[&engine], None);
    }
    let error = thinking.complete(&mut engine, &[]).expect_err("it crashed");
    assert_eq!(*error.problem(), Problem::Gone);
    assert!(error.to_string().contains("SIGABRT"), "{error}");
    drop(engine);
    check_gone(&mark);
}

/// What an engine hears in two searches of a game, from the first `go` to the second.
fn check_between_searches(separate: bool, expected: &[&str]) {
    let (heard, lines) = channel();
    let builder = uci(patient()).inline().separate_searches(separate);
    let engine = builder.in_process(move |input, output| good_engine(input, output, &heard));
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
fn searches_of_a_game_are_separated_unless_told_otherwise() {
    check_between_searches(true, &["isready", "position startpos"]);
    check_between_searches(false, &["position startpos"]);
}
