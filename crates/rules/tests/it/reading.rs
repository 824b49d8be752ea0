//! Lenient reading of notations, and the reasons for rejections.

use readyok_rules::{Game, IllegalReason, Notation, Position};

use crate::{after, position};

#[track_caller]
fn check_read(position: &Position, notation: Notation, text: &str, expected: &str) {
    let found = position.parse(text, notation).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(position.notation(found, Notation::Uci), expected, "{text}");
}

#[track_caller]
fn check_rejected(position: &Position, notation: Notation, text: &str, reason: IllegalReason) {
    let error = position.parse(text, notation).expect_err(text);
    assert_eq!(error.reason, reason, "{text}: {error}");
    assert!(error.candidates.is_empty() || reason == IllegalReason::AmbiguousMove);
}

#[track_caller]
fn check_ambiguous(position: &Position, notation: Notation, text: &str, candidates: &[&str]) {
    let mut error = position.parse(text, notation).expect_err(text);
    assert_eq!(error.reason, IllegalReason::AmbiguousMove, "{text}");
    error.candidates.sort();
    assert_eq!(error.candidates, candidates, "{text}");
}

const SAN: Notation = Notation::Western;

#[test]
fn reads_san_with_superfluous_and_missing_signs() {
    let start = position(Game::Chess, "");
    for text in [
        "Nf3", "Nf3!", "Nf3?!", "Nf3+", "Nf3#", "Nf3 !?", "Ng1f3", "Ng1-f3", "Ng1xf3", "Nxf3",
        "Ngf3", "N1f3", " Nf3 ", "♘f3", "♞f3", "g1f3", "g1-f3", "nf3", "N f3",
    ] {
        check_read(&start, SAN, text, "g1f3");
    }
    for text in ["e4", "e2e4", "e2-e4", "Pe4", "e4!!", "♙e4", "e2–e4"] {
        check_read(&start, SAN, text, "e2e4");
    }
}

#[test]
fn reads_captures_with_any_sign() {
    let text = "r3k2r/1P6/8/3pP3/8/8/8/R3K2R w KQkq d6 0 1";
    let position = position(Game::Chess, text);
    for text in ["exd6", "ed6", "e5xd6", "exd6e.p.", "exd6 e.p.", "e:d6", "e×d6", "e5d6", "ed6ep"]
    {
        check_read(&position, SAN, text, "e5d6");
    }
    for text in ["bxa8=Q", "bxa8Q", "bxa8=Q+", "ba8q", "bxa8(Q)", "bxa8/Q", "b7a8q", "bxa8=q#"] {
        check_read(&position, SAN, text, "b7a8q");
    }
    for text in ["Rxa8", "Ra8+", "raxa8"] {
        check_read(&position, SAN, text, "a1a8");
    }
    for text in ["O-O", "0-0", "o-o", "OO", "O-O+", "0-0!", "e1g1", "Ke1g1"] {
        check_read(&position, SAN, text, "e1g1");
    }
    for text in ["O-O-O", "0-0-0", "OOO", "e1c1"] {
        check_read(&position, SAN, text, "e1c1");
    }
}

#[test]
fn reads_lower_case_pieces_only_if_one_move_fits() {
    // A bishop and the b-pawn can both capture on c4.
    let both = position(Game::Chess, "4k3/8/8/8/2p5/1P6/4B3/4K3 w - - 0 1");
    check_read(&both, SAN, "bxc4", "b3c4");
    check_read(&both, SAN, "Bxc4", "e2c4");
    check_ambiguous(&both, SAN, "bc4", &["b3c4", "e2c4"]);
    // A pawn move from b2 to b3, not a bishop move from the second rank.
    let squares = position(Game::Chess, "4k3/8/8/8/8/8/1PB5/4K3 w - - 0 1");
    check_read(&squares, SAN, "b2-b3", "b2b3");
    check_ambiguous(&squares, SAN, "bb3", &["b2b3", "c2b3"]);
    let bishop = position(Game::Chess, "4k3/8/8/8/2p5/8/4B3/4K3 w - - 0 1");
    check_read(&bishop, SAN, "bc4", "e2c4");
    check_read(&bishop, SAN, "bxc4", "e2c4");
}

#[test]
fn explains_rejected_san() {
    let start = position(Game::Chess, "");
    for (text, reason) in [
        ("", IllegalReason::InvalidMove),
        ("Zf3", IllegalReason::InvalidMove),
        ("e9", IllegalReason::InvalidMove),
        ("--", IllegalReason::InvalidMove),
        ("Z0", IllegalReason::InvalidMove),
        ("N@f3", IllegalReason::InvalidMove),
        ("Nf3e5g4", IllegalReason::InvalidMove),
        ("é4", IllegalReason::InvalidMove),
        ("the knight to f3, which is the best move here", IllegalReason::InvalidMove),
        ("Nf4", IllegalReason::Unreachable),
        ("Ne2", IllegalReason::OccupiedByOwnPiece),
        ("e5", IllegalReason::Unreachable),
        ("O-O", IllegalReason::CastlingNotAllowed),
        ("e4=Q", IllegalReason::InvalidPromotion),
        ("e3e4", IllegalReason::EmptyOriginSquare),
        ("Nb3c5", IllegalReason::EmptyOriginSquare),
        ("Nhf3", IllegalReason::MissingPiece),
        ("e7e5", IllegalReason::OpponentPiece),
    ] {
        check_rejected(&start, SAN, text, reason);
    }
    let promotion = position(Game::Chess, "8/P3k3/8/8/8/8/8/4K3 w - - 0 1");
    check_rejected(&promotion, SAN, "a8", IllegalReason::PromotionRequired);
    check_rejected(&promotion, SAN, "Qd4", IllegalReason::MissingPiece);
    let pinned = position(Game::Chess, "4r2k/8/8/8/8/8/4N3/4K3 w - - 0 1");
    check_rejected(&pinned, SAN, "Nc3", IllegalReason::KingInCheck);
    let rooks = position(Game::Chess, "4k3/8/8/R7/8/8/8/RK6 w - - 0 1");
    check_ambiguous(&rooks, SAN, "Ra3", &["a1a3", "a5a3"]);
    let error = rooks.parse("Ra3", SAN).expect_err("two rooks");
    assert!(error.to_string().starts_with("illegal move `Ra3`: several moves match: a"));
}

#[test]
fn reads_castling_of_chess960() {
    let text = "4k3/8/8/8/8/8/8/5K1R w H - 0 1";
    let position = position(Game::Chess960, text);
    check_read(&position, SAN, "O-O", "f1h1");
    check_read(&position, SAN, "Kg1", "f1g1");
    check_read(&position, SAN, "f1g1", "f1g1");
    check_read(&position, SAN, "f1h1", "f1h1");
}

const JAPANESE: Notation = Notation::Japanese;

#[test]
fn reads_japanese_with_any_marks_digits_and_names() {
    let start = position(Game::Shogi, "");
    for text in [
        "▲７六歩",
        "☗７六歩",
        "▼７六歩",
        "７六歩",
        "76歩",
        "▲７６歩",
        "▲7六歩",
        "▲七六歩",
        "▲ ７六 歩",
        "７六歩(77)",
        "▲７六歩（７７）",
        "▲７六歩不成",
    ] {
        check_read(&start, JAPANESE, text, "7g7f");
    }
    let second = after(Game::Shogi, "", "7g7f");
    for text in ["△３四歩", "☖３四歩", "▽３四歩", "34歩"] {
        check_read(&second, JAPANESE, text, "3c3d");
    }
    let dragon = position(Game::Shogi, "4k4/9/2+R6/2+B6/9/2+S6/2+N6/2+L6/4K4 b - 1");
    for (text, expected) in [
        ("▲８三龍", "7c8c"),
        ("▲８三竜", "7c8c"),
        ("▲８三成飛", "7c8c"),
        ("▲８四馬", "7d8d"),
        ("▲７五成銀", "7f7e"),
        ("▲７五全", "7f7e"),
        ("▲８七圭", "7g8g"),
        ("▲８八杏", "7h8h"),
        ("▲４八王", "5i4h"),
    ] {
        check_read(&dragon, JAPANESE, text, expected);
    }
}

#[test]
fn reads_the_square_of_the_last_move() {
    let taken = after(Game::Shogi, "", "7g7f 3c3d 8h2b+");
    for text in ["△同　銀", "△同銀", "同銀", "△同 銀", "△２二銀", "22銀", "同銀(31)"]
    {
        check_read(&taken, JAPANESE, text, "3a2b");
    }
    check_rejected(&taken, JAPANESE, "▲同　銀", IllegalReason::WrongSide);
    check_rejected(&taken, JAPANESE, "△同　金", IllegalReason::Unreachable);
    check_rejected(&position(Game::Shogi, ""), JAPANESE, "同歩", IllegalReason::NoPreviousMove);
}

#[test]
fn reads_modifiers_and_drops() {
    let golds = position(Game::Shogi, "4k4/9/9/9/9/9/9/3G1G3/4K4 b G 1");
    for (text, expected) in [
        ("▲５八金左", "6h5h"),
        ("▲５八金右", "4h5h"),
        ("▲５八金左寄", "6h5h"),
        ("▲５八金寄右", "4h5h"),
        ("▲５八金打", "G*5h"),
        ("▲１五金", "G*1e"),
        ("▲１五金打", "G*1e"),
        ("▲６七金", "6h6g"),
        ("▲６七金上", "6h6g"),
        ("▲６七金直", "6h6g"),
    ] {
        check_read(&golds, JAPANESE, text, expected);
    }
    check_ambiguous(&golds, JAPANESE, "▲５八金", &["4h5h", "6h5h"]);
    check_ambiguous(&golds, JAPANESE, "▲５八金寄", &["4h5h", "6h5h"]);
    check_rejected(&golds, JAPANESE, "▲５八金上", IllegalReason::Unreachable);
    let dragons = position(Game::Shogi, "4k4/9/9/9/9/9/9/9/K+R+R6 b - 1");
    check_read(&dragons, JAPANESE, "▲８八龍左", "8i8h");
    check_read(&dragons, JAPANESE, "▲８八竜直", "8i8h");
    check_read(&dragons, JAPANESE, "▲８八龍右", "7i8h");
    let silver = position(Game::Shogi, "4k4/9/9/2S6/9/9/9/9/4K4 b - 1");
    check_read(&silver, JAPANESE, "▲７三銀成", "7d7c+");
    for text in ["▲７三銀不成", "▲７三銀生", "▲７三銀", "▲７三銀上不成"] {
        check_read(&silver, JAPANESE, text, "7d7c");
    }
}

#[test]
fn explains_rejected_japanese_notation() {
    let start = position(Game::Shogi, "");
    for (text, reason) in [
        ("", IllegalReason::InvalidMove),
        ("▲", IllegalReason::InvalidMove),
        ("▲７歩", IllegalReason::InvalidMove),
        ("▲７六", IllegalReason::InvalidMove),
        ("▲０六歩", IllegalReason::InvalidMove),
        ("▲７六歩歩", IllegalReason::InvalidMove),
        ("▲７六歩打成", IllegalReason::InvalidMove),
        ("▲７六歩上上", IllegalReason::InvalidMove),
        ("▲７六歩(77", IllegalReason::InvalidMove),
        ("▲７六と打成", IllegalReason::InvalidMove),
        ("△３四歩", IllegalReason::WrongSide),
        ("▲７五歩", IllegalReason::Unreachable),
        ("▲７六馬", IllegalReason::MissingPiece),
        ("▲７六歩打", IllegalReason::NotInHand),
        ("▲７六歩成", IllegalReason::InvalidPromotion),
        ("▲２六歩(77)", IllegalReason::Unreachable),
        ("▲２六歩(76)", IllegalReason::EmptyOriginSquare),
        ("▲７八飛車", IllegalReason::InvalidMove),
    ] {
        check_rejected(&start, JAPANESE, text, reason);
    }
    let nifu = position(Game::Shogi, "4k4/9/9/9/9/4P4/9/9/4K4 b P 1");
    check_rejected(&nifu, JAPANESE, "▲５三歩打", IllegalReason::SecondPawnOnFile);
    let mate = position(Game::Shogi, "6snk/9/7G1/9/9/9/9/9/K8 b P 1");
    check_rejected(&mate, JAPANESE, "▲１二歩", IllegalReason::PawnDropMate);
    check_rejected(&mate, JAPANESE, "▲１二歩打", IllegalReason::PawnDropMate);
    let forced = position(Game::Shogi, "k8/4P4/9/9/9/9/9/9/4K4 b - 1");
    check_rejected(&forced, JAPANESE, "▲５一歩", IllegalReason::PromotionRequired);
}

const WESTERN: Notation = Notation::Western;

#[test]
fn reads_western_in_both_styles() {
    let start = position(Game::Shogi, "");
    for text in
        ["P-7f", "P-76", "P7f", "p-7f", "P76", "P7g-7f", "P77-76", "P7g7f", "P - 7f", "P-7F"]
    {
        check_read(&start, WESTERN, text, "7g7f");
        check_read(&start, Notation::WesternDigits, text, "7g7f");
        check_read(&start, Notation::Long, text, "7g7f");
    }
    check_ambiguous(&start, WESTERN, "G-5h", &["4i5h", "6i5h"]);
    check_read(&start, WESTERN, "G69-58", "6i5h");
    let position = after(Game::Shogi, "", "7g7f 3c3d");
    for text in ["Bx2b+", "B-2b+", "B2b+", "Bx22+", "B8hx2b+", "B×2b+"] {
        check_read(&position, WESTERN, text, "8h2b+");
    }
    for text in ["Bx2b=", "Bx2b", "B88x22"] {
        check_read(&position, WESTERN, text, "8h2b");
    }
    let golds = self::position(Game::Shogi, "4k4/9/9/9/9/9/9/3G1G3/4K4 b G 1");
    for text in ["G*5h", "G'5h", "g*58"] {
        check_read(&golds, WESTERN, text, "G*5h");
    }
    check_read(&golds, WESTERN, "G1e", "G*1e");
    let promoted = self::position(Game::Shogi, "4k4/9/2+R6/9/9/9/9/9/4K4 b - 1");
    check_read(&promoted, WESTERN, "+R-7b", "7c7b");
}

#[test]
fn explains_rejected_western_notation() {
    let start = position(Game::Shogi, "");
    for (text, reason) in [
        ("", IllegalReason::InvalidMove),
        ("P", IllegalReason::InvalidMove),
        ("P-", IllegalReason::InvalidMove),
        ("P-7", IllegalReason::InvalidMove),
        ("P-0f", IllegalReason::InvalidMove),
        ("P-7j", IllegalReason::InvalidMove),
        ("P-70", IllegalReason::InvalidMove),
        ("P7f-", IllegalReason::InvalidMove),
        ("+G-7f", IllegalReason::InvalidMove),
        ("Q-7f", IllegalReason::InvalidMove),
        ("P-7f++", IllegalReason::InvalidMove),
        ("P-7e", IllegalReason::Unreachable),
        ("P*5e", IllegalReason::NotInHand),
        ("+P-7f", IllegalReason::MissingPiece),
        ("G-3i", IllegalReason::OccupiedByOwnPiece),
        ("P7f-7e", IllegalReason::EmptyOriginSquare),
        ("P-7f+", IllegalReason::InvalidPromotion),
    ] {
        check_rejected(&start, WESTERN, text, reason);
    }
}
