//! Positions as FEN and SFEN: reading, rejection and writing.

use readyok_rules::{Field, Game, NamedSide, Position, PositionError, Side};

use crate::position;

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

#[track_caller]
fn check_written(game: Game, text: &str, written: &str) {
    assert_eq!(position(game, text).to_string(), written);
}

#[track_caller]
fn check_rejected(game: Game, text: &str, error: &PositionError, message: &str) {
    let found = Position::from_text(game, text).expect_err(text);
    assert_eq!((&found, found.to_string().as_str()), (error, message), "{text}");
}

fn bad(field: Field, text: &str) -> PositionError {
    PositionError::InvalidField { field, text: text.to_owned() }
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
fn reads_a_fen_without_counters() {
    check_written(Game::Chess, "4k3/8/8/8/8/8/8/4K3 b - -", "4k3/8/8/8/8/8/8/4K3 b - - 0 1");
    check_written(Game::Chess, "4k3/8/8/8/8/8/8/4K3 b - - 7", "4k3/8/8/8/8/8/8/4K3 b - - 7 1");
}

#[test]
fn reads_any_spaces_between_fields() {
    check_written(
        Game::Chess,
        " 4k3/8/8/8/8/8/8/4K3\t w  -  -  0  12345 ",
        "4k3/8/8/8/8/8/8/4K3 w - - 0 12345",
    );
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
fn ignores_an_en_passant_square_that_no_pawn_has_passed() {
    check_written(Game::Chess, "4k3/8/8/8/8/8/8/4K3 w - e6 0 1", "4k3/8/8/8/8/8/8/4K3 w - - 0 1");
}

#[test]
fn reads_hands_in_any_order_and_an_sfen_without_move_number() {
    let canonical = "4k4/9/9/9/9/9/9/9/4K4 b RB2Pg16p 1";
    check_written(Game::Shogi, "4k4/9/9/9/9/9/9/9/4K4 b 16pPgPBR", canonical);
}

#[test]
fn keeps_large_move_numbers_in_range() {
    let position = position(Game::Shogi, "4k4/9/9/9/9/9/9/9/4K4 b - 99999999999999999999");
    assert!(position.after(["5i5h"]).is_ok());
    check_written(Game::Shogi, "4k4/9/9/9/9/9/9/9/4K4 b - 0", "4k4/9/9/9/9/9/9/9/4K4 b - 1");
}

#[test]
fn reads_a_mate_problem_without_the_attackers_king() {
    check_written(Game::Shogi, "4k4/9/4P4/9/9/9/9/9/9 b G 1", "4k4/9/4P4/9/9/9/9/9/9 b G 1");
}

#[test]
fn rejects_missing_and_additional_fields() {
    let missing = |field| PositionError::MissingField { field };
    check_rejected(Game::Chess, "", &missing(Field::Board), "missing field: the board");
    check_rejected(
        Game::Chess,
        "8/8/8/8/8/8/8/8 w -",
        &missing(Field::EnPassant),
        "missing field: the en passant square",
    );
    check_rejected(
        Game::Shogi,
        "9/9/9/9/9/9/9/9/9 b",
        &missing(Field::Hands),
        "missing field: the pieces in hand",
    );
    check_rejected(
        Game::Chess,
        &format!("{START} moves"),
        &PositionError::ExtraField { text: "moves".to_owned() },
        "unexpected text after the last field: `moves`",
    );
}

#[test]
fn rejects_malformed_fields() {
    let board = "4k3/8/8/8/8/8/8/4K3";
    for (rest, field, text, name) in [
        ("x - - 0 1", Field::Turn, "x", "the side to move"),
        ("w_- - - 0 1", Field::Turn, "w_-", "the side to move"),
        ("w KX - 0 1", Field::Castling, "KX", "castling rights"),
        ("w - e9 0 1", Field::EnPassant, "e9", "the en passant square"),
        ("w - - -1 1", Field::HalfmoveClock, "-1", "the halfmove clock"),
        ("w - - 3+3 1", Field::HalfmoveClock, "3+3", "the halfmove clock"),
        ("w - - 0 one", Field::FullmoveNumber, "one", "the fullmove number"),
    ] {
        let message = format!("invalid value for {name}: `{text}`");
        check_rejected(Game::Chess, &format!("{board} {rest}"), &bad(field, text), &message);
    }
    let board = "4k4/9/9/9/9/9/9/9/4K4";
    for (rest, field, text, name) in [
        ("white - 1", Field::Turn, "white", "the side to move"),
        ("b K 1", Field::Hands, "K", "the pieces in hand"),
        ("b 2 1", Field::Hands, "2", "the pieces in hand"),
        ("b 99999999999P 1", Field::Hands, "99999999999P", "the pieces in hand"),
        ("b - -1", Field::MoveNumber, "-1", "the move number"),
    ] {
        let message = format!("invalid value for {name}: `{text}`");
        check_rejected(Game::Shogi, &format!("{board} {rest}"), &bad(field, text), &message);
    }
}

#[test]
fn rejects_boards_of_wrong_size() {
    check_rejected(
        Game::Chess,
        "8/8/8 w - -",
        &PositionError::RankCount { count: 3, expected: 8 },
        "the board has 3 ranks; 8 are required",
    );
    let long = "4k3/8/8/8/8/8/54/4K3 w - -";
    check_rejected(
        Game::Chess,
        long,
        &PositionError::RankLength { rank: '2' },
        "rank 2 has the wrong number of squares",
    );
    let dangling = "4k4/9/8+/9/9/9/9/9/4K4 b -";
    check_rejected(
        Game::Shogi,
        dangling,
        &PositionError::RankLength { rank: 'c' },
        "rank c has the wrong number of squares",
    );
    let unknown =
        |letter, square: &str| PositionError::UnknownPiece { letter, square: square.into() };
    check_rejected(
        Game::Chess,
        "4k3/8/8/2x5/8/8/8/4K3 w - -",
        &unknown('x', "c5"),
        "unknown piece `x` on c5",
    );
    check_rejected(
        Game::Shogi,
        "4k4/9/3+G5/9/9/9/9/9/4K4 b -",
        &unknown('G', "6c"),
        "unknown piece `G` on 6c",
    );
}

#[test]
fn rejects_unplayable_positions() {
    let named = |game, side| NamedSide { game: Some(game), side };
    let kings = |game, side, count| PositionError::KingCount { side: named(game, side), count };
    let dead = |piece, square: &str| PositionError::DeadPiece { piece, square: square.to_owned() };
    let many = |piece, count, limit| PositionError::TooManyPieces { piece, count, limit };
    let check = |king: &str| PositionError::OpponentInCheck { square: king.to_owned() };
    for (game, text, error, message) in [
        (
            Game::Chess,
            "8/8/8/8/8/8/8/8 w - - 0 1",
            kings(Game::Chess, Side::First, 0),
            "White has 0 kings; 1 is required",
        ),
        (
            Game::Chess,
            "4k3/8/8/8/8/8/8/3KK3 w - - 0 1",
            kings(Game::Chess, Side::First, 2),
            "White has 2 kings; 1 is required",
        ),
        (Game::Chess, "4k2P/8/8/8/8/8/8/4K3 w - - 0 1", dead('P', "h8"), "a `P` cannot be on h8"),
        (
            Game::Chess,
            "4k3/8/8/8/8/8/8/4K3 w K - 0 1",
            PositionError::InvalidCastlingRight { square: "h1".to_owned() },
            "the castling right requires a rook on h1, and except in Chess960 king and rook on their start squares",
        ),
        (
            Game::Chess,
            "4k3/8/8/8/8/8/8/4R1K1 w - - 0 1",
            check("e8"),
            "the side not to move is in check (king on e8)",
        ),
        (
            Game::Chess,
            "4k3/8/8/8/8/8/PPPPPPPP/QQQQKQQQ w - - 0 1",
            PositionError::TooMuchMaterial { side: named(Game::Chess, Side::First) },
            "White has more pieces than promotions allow",
        ),
        (Game::Shogi, "9/9/9/9/9/9/9/9/9 b - 1", PositionError::NoKings, "the board has no king"),
        (
            Game::Shogi,
            "4k4/9/9/9/9/9/9/9/3KK4 b - 1",
            kings(Game::Shogi, Side::First, 2),
            "Black (sente) has 2 kings; 1 is required",
        ),
        (
            Game::Shogi,
            "4k4/9/9/9/9/9/9/9/4K4 b 3R 1",
            many('R', 3, 2),
            "too many pieces of type `R`: 3, maximum 2",
        ),
        (
            Game::Shogi,
            "4k4/4r4/9/9/9/9/9/9/3K5 b 2R 1",
            many('R', 3, 2),
            "too many pieces of type `R`: 3, maximum 2",
        ),
        (Game::Shogi, "4k4/9/9/9/9/9/9/9/3K4n b - 1", dead('n', "1i"), "a `n` cannot be on 1i"),
        (
            Game::Shogi,
            "4k4/9/8P/9/9/8P/9/9/4K4 b - 1",
            PositionError::TwoPawns { side: named(Game::Shogi, Side::First), file: 1 },
            "Black (sente) has two pawns on file 1",
        ),
        (
            Game::Shogi,
            "4k4/4G4/9/9/9/9/9/9/4K4 b - 1",
            check("5a"),
            "the side not to move is in check (king on 5a)",
        ),
    ] {
        check_rejected(game, text, &error, message);
    }
}

#[test]
fn quotes_only_the_start_of_long_fields() {
    let text = format!("4k3/8/8/8/8/8/8/4K3 {} - -", "w".repeat(100_000));
    let error = Position::from_text(Game::Chess, &text).expect_err("no side to move");
    assert!(error.to_string().len() < 100, "{error}");
}
