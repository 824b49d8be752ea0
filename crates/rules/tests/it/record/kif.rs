//! KIF and KI2: files in the styles of several programs, broken files, and round trips.

use std::time::Duration;

use proptest::prelude::*;
use readyok_protocol::Score;
use readyok_rules::record::{
    self, Annotations, Defect, End, Evaluation, Format, GameRecord, Limit, Limits, Node,
    NoticeReason, RecordErrorKind, Records, Tag,
};
use readyok_rules::{CastlingForm, Game, Position, Side};
use readyok_rules::{GameOutcome, GameResult, Termination};

use super::games::Plan;
use super::{check_round_trip, games, mainline_notes, read_all, read_one, written};

/// The main line in USI notation.
pub(super) fn uci_moves(record: &GameRecord) -> String {
    let moves: Vec<String> = record
        .mainline()
        .filter_map(Node::mv)
        .map(|mv| mv.to_uci(CastlingForm::KingMove))
        .collect();
    moves.join(" ")
}

#[track_caller]
fn check_moves(text: &str, expected: &str) -> GameRecord {
    let (record, warnings) = read_one(text.as_bytes(), Format::KIF);
    assert_eq!((uci_moves(&record).as_str(), warnings), (expected, vec![]), "{text}");
    record
}

#[track_caller]
fn check_error(text: &str, expected: &str) {
    let mut games = record::read(text.as_bytes(), Format::KIF);
    let found = match games.next().expect("a game") {
        Err(error) => error.to_string(),
        Ok(_) => games.notices()[0].to_string(),
    };
    assert!(found.trim_start_matches("game 1, ").starts_with(expected), "{text}: {found}");
    for game in games {
        assert_eq!(uci_moves(&game.expect("the next game is read")), "7g7f", "{text}");
    }
}

const WITH_VARIATIONS: &str = include_str!("../data/record_kif/with_variations.txt");

#[test]
fn reads_kif_with_variations() {
    let record = check_moves(WITH_VARIATIONS, "7g7f 3c3d 8h2b+ 3a2b B*5e");
    assert_eq!(record.header(Tag::Event), Some("秋の練習会：予選"));
    assert_eq!(record.player(Side::Second), Some("ゆうひ"));
    assert_eq!(record.headers.len(), 4);
    assert_eq!(record.result, GameResult::Win(Side::First));
    let root = record.root().expect("a root");
    assert_eq!(record.annotations(root.id()).comments, ["はじめに\n二行目"]);
    let line: Vec<&Node> = record.mainline().collect();
    assert_eq!(record.annotations(line[2].id()).elapsed, Some(Duration::from_secs(65)));
    assert_eq!(record.annotations(line[2].id()).comments, ["成った\n&しおり"]);
    let end = record.annotations(line[4].id()).end.as_ref().expect("an end");
    assert_eq!(end.outcome.termination, Termination::Resignation);
    assert_eq!(end.elapsed, Some(Duration::from_secs(3)));
    // 3: two moves, of which the second has two continuations; 2: one more.
    assert_eq!(record.len(), 5 + 3 + 1 + 1);
    assert_eq!(record.children(line[0].id()).count(), 2);
    assert_eq!(record.children(line[1].id()).count(), 2);
    let third = record.children(line[1].id()).nth(1).expect("a variation");
    let fourth = record.next(third.id()).expect("a continuation");
    assert_eq!(record.children(fourth.id()).count(), 2);
    let fifth = record.children(fourth.id()).nth(1).expect("a variation of a variation");
    assert_eq!(
        record.annotations(fifth.id()).end,
        Some(End::from(GameOutcome {
            result: GameResult::Unknown,
            termination: Termination::Aborted
        }))
    );
    check_round_trip(&record, Format::KIF);
    check_round_trip(&record, Format::JKF);
}

#[test]
fn reads_the_move_styles_of_programs() {
    check_moves("1 ７六歩(77)\n2 ３四歩(33)\n3 ２二角成(88)\n4 同銀(31)\n", "7g7f 3c3d 8h2b+ 3a2b");
    check_moves("   1 76歩(77)\n   2 ３四歩(33)(0:01/)\n", "7g7f 3c3d");
    check_moves("\u{feff}１　７六歩(77)\r\n２　３四歩(33)\r\n", "7g7f 3c3d");
    check_moves("▲７六歩 △３四歩 ▲２二角成 △同　銀 ▲５五角", "7g7f 3c3d 8h2b+ 3a2b B*5e");
    check_moves("☗7六歩☖3四歩☗2二角不成", "7g7f 3c3d 8h2b");
    check_moves("手合割：二枚落ち\n上手：先生\n\n▽６二銀 ▼７六歩\n", "7a6b 7g7f");
}

#[test]
fn reads_modifiers() {
    let golds = "後手の持駒：なし\n  ９ ８ ７ ６ ５ ４ ３ ２ １\n+---------------------------+\n\
        | ・ ・ ・ ・v玉 ・ ・ ・ ・|一\n| ・ ・ ・ ・ ・ ・ ・ ・ ・|二\n\
        | ・ ・ ・ ・ ・ ・ ・ 銀 ・|三\n| ・ ・ ・ ・ ・ ・ ・ ・ ・|四\n\
        | ・ ・ ・ ・ ・ 銀 ・ 銀 ・|五\n| ・ ・ ・ ・ ・ ・ ・ ・ ・|六\n\
        | ・ ・ ・ 金 ・ ・ ・ ・ ・|七\n| ・ ・ 金 金 金 ・ ・ ・ ・|八\n\
        | ・ ・ ・ ・ 玉 ・ ・ ・ ・|九\n+---------------------------+\n\
        先手の持駒：歩十八　角\n先手番\n\n";
    for (text, expected) in [
        ("▲７七金", ""),
        ("▲７七金寄", "6g7g"),
        ("▲７七金直", "7h7g"),
        ("▲７七金右上", "6h7g"),
        ("▲３四銀右上", "2e3d"),
        ("▲３四銀左", "4e3d"),
        ("▲３四銀引", "2c3d"),
        ("▲３四銀引成", "2c3d+"),
        ("▲５五角", "B*5e"),
        ("▲５五角打", "B*5e"),
    ] {
        let read = read_all(format!("{golds}{text}\n").as_bytes(), Format::KI2).remove(0);
        match read {
            Ok(record) => assert!(uci_moves(&record) == expected, "{text}"),
            Err(error) => assert_eq!(expected, "", "{text}: {error}"),
        }
    }
}

#[test]
fn reads_start_positions_from_names_and_diagrams() {
    let handicap = check_moves("手合割：飛香落ち\n上手：甲\n下手：乙\n   1 ３四歩(33)\n", "3c3d");
    assert_eq!(handicap.start().turn(), Side::Second);
    assert_eq!(handicap.player(Side::First), Some("乙"));
    let (record, _) = read_one(
        "手合割：その他\n後手の持駒：金四　銀四　桂四　香四　歩十七　\n\
         +--\n|v王 ・ ・ ・ ・ ・ ・ ・ ・|一\n| ・v龍 ・ ・ ・ ・ ・ ・ ・|二\n| ・ 全 ・ ・ ・ ・ ・ ・ ・|三\n\
         | ・ ・ ・ ・ ・ ・ ・ ・ ・|四\n| ・ ・ ・ ・ ・ ・ ・ ・ ・|五\n| ・ ・ ・ ・ ・ ・ ・ ・ ・|六\n\
         | ・ ・ ・ ・ ・ ・ ・ ・ ・|七\n| ・ ・ ・ ・ ・ ・ ・ ・ ・|八\n| ・ ・ ・ ・ ・ ・ ・ ・ ・|九\n\
         先手の持駒：角二　飛\n手数＝12  △９一王  まで\n後手番\n"
            .replace("銀四", "銀三")
            .as_bytes(),
        Format::KIF,
    );
    assert_eq!(record.start().to_string(), "k8/1+r7/1+S7/9/9/9/9/9/9 w R2B4g3s4n4l17p 13");
    check_round_trip(&record, Format::KIF);
}

/// Empty rows of a board diagram.
fn rows(ranks: std::ops::RangeInclusive<usize>) -> String {
    let first = ranks.start() - 1;
    let letters = "一二三四五六七八九".chars().skip(first).take(ranks.count());
    letters
        .flat_map(|letter| {
            ["| ・ ・ ・ ・ ・ ・ ・ ・ ・|".into(), letter.to_string(), "\n".into()]
        })
        .collect()
}

#[test]
fn reads_rows_of_boards_with_other_blanks() {
    for row in [
        "| v香 ・ v銀 ・  v玉 ・ ・ 歩 と|一",
        "|v香 ・v銀 ・v玉 ・ ・ 歩 と|",
        "|v香・v銀・v玉・・歩と|一 ",
        "|V香 ・ｖ銀 ・v王 ・ 　 歩^と| 一",
        "|v香 ・v銀 ・v玉 ・ ・ 歩 と",
        "|v香 ・v銀 ・v玉 ・ ・ 歩 と一",
    ] {
        let text = format!("+--\n{row}\n{}+--\n先手の持駒：なし\n", rows(2..=9));
        let (record, _) = read_one(text.as_bytes(), Format::KIF);
        let start = record.start().to_string();
        assert!(start.starts_with("l1s1k2P+P/9/9/9/9/9/9/9/9 b"), "{row}: {start}");
    }
    // Without the letters, the rows are counted.
    let text = format!("+--\n{}+--\n", "| ・ ・ ・ ・v玉 ・ ・ ・ ・|\n".repeat(9));
    let (record, _) = read_one(text.as_bytes(), Format::KIF);
    assert!(record.start().to_string().starts_with("4k4/4k4/4k4/4k4/4k4/4k4/4k4/4k4/4k4 b"));
    // Only the first diagram is the start position.
    let text = format!("+--\n{}+--\n{}+--\n", rows(1..=9), rows(1..=9));
    let (_, notices) = read_one(text.as_bytes(), Format::KIF);
    assert_eq!(
        notices
            .iter()
            .filter(|notice| matches!(
                notice.reason,
                NoticeReason::Defect(Defect::TextSkipped { .. })
            ))
            .count(),
        9
    );
}

/// The rank letter and the number of rows show that a row is missing: no row moves up.
#[test]
fn rejects_boards_with_defective_rows() {
    let short = "| ・ ・ ・ ・ ・ ・ ・ ・|二\n";
    let long = "| ・ ・ ・ ・ ・ ・ ・ ・ ・ ・|二\n";
    let unknown = "| ・ ・ ・ ・ｘ玉 ・ ・ ・ ・|二\n";
    let length = |line: u64, rank: char| {
        format!(
            "line {line}, column 1: bad start position: rank {rank} has the wrong number of squares"
        )
    };
    for (board, expected) in [
        (rows(1..=1) + short + &rows(3..=9), length(2, 'b')),
        (rows(1..=1) + long + &rows(3..=9), length(2, 'b')),
        (
            rows(1..=1) + unknown + &rows(3..=9),
            "line 2, column 1: bad start position: unknown piece `ｘ` on 5b".to_owned(),
        ),
        (rows(2..=9), length(1, 'a')),
        (rows(1..=2) + &rows(4..=9), length(3, 'c')),
        (rows(1..=3) + &rows(3..=9), length(4, 'c')),
        (
            rows(1..=8) + "+--\n",
            "line 9, column 1: bad start position: the board has 8 ranks; 9 are required"
                .to_owned(),
        ),
        (
            rows(1..=8) + "先手の持駒：なし\n   1 ７六歩(77)\n",
            "line 10, column 1: bad start position: the board has 8 ranks; 9 are required"
                .to_owned(),
        ),
    ] {
        check_error(&format!("{board}\n手合割：平手\n   1 ７六歩(77)\n"), &expected);
    }
}

/// JKF has bookmarks as comments with `&`.
#[test]
fn bookmarks_are_kept() {
    let text = "手合割：平手\n手数----指手---------消費時間--\n&開始\n   1 ７六歩(77)\n*一言\n&しおり\n   2 投了\n";
    let (record, notices) = read_one(text.as_bytes(), Format::KIF);
    assert_eq!(notices, []);
    let comments = |record: &GameRecord| {
        let nodes = record.root().into_iter().chain(record.mainline());
        nodes.flat_map(|node| record.annotations(node.id()).comments.clone()).collect::<Vec<_>>()
    };
    assert_eq!(comments(&record), ["&開始", "一言\n&しおり"]);
    let kif = String::from_utf8(written(&record, Format::KIF)).expect("UTF-8");
    assert!(kif.contains("\n&開始\n   1 ７六歩(77)\n*一言\n&しおり\n"), "{kif}");
    for format in [Format::KIF, Format::KI2, Format::CSA, Format::JKF] {
        let (read, _) = read_one(&written(&record, format), format);
        assert_eq!(comments(&read), comments(&record), "{format}");
    }
}

#[test]
fn preserves_an_unknown_reason_and_the_winner() {
    let text = "▲７六歩\nまで1手で先手の反則により後手の勝ち\n";
    let (record, _) = read_one(text.as_bytes(), Format::KI2);
    assert_eq!(record.termination(), Some(Termination::Other));
    assert_eq!(record.result, GameResult::Win(Side::Second));
    check_round_trip(&record, Format::KI2);
    check_round_trip(&record, Format::KIF);
}

#[test]
fn blanks_do_not_hide_an_evaluation() {
    let text = "1 ７六歩(77)\n* #評価値=5\n*  #深さ=3\n*一言\n";
    let (record, _) = read_one(text.as_bytes(), Format::KIF);
    let notes = record.annotations(record.mainline().next().expect("a move").id());
    let evaluation = notes.evaluation.expect("an evaluation");
    assert_eq!((evaluation.score, evaluation.depth), (Score::Cp(5), Some(3)));
    assert_eq!(notes.comments, ["一言"]);
}

#[test]
fn control_characters_do_not_hide_an_end() {
    let text = "1 ７六歩(77)\nまで1手で後手の勝ち\n2 投了 \u{1}\0\n";
    let (record, _) = read_one(text.as_bytes(), Format::KIF);
    assert_eq!(record.termination(), Some(Termination::Resignation));
    assert_eq!(record.result, GameResult::Win(Side::First));
    check_round_trip(&record, Format::KIF);
}

#[test]
fn reads_ends_and_summaries() {
    for (name, end, result) in [
        ("投了", Termination::Resignation, GameResult::Win(Side::First)),
        ("詰み", Termination::Checkmate, GameResult::Win(Side::First)),
        ("千日手", Termination::Repetition, GameResult::Draw),
        ("持将棋", Termination::Impasse, GameResult::Draw),
        ("入玉勝ち", Termination::Declaration, GameResult::Win(Side::Second)),
        ("切れ負け", Termination::TimeForfeit, GameResult::Win(Side::First)),
        ("反則負け", Termination::IllegalMove, GameResult::Win(Side::First)),
        ("反則勝ち", Termination::IllegalMove, GameResult::Win(Side::Second)),
        ("不戦敗", Termination::Forfeit, GameResult::Win(Side::First)),
        ("中断", Termination::Aborted, GameResult::Unknown),
        ("封じ手", Termination::Other, GameResult::Unknown),
    ] {
        let record = check_moves(&format!("1 ７六歩(77)\n2 {name}  ( 0:05/00:00:05)\n"), "7g7f");
        assert_eq!((record.termination(), record.result), (Some(end), result), "{name}");
        check_round_trip(&record, Format::KIF);
        let ki2 = String::from_utf8(written(&record, Format::KI2)).expect("UTF-8");
        let (read, _) = read_one(ki2.as_bytes(), Format::KI2);
        assert_eq!((read.termination(), read.result), (record.termination(), result), "{ki2}");
    }
    for (line, end, result) in [
        ("まで1手で先手の勝ち", Some(Termination::Resignation), GameResult::Win(Side::First)),
        (
            "まで1手で時間切れにより先手の勝ち",
            Some(Termination::TimeForfeit),
            GameResult::Win(Side::First),
        ),
        ("まで1手で後手の反則負け", Some(Termination::IllegalMove), GameResult::Win(Side::First)),
        ("まで1手で千日手", Some(Termination::Repetition), GameResult::Draw),
        ("まで1手で中断", Some(Termination::Aborted), GameResult::Unknown),
    ] {
        let record = check_moves(&format!("▲７六歩\n{line}\n"), "7g7f");
        assert_eq!((record.termination(), record.result), (end, result), "{line}");
    }
    // KIF has a line for resignation.
    let record = check_moves("1 ７六歩(77)\nまで1手で先手の勝ち\n", "7g7f");
    assert_eq!((record.termination(), record.result), (None, GameResult::Win(Side::First)));
}

#[test]
fn reads_evaluations_in_comments() {
    let record = check_moves(
        "1 ７六歩(77)\n*互角\n*#評価値=108\n*#深さ=12\n*#エンジン=何か\n2 ３四歩(33)\n*#詰み=後手勝ち:5手\n\
         3 ２六歩(27)\n**評価値=-20\n",
        "7g7f 3c3d 2g2f",
    );
    let notes = mainline_notes(&record);
    let score = |score, depth| Some(Evaluation { score, depth });
    assert_eq!(notes[0].evaluation, score(Score::Cp(108), Some(12)));
    assert_eq!(notes[0].comments, ["互角\n#エンジン=何か"]);
    assert_eq!(notes[1].evaluation, score(Score::MatedIn { plies: 5 }, None));
    assert_eq!(notes[2].evaluation, score(Score::Cp(-20), None));
}

#[test]
fn reports_a_broken_game_and_reads_the_next_one() {
    let next = "\n手合割：平手\n   1 ７六歩(77)\n";
    for (text, expected) in [
        (
            "   1 ７六歩(77)\n   2 ３五歩(33)\n",
            "line 2, column 6: illegal move `3c3e`: the piece cannot reach the target square",
        ),
        ("   1 ７六歩(78)\n", "line 1, column 6: `７六歩(78)` is not a legal move"),
        ("   1 ７六馬(77)\n", "line 1, column 6: `７六馬(77)` is not a legal move"),
        ("   1 同　歩(77)\n", "line 1, column 6: `同　歩(77)` is not a legal move"),
        ("   1 ７六歩(77)\n変化：3手\n", "line 2, column 1: unexpected `変化：3手`"),
        ("▲７六歩 △５五歩", "line 1, column 6: illegal move `P*5e`: no such piece is in hand"),
        ("▲７六歩 △？", "line 1, column 6: `？` is not a legal move"),
        ("   1 投了\n   2 ７六歩(77)\n", "line 2, column 6: unexpected `７六歩(77)`"),
        (
            &format!(
                "後手の持駒：なし\n|v玉v玉 ・ ・ ・ ・ ・ ・ ・|一\n{}1 ７六歩(77)\n",
                rows(2..=9)
            ),
            "line 11, column 1: bad start position: White (gote) has 2 kings",
        ),
    ] {
        check_error(&format!("{text}{next}"), expected);
    }
    check_error("何か\n別の\n", "line 2, column 1: unexpected `何か`");
}

#[test]
fn reports_games_that_exceed_limits() {
    let limits = Limits {
        game_bytes: 2000,
        comment_bytes: 100,
        headers: 3,
        header_bytes: 50,
        moves: 20,
        plies: 12,
        depth: 3,
    };
    let shuffle: String = (0..8).map(|_| "▲３八飛 △７二飛 ▲２八飛 △８二飛\n").collect();
    let wide: String = (0..12).map(|_| "変化：1手\n▲７六歩 △３四歩\n").collect();
    for text in [
        "*あいう\n".repeat(20),
        format!("▲７六歩\n{}", "*あいう\n".repeat(20)),
        format!("*{}", "x".repeat(900)),
        "あ：い\n".repeat(4),
        format!("あ：{}", "x".repeat(60)),
        "\n".repeat(3000),
        shuffle,
        wide,
    ] {
        let file = format!("{text}\n手合割：平手\n   1 ７六歩(77)\n");
        let mut games = Records::new(file.as_bytes(), Format::KIF, limits);
        let is_limit = match games.next().expect("a game") {
            Err(error) => matches!(error.kind, RecordErrorKind::LimitExceeded(_)),
            Ok(_) => matches!(games.notices()[0].reason, NoticeReason::LimitExceeded(_)),
        };
        assert!(is_limit, "{text}");
        let next = games.last().expect("another game").expect("it is read");
        assert_eq!(uci_moves(&next), "7g7f", "{text}");
    }
}

#[test]
fn empty_lines_of_comments_count() {
    let many = 70_000;
    for (format, text) in [
        (Format::KIF, format!("{}手合割：平手\n", "*\n".repeat(many))),
        (Format::KIF, format!("手合割：平手\n   1 ７六歩(77)\n{}", "*\n".repeat(many))),
        (Format::CSA, format!("{}PI\n+\n", "'\n".repeat(many))),
        (Format::CSA, format!("PI\n+\n+7776FU\n{}", "'*\n".repeat(many))),
    ] {
        let games: Vec<_> = Records::new(text.as_bytes(), format, Limits::default()).collect();
        let Some(Err(error)) = games.first() else { panic!("{:?}: {}", format, games.len()) };
        let is_comment =
            matches!(error.kind, RecordErrorKind::LimitExceeded(Limit::CommentTooLong));
        assert!(is_comment, "{error}");
    }
}

#[cfg(feature = "encodings")]
#[test]
fn reads_declared_and_undeclared_encodings() {
    let (record, _) = read_one(WITH_VARIATIONS.as_bytes(), Format::KIF);
    let mut bytes = Vec::new();
    record::write_encoded(&record, Format::KIF, record::Encoding::ShiftJis, &mut bytes)
        .expect("it is shogi");
    assert!(std::str::from_utf8(&bytes).is_err());
    assert!(read_one(&bytes, Format::KIF).0 == record);
    // Without the line that declares the encoding.
    let end = bytes.iter().position(|&byte| byte == b'\n').expect("a line");
    assert!(read_one(&bytes[end + 1..], Format::KIF).0 == record);
    let marked = [b"\xef\xbb\xbf", WITH_VARIATIONS.as_bytes()].concat();
    assert!(read_one(&marked, Format::KIF).0 == record);
}

#[cfg(feature = "encodings")]
#[test]
fn replaces_characters_that_shift_jis_lacks() {
    let mut record = GameRecord::new(Position::start(Game::Shogi));
    record.set_header(Tag::Player(Side::First), "é👑か");
    let mut bytes = Vec::new();
    record::write_encoded(&record, Format::KIF, record::Encoding::ShiftJis, &mut bytes)
        .expect("it is shogi");
    assert_eq!(read_one(&bytes, Format::KIF).0.player(Side::First), Some("??か"));
}

#[test]
fn does_not_write_headers_with_reserved_names() {
    let mut record = GameRecord::new(Position::start(Game::Shogi));
    for name in ["手合割", "変化", "まで1手で先手の勝ち", "*x", "1 ７六歩(77)", "先手の持駒", ""]
    {
        record.headers.push(name, "１手\n変化：1手");
    }
    record.headers.push("備考", "一\n二");
    let (read, warnings) = read_one(&written(&record, Format::KIF), Format::KIF);
    assert_eq!(read.headers.iter().collect::<Vec<_>>(), [("備考", "一 二")]);
    assert_eq!(warnings, []);
}

/// Removes what KI2 does not support.
fn for_ki2(mut plan: Plan) -> Plan {
    for (_, _, notes) in &mut plan.moves {
        notes.elapsed = None;
    }
    plan.root.elapsed = None;
    plan
}

/// Sets the end of a game and the result that follows from it.
pub(super) fn finish(record: &mut GameRecord, end: Option<Termination>) {
    record.result = GameResult::Unknown;
    if let Some(end) = end {
        record.finish(end);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn kif_survives_a_round_trip(
        start in games::shogi_start(),
        plan in games::plan(games::whole_seconds(), 0..60),
        end in games::end(),
        comment in prop::collection::vec(games::comment(), 0..2),
        headers in prop::collection::vec(("[ぁ-こ]{1,5}", games::text()), 0..5),
    ) {
        let mut record = games::build(&start, Plan { root: no_time(plan.root), ..plan });
        finish(&mut record, end);
        let last = record.last();
        if let Some(end) = record.annotations_mut(last).and_then(|notes| notes.end.as_mut()) {
            end.comments = comment;
            end.elapsed = Some(Duration::from_secs(61));
        }
        for (name, value) in headers {
            record.headers.push(name, value);
        }
        check_round_trip(&record, Format::KIF);
    }

    #[test]
    fn ki2_survives_a_round_trip(
        start in games::shogi_start(),
        plan in games::plan(games::whole_seconds(), 0..60),
        end in games::end(),
    ) {
        let mut record = games::build(&start, for_ki2(plan));
        finish(&mut record, end);
        check_round_trip(&record, Format::KI2);
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        read_all(&bytes, Format::KIF);
    }

    #[test]
    fn arbitrary_lines_do_not_panic(
        lines in prop::collection::vec(
            prop::sample::select(WITH_VARIATIONS.lines().chain([
                "変化：1手", "変化：", "▲７六歩 △３四歩 ▲２二角成", "△同　銀", "+---", "|v玉", "後手番",
                "先手の持駒：歩十八", "手数＝99999999999", "1 投了", "まで", "#KIF", "99999999999 ７六歩(77)",
                "手合割：十枚落ち", "1 ７六歩(77)   ( 9999999999:9/", "同", "1 同", "*#評価値=99999999999",
            ]).collect::<Vec<_>>()),
            0..40,
        ),
    ) {
        for game in read_all(lines.join("\n").as_bytes(), Format::KIF).into_iter().flatten() {
            // The first pass loses what KIF does not support.
            check_round_trip(&read_one(&written(&game, Format::KIF), Format::KIF).0, Format::KIF);
        }
    }
}

/// Annotations of a start position, which has no time.
pub(super) fn no_time(notes: Annotations) -> Annotations {
    Annotations { elapsed: None, ..notes }
}
