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
    check_rejected(
        Game::Chess,
        r#"
        | MissingField { field: Board } | missing field: the board
        8/8/8/8/8/8/8/8 w - | MissingField { field: EnPassant } | missing field: the en passant square
        rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 moves | ExtraField { text: "moves" } | unexpected text after the last field: `moves`
        4k3/8/8/8/8/8/8/4K3 x - - 0 1 | InvalidField { field: Turn, text: "x" } | invalid value for the side to move: `x`
        4k3/8/8/8/8/8/8/4K3 w_- - - 0 1 | InvalidField { field: Turn, text: "w_-" } | invalid value for the side to move: `w_-`
        4k3/8/8/8/8/8/8/4K3 w KX - 0 1 | InvalidField { field: Castling, text: "KX" } | invalid value for castling rights: `KX`
        4k3/8/8/8/8/8/8/4K3 w - e9 0 1 | InvalidField { field: EnPassant, text: "e9" } | invalid value for the en passant square: `e9`
        4k3/8/8/8/8/8/8/4K3 w - - -1 1 | InvalidField { field: HalfmoveClock, text: "-1" } | invalid value for the halfmove clock: `-1`
        4k3/8/8/8/8/8/8/4K3 w - - 3+3 1 | InvalidField { field: HalfmoveClock, text: "3+3" } | invalid value for the halfmove clock: `3+3`
        4k3/8/8/8/8/8/8/4K3 w - - 0 one | InvalidField { field: FullmoveNumber, text: "one" } | invalid value for the fullmove number: `one`
        8/8/8 w - - | RankCount { count: 3, expected: 8 } | the board has 3 ranks; 8 are required
        4k3/8/8/8/8/8/54/4K3 w - - | RankLength { rank: '2' } | rank 2 has the wrong number of squares
        4k3/8/8/2x5/8/8/8/4K3 w - - | UnknownPiece { letter: 'x', square: "c5" } | unknown piece `x` on c5
        "#,
    );
}

#[test]
fn rejects_malformed_texts_of_shogi() {
    check_rejected(
        Game::Shogi,
        r#"
        9/9/9/9/9/9/9/9/9 b | MissingField { field: Hands } | missing field: the pieces in hand
        4k4/9/9/9/9/9/9/9/4K4 white - 1 | InvalidField { field: Turn, text: "white" } | invalid value for the side to move: `white`
        4k4/9/9/9/9/9/9/9/4K4 b K 1 | InvalidField { field: Hands, text: "K" } | invalid value for the pieces in hand: `K`
        4k4/9/9/9/9/9/9/9/4K4 b 2 1 | InvalidField { field: Hands, text: "2" } | invalid value for the pieces in hand: `2`
        4k4/9/9/9/9/9/9/9/4K4 b 99999999999P 1 | InvalidField { field: Hands, text: "99999999999P" } | invalid value for the pieces in hand: `99999999999P`
        4k4/9/9/9/9/9/9/9/4K4 b - -1 | InvalidField { field: MoveNumber, text: "-1" } | invalid value for the move number: `-1`
        4k4/9/8+/9/9/9/9/9/4K4 b - | RankLength { rank: 'c' } | rank c has the wrong number of squares
        4k4/9/3+G5/9/9/9/9/9/4K4 b - | UnknownPiece { letter: 'G', square: "6c" } | unknown piece `G` on 6c
        "#,
    );
}

#[test]
fn rejects_unplayable_positions() {
    check_rejected(
        Game::Chess,
        r#"
        8/8/8/8/8/8/8/8 w - - 0 1 | KingCount { side: WHITE, count: 0 } | White has 0 kings; 1 is required
        4k3/8/8/8/8/8/8/3KK3 w - - 0 1 | KingCount { side: WHITE, count: 2 } | White has 2 kings; 1 is required
        4k2P/8/8/8/8/8/8/4K3 w - - 0 1 | DeadPiece { piece: 'P', square: "h8" } | a `P` cannot be on h8
        4k3/8/8/8/8/8/8/4K3 w K - 0 1 | InvalidCastlingRight { square: "h1" } | the castling right requires a rook on h1, and except in Chess960 king and rook on their start squares
        4k3/8/8/8/8/8/8/4R1K1 w - - 0 1 | OpponentInCheck { square: "e8" } | the side not to move is in check (king on e8)
        4k3/8/8/8/8/8/PPPPPPPP/QQQQKQQQ w - - 0 1 | TooMuchMaterial { side: WHITE } | White has more pieces than promotions allow
        "#,
    );
    check_rejected(
        Game::Shogi,
        r#"
        9/9/9/9/9/9/9/9/9 b - 1 | NoKings | the board has no king
        4k4/9/9/9/9/9/9/9/3KK4 b - 1 | KingCount { side: SENTE, count: 2 } | Black (sente) has 2 kings; 1 is required
        4k4/9/9/9/9/9/9/9/4K4 b 3R 1 | TooManyPieces { piece: 'R', count: 3, limit: 2 } | too many pieces of type `R`: 3, maximum 2
        4k4/4r4/9/9/9/9/9/9/3K5 b 2R 1 | TooManyPieces { piece: 'R', count: 3, limit: 2 } | too many pieces of type `R`: 3, maximum 2
        4k4/9/9/9/9/9/9/9/3K4n b - 1 | DeadPiece { piece: 'n', square: "1i" } | a `n` cannot be on 1i
        4k4/9/8P/9/9/8P/9/9/4K4 b - 1 | TwoPawns { side: SENTE, file: 1 } | Black (sente) has two pawns on file 1
        4k4/4G4/9/9/9/9/9/9/4K4 b - 1 | OpponentInCheck { square: "5a" } | the side not to move is in check (king on 5a)
        "#,
    );
}

#[test]
fn quotes_only_the_start_of_long_fields() {
    let text = format!("4k3/8/8/8/8/8/8/4K3 {} - -", "w".repeat(100_000));
    let error = Position::from_text(Game::Chess, &text).expect_err("no side to move");
    assert!(error.to_string().len() < 100, "{error}");
}
