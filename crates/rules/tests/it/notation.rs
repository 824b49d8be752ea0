//! Moves as people write them.

use readyok_rules::{Game, Notation};

use crate::{after, position};

#[track_caller]
fn check_san(text: &str, word: &str, san: &str) {
    let position = position(Game::Chess, text);
    let mv = position.parse_move(word).expect(word);
    assert_eq!(position.notation(mv, Notation::Western), san);
    assert_eq!(position.notation(mv, Notation::Japanese), san);
}

#[track_caller]
fn check_shogi(text: &str, before: &str, word: &str, japanese: &str, western: &str) {
    let position = after(Game::Shogi, text, before);
    let mv = position.parse_move(word).expect(word);
    assert_eq!(position.notation(mv, Notation::Japanese), japanese, "{word}");
    assert_eq!(position.notation(mv, Notation::Western), western, "{word}");
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
fn writes_whether_a_piece_of_shogi_promotes() {
    let text = "4k4/9/9/2S6/9/9/9/9/4K4 b - 1";
    check_shogi(text, "", "7d7c+", "▲７三銀成", "S-7c+");
    check_shogi(text, "", "7d7c", "▲７三銀不成", "S-7c=");
    check_shogi(text, "", "7d6e", "▲６五銀", "S-6e");
    check_shogi("4k4/9/2+R6/9/9/9/9/9/4K4 b - 1", "", "7c7b", "▲７二龍", "+R-7b");
}

#[test]
fn writes_where_an_ambiguous_piece_of_shogi_comes_from() {
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

#[test]
fn writes_the_second_players_origin_from_their_view() {
    let text = "4k4/3g1g3/9/9/9/9/9/9/4K4 w - 1";
    check_shogi(text, "", "6b5b", "△５二金右", "G6b-5b");
    check_shogi(text, "", "4b5b", "△５二金左", "G4b-5b");
}

#[test]
fn writes_lines_and_keeps_what_it_cannot_read() {
    let line = position(Game::Chess, "").notate(["e2e4", "e7e5", "g1f3"], Notation::Western);
    assert_eq!(line, ["e4", "e5", "Nf3"]);
    let line = position(Game::Shogi, "")
        .notate(["7g7f", "3c3d", "8h2b+", "3a2b", "rep_draw", "7g7f"], Notation::Japanese);
    assert_eq!(line, ["▲７六歩", "△３四歩", "▲２二角成", "△同　銀", "rep_draw", "7g7f"]);
}
