//! JKF: files of other programs, broken files, and round trips.

use std::time::Duration;

use proptest::prelude::*;
use readyok_rules::record::{Format, NodeId};
use readyok_rules::{GameResult, Termination};
use readyok_rules::{Side, record::Tag};

use super::kif::{finish, no_time, uci_moves};
use super::{check_round_trip, games, read_all, read_one, written};

#[test]
fn reads_files_of_other_programs() {
    let text = r#"{"header":{"先手":"na2hiro","後手":"うひょ"},"initial":{"preset":"HIRATE"},"moves":[
        {"comments":["はじめ"]},
        {"move":{"from":{"x":7,"y":7},"to":{"x":7,"y":6},"color":0,"piece":"FU"},
         "time":{"now":{"m":0,"s":16},"total":{"h":0,"m":0,"s":16}}},
        {"move":{"from":{"x":3,"y":3},"to":{"x":3,"y":4},"color":1,"piece":"FU"},
         "forks":[[{"move":{"from":{"x":8,"y":3},"to":{"x":8,"y":4},"piece":"FU"}},{"special":"CHUDAN"}]]},
        {"move":{"from":{"x":8,"y":8},"to":{"x":2,"y":2},"color":0,"piece":"KA","promote":true,"capture":"KA"}},
        {"move":{"from":{"x":3,"y":1},"same":true,"color":1,"piece":"GI"},
         "forks":[[{"move":{"from":{"x":8,"y":2},"to":{"x":2,"y":2},"piece":"HI"}}]]},
        {"move":{"to":{"x":4,"y":5},"color":0,"piece":"KA","relative":"H"}},
        {"special":"TORYO","comments":["終わり"]}]}"#;
    let (record, warnings) = read_one(text.as_bytes(), Format::JKF);
    assert_eq!((uci_moves(&record).as_str(), warnings), ("7g7f 3c3d 8h2b+ 3a2b B*4e", vec![]));
    assert_eq!(record.header(Tag::Player(Side::First)), Some("na2hiro"));
    assert_eq!((record.len(), record.result), (7, GameResult::Win(Side::First)));
    assert_eq!(record.annotations(NodeId::ROOT).comments, ["はじめ"]);
    let first = record.mainline().next().expect("a move");
    assert_eq!(record.annotations(first.id()).elapsed, Some(Duration::from_secs(16)));
    let end = record.annotations(record.last()).end.clone().expect("an end");
    assert_eq!(
        (end.outcome.termination, end.comments),
        (Termination::Resignation, vec!["終わり".to_owned()])
    );
    check_round_trip(&record, Format::JKF);
    check_round_trip(&record, Format::KIF);
}

#[test]
fn writes_all_fields_of_moves() {
    let (record, _) = read_one("▲７六歩 △３四歩 ▲２二角成 △同　銀 ▲５五角".as_bytes(), Format::KI2);
    let text = String::from_utf8(written(&record, Format::JKF)).expect("UTF-8");
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let moves: Vec<_> = (1..=5).map(|index| value["moves"][index]["move"].clone()).collect();
    assert_eq!(
        moves[2],
        serde_json::json!({
            "color": 0, "from": {"x": 8, "y": 8}, "to": {"x": 2, "y": 2}, "piece": "KA",
            "promote": true, "capture": "KA",
        })
    );
    assert_eq!((&moves[3]["same"], &moves[3]["capture"]), (&true.into(), &"UM".into()));
    assert_eq!((&moves[4]["piece"], moves[4].get("from")), (&"KA".into(), None));
    assert_eq!(value["initial"]["preset"], "HIRATE");
}

#[test]
fn reports_broken_files() {
    for (text, expected) in [
        ("{\"moves\":[{}", "line 1, column 12: "),
        ("3", "line 1, column 1: unexpected `invalid type"),
        ("\n {\"moves\":3}", "line 2, column 2: "),
        (
            r#"{"initial":{"preset":"X"},"moves":[]}"#,
            "line 1, column 1: unexpected `{\"preset\":\"X\"}`",
        ),
    ] {
        let error = read_all(text.as_bytes(), Format::JKF).remove(0).expect_err(text);
        assert!(error.to_string().starts_with(&format!("game 1, {expected}")), "{text}: {error}");
    }
    for (text, expected) in [
        ("{\"moves\":[{},{\"move\":3}]}", "line 1, column 1: `3` is not a legal move; "),
        (
            r#"{"moves":[{},{"move":{"from":{"x":7,"y":7},"to":{"x":7,"y":5},"piece":"FU"}}]}"#,
            "line 1, column 1: illegal move `7g7e`: the piece cannot reach the target square; ",
        ),
    ] {
        let (game, notices) = read_one(text.as_bytes(), Format::JKF);
        assert!(game.is_empty());
        assert!(notices[0].to_string().starts_with(expected), "{text}: {notices:?}");
    }
    // Deep nesting is an error, not a stack overflow.
    let deep = format!("{{\"moves\":{}", "[{\"forks\":[".repeat(10_000));
    assert!(read_all(deep.as_bytes(), Format::JKF).remove(0).is_err());
}

#[test]
fn reads_several_games() {
    let game = r#"{"moves":[{},{"special":"TORYO"}]}"#;
    let games = read_all(format!("\u{feff}{game}\n{game}\n{{}}\n{game}").as_bytes(), Format::JKF);
    let read: Vec<bool> = games.iter().map(Result::is_ok).collect();
    assert_eq!(read, [true, true, false, true]);
}

#[test]
fn a_redundant_summary_stays_a_comment() {
    let file =
        r#"{"moves":[{},{"special":"TORYO","comments":["summary:toryo:a lose:b win","x"]}]}"#;
    let (record, _) = read_one(file.as_bytes(), Format::JKF);
    let end = record.annotations(record.last()).end.as_ref().expect("an end");
    assert_eq!(end.comments, ["summary:toryo:a lose:b win\nx"]);
    check_round_trip(&record, Format::JKF);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn games_survive_a_round_trip(
        start in games::shogi_start(),
        plan in games::plan(games::whole_seconds(), 0..30),
        end in games::end(),
    ) {
        // JKF has no number of the first move.
        prop_assume!(start.to_string().ends_with(" 1"));
        let mut record = games::build(&start, games::Plan { root: no_time(plan.root), ..plan });
        finish(&mut record, end);
        record.headers.push("先手", "a \"b\" \\ 王");
        check_round_trip(&record, Format::JKF);
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        read_all(&bytes, Format::JKF);
    }
}
