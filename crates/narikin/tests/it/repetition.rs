//! Scores of repetition in shogi, where it does not always draw.

use narikin::{Limits, Score};
use readyok_rules::{Game, Position};

use crate::{Probe, depth, position, search};

/// The score of a single searched move after others.
fn score(text: &str, moves: &str, only: &str) -> Score {
    let start: Position = position(Game::Shogi, text);
    let before = start.after(moves.split(' ')).expect("legal moves");
    let searchmoves = vec![before.parse_move(only).expect("legal")];
    let limits = Limits { searchmoves, ..depth(3) };
    search(&before, &limits, &Probe::default()).score
}

const ROOK: &str = "4k4/9/3R5/9/9/9/9/9/4K4 b - 1";

/// The score of the move that completes the occurrence number `times` of a position. The moves of
/// `round` lead from one occurrence to the next.
fn score_of_return(times: usize, first: &str, round: [&str; 4]) -> Score {
    let [a, b, c, back] = round;
    let before = std::iter::once(first)
        .chain([a, b, c, back].into_iter().cycle().take(4 * (times - 1) - 1))
        .collect::<Vec<_>>();
    score(ROOK, &before.join(" "), back)
}

#[test]
fn perpetual_check_loses() {
    let checks = ["5a4a", "5c4c", "4a5a", "4c5c"];
    assert_eq!(score_of_return(4, "6c5c", checks), Score::Centipawns(-20_000));
    // The other side wins if it returns to its square.
    let flight = "6c5c 5a4a 5c4c 4a5a 4c5c 5a4a 5c4c 4a5a 4c5c 5a4a 5c4c 4a5a 4c5c 5a4a 5c4c";
    assert_eq!(score(ROOK, flight, "4a5a"), Score::Centipawns(20_000));
}

#[test]
fn repetition_with_a_quiet_move_draws() {
    // One of the moves gives no check.
    let checks = ["5a4a", "5c6c", "4a5a", "6c5c"];
    assert_eq!(score_of_return(4, "6c5c", checks), Score::Centipawns(0));
    let quiet = ["5a4a", "6d6c", "4a5a", "6c6d"];
    assert_eq!(score_of_return(4, "6c6d", quiet), Score::Centipawns(0));
}

#[test]
fn repetitions_of_the_game_count_only_at_the_fourth_occurrence() {
    let quiet = ["5a4a", "6d6c", "4a5a", "6c6d"];
    for times in [2, 3] {
        let Score::Centipawns(value) = score_of_return(times, "6c6d", quiet) else {
            panic!("no mate in three plies")
        };
        assert!(value > 300, "no score of a rook: {value}");
    }
}
