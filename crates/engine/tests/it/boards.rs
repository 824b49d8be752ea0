//! Boards for positions in FEN and SFEN.

use readyok_engine::protocol::{Command, Dialect};
use readyok_engine::{Board, CastlingForm};

fn board<B: Board>(dialect: Dialect, line: &str) -> Result<B, String> {
    let Command::Position(position) = Command::read(line, dialect).value else {
        panic!("no position: {line}")
    };
    B::from_position(&position).map_err(|error| error.to_string())
}

#[track_caller]
fn check_chess(line: &str, fen: &str) {
    let board = board::<cozy_chess::Board>(Dialect::Uci, line);
    assert_eq!(board.map(|board| board.to_string()).as_deref(), Ok(fen));
}

#[test]
fn chess_positions_are_set_up() {
    check_chess(
        "position startpos moves e2e4 e7e5",
        "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq e6 0 2",
    );
    check_chess("position fen 4k3/8/8/8/8/8/8/4K2R w K", "4k3/8/8/8/8/8/8/4K2R w K - 0 1");
    check_chess(
        "position fen 4k3/8/8/8/8/8/8/4K2R w H - 300 0",
        "4k3/8/8/8/8/8/8/4K2R w K - 100 1",
    );
}

#[test]
fn castling_is_read_in_both_forms() {
    for castling in ["e1g1", "e1h1"] {
        check_chess(
            &format!("position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1 moves {castling}"),
            "4k3/8/8/8/8/8/8/5RK1 b - - 1 1",
        );
    }
}

#[test]
fn invalid_moves_and_positions_are_explained() {
    let illegal = board::<cozy_chess::Board>(Dialect::Uci, "position startpos moves e2e4 e2e4");
    assert_eq!(illegal.unwrap_err(), "invalid move 2, `e2e4`: it is not legal");
    let no_kings =
        board::<cozy_chess::Board>(Dialect::Uci, "position fen 8/8/8/8/8/8/8/8 w - - 0 1");
    assert!(no_kings.unwrap_err().starts_with("invalid position: "));
}

#[track_caller]
fn check_shogi(line: &str, sfen: &str) {
    let board = board::<rsshogi::board::Position>(Dialect::Usi, line);
    assert_eq!(board.map(|board| board.to_sfen(None)).as_deref(), Ok(sfen));
}

#[test]
fn shogi_positions_are_set_up() {
    check_shogi(
        "position startpos moves 7g7f 3c3d 8h2b+",
        "lnsgkgsnl/1r5+B1/pppppp1pp/6p2/9/2P6/PP1PPPPPP/7R1/LNSGKGSNL w B 4",
    );
    check_shogi(
        "position sfen 4k4/9/9/9/9/9/9/9/4K4 b P moves P*5e",
        "4k4/9/9/9/4P4/9/9/9/4K4 w - 2",
    );
}

#[test]
fn invalid_shogi_moves_and_positions_are_explained() {
    let check = |line: &str, start: &str| {
        let error = board::<rsshogi::board::Position>(Dialect::Usi, line).err().unwrap();
        assert!(error.starts_with(start), "{error}");
    };
    check("position startpos moves 7g7e", "invalid move 1, `7g7e`: ");
    check("position sfen 9/9/9/9/9/9/9/9/9 b - 1", "invalid position: there is no king");
    check("position sfen 4k4/4G4/9/9/9/9/9/9/4K4 b - 1", "invalid position: ");
    check("position sfen 4k4/4p4/4p4/9/9/9/9/9/4K4 b - 1", "invalid position: ");
}

/// Checks that `any_move` returns a legal move exactly if one is expected.
#[track_caller]
fn check_any_move<B: Board>(dialect: Dialect, line: &str, expected: bool) {
    let board = board::<B>(dialect, line).unwrap();
    let any = board.any_move();
    assert_eq!(any.is_some(), expected, "{line}");
    let text = any.map(|mv| board.encode_move(&mv, CastlingForm::KingMove).unwrap().to_string());
    assert!(text.iter().all(|text| board.decode_move(text).is_ok()), "{line}: {text:?}");
}

#[test]
fn any_move_is_legal_if_there_is_one() {
    for (line, expected) in [
        ("position startpos", true),
        ("position startpos moves e2e4", true),
        ("position fen 8/P6k/8/8/8/8/8/K7 w - - 0 1", true),
        ("position fen 7k/5Q2/8/8/8/8/8/K7 b - - 0 1", false),
        ("position startpos moves f2f3 e7e5 g2g4 d8h4", false),
    ] {
        check_any_move::<cozy_chess::Board>(Dialect::Uci, line, expected);
    }
    for (line, expected) in [
        ("position startpos", true),
        ("position startpos moves 7g7f", true),
        ("position sfen 4k4/9/9/9/9/9/9/9/9 b G 1", true),
        ("position sfen 4k4/4G4/4P4/9/9/9/9/9/4K4 w - 1", false),
    ] {
        check_any_move::<rsshogi::board::Position>(Dialect::Usi, line, expected);
    }
}

/// UCI 2006, move format: `e1g1` is castling, and under `UCI_Chess960` the king takes its own rook.
#[test]
fn castling_is_written_in_the_form_of_the_client() {
    for (fen, standard, chess960) in [
        ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1", "e1h1"),
        ("4k3/8/8/8/8/8/8/R3K3 w Q - 0 1", "e1c1", "e1a1"),
        ("4k2r/8/8/8/8/8/8/4K3 b k - 0 1", "e8g8", "e8h8"),
        // A rook's move with the squares of castling, and a promotion.
        ("k7/8/8/8/8/8/6K1/4R3 w - - 0 1", "e1h1", "e1h1"),
        ("8/P6k/8/8/8/8/8/K7 w - - 0 1", "a7a8q", "a7a8q"),
    ] {
        let board = board::<cozy_chess::Board>(Dialect::Uci, &format!("position fen {fen}"));
        let board = board.unwrap();
        for text in [standard, chess960] {
            let mv = board.decode_move(text).unwrap();
            let encode = |castling| board.encode_move(&mv, castling).unwrap().to_string();
            assert_eq!(encode(CastlingForm::KingMove), standard, "{fen}");
            assert_eq!(encode(CastlingForm::KingTakesRook), chess960, "{fen}");
        }
    }
    // Castling is the only legal move.
    let only = "position fen 5r1k/8/8/8/8/4n2p/6pP/6KR w H - 0 1";
    let only = board::<cozy_chess::Board>(Dialect::Uci, only).unwrap();
    let mv = only.encode_move(&only.any_move().unwrap(), CastlingForm::KingTakesRook).unwrap();
    assert_eq!(mv.as_str(), "g1h1");
}

#[test]
fn variations_are_written_up_to_the_first_illegal_move() {
    let line = "position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1";
    let chess = board::<cozy_chess::Board>(Dialect::Uci, line).unwrap();
    let moves = ["e1h1", "e8e7", "f1f5", "a1a2"].map(|text| text.parse().unwrap());
    assert_eq!(chess.encode_line(&moves, CastlingForm::KingMove).as_str(), "e1g1 e8e7 f1f5");
    assert_eq!(chess.encode_line(&moves, CastlingForm::KingTakesRook).as_str(), "e1h1 e8e7 f1f5");

    let shogi = board::<rsshogi::board::Position>(Dialect::Usi, "position startpos").unwrap();
    let moves = [shogi.decode_move("7g7f").unwrap()];
    assert_eq!(shogi.encode_line(&moves, CastlingForm::KingMove).as_str(), "7g7f");
}
