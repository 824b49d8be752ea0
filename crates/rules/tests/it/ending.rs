//! How games end on the board.

use readyok_rules::{
    Ending, Game,
    Reason::{
        self, Checkmate, FiftyMoves, InsufficientMaterial, PerpetualCheck, Repetition, Stalemate,
    },
    Side,
};

use crate::{after, position};

#[track_caller]
fn check_ending(game: Game, text: &str, moves: &str, expected: Option<(Option<Side>, Reason)>) {
    let ending = after(game, text, moves).ending();
    let expected = expected.map(|(winner, reason)| Ending { winner, reason });
    assert_eq!(ending, expected, "{text} {moves}");
}

#[test]
fn chess_ends_with_mate_and_stalemate() {
    check_ending(Game::Chess, "", "f2f3 e7e5 g2g4 d8h4", Some((Some(Side::Second), Checkmate)));
    check_ending(Game::Chess, "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "", Some((None, Stalemate)));
}

#[test]
fn chess_ends_with_the_third_repetition() {
    let shuffle = "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1";
    check_ending(Game::Chess, "", shuffle, None);
    check_ending(Game::Chess, "", &format!("{shuffle} f6g8"), Some((None, Repetition)));
    // Castling rights are lost on the way, so that the position is another one.
    let rooks = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
    let shuffle = "h1g1 h8g8 g1h1 g8h8 h1g1 h8g8 g1h1 g8h8";
    check_ending(Game::Chess, rooks, shuffle, None);
    check_ending(
        Game::Chess,
        rooks,
        &format!("{shuffle} h1g1 h8g8 g1h1 g8h8"),
        Some((None, Repetition)),
    );
}

#[test]
fn chess_ends_after_fifty_moves_unless_with_mate() {
    check_ending(Game::Chess, "7k/8/8/8/8/8/R7/K7 w - - 99 80", "", None);
    check_ending(Game::Chess, "7k/8/8/8/8/8/R7/K7 w - - 99 80", "a2b2", Some((None, FiftyMoves)));
    check_ending(
        Game::Chess,
        "7k/8/6K1/8/8/8/R7/8 w - - 99 80",
        "a2a8",
        Some((Some(Side::First), Checkmate)),
    );
}

#[test]
fn chess_ends_without_material() {
    check_ending(
        Game::Chess,
        "7k/8/8/8/8/8/B7/K7 w - - 0 1",
        "",
        Some((None, InsufficientMaterial)),
    );
    check_ending(Game::Chess, "", "", None);
}

#[test]
fn shogi_ends_when_a_side_has_no_move() {
    let mate = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1";
    check_ending(Game::Shogi, mate, "", None);
    check_ending(Game::Shogi, mate, "G*5b", Some((Some(Side::First), Checkmate)));
    let stuck = "8k/6G2/7+P1/9/9/9/9/9/4K4 w - 1";
    check_ending(Game::Shogi, stuck, "", Some((Some(Side::First), Stalemate)));
}

#[test]
fn shogi_ends_with_the_fourth_repetition() {
    let once = "2h3h 8b7b 3h2h 7b8b ";
    check_ending(Game::Shogi, "", &once.repeat(2), None);
    check_ending(Game::Shogi, "", &once.repeat(3), Some((None, Repetition)));
}

#[test]
fn shogi_ends_with_a_loss_for_perpetual_check() {
    let text = "4k4/9/9/9/9/9/9/9/R3K4 b - 1";
    let start = "9i9a 5a5b ";
    let once = "9a9b 5b5a 9b9a 5a5b ";
    check_ending(Game::Shogi, text, &format!("{start}{}", once.repeat(2)), None);
    let lost = Some((Some(Side::Second), PerpetualCheck));
    check_ending(Game::Shogi, text, &format!("{start}{}", once.repeat(3)), lost);
}

#[test]
fn shogi_is_won_by_declaration_with_enough_points() {
    let text = "4K+R+R+B+B/PPPPPPPPP/9/9/9/9/9/9/4k4 b 4P 1";
    let declares = |text: &str| position(Game::Shogi, text).can_declare();
    assert!(declares(text));
    // Without the hand there are 29 points left, and 27 without a dragon and a pawn more: the first
    // player needs 28.
    assert!(declares(&text.replace("4P", "-")));
    assert!(!declares(&text.replace("+R+R", "+R1").replace("4P", "-")));
    assert!(!declares("4k4/9/9/9/9/9/9/9/4K4 b - 1"));
}
