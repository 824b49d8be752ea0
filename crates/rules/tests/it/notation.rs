//! Notations of moves: SAN, Western, Japanese and CSA.

use readyok_rules::{Game, Notation};

use crate::{after, position};

#[track_caller]
fn check_san(text: &str, uci: &str, san: &str) {
    let position = position(Game::Chess, text);
    let mv = position.parse_move(uci).expect(uci);
    assert_eq!(position.notation(mv, Notation::Western), san);
    assert_eq!(position.notation(mv, Notation::Japanese), san);
}

#[track_caller]
fn check_shogi(text: &str, before: &str, uci: &str, japanese: &str, western: &str) {
    let position = after(Game::Shogi, text, before);
    let mv = position.parse_move(uci).expect(uci);
    assert_eq!(position.notation(mv, Notation::Japanese), japanese, "{uci}");
    assert_eq!(position.notation(mv, Notation::Western), western, "{uci}");
}

#[test]
fn writes_and_reads_csa() {
    let check = |before: &str, uci: &str, csa: &str| {
        let position = after(Game::Shogi, "", before);
        let mv = position.parse_move(uci).expect(uci);
        assert_eq!(position.notation(mv, Notation::Csa), csa);
        assert_eq!(position.parse(csa, Notation::Csa), Ok(mv));
    };
    check("", "7g7f", "+7776FU");
    check("7g7f", "3c3d", "-3334FU");
    check("7g7f 3c3d", "8h2b+", "+8822UM");
    check("7g7f 3c3d 8h2b+ 3a2b", "B*4e", "+0045KA");
    let start = position(Game::Shogi, "");
    // Another side, another piece, an illegal move, and texts that are no moves.
    for text in ["-7776FU", "+7776KI", "+7775FU", "+0055FU", "+7776", "+7776fu", "+77７6FU", ""] {
        assert!(start.parse(text, Notation::Csa).is_err(), "{text}");
    }
    assert!(start.parse("7776FU", Notation::Csa).is_ok());
}

#[test]
fn writes_san() {
    check_san("", "g1f3", "Nf3");
    check_san("", "e2e4", "e4");
    check_san("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1g1", "O-O");
    check_san("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1c1", "O-O-O");
    check_san("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "h1h8", "Rh8+");
    check_san("1n2k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7b8n", "axb8=N");
    check_san("6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1", "e1e8", "Re8#");
    check_san("4k3/8/8/8/8/8/8/RK5R w - - 0 1", "a1a2", "Ra2");
    check_san("4k3/8/8/R7/8/8/8/RK6 w - - 0 1", "a1a3", "R1a3");
    check_san("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", "exd6");
}

#[test]
fn writes_simple_moves_of_shogi() {
    check_shogi("", "", "7g7f", "▲７六歩", "P-7f");
    check_shogi("", "7g7f", "3c3d", "△３四歩", "P-3d");
    check_shogi("", "7g7f 3c3d", "8h2b+", "▲２二角成", "Bx2b+");
    check_shogi("", "7g7f 3c3d 8h2b+", "3a2b", "△同　銀", "Sx2b");
    check_shogi("", "7g7f 3c3d 8h2b+ 3a2b", "B*5e", "▲５五角", "B*5e");
}

#[test]
fn writes_promotion_and_non_promotion_in_shogi() {
    let text = "4k4/9/9/2S6/9/9/9/9/4K4 b - 1";
    check_shogi(text, "", "7d7c+", "▲７三銀成", "S-7c+");
    check_shogi(text, "", "7d7c", "▲７三銀不成", "S-7c=");
    check_shogi(text, "", "7d6e", "▲６五銀", "S-6e");
    check_shogi("4k4/9/2+R6/9/9/9/9/9/4K4 b - 1", "", "7c7b", "▲７二龍", "+R-7b");
}

#[test]
fn writes_the_origin_of_ambiguous_pieces_of_shogi() {
    let golds = "4k4/9/9/9/9/9/9/3G1G3/4K4 b G 1";
    check_shogi(golds, "", "6h5h", "▲５八金左", "G6h-5h");
    check_shogi(golds, "", "4h5h", "▲５八金右", "G4h-5h");
    check_shogi(golds, "", "G*5h", "▲５八金打", "G*5h");
    check_shogi(golds, "", "G*1e", "▲１五金", "G*1e");
    let silvers = "4k4/9/9/9/9/2S6/9/2S6/4K4 b - 1";
    check_shogi(silvers, "", "7h6g", "▲６七銀上", "S7h-6g");
    check_shogi(silvers, "", "7f6g", "▲６七銀引", "S7f-6g");
    let straight = "4k4/9/9/9/9/9/9/3GGG3/4K4 b - 1";
    check_shogi(straight, "", "5h5g", "▲５七金直", "G5h-5g");
    let dragons = "4k4/9/9/9/9/9/9/+R7+R/4K4 b - 1";
    check_shogi(dragons, "", "9h5h", "▲５八龍左", "+R9h-5h");
    check_shogi(dragons, "", "1h5h", "▲５八龍右", "+R1h-5h");
}

/// The examples of the Japan Shogi Association's page on the notation: the motion if it suffices,
/// otherwise the side that the piece comes from, otherwise both.
#[test]
fn writes_the_modifiers_of_the_association() {
    let check = |board: &str, to: &str, expected: &[(&str, &str)]| {
        let text = format!("{board} b - 1");
        for (from, japanese) in expected {
            let position = position(Game::Shogi, &text);
            let mv = position.parse_move(&format!("{from}{to}")).expect("a legal move");
            let written = position.notation(mv, Notation::Japanese);
            assert_eq!(written.trim_start_matches('▲'), *japanese, "{board}");
        }
    };
    // Golds: forward, back, sideways.
    check("9/G1G6/9/9/9/9/9/9/K7k", "8a", &[("9b", "８一金左"), ("7b", "８一金右")]);
    check("9/2G6/G8/9/9/9/9/9/K7k", "8b", &[("9c", "８二金上"), ("7b", "８二金寄")]);
    check("9/5G3/4G4/9/5G3/9/9/9/K7k", "4c", &[("4b", "４三金引"), ("5c", "４三金寄")]);
    check("9/9/9/9/9/9/1GG6/9/K7k", "7f", &[("8g", "７六金左"), ("7g", "７六金直")]);
    check(
        "9/9/9/9/9/9/1GGG5/9/K7k",
        "7f",
        &[("8g", "７六金左"), ("7g", "７六金直"), ("6g", "７六金右")],
    );
    // Four silvers around a square, and six tokins.
    check(
        "9/9/9/9/1S1S5/9/1SS6/9/K7k",
        "7f",
        &[("8g", "７六銀左上"), ("8e", "７六銀左引"), ("7g", "７六銀直"), ("6e", "７六銀右")],
    );
    check(
        "9/4+P4/3+P1+P3/3+P+P+P3/9/9/9/9/K7k",
        "5c",
        &[
            ("5b", "５三と引"),
            ("6c", "５三と左寄"),
            ("4c", "５三と右寄"),
            ("6d", "５三と左上"),
            ("5d", "５三と直"),
            ("4d", "５三と右上"),
        ],
    );
    // Dragons and horses have no modifier 直.
    check("8k/9/9/9/9/9/9/9/K+R+R6", "8h", &[("8i", "８八龍左"), ("7i", "８八龍右")]);
    check("9/+R8/9/1+R7/9/9/9/9/K7k", "8b", &[("9b", "８二龍寄"), ("8d", "８二龍上")]);
    check("4k4/9/9/9/9/9/9/7+B+B/K8", "2g", &[("2h", "２七馬左"), ("1h", "２七馬右")]);
    // Knights have only 左 and 右.
    check("9/9/9/9/9/9/9/9/N1N3K1k", "8g", &[("9i", "８七桂左"), ("7i", "８七桂右")]);
}

#[test]
fn writes_western_squares_in_both_styles_and_origins_on_request() {
    let position = after(Game::Shogi, "", "7g7f 3c3d");
    for (uci, western, digits, long) in [
        ("8h2b+", "Bx2b+", "Bx22+", "B8hx2b+"),
        ("8h2b", "Bx2b=", "Bx22=", "B8hx2b="),
        ("2g2f", "P-2f", "P-26", "P2g-2f"),
        ("4i5h", "G4i-5h", "G49-58", "G4i-5h"),
    ] {
        let mv = position.parse_move(uci).expect(uci);
        assert_eq!(position.notation(mv, Notation::Western), western);
        assert_eq!(position.notation(mv, Notation::WesternDigits), digits);
        assert_eq!(position.notation(mv, Notation::Long), long);
        assert_eq!(position.notation(mv, Notation::Uci), uci);
    }
}

#[test]
fn writes_long_moves_of_chess() {
    let text = "r3k2r/1P6/8/3pP3/8/8/8/R3K2R w KQkq d6 0 1";
    let chess = position(Game::Chess, text);
    for (uci, long) in [
        ("e1g1", "O-O"),
        ("e1e2", "Ke1-e2"),
        ("a1a8", "Ra1xa8+"),
        ("e5d6", "e5xd6"),
        ("e5e6", "e5-e6"),
        ("b7b8q", "b7-b8=Q+"),
        ("b7a8n", "b7xa8=N"),
    ] {
        let mv = chess.parse_move(uci).expect(uci);
        assert_eq!(chess.notation(mv, Notation::Long), long);
        assert_eq!(chess.notation(mv, Notation::Uci), uci);
    }
    let chess960 = position(Game::Chess960, text);
    let castling = chess960.parse_move("e1g1").expect("castling");
    assert_eq!(chess960.notation(castling, Notation::Uci), "e1h1");
}

#[test]
fn writes_the_second_players_modifiers_from_their_view() {
    let text = "4k4/3g1g3/9/9/9/9/9/9/4K4 w - 1";
    check_shogi(text, "", "6b5b", "△５二金右", "G6b-5b");
    check_shogi(text, "", "4b5b", "△５二金左", "G4b-5b");
}

#[test]
fn writes_lines_and_keeps_illegal_moves_unchanged() {
    let line = position(Game::Chess, "").notate(["e2e4", "e7e5", "g1f3"], Notation::Western);
    assert_eq!(line, ["e4", "e5", "Nf3"]);
    let line = position(Game::Shogi, "")
        .notate(["7g7f", "3c3d", "8h2b+", "3a2b", "rep_draw", "7g7f"], Notation::Japanese);
    assert_eq!(line, ["▲７六歩", "△３四歩", "▲２二角成", "△同　銀", "rep_draw", "7g7f"]);
}
