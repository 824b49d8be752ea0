//! Ends of games of shogi. Formats derive the winner from the side to move, but must preserve it.

use proptest::prelude::*;
use readyok_rules::record::{End, Format, GameRecord, Tag};
use readyok_rules::{Game, GameOutcome, GameResult, Position, Side, Termination};

use super::{check_round_trip, laws, read_one, written};

/// Every termination that records distinguish.
pub(super) fn ends() -> Vec<Termination> {
    let all = Termination::ALL.iter().copied();
    all.filter(|termination| termination.general() == *termination).collect()
}

/// A game that ends after a number of moves.
pub(super) fn game(moves: usize, termination: Termination, result: GameResult) -> GameRecord {
    let mut record = GameRecord::new(Position::start(Game::Shogi));
    record.set_header(Tag::Player(Side::First), "甲");
    record.set_header(Tag::Player(Side::Second), "乙");
    for uci in ["7g7f", "3c3d", "2g2f"].into_iter().take(moves) {
        let mv = record.position().parse_move(uci).expect("legal");
        record.play(mv).expect("legal");
    }
    let text = (termination == Termination::Other).then(|| "封じ手".to_owned());
    record.conclude(End { text, ..End::from(GameOutcome { result, termination }) });
    record
}

fn text(record: &GameRecord, format: Format) -> String {
    String::from_utf8(written(record, format)).expect("UTF-8")
}

#[test]
fn winner_and_end_are_preserved_for_either_side_to_move() {
    let decided = [GameResult::Win(Side::First), GameResult::Win(Side::Second), GameResult::Draw];
    for (end, result, moves) in ends().into_iter().flat_map(|end| {
        decided.into_iter().flat_map(move |result| [1, 2].map(|moves| (end, result, moves)))
    }) {
        let record = game(moves, end, result);
        let turn = record.position().turn();
        for format in [Format::CSA, Format::JKF, Format::KIF, Format::KI2] {
            let text = text(&record, format);
            let (read, warnings) = read_one(text.as_bytes(), format);
            assert_eq!(read.result, result, "{end:?}, {turn}: {text}");
            assert_eq!(warnings, [], "{text}");
            check_round_trip(&read, format);
        }
        // Shogi has no such ends.
        let is_of_chess = matches!(
            end,
            Termination::FiftyMoveRule
                | Termination::InsufficientMaterial
                | Termination::TimeoutInsufficientMaterial
        );
        if is_of_chess {
            continue;
        }
        check_round_trip(&record, Format::CSA);
        check_round_trip(&record, Format::JKF);
        let loser_is_to_move = result == GameResult::Win(turn.other());
        if end != Termination::Stalemate || !loser_is_to_move {
            let (read, _) = read_one(text(&record, Format::KIF).as_bytes(), Format::KIF);
            let kept = if end == Termination::Stalemate { Termination::Checkmate } else { end };
            assert_eq!(read.termination(), Some(kept), "{}", text(&record, Format::KIF));
        }
    }
}

#[track_caller]
fn check(record: &GameRecord, csa: &str, special: &str, kif: &str) {
    let [as_csa, as_jkf, as_kif] =
        [Format::CSA, Format::JKF, Format::KIF].map(|format| text(record, format));
    assert!(as_csa.ends_with(&format!("\n{csa}\n")), "{as_csa}");
    assert!(as_jkf.ends_with(&format!(",{special}]}}\n")), "{as_jkf}");
    assert!(as_kif.ends_with(&format!("\n{kif}\n")), "{as_kif}");
}

#[test]
fn resignation_during_the_opponents_turn_loses() {
    check(
        &game(1, Termination::Resignation, GameResult::Win(Side::Second)),
        "%+ILLEGAL_ACTION\n'summary:toryo:甲 lose:乙 win",
        r#"{"special":"+ILLEGAL_ACTION","comments":["summary:toryo:甲 lose:乙 win"]}"#,
        "   2 不戦勝\nまで1手で後手の勝ち（投了）",
    );
    // A resignation on the player's own turn needs no summary.
    check(
        &game(1, Termination::Resignation, GameResult::Win(Side::First)),
        "%TORYO",
        r#"{"special":"TORYO"}"#,
        "   2 投了\nまで1手で先手の勝ち",
    );
}

#[test]
fn perpetual_check_loses_after_either_sides_move() {
    check(
        &game(2, Termination::PerpetualCheck, GameResult::Win(Side::Second)),
        "%ILLEGAL_MOVE\n'summary:oute_sennichite:甲 lose:乙 win",
        r#"{"special":"ILLEGAL_MOVE","comments":["summary:oute_sennichite:甲 lose:乙 win"]}"#,
        "   3 反則負け\nまで2手で先手の反則負け（連続王手の千日手）",
    );
    check(
        &game(1, Termination::PerpetualCheck, GameResult::Win(Side::Second)),
        "%+ILLEGAL_ACTION\n'summary:oute_sennichite:甲 lose:乙 win",
        r#"{"special":"+ILLEGAL_ACTION","comments":["summary:oute_sennichite:甲 lose:乙 win"]}"#,
        "   2 反則勝ち\nまで1手で後手の反則勝ち（連続王手の千日手）",
    );
}

#[test]
fn engine_failure_differs_from_forfeit() {
    check(
        &game(1, Termination::EngineFailure, GameResult::Win(Side::First)),
        "%TORYO\n'summary:engine failure:甲 win:乙 lose",
        r#"{"special":"TORYO","comments":["summary:engine failure:甲 win:乙 lose"]}"#,
        "   2 不戦敗\nまで1手で先手の勝ち（エンジン異常）",
    );
    check(
        &game(1, Termination::Forfeit, GameResult::Win(Side::First)),
        "%TORYO\n'summary:abnormal:甲 win:乙 lose",
        r#"{"special":"TORYO","comments":["summary:abnormal:甲 win:乙 lose"]}"#,
        "   2 不戦敗\nまで1手で後手の不戦敗",
    );
}

#[test]
fn reads_summaries_of_servers() {
    let board = "N+A:b win\nN-C d\nPI\n+\n+7776FU\n";
    for (ending, end, result) in [
        // The server writes a resignation for the side that lost its connection.
        ("%TORYO\n'summary:abnormal:A lose:C win\n", Termination::Forfeit, Side::Second),
        ("'summary:time up:A:b win win:C d lose\n", Termination::TimeForfeit, Side::First),
        ("'summary:oute_sennichite:A lose:C win\n", Termination::PerpetualCheck, Side::Second),
    ] {
        let (read, _) = read_one(format!("{board}{ending}").as_bytes(), Format::CSA);
        assert_eq!(read.termination(), Some(end), "{ending}");
        assert_eq!(read.result, GameResult::Win(result), "{ending}");
        check_round_trip(&read, Format::CSA);
    }
    // A redundant or malformed summary stays a comment.
    for comment in ["summary:toryo:A win:C lose", "summary:toryo", "summary:x:A:B won"] {
        let file = format!("{board}%TORYO\n'{comment}\n");
        let (read, _) = read_one(file.as_bytes(), Format::CSA);
        assert_eq!(read.termination(), Some(Termination::Resignation));
        let end = read.annotations(read.last()).end.as_ref().expect("an end");
        assert_eq!(end.comments, [comment]);
    }
}

#[test]
fn the_end_in_kif_has_precedence_over_the_summary() {
    // The line of the end has precedence, and only known names in brackets count.
    for (summary, end, result) in [
        ("まで1手で後手の勝ち（詰み）", Termination::Resignation, Side::First),
        ("まで1手で先手の勝ち（優勝）", Termination::Resignation, Side::First),
        ("まで1手で先手の勝ち（切れ負け）", Termination::TimeForfeit, Side::First),
    ] {
        let file = format!("1 ７六歩(77)\n2 投了\n{summary}\n");
        let read = super::read_all(file.as_bytes(), Format::KIF).remove(0).expect("a game");
        assert_eq!(read.termination(), Some(end), "{summary}");
        assert_eq!(read.result, GameResult::Win(result), "{summary}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Lines with ends, in any order, satisfy the properties of all files.
    #[test]
    fn any_order_of_ends_satisfies_the_properties(
        lines in prop::collection::vec(prop::sample::select(vec![
            "%TORYO", "%CHUDAN", "%+ILLEGAL_ACTION", "%-ILLEGAL_ACTION", "'summary:toryo:a win:b lose",
            "'summary:toryo:a lose:b win", "'summary:abnormal:a draw:b draw", "'*summary:try:a:b win",
            "' summary:try:a:b win", "'summary: x :a:b censored", "T5", "'summary::a:b win", "/",
        ]), 0..6),
        special in prop::sample::select(vec!["TORYO", "-ILLEGAL_ACTION", "x"]),
        comments in prop::collection::vec(prop::sample::select(vec![
            "summary:toryo:a win:b lose", " summary:toryo:a lose:b win", "x\nsummary:try:a:b win", "y",
            "summary:oute_sennichite:a:b lose", "\rsummary:try:a:b win", "summary:\u{b}:a:b win",
        ]), 0..4),
        summary in prop::sample::select(vec![
            "まで1手で後手の勝ち（投了）", "まで1手で先手の勝ち（投了）（詰み）", "まで（切れ負け）",
            "まで1手で後手の反則勝ち（連続王手の千日手）", "まで引き分け（裁定）", "まで先手の勝ち（不戦勝）",
        ]),
        name in prop::sample::select(vec!["", "投了", "反則勝ち", "裁定", "x（投了）", "連続王手の千日手"]),
    ) {
        laws::csa(format!("PI\n+\n+7776FU\n{}\n", lines.join("\n")).as_bytes());
        let end = serde_json::json!({ "special": special, "comments": comments });
        laws::jkf(format!(r#"{{"moves":[{{}},{end}]}}"#).as_bytes());
        let line = if name.is_empty() { String::new() } else { format!("2 {name}\n") };
        laws::kif(format!("1 ７六歩(77)\n{line}{summary}\n").as_bytes());
        laws::kif(format!("▲７六歩\n{summary}\n変化：1手\n▲２六歩\n{summary}\n").as_bytes());
    }
}
