//! Bishops of one square color cannot mate.

use narikin::{Limits, Score};
use readyok_rules::Game;

use crate::{Probe, depth, position, search, tokens};

fn score(fen: &str) -> Score {
    search(&position(Game::Chess, fen), &depth(6), &Probe::default()).score
}

#[test]
fn positions_without_mating_material_are_drawn() {
    for fen in [
        "8/8/3k4/8/8/7K/8/2B1B3 w - - 0 1",
        "8/8/3k4/8/8/7K/8/2B1B3 b - - 0 1",
        // Three bishops of one side, and one of the other.
        "8/8/3k4/8/8/4B2K/8/2B1B3 w - - 0 1",
        "8/8/3k4/4b3/8/7K/8/2B1B3 w - - 0 1",
        "8/8/3k4/8/8/7K/8/3B4 w - - 0 1",
        "8/8/3k4/8/8/7K/8/3N4 w - - 0 1",
        "8/8/3k4/8/8/7K/8/8 w - - 0 1",
    ] {
        assert_eq!(score(fen), Score::Centipawns(0), "{fen}");
    }
}

#[test]
fn bishops_of_both_colors_win() {
    let Score::Centipawns(value) = score("8/8/3k4/8/8/7K/8/2BB4 w - - 0 1") else { return };
    assert!(300 < value, "{value}");
}

/// A pawn can block its own king, so these positions are not dead.
#[test]
fn bishops_of_one_color_can_mate_a_king_blocked_by_its_pawn() {
    let mate = score("7k/7p/5K2/8/8/2B5/8/B7 w - - 0 1");
    assert_eq!(mate, Score::Wins { plies: 1 });
}

#[test]
fn bishops_of_one_color_have_a_low_score_against_pawns() {
    for fen in ["8/4p3/3k4/8/8/7K/8/2B1B3 w - - 0 1", "8/4p3/3k4/8/8/4B2K/8/2B1B3 w - - 0 1"] {
        let Score::Centipawns(value) = score(fen) else { panic!("{fen}: a mate") };
        assert!(value < 100, "{fen}: {value}");
    }
}

#[test]
fn a_promotion_to_a_second_bishop_of_the_color_does_not_win() {
    let position = position(Game::Chess, "8/8/3k4/8/8/7K/6pP/4b3 b - - 0 1");
    let promotion = position.parse_move("g2g1b").expect("legal");
    let limits = Limits { searchmoves: vec![promotion], ..depth(8) };
    let Score::Centipawns(value) = search(&position, &limits, &Probe::default()).score else {
        panic!("a mate")
    };
    assert!(value < 50, "{value}");
    for depth in 1..=10 {
        let best = search(&position, &crate::depth(depth), &Probe::default());
        let first = best.best().map(|mv| tokens(Game::Chess, &[mv]));
        let is_bishop = first == Some(vec!["g2g1b".to_owned()]);
        let is_won = matches!(best.score, Score::Centipawns(150..) | Score::Wins { .. });
        assert!(!(is_bishop && is_won), "{depth}: {:?}", best.score);
    }
}
