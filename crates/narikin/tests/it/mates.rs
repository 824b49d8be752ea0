//! Finds the shortest mates, and scores positions without a legal move.

use narikin::{Limits, Score, Searcher};
use readyok_rules::{Game, Position};

use crate::{Probe, depth, position, search, tokens};

/// Checks that a search finds a mate within a number of plies, that its line ends in mate, and that it
/// starts with one of the given moves.
#[track_caller]
fn check_mate(game: Game, text: &str, plies: u32, first: &[&str]) {
    let position = position(game, text);
    let limits = Limits { mate: Some(plies), ..Limits::default() };
    let outcome = search(&position, &limits, &Probe::default());
    let line = tokens(game, &outcome.pv);
    assert_eq!(outcome.score, Score::Wins { plies }, "{text} {line:?}");
    assert!(line.first().is_some_and(|token| first.contains(&token.as_str())), "{text} {line:?}");
    assert_eq!(line.len(), plies as usize, "{text} {line:?}");
    let end = position.after(&line).expect("a legal line");
    assert!(end.legal_moves().is_empty() && end.in_check(), "{text} {line:?}");
}

#[track_caller]
fn check_over(game: Game, text: &str, score: Score) {
    let outcome = search(&position(game, text), &Limits::default(), &Probe::default());
    assert_eq!((outcome.best(), outcome.ponder(), outcome.score), (None, None, score), "{text}");
}

#[test]
fn finds_the_shortest_mates() {
    use Game::{Chess, Chess960, Shogi};

    for (game, text, plies, first) in [
        (Chess, "6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1", 1, &["e1e8"][..]),
        (Chess, "k3r3/8/8/8/8/8/5PPP/6K1 b - - 0 1", 1, &["e8e1"]),
        (Chess, "7k/8/8/8/8/8/R7/1R4K1 w - - 0 1", 3, &["b1b7", "a2a7"]),
        (Chess, "8/6k1/8/8/8/8/R7/1R4K1 w - - 0 1", 5, &["b1b6", "a2a6"]),
        // On the last of the fifty moves.
        (Chess, "7k/8/6K1/8/8/8/R7/8 w - - 99 80", 1, &["a2a8"]),
        // By castling.
        (Chess960, "2rkr3/2p1p3/8/8/8/8/8/RK6 w A - 0 1", 1, &["b1a1"]),
        (Shogi, "4k4/9/4P4/9/9/9/9/9/4K4 b G 1", 1, &["G*5b"]),
        (Shogi, "7k1/9/9/6p2/9/9/9/9/K8 b GS 1", 3, &["S*2c"]),
        (Shogi, "9/8k/9/4+R4/9/9/9/9/K8 b G 1", 3, &["5d2d"]),
        // Without a king.
        (Shogi, "4k4/9/4P4/9/9/9/9/9/9 b G 1", 1, &["G*5b"]),
    ] {
        check_mate(game, text, plies, first);
    }
}

#[test]
fn finds_no_mate_in_positions_without_mate() {
    for game in [Game::Chess, Game::Shogi] {
        let limits = Limits { mate: Some(3), ..Limits::default() };
        let outcome = search(&Position::start(game), &limits, &Probe::default());
        assert!(matches!(outcome.score, Score::Centipawns(_)), "{outcome:?}");
        assert_eq!(outcome.depth, 3);
    }
}

#[test]
fn scores_being_mated() {
    let outcome = search(
        &position(Game::Chess, "7k/R7/8/8/8/8/8/1R4K1 b - - 0 1"),
        &depth(4),
        &Probe::default(),
    );
    assert_eq!(outcome.score, Score::Loses { plies: 2 });
}

/// The mate is too long for a search with these nodes.
#[test]
fn finds_long_mates_of_shogi_by_checks_alone() {
    let text = "9/9/9/3k5/9/3P5/9/9/4K4 b 4G2r2b4s4n4l17p 1";
    let position = position(Game::Shogi, text);
    let limits = Limits { nodes: Some(3_000), ..Limits::default() };
    let outcome = search(&position, &limits, &Probe::default());
    let Score::Wins { plies } = outcome.score else { panic!("{outcome:?}") };
    assert!(plies >= 7 && outcome.pv.len() == plies as usize, "{outcome:?}");
    let end = position.after(tokens(Game::Shogi, &outcome.pv)).expect("a legal line");
    assert!(end.legal_moves().is_empty() && end.in_check(), "{outcome:?}");
}

#[test]
fn does_not_capture_a_rook_and_get_mated() {
    let limits = depth(1);
    let greedy = position(Game::Shogi, "4k4/9/r8/5p3/9/5K3/R8/9/9 b - 1");
    let outcome = search(&greedy, &limits, &Probe::default());
    assert_eq!(tokens(Game::Shogi, &outcome.pv).first().map(String::as_str), Some("9g9c+"));
    let mated = position(Game::Shogi, "4k4/9/r8/5p3/9/5K3/R8/9/9 b 4g 1");
    let outcome = search(&mated, &limits, &Probe::default());
    assert_ne!(tokens(Game::Shogi, &outcome.pv).first().map(String::as_str), Some("9g9c+"));
}

#[test]
fn scores_positions_without_a_legal_move() {
    check_over(Game::Chess, "R5k1/5ppp/8/8/8/8/8/K7 b - - 0 1", Score::Loses { plies: 0 });
    check_over(Game::Chess, "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", Score::Centipawns(0));
    check_over(Game::Shogi, "4k4/4G4/4P4/9/9/9/9/9/4K4 w - 1", Score::Loses { plies: 0 });
    check_over(Game::Shogi, "8k/6G2/7+P1/9/9/9/9/9/4K4 w - 1", Score::Loses { plies: 0 });
}

#[test]
fn repetition_includes_the_game_before_the_search() {
    let start = position(Game::Chess, "7k/8/8/8/8/8/r7/7K b - - 80 100");
    let score = |rounds: usize| {
        let round = ["a2a3", "h1g1", "a3a2", "g1h1"].into_iter().cycle();
        let before = start.clone().after(round.take(4 * rounds)).expect("legal moves");
        let limits = Limits {
            searchmoves: vec![before.parse_move("a2a3").expect("legal")],
            depth: Some(1),
            ..Limits::default()
        };
        search(&before, &limits, &Probe::default()).score
    };
    // The second occurrence is not a draw, but the third is.
    assert!(matches!(score(1), Score::Centipawns(value) if value > 100), "{:?}", score(1));
    assert_eq!(score(2), Score::Centipawns(0));
}

/// The pruning of an earlier normal search does not affect a mate search.
#[test]
fn finds_mates_in_three_after_a_normal_search() {
    for (text, moves) in [
        ("r1b1kb1r/pppp1ppp/5q2/4n3/3KP3/2N3PN/PPP4P/R1BQ1B1R b kq - 0 1", 3),
        ("r1bq2r1/b4pk1/p1pp1p2/1p2pP2/1P2P1PB/3P4/1PPQ2P1/R3K2R w - - 0 1", 2),
        ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", 2),
        ("8/6k1/8/8/8/8/R7/1R4K1 w - - 0 1", 3),
    ] {
        let position = position(Game::Chess, text);
        for before in 1..=8 {
            let mut searcher = Searcher::new(4).expect("4 megabytes");
            searcher.search(&position, &depth(before), &Probe::default());
            let plies = 2 * moves - 1;
            let limits = Limits { mate: Some(plies), ..Limits::default() };
            let outcome = searcher.search(&position, &limits, &Probe::default());
            assert_eq!(outcome.score, Score::Wins { plies }, "{text} after depth {before}");
        }
    }
}
