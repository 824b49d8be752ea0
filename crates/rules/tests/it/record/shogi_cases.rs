//! Records of shogi with defects: fouls, illegal moves, start positions that violate the rules.

use readyok_rules::record::{self, Format, GameRecord, RecordMove};
use readyok_rules::{BoardRef, GameResult, PositionError, Side, Termination};

use super::kif::uci_moves;
use super::{check_round_trip, read_one, written};

const NIFU: &str = "手合割：平手\n先手：甲\n後手：乙\n\
    手数----指手---------消費時間--\n   1 ２六歩(27)\n   2 ８四歩(83)\n   3 ２五歩(26)\n\
    \u{20}  4 ８五歩(84)\n   5 ２四歩(25)\n   6 同　歩(23)\n   7 同　飛(28)\n   8 ８六歩(85)\n\
    \u{20}  9 同　歩(87)\n  10 同　飛(82)\n  11 ８七歩打\n  12 ８五飛(86)\n  13 ７六歩打   ( 0:07/00:00:07)\n\
    *二歩\n  14 反則勝ち\n";

/// The record of a text that has notices, and the notices.
fn read_with_notices(text: &str, format: Format) -> (GameRecord, Vec<String>) {
    let (record, notices) = read_one(text.as_bytes(), format);
    (record, notices.iter().map(ToString::to_string).collect())
}

#[test]
fn a_foul_that_lost_the_game_is_its_last_move() {
    let (record, notices) = read_with_notices(NIFU, Format::KIF);
    assert!(notices.is_empty(), "{notices:?}");
    assert_eq!(record.mainline().count(), 13);
    let foul = record.mainline().last().expect("a move");
    let mv = foul.mv().expect("a move");
    assert!(
        matches!(mv, RecordMove::Illegal(mv) if mv.to_uci(readyok_rules::CastlingForm::KingMove) == "P*7f")
    );
    assert_eq!(record.annotations(foul.id()).comments, ["二歩"]);
    assert_eq!(record.annotations(foul.id()).elapsed.map(|time| time.as_secs()), Some(7));
    assert_eq!(record.result, GameResult::Win(Side::Second));
    assert_eq!(record.termination(), Some(Termination::IllegalMove));
    for format in [Format::KIF, Format::CSA, Format::JKF] {
        check_round_trip(&record, format);
    }
    let kif = String::from_utf8(written(&record, Format::KIF)).expect("UTF-8");
    assert!(kif.contains("  13 ７六歩打"), "{kif}");
    assert!(kif.contains("  14 反則勝ち\nまで12手で先手の反則負け\n"), "{kif}");
    let csa = String::from_utf8(written(&record, Format::CSA)).expect("UTF-8");
    assert!(csa.contains("+0076FU\nT7\n'*二歩\n%+ILLEGAL_ACTION\n"), "{csa}");
    // KI2 has only legal moves, and states the foul.
    let (ki2, _) = read_one(&written(&record, Format::KI2), Format::KI2);
    assert_eq!((ki2.len(), ki2.result), (12, GameResult::Win(Side::Second)));
    assert_eq!(ki2.termination(), Some(Termination::IllegalMove));
}

#[test]
fn a_foul_is_recognized_in_any_form() {
    let moves = "+2726FU\n-3334FU\n+0055KA\n";
    let kif = "   1 ２六歩(27)\n   2 ３四歩(33)\n   3 ５五角打\n";
    let ki2 = "▲２六歩 △３四歩 ▲５五角打\n";
    for (text, format, plies) in [
        (format!("PI\n+\n{moves}%ILLEGAL_MOVE\n"), Format::CSA, 3),
        (format!("PI\n+\n{moves}%+ILLEGAL_ACTION\n"), Format::CSA, 3),
        (format!("{kif}   4 反則勝ち\n"), Format::KIF, 3),
        (format!("{kif}   4 反則負け\n"), Format::KIF, 3),
        (format!("{kif}まで2手で先手の反則負け\n"), Format::KIF, 3),
        (format!("{ki2}まで2手で先手の反則負け\n"), Format::KI2, 3),
        (format!("{ki2}まで3手で後手の反則勝ち\n"), Format::KI2, 3),
        // Without the move.
        ("   1 ２六歩(27)\n   2 ３四歩(33)\n   3 反則負け\n".to_owned(), Format::KIF, 2),
    ] {
        let (record, notices) = read_with_notices(&text, format);
        assert!(notices.is_empty(), "{text}: {notices:?}");
        assert_eq!(record.mainline().count(), plies, "{text}");
        assert_eq!(record.result, GameResult::Win(Side::Second), "{text}");
        assert_eq!(record.termination(), Some(Termination::IllegalMove), "{text}");
        check_round_trip(&record, Format::KIF);
        check_round_trip(&record, Format::CSA);
        check_round_trip(&record, Format::JKF);
    }
}

#[test]
fn a_game_is_kept_up_to_an_illegal_move() {
    let (record, notices) = read_with_notices(
        "   1 ７六歩(77)\n   2 ３三歩(34)\n*skipped\n   3 ２六歩(27)\n   4 投了\nまで3手で先手の勝ち\n\n\
         変化：1手\n   1 ２六歩(27)\n   2 ８四歩(83)\n",
        Format::KIF,
    );
    assert_eq!(uci_moves(&record), "7g7f");
    assert_eq!(record.len(), 3);
    assert_eq!(record.result, GameResult::Win(Side::First));
    assert_eq!(record.termination(), None);
    assert_eq!(
        notices,
        ["line 2, column 6: `３三歩(34)` is not a legal move; the main line was read up to ply 1"]
    );
    let (record, notices) =
        read_with_notices("PI\n+\n+7776FU\n-3335FU\n+2726FU\n%TORYO\n", Format::CSA);
    assert_eq!(
        (uci_moves(&record).as_str(), record.result),
        ("7g7f", GameResult::Win(Side::First))
    );
    assert_eq!(
        notices,
        ["line 4, column 1: illegal move `3c3e`: the piece cannot reach the target square; \
          the main line was read up to ply 1"]
    );
    let (record, notices) = read_with_notices("▲７六歩 △３六歩 ▲２六歩\n", Format::KI2);
    assert_eq!(uci_moves(&record), "7g7f");
    assert_eq!(
        notices,
        ["line 1, column 6: illegal move `P*3f`: no such piece is in hand; \
          the main line was read up to ply 1"]
    );
    // The next game is read.
    let file = "手合割：平手\n   1 ７五歩(77)\n手合割：平手\n   1 ７六歩(77)\n";
    let games: Vec<String> = record::read(file.as_bytes(), Format::KIF)
        .map(|game| uci_moves(&game.expect("a game")))
        .collect();
    assert_eq!(games, ["", "7g7f"]);
}

#[test]
fn variations_of_moves_that_do_not_exist_are_skipped() {
    let (record, notices) = read_with_notices(
        "   1 ７六歩(77)\n   2 中断\n\n変化：9手\n   9 ２六歩(27)\n\n変化：1手\n   1 ２六歩(27)\n",
        Format::KIF,
    );
    assert_eq!((uci_moves(&record).as_str(), record.len()), ("7g7f", 2));
    assert_eq!(notices, ["line 4, column 1: unexpected `変化：9手`"]);
}

#[test]
fn moves_after_the_end_are_skipped() {
    let (record, notices) =
        read_with_notices("   1 ７六歩(77)\n   2 投了\n   3 ２六歩(27)\n", Format::KIF);
    assert_eq!(uci_moves(&record), "7g7f");
    assert_eq!(notices, ["line 3, column 6: unexpected `２六歩(27)`"]);
}

#[test]
fn start_positions_that_violate_the_rules_can_be_viewed() {
    let two_pawns = "後手の持駒：なし\n  ９ ８ ７ ６ ５ ４ ３ ２ １\n+---------------------------+\n\
        | ・ ・ ・ ・v玉 ・ ・ ・ ・|一\n| ・ ・ ・ ・ ・ ・ ・ ・ ・|二\n| ・ ・ ・ ・ 歩 ・ ・ ・ ・|三\n\
        | ・ ・ ・ ・ ・ ・ ・ ・ ・|四\n| ・ ・ ・ ・ ・ ・ ・ ・ ・|五\n| ・ ・ ・ ・ 歩 ・ ・ ・ ・|六\n\
        | ・ ・ ・ ・ ・ ・ ・ ・ ・|七\n| ・ ・ ・ ・ ・ ・ ・ ・ ・|八\n| ・ ・ ・ ・ 玉 ・ ・ ・ ・|九\n\
        +---------------------------+\n先手の持駒：金\n手数----指手---------消費時間--\n\
        \u{20}  1 ５二金打\n   2 中断\n";
    let (record, notices) = read_with_notices(two_pawns, Format::KIF);
    assert_eq!(record.start().to_string(), "4k4/9/4P4/9/9/4P4/9/9/4K4 b G 1");
    assert!(matches!(record.start().defect(), Some(PositionError::TwoPawns { file: 5, .. })));
    assert_eq!(uci_moves(&record), "G*5b");
    assert_eq!(record.termination(), Some(Termination::Aborted));
    assert_eq!(notices.len(), 1);
    assert!(notices[0].contains("bad start position: "), "{notices:?}");
    // Nothing can be played without kings.
    let no_kings = two_pawns.replace('玉', "と");
    let (diagram, notices) = read_with_notices(&no_kings, Format::KIF);
    assert!(matches!(diagram.start().board(), BoardRef::Diagram(_)));
    assert_eq!((uci_moves(&diagram).as_str(), notices.len()), ("", 2));
    for (record, moves) in [(&record, "G*5b"), (&diagram, "")] {
        for format in [Format::KIF, Format::KI2, Format::CSA, Format::JKF, Format::USI] {
            let text = written(record, format);
            let mut games = record::read(&text[..], format);
            let read = games.next().expect("a game").expect("it is read");
            assert_eq!(read.start().to_string(), record.start().to_string(), "{format}");
            assert_eq!(read.start().defect(), record.start().defect(), "{format}");
            assert_eq!(uci_moves(&read), moves, "{format}");
        }
    }
}

#[test]
fn the_number_of_moves_of_a_mate_is_an_end() {
    let text = "手合割：平手\n先手：甲\n後手：乙\n\n▲７六歩 △３四歩 ▲３三角成\nまで3手詰\n";
    let (record, notices) = read_with_notices(text, Format::KI2);
    assert!(notices.is_empty(), "{notices:?}");
    assert_eq!(uci_moves(&record), "7g7f 3c3d 8h3c+");
    assert_eq!(record.termination(), Some(Termination::Checkmate));
    assert_eq!(record.result, GameResult::Win(Side::First));
    for format in [Format::KIF, Format::KI2, Format::CSA, Format::JKF] {
        check_round_trip(&record, format);
    }
}

#[test]
fn reads_csa_without_a_start_position() {
    for text in ["+7776FU\n-3334FU\n%TORYO\n", "N+a\n+7776FU\n-3334FU\n%TORYO\n"] {
        let (record, notices) = read_with_notices(text, Format::CSA);
        assert!(notices.is_empty(), "{notices:?}");
        assert_eq!(uci_moves(&record), "7g7f 3c3d");
        assert_eq!(record.result, GameResult::Win(Side::Second));
    }
}
