//! Ends of games in words.

use readyok_arena::result::{GameEnd, Termination};
use readyok_rules::{Game, Side};

#[track_caller]
fn check(game: Game, winner: Option<Side>, termination: &Termination, told: &str) {
    let end = GameEnd { game, winner, termination, max_moves: Some(200) };
    assert_eq!(end.to_string(), told);
}

#[test]
fn an_end_is_told_with_what_is_known_of_it() {
    let (white, black) = (Some(Side::First), Some(Side::Second));
    let check = |winner, termination: Termination, told: &str| {
        check(Game::Chess, winner, &termination, told);
    };
    check(white, Termination::Checkmate, "White mates");
    check(black, Termination::Resignation, "White resigns");
    check(None, Termination::Stalemate, "draw by stalemate");
    check(None, Termination::MoveLimit, "draw by the limit of 200 moves");
    check(black, Termination::MateClaim, "Black wins by a trusted claim of mate");
    check(None, Termination::Tablebase, "draw by tablebases");
    check(black, Termination::Tablebase, "Black wins by tablebases");
    check(None, Termination::Aborted, "broken off");
    let late = |late_us| Termination::TimeForfeit { late_us };
    check(white, late(400), "Black loses on time by 0.4 ms");
    check(white, late(1_250_000), "Black loses on time by 1250 ms");
    check(white, late(0), "Black loses on time");
    let exit = "exited with code 3".to_owned();
    check(black, Termination::Crash { exit, fault: None }, "White crashes (exited with code 3)");
    check(black, Termination::Stall { waited_ms: 1500 }, "White gives no answer for 1.5 s");
    let why = "no\nprogram".to_owned();
    check(white, Termination::NoStart { why, fault: None }, "Black does not start (no program)");
    let illegal = |position: &str, why: &str| Termination::IllegalMove {
        word: "e2e5\u{1b}".to_owned(),
        position: position.to_owned(),
        why: why.to_owned(),
    };
    let told = "White plays the illegal move `e2e5\\u{1b}` at 8/8 w: the pawn cannot";
    check(black, illegal("8/8 w", "the pawn cannot"), told);
    check(black, illegal("", ""), "White plays the illegal move `e2e5\\u{1b}`");
}

#[test]
fn black_moves_first_in_shogi() {
    let first = Some(Side::First);
    check(Game::Shogi, first, &Termination::Declaration, "Black wins by declaration");
    check(Game::Shogi, first, &Termination::Stalemate, "Black wins by stalemate");
    check(Game::Shogi, first, &Termination::PerpetualCheck, "White gives perpetual check");
}

#[test]
fn texts_from_outside_are_short() {
    let why = "x".repeat(100_000);
    assert!(Termination::NoStart { why, fault: None }.to_string().len() < 400);
}
