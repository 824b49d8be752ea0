//! Output of engines between `go` and `bestmove`, and after it.

use std::thread;
use std::time::Duration;

use readyok_client::{
    Best, Dialect, Engine, Event, Game, Limit, Notice, Problem, TimeoutKind, Timeouts, WaitLimit,
};

use crate::support::{SHORT, check_gone, check_started, hit, misbehaving, patient, problem};

fn infinite(engine: &mut Engine) -> readyok_client::SearchHandle {
    engine.analyse(&Game::startpos(), Limit::Infinite).expect("it starts")
}

#[test]
fn ignoring_stop_is_a_timeout() {
    let timeouts = Timeouts { stop: WaitLimit::fixed(SHORT), ..patient() };
    check_started(&["stop: "], timeouts, |mut engine| {
        assert_eq!(problem(infinite(&mut engine).finish()), Problem::Timeout(TimeoutKind::Stop));
    });
    // The search was dropped, and the next one fails because of it.
    check_started(&["stop: "], timeouts, |mut engine| {
        while infinite(&mut engine).next_within(SHORT).is_some() {}
        let next = engine.play(&Game::startpos(), Limit::Depth(1));
        assert_eq!(problem(next), Problem::Timeout(TimeoutKind::Stop));
    });
}

#[test]
fn a_search_that_overruns_its_time_is_stopped() {
    let timeouts = Timeouts { overrun: SHORT, ..patient() };
    check_started(&["go: info depth 1 score cp 7 pv e2e4"], timeouts, |mut engine| {
        let played = engine.play(&Game::startpos(), Limit::millis(50)).expect("`stop` helps");
        assert_eq!(played.info.depth, Some(1));
        let notices = engine.drain_notices();
        let overran = |notice: &Notice| matches!(notice, Notice::Event(Event::Overrun(_)));
        assert!(notices.iter().any(overran), "{notices:?}");
    });
}

#[test]
fn a_silent_search_is_stopped_and_its_missing_answer_reported() {
    let timeouts = Timeouts { stall: SHORT, stop: WaitLimit::fixed(SHORT), ..patient() };
    check_started(&["go: ", "stop: "], timeouts, |mut engine| {
        let played = engine.play(&Game::startpos(), Limit::Depth(9));
        assert_eq!(problem(played), Problem::Timeout(TimeoutKind::Stop));
    });
}

#[test]
fn a_missing_readyok_is_reported() {
    let timeouts = Timeouts { ready: WaitLimit::fixed(SHORT), ..patient() };
    check_started(&["isready: "], timeouts, |mut engine| {
        assert_eq!(problem(engine.ready()), Problem::Timeout(TimeoutKind::Ready));
    });
    check_started(&["isready: "], timeouts, |mut engine| {
        let played = engine.play(&Game::startpos(), Limit::Depth(9));
        assert_eq!(problem(played), Problem::Timeout(TimeoutKind::Ready));
    });
}

#[test]
fn a_second_bestmove_answers_no_other_search() {
    let rules = ["go: bestmove e2e4 | bestmove a2a3 | bestmove a2a4", "go: bestmove d2d4"];
    check_started(&rules, patient(), |mut engine| {
        for expected in ["e2e4", "d2d4", "d2d4"] {
            let played = engine.play(&Game::startpos(), Limit::Depth(1)).expect("it plays");
            assert_eq!(played.best_move().map(|mv| mv.to_string()).as_deref(), Some(expected));
        }
        let notices = engine.drain_notices();
        let violation = |notice: &Notice| matches!(notice, Notice::Event(Event::Violation(_)));
        assert!(notices.iter().any(violation), "{notices:?}");
    });
}

#[test]
fn a_late_bestmove_answers_no_other_search() {
    let rules = ["stop: !wait 300 | bestmove a2a3", "go: ", "go: bestmove d2d4"];
    check_started(&rules, patient(), |mut engine| {
        while infinite(&mut engine).next_within(SHORT).is_some() {}
        let played = engine.play(&Game::startpos(), Limit::Depth(1)).expect("it plays");
        assert_eq!(played.best_move().map(|mv| mv.to_string()).as_deref(), Some("d2d4"));
    });
}

#[test]
fn illegal_moves_are_passed_through() {
    for (text, expected) in [
        ("h1a8", Best::Move("h1a8".parse().expect("a move"))),
        ("0000", Best::Move(readyok_client::Move::NULL)),
        ("(none)", Best::None),
        ("castle!", Best::Other("castle!".into())),
        ("e2e4e5e6e7e8", Best::Other("e2e4e5e6e7e8".into())),
    ] {
        check_started(&[&format!("go: bestmove {text}")], patient(), |mut engine| {
            let played = engine.play(&Game::startpos(), Limit::Depth(1)).expect("it answers");
            assert_eq!(played.best, expected);
        });
    }
}

#[test]
fn an_empty_bestmove_ends_the_search_without_a_move() {
    check_started(&["go: bestmove"], patient(), |mut engine| {
        let played = engine.play(&Game::startpos(), Limit::millis(10)).expect("an answer");
        assert_eq!(played.best, Best::Other("".into()));
    });
}

#[test]
fn output_between_searches_is_harmless() {
    let noise = "readyok | bestmove a2a3 | info depth 3 score cp 1 pv a2a3 \
                 | info string hello | uciok | id name Other | registration checking | !hex 00 0a \
                 | option name New type button | checkmate nomate | copyprotection ok | xyzzy";
    check_started(&[&format!("setoption: {noise}")], patient(), |mut engine| {
        engine.set_option("Hash", "17").expect("it has it");
        engine.ready().expect("it answers");
        let played = engine.play(&Game::startpos(), Limit::Depth(1)).expect("it plays");
        assert_eq!(played.best_move().map(|mv| mv.to_string()).as_deref(), Some("e2e4"));
        assert!(!engine.drain_notices().is_empty());
    });
}

#[test]
fn notices_are_bounded() {
    check_started(&["setoption: !repeat noise"], patient(), |mut engine| {
        engine.set_option("Hash", "17").expect("it has it");
        engine.ready().expect("it answers");
        assert_eq!(engine.drain_notices().len(), 256);
        assert!(engine.drain_notices().is_empty());
    });
}

#[test]
fn a_copy_protection_error_rejects_searches() {
    check_started(&["uci: id name P | uciok | copyprotection error"], patient(), |mut engine| {
        engine.ready().expect("it answers");
        let played = problem(engine.play(&Game::startpos(), Limit::Depth(1)));
        assert!(matches!(played, Problem::Usage(_)), "{played:?}");
    });
}

#[test]
fn another_thread_can_stop_a_search() {
    check_started(&[], patient(), |mut engine| {
        let stopper = engine.stopper();
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::park_timeout(Duration::from_millis(100));
                stopper.stop();
            });
            let played = engine.play(&Game::startpos(), Limit::Infinite).expect("it is stopped");
            assert!(played.best_move().is_some());
        });
        // It does not stop the next search.
        assert!(engine.play(&Game::startpos(), Limit::Depth(1)).is_ok());
    });
}

#[test]
fn a_search_can_be_stopped_before_it_starts() {
    let rules = ["isready: !wait 200 | readyok"];
    check_started(&rules, patient(), |mut engine| {
        let played = infinite(&mut engine).finish().expect("it searches, and is stopped");
        assert!(played.best_move().is_some());
        drop(infinite(&mut engine));
        assert!(engine.play(&Game::startpos(), Limit::Depth(1)).is_ok());
    });
}

#[test]
fn an_engine_may_answer_too_early() {
    check_started(&["go: bestmove e2e4"], patient(), |mut engine| {
        let played = infinite(&mut engine).finish().expect("there is an answer");
        assert!(played.best_move().is_some());
        let pondering = engine.ponder(&Game::startpos(), Limit::Depth(1)).expect("it starts");
        assert!(hit(pondering).expect("there is an answer").best_move().is_some());
        drop(engine.ponder(&Game::startpos(), Limit::Depth(1)).expect("it starts"));
        assert!(engine.play(&Game::startpos(), Limit::Depth(1)).is_ok());
    });
}

#[test]
fn a_mate_search_of_a_shogi_engine_ends_in_checkmate() {
    let (command, mark) = misbehaving(&["go: checkmate G*5b"]);
    let builder = Engine::builder().dialect(Dialect::Usi).timeouts(patient());
    let mut engine = builder.spawn(command).expect("it starts well");
    let limit = readyok_client::MateLimit::Time(Duration::from_secs(1));
    let mate = engine.mate(&Game::startpos(), limit).expect("it answers");
    let readyok_client::Checkmate::Moves(moves) = mate else { panic!("{mate:?}") };
    assert_eq!(moves.as_str(), "G*5b");
    drop(engine);
    check_gone(&mark);
}
