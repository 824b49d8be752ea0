//! Messages survive JSON.

use readyok_protocol::{Command, Dialect, Move, MoveList, Reply};

use crate::cases;

/// Checks that every message of a table comes back from JSON as it was.
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
fn every_message_comes_back_from_json_as_it_was() {
    check(include_str!("data/golden.txt"));
    check(include_str!("data/tricky.txt"));
}

#[test]
fn json_cannot_smuggle_in_what_a_reader_would_refuse() {
    serde_json::from_str::<Move>(r#""e2e4\nquit""#).unwrap_err();
    serde_json::from_str::<MoveList<'_>>(r#""e2e4 depth 5""#).unwrap_err();
    let list: MoveList<'_> = serde_json::from_str(r#""e2e4\n quit""#).unwrap();
    assert_eq!(list.as_str(), "e2e4 quit", "a word, and no line");
    let fen = r#"{"Position":{"root":{"Fen":"8/8 w\nquit"},"moves":""}}"#;
    serde_json::from_str::<Command<'_>>(fen).unwrap_err();
    let stop = serde_json::to_string(&Command::read("stop", Dialect::Uci).value).unwrap();
    assert_eq!(stop, r#""Stop""#);
}
