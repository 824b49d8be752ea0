//! Counts of all lines of a length, against numbers that many programs agree on.

use readyok_rules::{Game, Position};

use crate::position;

#[track_caller]
fn check_perft(game: Game, text: &str, depth: u32, expected: u64) {
    assert_eq!(perft(&position(game, text), depth), expected, "{text} at depth {depth}");
}

fn perft(position: &Position, depth: u32) -> u64 {
    let moves = position.legal_moves();
    if depth == 1 {
        return moves.len() as u64;
    }
    let lines = moves.into_iter().map(|mv| {
        let mut next = position.clone();
        next.play(mv).expect("a legal move");
        perft(&next, depth - 1)
    });
    lines.sum()
}

#[test]
fn counts_the_start_of_chess() {
    check_perft(Game::Chess, "", 4, 197_281);
}

#[test]
fn counts_castling_promotions_and_pins() {
    let text = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
    check_perft(Game::Chess, text, 3, 97_862);
}

#[test]
fn counts_en_passant_that_uncovers_check() {
    check_perft(Game::Chess, "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 4, 43_238);
}

#[test]
fn counts_castling_of_chess960() {
    let text = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9";
    check_perft(Game::Chess960, text, 3, 12_189);
}

#[test]
fn counts_the_start_of_shogi() {
    check_perft(Game::Shogi, "", 3, 25_470);
}

#[test]
fn counts_the_position_with_the_most_moves() {
    let text = "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1";
    check_perft(Game::Shogi, text, 1, 593);
}

#[test]
fn counts_drops_without_an_own_king() {
    let with_king = "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1";
    let without = with_king.replace('K', "1");
    let moves = position(Game::Shogi, &without).legal_moves();
    assert!(moves.len() > 590, "{}", moves.len());
}
