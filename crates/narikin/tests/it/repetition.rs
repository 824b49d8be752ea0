//! What repetition is worth in shogi, where it does not always draw.

use narikin::{Limits, Score};
use readyok_rules::{Game, Position};

use crate::{Probe, depth, position, search};

/// The score of a move that is the only one to be searched, after some others.
fn score(text: &str, moves: &str, only: &str) -> Score {
    let start: Position = position(Game::Shogi, text);
    let before = start.after(moves.split(' ')).expect("legal moves");
    let searchmoves = vec![before.parse_move(only).expect("legal")];
    let limits = Limits { searchmoves, ..depth(3) };
    search(&before, &limits, &Probe::default()).score
}

#[test]
fn who_checks_again_and_again_loses() {
    let rook = "4k4/9/3R5/9/9/9/9/9/4K4 b - 1";
    assert_eq!(score(rook, "6c5c 5a4a 5c4c 4a5a", "4c5c"), Score::Centipawns(-20_000));
    // The other side sees that it wins, if it goes where it was.
    assert_eq!(
        score(rook, "6c5c 5a4a 5c4c 4a5a 4c5c 5a4a 5c4c", "4a5a"),
        Score::Centipawns(20_000)
    );
}

#[test]
fn without_a_check_in_between_it_is_a_draw() {
    let rook = "4k4/9/3R5/9/9/9/9/9/4K4 b - 1";
    // One of the moves gives no check.
    assert_eq!(score(rook, "6c5c 5a4a 5c6c 4a5a", "6c5c"), Score::Centipawns(0));
    assert_eq!(score(rook, "6c6d 5a4a 6d6c 4a5a", "6c6d"), Score::Centipawns(0));
}
