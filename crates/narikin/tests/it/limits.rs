//! Searches stop at their limits, always with a move.

use std::time::Duration;

use narikin::{Limits, Score, Searcher};
use readyok_rules::{Game, Impasse, Position};

use crate::{Probe, depth, search};

const GAMES: [Game; 2] = [Game::Chess, Game::Shogi];

#[test]
fn stops_at_the_node_limit() {
    for game in GAMES {
        for nodes in [0, 1, 2, 100, 5_000] {
            let limits = Limits { nodes: Some(nodes), ..Limits::default() };
            let outcome = search(&Position::start(game), &limits, &Probe::default());
            assert_eq!(outcome.nodes, nodes, "{game:?}");
            assert!(outcome.best().is_some(), "{game:?} {nodes}");
        }
    }
}

#[test]
fn stops_at_the_depth_limit() {
    for game in GAMES {
        let probe = Probe::default();
        let outcome = search(&Position::start(game), &depth(3), &probe);
        assert_eq!(outcome.depth, 3);
        let depths: Vec<u32> = probe.lines.borrow().iter().map(|line| line.depth).collect();
        assert_eq!(depths, [1, 2, 3]);
        assert!(probe.lines.borrow().iter().all(|line| line.seldepth >= line.depth));
        assert!(probe.lines.borrow().is_sorted_by_key(|line| line.nodes));
    }
}

#[test]
fn many_queens_do_not_delay_a_shallow_search() {
    for fen in [
        "8/PPPPPPPP/8/2k5/5K2/8/pppppppp/8 w - - 0 1",
        "1Q4Q1/P1PPPP1P/8/8/3k2K1/8/pp1ppppp/2q5 b - - 0 3",
    ] {
        let position = Position::from_text(Game::Chess, fen).unwrap();
        // A search that did not finish would continue to the node limit.
        let limits = Limits { nodes: Some(500_000), ..depth(2) };
        let outcome = search(&position, &limits, &Probe::default());
        assert_eq!(outcome.depth, 2, "{fen}: {} nodes", outcome.nodes);
    }
}

/// Null moves hide this mate from the normal search.
#[test]
fn a_search_for_a_long_mate_finds_a_short_one() {
    let position = Position::from_text(Game::Chess, "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1").unwrap();
    for moves in [2, 3, 5, 20] {
        let limits =
            Limits { mate: Some(2 * moves - 1), nodes: Some(100_000), ..Limits::default() };
        let outcome = search(&position, &limits, &Probe::default());
        assert_eq!(outcome.score, Score::Wins { plies: 3 }, "mate {moves}");
    }
}

#[test]
fn has_a_move_even_if_stopped_immediately() {
    for game in GAMES {
        let probe = Probe::stop_at(1);
        let position = Position::start(game);
        let outcome = search(&position, &Limits::default(), &probe);
        let best = outcome.best().expect("a move");
        assert!(position.legal_moves().contains(&best));
        // The first iteration takes almost no time, and its move is better than any legal move.
        assert_eq!(outcome.depth, 1);
        assert!((1..8192).contains(&outcome.nodes), "{} nodes", outcome.nodes);
        let lines = probe.last_lines();
        assert_eq!(lines.len(), 1, "what will be played is reported");
        assert!(lines.iter().all(|line| line.pv.first() == Some(&best) && line.depth == 1));
    }
}

#[test]
fn polls_the_stop_flag_often_and_stops_immediately() {
    for game in GAMES {
        let probe = Probe::stop_at(20);
        let outcome = search(&Position::start(game), &Limits::default(), &probe);
        assert!(outcome.nodes <= 20 * 256, "{} nodes", outcome.nodes);
        assert!(outcome.nodes >= 256, "{} nodes", outcome.nodes);
        assert_eq!(probe.questions(), 20);
        let last = probe.last_lines();
        assert_eq!(last.first().map(|line| &line.pv), Some(&outcome.pv));
    }
}

#[test]
fn stops_at_the_hard_bound() {
    let mut searcher = Searcher::new(4).expect("4 megabytes");
    let mut polls = |exact_time| {
        let probe = Probe::with_bounds(None, Some(Duration::from_millis(100)));
        let limits = Limits { exact_time, ..Limits::default() };
        searcher.search(&Position::start(Game::Chess), &limits, &probe);
        probe.questions()
    };
    for _ in 0..5 {
        // Polls are one or two milliseconds apart: a reserve of three gaps, or four percent.
        let [clock, fixed] = [false, true].map(&mut polls);
        assert!((96..=98).contains(&clock), "{clock}");
        assert!((100..=101).contains(&fixed), "{fixed}");
    }
}

#[test]
fn a_scheduling_delay_reserves_clock_time_but_no_fixed_time() {
    let polls = |exact_time| {
        let probe = Probe::with_bounds(None, Some(Duration::from_secs(1))).delay(200);
        let limits = Limits { exact_time, ..Limits::default() };
        search(&Position::start(Game::Chess), &limits, &probe);
        // In milliseconds.
        probe.questions() + 200
    };
    let [clock, fixed] = [false, true].map(polls);
    assert!((960..=962).contains(&clock), "{clock}");
    assert!((1_000..=1_002).contains(&fixed), "{fixed}");
}

#[test]
fn begins_no_iteration_after_the_soft_bound() {
    let soft = Some(Duration::from_millis(30));
    let probe = Probe::with_bounds(soft, None);
    let outcome = search(&Position::start(Game::Chess), &Limits::default(), &probe);
    assert!(probe.questions() >= 30);
    let depth = probe.lines.borrow().iter().map(|line| line.depth).max();
    assert_eq!(depth, Some(outcome.depth), "the last iteration was finished");
    let without =
        search(&Position::start(Game::Chess), &crate::depth(outcome.depth), &Probe::default());
    assert_eq!(outcome, without);
}

#[test]
fn a_late_ponder_hit_takes_no_more_time_than_a_move() {
    let at = |millis| Some(Duration::from_millis(millis));
    let probe = Probe::with_bounds(at(310), at(2_000)).from(Duration::from_millis(300));
    search(&Position::start(Game::Chess), &Limits::default(), &probe);
    let questions = probe.questions();
    assert!((300..=325).contains(&questions), "{questions}");
}

#[test]
fn the_only_move_uses_a_fixed_time_but_no_byoyomi() {
    let forced =
        Position::from_text(Game::Chess, "6k1/5ppp/8/8/8/8/PP3PPP/K2r3R w - - 0 1").expect("legal");
    let questions = |exact_time| {
        let time = Some(Duration::from_millis(200));
        let probe = Probe::with_bounds(time, time);
        search(&forced, &Limits { exact_time, ..Limits::default() }, &probe);
        probe.questions()
    };
    let [immediate, exact] = [false, true].map(questions);
    assert!(immediate < 20 && 50 < exact, "{immediate} {exact}");
}

#[test]
fn same_searches_give_same_results() {
    for game in GAMES {
        let mut searcher = Searcher::new(1).expect("a megabyte");
        let mut run = || {
            let probe = Probe::default();
            searcher.clear();
            let outcome = searcher.search(&Position::start(game), &depth(4), &probe);
            (outcome, probe.lines.into_inner())
        };
        assert_eq!(run(), run());
    }
}

#[test]
fn the_hash_table_fills_and_saves_nodes() {
    for game in GAMES {
        let start = Position::start(game);
        let mut searcher = Searcher::new(1).expect("a megabyte");
        let probe = Probe::default();
        let first = searcher.search(&start, &depth(8), &probe);
        assert!(probe.last_lines().iter().all(|line| (1..=1000).contains(&line.hashfull)));
        let again = searcher.search(&start, &depth(8), &Probe::default());
        assert!(again.nodes < first.nodes, "{} and {}", again.nodes, first.nodes);
    }
}

#[test]
fn a_failed_resize_keeps_the_old_table() {
    let mut searcher = Searcher::new(1).expect("a megabyte");
    assert!(searcher.resize(usize::MAX).is_err());
    let outcome = searcher.search(&Position::start(Game::Chess), &depth(2), &Probe::default());
    assert!(matches!(outcome.score, Score::Centipawns(_)));
}

#[test]
fn several_threads_share_a_search() {
    for game in GAMES {
        let start = Position::start(game);
        let mut searcher = Searcher::new(4).expect("a few megabytes");
        let limits = Limits { threads: 4, ..depth(6) };
        let outcome = searcher.search(&start, &limits, &Probe::default());
        assert_eq!(outcome.depth, 6);
        assert!(outcome.best().is_some_and(|mv| start.legal_moves().contains(&mv)));
        let limits = Limits { threads: 4, nodes: Some(20_000), ..Limits::default() };
        let outcome = searcher.search(&start, &limits, &Probe::default());
        assert!((20_000..24_000).contains(&outcome.nodes), "{} nodes", outcome.nodes);
        let limits = Limits { threads: 4, ..Limits::default() };
        let outcome = searcher.search(&start, &limits, &Probe::stop_at(3));
        assert!(outcome.best().is_some());
    }
}

/// Also if the votes of the threads select a line of a lower depth.
#[test]
fn the_depth_never_decreases() {
    for game in GAMES {
        let mut searcher = Searcher::new(4).expect("a few megabytes");
        let mut position = Position::start(game);
        for ply in 0..60 {
            let probe = Probe::default();
            let limits = Limits { threads: 8, nodes: Some(4_000), ..Limits::default() };
            let outcome = searcher.search(&position, &limits, &probe);
            let depths: Vec<u32> = probe.lines.borrow().iter().map(|line| line.depth).collect();
            assert!(depths.is_sorted(), "{game:?}: {depths:?}");
            let Some(best) = outcome.best() else {
                assert!(20 < ply, "{game:?} ends after {ply} plies");
                break;
            };
            position.play(best).expect("legal");
        }
    }
}

#[test]
fn scores_a_draw_as_zero() {
    // Bare kings: a dead position.
    let bare = Position::from_text(Game::Chess, "4k3/8/8/8/8/8/8/4K3 w - - 0 1").expect("legal");
    for draw in [-30, 0, 25] {
        let limits = Limits { draw, ..depth(3) };
        assert_eq!(search(&bare, &limits, &Probe::default()).score, Score::Centipawns(draw));
    }
}

#[test]
fn scores_the_move_limit_of_shogi() {
    let start = Position::start(Game::Shogi);
    let limits = Limits { max_moves: Some(1), draw: 7, ..depth(3) };
    assert_eq!(search(&start, &limits, &Probe::default()).score, Score::Centipawns(7));
}

#[test]
fn plays_for_a_winning_declaration() {
    // After one king move, ten pieces and enough points are in the camp.
    let text = "+R+R+B+BG2k1/GGGSS4/9/1K7/9/9/9/9/9 b 2S4N4L9P9p 1";
    let position = Position::from_text(Game::Shogi, text).expect("legal");
    let enter = position.parse_move("8d8c").expect("legal");
    let score = |impasse| {
        let limits = Limits { impasse, searchmoves: vec![enter], ..depth(3) };
        search(&position, &limits, &Probe::default()).score
    };
    assert!(matches!(score(None), Score::Centipawns(19_000..)));
    assert!(matches!(score(Some(Impasse::Points27)), Score::Centipawns(19_000..)));
    assert!(matches!(score(Some(Impasse::Ignored)), Score::Centipawns(..19_000)));
}

#[test]
fn a_win_by_rule_is_not_delayed() {
    // The king wins by the try rule in two moves. It could delay this with a capture.
    let position = Position::from_text(Game::Shogi, "9/9/3K5/9/9/9/9/9/8k b P 1").expect("legal");
    let impasse = Some(Impasse::Try);
    let limits = Limits { impasse, nodes: Some(10_000), ..Limits::default() };
    let outcome = search(&position, &limits, &Probe::default());
    let best = outcome.best().map(|mv| crate::token(Game::Shogi, mv));
    let steps = ["6c5b", "6c6b"];
    assert!(best.as_deref().is_some_and(|best| steps.contains(&best)), "{best:?}");
    assert_eq!(outcome.score, Score::Centipawns(19_998));
}

/// The executable ends a search whose limit is not an integer, and a benchmark before `quit`.
#[test]
fn the_executable_ends_searches_and_benchmarks() {
    use std::io::Write;
    use std::process::{Command, Stdio};

    let output = |input: &str| {
        let mut engine = Command::new(env!("CARGO_BIN_EXE_narikin"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the engine starts");
        engine.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads");
        let output = engine.wait_with_output().expect("the engine exits");
        String::from_utf8(output.stdout).expect("text")
    };
    // The second search waits for the end of the first.
    let searched = output("uci\nposition startpos\ngo movetime 100.5\ngo nodes x\ngo depth 1.0\n");
    assert_eq!(searched.matches("\nbestmove ").count(), 3, "{searched}");
    assert!(searched.contains("no usable limit in `nodes x`: the search takes 1s"), "{searched}");
    // Fields are missing, and Stockfish plays.
    let partial = "position fen 6k1/5ppp/8/8/8/8/8/R5K1";
    let played = output(&format!("{partial} w\ngo depth 3\n{partial} b -\ngo depth 1\n"));
    assert!(played.contains("bestmove a1a8\n"), "{played}");
    assert!(!played.contains("(none)"), "{played}");
    let benched = output("bench 1\nquit\n");
    assert!(benched.contains("Nodes searched"), "{benched}");
}
