//! Ends of games as sentences.

use readyok_arena::result::{EndSentence, EngineFailure, GameEnd};
use readyok_rules::{Game, IllegalReason, Side, Termination};

use crate::sample;

#[track_caller]
fn check(game: Game, winner: Option<Side>, end: impl Into<GameEnd>, expected: &str) {
    let sentence = EndSentence { game, winner, end: &end.into(), max_moves: Some(200) };
    assert_eq!(sentence.to_string(), expected);
}

#[test]
fn an_end_is_described_with_its_details() {
    let (white, black) = (Some(Side::First), Some(Side::Second));
    let check = |winner, end: GameEnd, expected: &str| check(Game::Chess, winner, end, expected);
    check(white, Termination::Checkmate.into(), "White mates");
    check(black, Termination::Resignation.into(), "White resigns");
    check(None, Termination::Stalemate.into(), "draw by stalemate");
    check(None, Termination::MoveLimit.into(), "draw by the limit of 200 moves");
    let claim = "Black wins by a trusted mate score";
    check(black, Termination::MateAdjudication.into(), claim);
    check(None, Termination::TablebaseAdjudication.into(), "draw by tablebases");
    check(black, Termination::TablebaseAdjudication.into(), "Black wins by tablebases");
    check(None, Termination::Aborted.into(), "aborted");
    check(white, GameEnd::time_forfeit(400), "Black loses on time by 0.4 ms");
    check(white, GameEnd::time_forfeit(1_250_000), "Black loses on time by 1250 ms");
    check(white, GameEnd::time_forfeit(0), "Black loses on time");
    check(black, sample::crash(), "White crashes (exited with code 3)");
    check(black, GameEnd::stall(1500), "White hangs for 1.5 s");
    let no_start = GameEnd::no_start(EngineFailure::other("no\nprogram"));
    check(white, no_start, "Black does not start (failed: `no program`)");
    let illegal =
        |position: &str| GameEnd::illegal_move("e2e5\u{1b}", position, IllegalReason::Unreachable);
    let expected = "White plays the illegal move `e2e5\\u{1b}` at 8/8 w: the piece cannot reach the target square";
    check(black, illegal("8/8 w"), expected);
    let expected =
        "White plays the illegal move `e2e5\\u{1b}`: the piece cannot reach the target square";
    check(black, illegal(""), expected);
}

#[test]
fn black_moves_first_in_shogi() {
    let first = Some(Side::First);
    check(Game::Shogi, first, Termination::Declaration, "Black wins by declaration");
    check(Game::Shogi, first, Termination::Stalemate, "Black wins by stalemate");
    check(Game::Shogi, first, Termination::PerpetualCheck, "White gives perpetual check");
}

#[test]
fn external_texts_are_truncated() {
    let failure = EngineFailure::other(&"x".repeat(100_000));
    assert!(GameEnd::no_start(failure).to_string().len() < 400);
}
