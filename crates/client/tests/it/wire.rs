//! The commands of the high-level calls.

use std::sync::mpsc::channel;
use std::time::Duration;

use readyok_client::{
    Checkmate, Clock, Clocks, Engine, Game, Limit, MateLimit, OptionValue, Party, Problem, Search,
    UsageError,
};

use crate::support::{SHORT, check_started, good_engine, hit, patient, problem, uci};

/// Runs a test with a correct engine, and compares the received lines after the handshake.
fn check_received(test: impl FnOnce(&mut Engine), expected: &str) {
    let (received, lines) = channel();
    let builder = uci(patient());
    let engine = builder.in_process(move |input, output| good_engine(input, output, &received));
    let mut engine = engine.expect("it answers");
    test(&mut engine);
    engine.quit().expect("it leaves");
    // `uci` and the number of `isready`s are tested with the session.
    let lines: Vec<_> = lines.iter().filter(|line| line != "isready" && line != "uci").collect();
    let expected: Vec<_> =
        expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(lines, expected);
}

#[test]
fn a_new_game_is_sent_once() {
    check_received(
        |engine| {
            let mut game = Game::startpos();
            for _ in 0..2 {
                let played = engine.play(&game, Limit::Depth(1)).expect("it plays");
                game.extend(played.best_move());
            }
            engine.play(&Game::startpos(), Limit::Depth(1)).expect("it plays");
        },
        "ucinewgame
         position startpos
         go depth 1
         position startpos moves e2e4
         go depth 1
         ucinewgame
         position startpos
         go depth 1",
    );
}

#[test]
fn options_of_one_search_are_reset_afterwards() {
    check_received(
        |engine| {
            let game = Game::startpos();
            let search = Search::new(Limit::Nodes(5)).lines(3).option("Threads", "2");
            engine.play(&game, search).expect("it plays");
            engine.play(&game, Limit::Nodes(5)).expect("it plays");
        },
        "setoption name Threads value 2
         setoption name MultiPV value 3
         ucinewgame
         position startpos
         go nodes 5
         setoption name Threads value 1
         setoption name MultiPV value 1
         position startpos
         go nodes 5",
    );
}

#[test]
fn only_changed_options_are_sent() {
    check_received(
        |engine| {
            engine.set_options([("Hash", "16"), ("Threads", "4")]).expect("it has them");
            engine.set_options([("hash", "64"), ("THREADS", "4")]).expect("it has them");
            engine.push_button("Clear Hash").expect("it has it");
        },
        "setoption name Threads value 4
         setoption name Hash value 64
         setoption name Clear Hash",
    );
}

#[test]
fn a_game_sends_its_variant_and_opponent() {
    check_received(
        |engine| {
            let fen = "bnrbnkrq/pppppppp/8/8/8/8/PPPPPPPP/BNRBNKRQ w CGcg - 0 1";
            let game =
                Game::from_fen(fen).expect("a position").chess960().against("none 0 human X");
            engine.play(&game, Limit::millis(7)).expect("it plays");
        },
        "setoption name UCI_Chess960 value true
         ucinewgame
         setoption name UCI_Opponent value none 0 human X
         position fen bnrbnkrq/pppppppp/8/8/8/8/PPPPPPPP/BNRBNKRQ w CGcg - 0 1
         go movetime 7",
    );
}

#[test]
fn a_ponder_hit_continues_and_a_miss_stops() {
    check_received(
        |engine| {
            let game = Game::startpos();
            let second = Duration::from_secs(1);
            let clock = Clock::fischer(second, second);
            let limit = || Limit::clock(Clocks::new(clock, clock));
            let pondering = engine.ponder(&game, limit()).expect("it starts");
            while pondering.so_far().is_empty() {
                pondering.next_within(second);
            }
            assert!(hit(pondering).expect("it plays").best_move().is_some());
            let pondering = engine.ponder(&game, limit()).expect("it starts");
            while pondering.so_far().is_empty() {
                pondering.next_within(second);
            }
            drop(pondering);
            engine.play(&game, Limit::Depth(1)).expect("it plays");
        },
        "ucinewgame
         position startpos
         go ponder wtime 1000 btime 1000 winc 1000 binc 1000
         ponderhit
         position startpos
         go ponder wtime 1000 btime 1000 winc 1000 binc 1000
         stop
         position startpos
         go depth 1",
    );
}

#[test]
fn an_analysis_can_change_its_position() {
    check_received(
        |engine| {
            let mut game = Game::startpos();
            let mut analysis = engine.analyse(&game, Limit::Infinite).expect("it starts");
            assert!(analysis.next().is_some());
            analysis.set_lines(2).expect("it continues");
            assert!(analysis.next().is_some());
            game.play("e2e4".parse().expect("a move"));
            analysis.set_game(&game).expect("it continues");
            // The first line of this search may have arrived.
            assert!(analysis.so_far().iter().all(|line| line.depth == Some(3)));
            let update = analysis.next().expect("it continues");
            assert_eq!(update.raw, "info depth 3 score cp 3 pv d2d4");
            assert_eq!(analysis.so_far().len(), 1);
            let played = analysis.finish().expect("it answers");
            assert_eq!(played.lines.len(), 1);
        },
        "ucinewgame
         position startpos
         go infinite
         stop
         setoption name MultiPV value 2
         position startpos
         go infinite
         stop
         position startpos moves e2e4
         go infinite
         stop",
    );
}

/// A setting has an effect, and `ready` returns only afterwards.
#[test]
fn an_option_interrupts_an_analysis() {
    check_received(
        |engine| {
            let mut analysis =
                engine.analyse(&Game::startpos(), Limit::Infinite).expect("it starts");
            assert_eq!(analysis.next().and_then(|update| update.depth), Some(1));
            engine.set_option("Threads", "2").expect("it has it");
            engine.ready().expect("it answers");
            assert_eq!(engine.option_value("Threads"), Some(OptionValue::Spin(2)));
            assert_eq!(analysis.next().and_then(|update| update.depth), Some(2));
            assert!(analysis.so_far().iter().all(|line| line.depth == Some(2)));
            analysis.set_option("threads", "4").expect("it has it");
            assert_eq!(analysis.next().and_then(|update| update.depth), Some(3));
            assert!(analysis.finish().expect("it answers").best_move().is_some());
            engine.play(&Game::startpos(), Limit::Depth(1)).expect("it plays");
        },
        "ucinewgame
         position startpos
         go infinite
         stop
         setoption name Threads value 2
         position startpos
         go infinite
         stop
         setoption name Threads value 4
         position startpos
         go infinite
         stop
         setoption name Threads value 2
         ucinewgame
         position startpos
         go depth 1",
    );
}

/// A move to play would be late if its search started again.
#[test]
fn an_option_during_a_search_for_a_move_is_an_error() {
    check_started(&["go: "], patient(), |mut engine| {
        let search = engine.begin(&Game::startpos(), Limit::Depth(3)).expect("it starts");
        search.next_within(SHORT);
        let rejected = problem(engine.set_option("Hash", "32"));
        assert_eq!(rejected, Problem::Usage(UsageError::Searching));
        assert_eq!(engine.option_value("Hash"), Some(OptionValue::Spin(16)));
        // After `stop` it is sent behind the answer, and `ready` waits for it.
        search.stop();
        engine.set_option("Hash", "32").expect("it has it");
        engine.ready().expect("it answers");
        assert_eq!(engine.option_value("Hash"), Some(OptionValue::Spin(32)));
        assert!(search.wait().expect("it answers").best_move().is_some());
    });
}

#[test]
fn the_number_of_lines_is_set_before_the_search() {
    check_received(
        |engine| {
            let search = Search::new(Limit::Depth(2)).lines(3);
            let analysis = engine.analyse(&Game::startpos(), search).expect("it starts");
            analysis.wait().expect("it ends by itself");
        },
        "setoption name MultiPV value 3
         ucinewgame
         position startpos
         go depth 2",
    );
}

#[test]
fn any_duration_can_limit_a_search() {
    check_received(
        |engine| {
            let game = Game::startpos();
            for time in [Duration::from_nanos(1), Duration::MAX] {
                engine.play(&game, Limit::Time(time)).expect("it plays");
            }
        },
        "ucinewgame
         position startpos
         go movetime 1
         position startpos
         go movetime 9223372036854775807",
    );
}

#[test]
fn the_mate_of_a_chess_engine_is_its_pv() {
    check_received(
        |engine| {
            let mate = engine.mate(&Game::startpos(), MateLimit::Moves(2)).expect("it answers");
            let Checkmate::Moves(moves) = mate else { panic!("{mate:?}") };
            assert_eq!(moves.as_str(), "e2e4 e7e5 d1h5");
            // UCI has no time limit for mate searches.
            let time = MateLimit::Time(Duration::from_millis(2));
            assert!(engine.mate(&Game::startpos(), time).is_err());
        },
        "ucinewgame
         position startpos
         go mate 2",
    );
}

#[test]
fn infos_can_be_watched_while_the_engine_plays() {
    check_received(
        |engine| {
            let mut depths = Vec::new();
            let played = engine.play_with(&Game::startpos(), Limit::Depth(4), |update| {
                depths.push(update.depth);
            });
            let played = played.expect("it plays");
            assert_eq!(depths, [Some(4)]);
            assert_eq!(played.ponder.map(|mv| mv.to_string()).as_deref(), Some("e7e5"));
            assert_eq!(played.info.depth, Some(4));
        },
        "ucinewgame
         position startpos
         go depth 4",
    );
}

#[test]
fn on_line_receives_every_line() {
    let (sender, log) = channel();
    let (received, _) = channel();
    let builder = uci(patient()).on_line(move |side, line: &str| {
        sender.send((side, line.to_owned())).expect("the test continues");
    });
    let engine = builder.in_process(move |input, output| good_engine(input, output, &received));
    let mut engine = engine.expect("it starts");
    engine.play(&Game::startpos(), Limit::Depth(4)).expect("it plays");
    engine.quit().expect("it leaves");
    let both: Vec<(Party, String)> = log.try_iter().collect();
    let of = |wanted| {
        let lines = both.iter().filter(move |(side, _)| *side == wanted);
        lines.map(|(_, line)| line.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(both.first(), Some(&(Party::Client, "uci".to_owned())));
    for line in ["ucinewgame", "position startpos", "go depth 4", "quit"] {
        assert!(of(Party::Client).contains(&line), "{line}: {both:?}");
    }
    for line in ["id name Good", "uciok", "bestmove e2e4 ponder e7e5"] {
        assert!(of(Party::Engine).contains(&line), "{line}: {both:?}");
    }
}
