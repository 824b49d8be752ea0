//! Perft: the number of lines of a length, compared with published numbers.
//!
//! The tables in `testdata/perft` name their sources.

use std::{fs, path::Path};

use readyok_rules::{BoardRef, Game, Position, Setup, rsshogi::board::perft::perft, shakmaty};

use crate::position;

/// Up to this count, lines are played through [`Position`]; larger counts use the faster perft of the
/// underlying boards.
const PLAYED: u64 = 1_000;

/// Checks every row of a table: a position, a semicolon, and the counts from depth 1.
fn check_table(name: &str, read: impl Fn(&str) -> Position) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/perft").join(name);
    let table = fs::read_to_string(&path).expect("a table");
    let mut rows = 0;
    for row in table.lines().filter(|row| !row.starts_with('#')) {
        let (text, counts) = row.split_once(';').expect(row);
        let position = read(text);
        let counts = counts.split_whitespace().map(|count| count.parse().expect(row));
        check_counts(&position, &counts.collect::<Vec<u64>>());
        rows += 1;
    }
    assert!(rows > 0, "{name} is empty");
}

#[track_caller]
fn check_counts(position: &Position, counts: &[u64]) {
    for (depth, &expected) in (1..).zip(counts) {
        if expected <= PLAYED {
            assert_eq!(played(position, depth), expected, "{position} at depth {depth}");
        }
    }
    let depth = counts.len().try_into().expect("a depth");
    assert_eq!(Some(&counted(position, depth)), counts.last(), "{position} at depth {depth}");
}

fn played(position: &Position, depth: u32) -> u64 {
    let moves = position.legal_moves();
    if depth == 1 {
        return moves.len() as u64;
    }
    let lines = moves.into_iter().map(|mv| {
        let mut next = position.clone();
        next.play(mv).expect("a legal move");
        played(&next, depth - 1)
    });
    lines.sum()
}

fn counted(position: &Position, depth: u32) -> u64 {
    match position.board() {
        BoardRef::Chess(board) => shakmaty::perft(board.position(), depth),
        BoardRef::Diagram(_) => 0,
        BoardRef::Shogi(board) => {
            let depth = depth.try_into().expect("a depth");
            perft(board.position(), depth).expect("a supported depth").nodes
        }
    }
}

#[test]
fn counts_lines_of_chess() {
    check_table("chess.txt", |text| position(Game::Chess, text));
}

#[test]
fn counts_lines_of_the_standard_suite_of_chess() {
    check_table("chess-suite.txt", |text| position(Game::Chess, text));
}

#[test]
fn counts_lines_of_every_start_of_chess960() {
    check_table("chess960.txt", |number| {
        let setup = Setup::chess960(number.parse().expect("a number")).expect("a start");
        setup.position().expect("a position")
    });
}

#[test]
fn counts_lines_of_double_chess960() {
    check_table("double-chess960.txt", |text| position(Game::Chess960, text));
}

#[test]
fn counts_lines_of_shogi() {
    check_table("shogi.txt", |text| position(Game::Shogi, text));
}

#[test]
fn counts_drops_without_a_king() {
    let with_king = "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1";
    let without = with_king.replace('K', "1");
    let moves = position(Game::Shogi, &without).legal_moves();
    assert!(moves.len() > 590, "{}", moves.len());
}
