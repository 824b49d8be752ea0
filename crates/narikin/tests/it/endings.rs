//! What tablebases know reaches the search and its root.

use std::sync::Arc;

use narikin::{Limits, Score, Tables, tablebase::Tablebases};
use readyok_rules::{Game, Position};

use crate::{Probe, position, search, words};

fn tables() -> Tables {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/syzygy");
    let bases = Arc::new(Tablebases::open(folder).expect("tables"));
    assert!(bases.max_pieces() >= 4);
    Tables { bases, depth: 1, pieces: 7, fifty_moves: true }
}

fn score(text: &str, depth: u32) -> (Score, u64) {
    let probe = Probe::default();
    let limits = Limits { tables: Some(tables()), ..crate::depth(depth) };
    let score = search(&position(Game::Chess, text), &limits, &probe).score;
    let hits = probe.last_lines().first().map_or(0, |line| line.tbhits);
    (score, hits)
}

#[test]
fn tables_decide_after_a_capture() {
    // The knight falls, and what is left is in the tables.
    let (won, hits) = score("3k4/8/8/8/n7/8/8/R3K3 w - - 0 1", 4);
    assert!(matches!(won, Score::Centipawns(19_000..) | Score::Wins { .. }), "{won:?}");
    assert!(hits > 0);
}

#[test]
fn tables_know_draws() {
    // A rook pawn whose queening square the other king holds.
    let (drawn, hits) = score("k7/8/8/P7/8/8/8/K7 w - - 0 1", 5);
    assert_eq!(drawn, Score::Centipawns(0));
    assert!(hits > 0);
}

#[test]
fn a_win_is_won_move_by_move() {
    let mut position =
        Position::from_text(Game::Chess, "8/8/8/3k4/8/8/8/R3K3 w - - 0 1").expect("legal");
    let limits = Limits { tables: Some(tables()), ..crate::depth(2) };
    for _ in 0..60 {
        let outcome = search(&position, &limits, &Probe::default());
        let Some(best) = outcome.best() else { break };
        let line = words(Game::Chess, &[best]);
        position = position.after(&line).expect("a legal move");
    }
    assert!(position.legal_moves().is_empty() && position.in_check(), "{position}");
}
