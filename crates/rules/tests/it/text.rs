//! Positions as FEN and SFEN: reading, rejection and writing.

use readyok_rules::{Game, Position};

use crate::position;

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

#[track_caller]
fn check_written(game: Game, text: &str, written: &str) {
    assert_eq!(position(game, text).to_string(), written);
}

/// Checks the errors of rows of `position | error | message`.
#[track_caller]
fn check_rejected(game: Game, rows: &str) {
    for row in rows.trim().lines().map(str::trim) {
        let (text, expected) = row.split_once('|').expect("an error");
        let error = Position::from_text(game, text.trim()).expect_err(row);
        let debug = format!("{error:?}")
            .replace("NamedSide { side: First, game: Some(Chess) }", "WHITE")
            .replace("NamedSide { side: First, game: Some(Shogi) }", "SENTE");
        assert_eq!(format!("{debug} | {error}"), expected.trim(), "{row}");
    }
}

#[test]
fn reads_the_start_position() {
    check_written(Game::Chess, START, START);
    check_written(Game::Chess, "", START);
    check_written(Game::Chess960, "", START);
    let shogi = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";
    check_written(Game::Shogi, shogi, shogi);
    check_written(Game::Shogi, "", shogi);
}

#[test]
fn reads_incomplete_and_unusual_fields() {
    for (text, fields) in [
        // Without counters.
        ("4k3/8/8/8/8/8/8/4K3 b - -", "b - - 0 1"),
        ("4k3/8/8/8/8/8/8/4K3 b - - 7", "b - - 7 1"),
        // Any spaces between fields.
        (" 4k3/8/8/8/8/8/8/4K3\t w  -  -  0  12345 ", "w - - 0 12345"),
        // An en passant square that no pawn has passed.
        ("4k3/8/8/8/8/8/8/4K3 w - e6 0 1", "w - - 0 1"),
    ] {
        check_written(Game::Chess, text, &format!("4k3/8/8/8/8/8/8/4K3 {fields}"));
    }
    for (text, fields) in [
        // Hands in any order, without a move number.
        ("4k4/9/9/9/9/9/9/9/4K4 b 16pPgPBR", "b RB2Pg16p 1"),
        ("4k4/9/9/9/9/9/9/9/4K4 b - 0", "b - 1"),
    ] {
        check_written(Game::Shogi, text, &format!("4k4/9/9/9/9/9/9/9/4K4 {fields}"));
    }
    // A mate problem without the attacker's king.
    check_written(Game::Shogi, "4k4/9/4P4/9/9/9/9/9/9 b G 1", "4k4/9/4P4/9/9/9/9/9/9 b G 1");
}

#[test]
fn reads_castling_rights_of_shredder_fen() {
    let text = START.replace("KQkq", "HAha");
    check_written(Game::Chess, &text, START);
    check_written(Game::Chess960, &text, START);
}

#[test]
fn reads_castling_rights_of_x_fen() {
    let text = "1r2k1r1/8/8/8/8/8/8/1R1RK1R1 w KQkq - 0 1";
    let outer = position(Game::Chess960, text);
    assert_eq!(outer.to_string(), text);
    let inner = position(Game::Chess960, &text.replace("KQkq", "KDkq"));
    assert_eq!(inner.to_string(), text.replace("KQkq", "KDkq"));
    assert_ne!(outer.key(), 0);
}

#[test]
fn keeps_large_move_numbers_in_range() {
    let position = position(Game::Shogi, "4k4/9/9/9/9/9/9/9/4K4 b - 99999999999999999999");
    assert!(position.after(["5i5h"]).is_ok());
}

#[test]
fn rejects_malformed_texts_of_chess() {
    check_rejected(Game::Chess, include_str!("data/text/rejects_malformed_texts_of_chess.txt"));
}

#[test]
fn rejects_malformed_texts_of_shogi() {
    check_rejected(Game::Shogi, include_str!("data/text/rejects_malformed_texts_of_shogi.txt"));
}

#[test]
fn rejects_unplayable_positions() {
    check_rejected(Game::Chess, include_str!("data/text/rejects_unplayable_positions_2.txt"));
    check_rejected(Game::Shogi, include_str!("data/text/rejects_unplayable_positions.txt"));
}

#[test]
fn quotes_only_the_start_of_long_fields() {
    let text = format!("4k3/8/8/8/8/8/8/4K3 {} - -", "w".repeat(100_000));
    let error = Position::from_text(Game::Chess, &text).expect_err("no side to move");
    assert!(error.to_string().len() < 100, "{error}");
}
