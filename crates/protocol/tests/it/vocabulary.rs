//! The tokens that end a list of moves are those that `go` and `info` know.

use std::borrow::Cow;
use std::collections::BTreeSet;

use readyok_protocol::{Command, Dialect, Go, Info, MoveList, Reply};

/// Every text in quotation marks of the sources that know a token, so that no new one is missed.
fn candidates() -> BTreeSet<&'static str> {
    let sources = [
        include_str!("../../src/keywords.rs"),
        include_str!("../../src/command/go.rs"),
        include_str!("../../src/reply/info.rs"),
    ];
    let tokens = sources.into_iter().flat_map(|source| source.split('"'));
    tokens.filter(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_lowercase())).collect()
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
fn a_token_ends_a_list_of_moves_if_go_or_info_knows_it() {
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
fn a_token_that_go_knows_is_not_written_as_an_unknown_one() {
    for token in candidates() {
        let unknown = Go { unknown: vec![Cow::Borrowed(token)], ..Go::default() };
        let written = Command::Go(unknown).write(Dialect::Uci, &mut String::new());
        assert_eq!(written.is_err(), go(token).unknown.is_empty(), "{token}");
    }
}
