//! Messages survive a round trip through JSON.

use std::fmt::Debug;
use std::time::Duration;

use readyok_protocol::{
    Command, Dialect, Go, Info, MateLimit, Move, MoveList, MoveShape, Opponent, OpponentKind,
    PathList, PathSeparator, PositionValue, Reply, Title,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cases;

/// Checks that every message of a table survives a round trip through JSON.
fn check(table: &str) {
    for case in cases::read(table) {
        let line = case.line();
        if case.from_client {
            let command = Command::read(&line, case.dialect).value;
            let json = serde_json::to_string(&command).unwrap();
            assert_eq!(serde_json::from_str::<Command<'_>>(&json).unwrap(), command, "{json}");
        } else {
            let reply = Reply::read(&line, case.dialect).value;
            let json = serde_json::to_string(&reply).unwrap();
            assert_eq!(serde_json::from_str::<Reply<'_>>(&json).unwrap(), reply, "{json}");
        }
    }
}

#[test]
fn every_message_survives_json() {
    check(include_str!("data/golden.txt"));
    check(include_str!("data/tricky.txt"));
}

#[track_caller]
fn check_value<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T, json: &str) {
    assert_eq!(serde_json::to_string(value).unwrap(), json);
    assert_eq!(&serde_json::from_str::<T>(json).unwrap(), value);
}

#[test]
fn search_time_is_milliseconds_in_json() {
    let info = Info { time: Some(Duration::from_millis(1242)), ..Info::default() };
    let json = serde_json::to_value(&info).unwrap();
    assert_eq!(json["time"], 1242);
    assert_eq!(serde_json::from_value::<Info<'_>>(json).unwrap(), info);
    let mut json = serde_json::to_value(Info::default()).unwrap();
    json.as_object_mut().unwrap().remove("time");
    assert_eq!(serde_json::from_value::<Info<'_>>(json).unwrap(), Info::default());
}

#[test]
fn time_limits_are_milliseconds_in_json() {
    let time = Duration::from_millis(1500);
    let go = Go { random_time: Some(time), ..Go::move_time(time) };
    let mut json = serde_json::to_value(&go).unwrap();
    assert_eq!((&json["move_time"], &json["random_time"]), (&1500.into(), &1500.into()));
    assert_eq!(serde_json::from_value::<Go<'_>>(json.clone()).unwrap(), go);
    json["move_time"] = (-1).into();
    json.as_object_mut().unwrap().remove("random_time");
    assert_eq!(serde_json::from_value::<Go<'_>>(json).unwrap(), Go::move_time(Duration::ZERO));
    let short = serde_json::to_value(Go::move_time(Duration::from_nanos(1))).unwrap();
    assert_eq!(short["move_time"], 1);
    check_value(&MateLimit::Time(time), r#"{"Time":1500}"#);
    check_value(&MateLimit::Infinite, r#""Infinite""#);
}

#[test]
fn every_value_survives_json() {
    let opponent: Opponent = "GM 2800 human Gary Kasparov".parse().unwrap();
    check_value(&opponent, r#""GM 2800 human Gary Kasparov""#);
    check_value(&Title::WGM, r#""WGM""#);
    check_value(&OpponentKind::Computer, r#""Computer""#);
    let paths = PathList::new(["/tb/4", "/tb/5"]).unwrap();
    check_value(&paths, r#"["/tb/4","/tb/5"]"#);
    check_value(&PathSeparator::Colon, r#""Colon""#);
    let value: PositionValue = "25 + 8/8/8/8/8/8/8/K1k5 w - - 0 1".parse().unwrap();
    check_value(&value, r#""25 + 8/8/8/8/8/8/8/K1k5 w - - 0 1""#);
    check_value(&PositionValue::ClearAll, r#""clearall""#);
    let shape = "e7e8q".parse::<Move>().unwrap().shape();
    let json = r#"{"Board":{"from":{"file":5,"rank":7},"to":{"file":5,"rank":8},"suffix":"q"}}"#;
    check_value(&shape, json);
    check_value(&MoveShape::Null, r#""Null""#);
}

#[test]
fn json_is_validated_like_lines() {
    serde_json::from_str::<Move>(r#""e2e4\nquit""#).unwrap_err();
    serde_json::from_str::<MoveList<'_>>(r#""e2e4 depth 5""#).unwrap_err();
    serde_json::from_str::<PathList>(r#"["/a:/b"]"#).unwrap_err();
    serde_json::from_str::<PathList>(r#"["/a\nquit"]"#).unwrap_err();
    serde_json::from_str::<Title>(r#""none""#).unwrap_err();
    serde_json::from_str::<Opponent>(r#""GM""#).unwrap_err();
    serde_json::from_str::<PositionValue>(r#""1 + 8/8 w\nquit""#).unwrap_err();
    let list: MoveList<'_> = serde_json::from_str(r#""e2e4\n quit""#).unwrap();
    assert_eq!(list.as_str(), "e2e4 quit", "a token, and no line");
    let fen = r#"{"Position":{"root":{"Fen":"8/8 w\nquit"},"moves":""}}"#;
    serde_json::from_str::<Command<'_>>(fen).unwrap_err();
    let stop = serde_json::to_string(&Command::read("stop", Dialect::Uci).value).unwrap();
    assert_eq!(stop, r#""Stop""#);
}
