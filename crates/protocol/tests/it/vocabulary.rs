//! The keywords that end a list of moves are those of `go` and `info`.

use std::borrow::Cow;
use std::collections::BTreeSet;

use readyok_protocol::{Command, Dialect, Go, Info, MoveList, Reply};

/// All string literals of the sources that contain keywords, to detect new ones.
fn candidates() -> BTreeSet<&'static str> {
    let sources = [
        include_str!("../../src/dialect.rs"),
        include_str!("../../src/command/go.rs"),
        include_str!("../../src/reply/info.rs"),
    ];
    let tokens = sources.into_iter().flat_map(|source| source.split('"'));
    tokens
        .filter(|token| !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_lowercase()))
        .collect()
}

fn go(tokens: &str) -> Go<'static> {
    match Command::read(&format!("go {tokens}"), Dialect::Uci).value.into_owned() {
        Command::Go(go) => go,
        other => panic!("{other:?}"),
    }
}

fn info(tokens: &str) -> Info<'static> {
    match Reply::read(&format!("info {tokens}"), Dialect::Uci).value.into_owned() {
        Reply::Info(info) => info,
        other => panic!("{other:?}"),
    }
}

#[test]
fn keywords_of_go_and_info_end_a_list_of_moves() {
    let candidates = candidates();
    assert!(candidates.is_superset(&["searchmoves", "movesleft", "moves"].into()));
    for token in candidates {
        // `moves` belongs to another message.
        let known =
            go(token).unknown.is_empty() || info(token).unknown.is_empty() || token == "moves";
        let ends = MoveList::default().push_token(token).is_err();
        assert_eq!(ends, known, "{token}");
    }
}

#[test]
fn keywords_of_go_are_not_written_as_unknown_tokens() {
    for token in candidates() {
        let unknown = Go { unknown: vec![Cow::Borrowed(token)], ..Go::default() };
        let written = Command::Go(unknown).write(Dialect::Uci, &mut String::new());
        assert_eq!(written.is_err(), go(token).unknown.is_empty(), "{token}");
    }
}
