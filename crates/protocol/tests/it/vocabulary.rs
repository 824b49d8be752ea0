//! The words that end a list of moves are those that `go` and `info` know.

use std::borrow::Cow;
use std::collections::BTreeSet;

use readyok_protocol::{Command, Dialect, Go, Info, MoveList, Reply};

/// Every text in quotation marks of the sources that know a word, so that no new one is missed.
fn candidates() -> BTreeSet<&'static str> {
    let sources = [
        include_str!("../../src/reserved.rs"),
        include_str!("../../src/command/go.rs"),
        include_str!("../../src/reply/info.rs"),
    ];
    let words = sources.into_iter().flat_map(|source| source.split('"'));
    words.filter(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_lowercase())).collect()
}

fn go(words: &str) -> Go<'static> {
    match Command::read(&format!("go {words}"), Dialect::Uci).value.into_owned() {
        Command::Go(go) => go,
        other => panic!("{other:?}"),
    }
}

fn info(words: &str) -> Info<'static> {
    match Reply::read(&format!("info {words}"), Dialect::Uci).value.into_owned() {
        Reply::Info(info) => info,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_word_ends_a_list_of_moves_if_go_or_info_knows_it() {
    let candidates = candidates();
    assert!(candidates.is_superset(&["searchmoves", "movesleft", "moves"].into()));
    for word in candidates {
        // `moves` belongs to another message.
        let known = go(word).unknown.is_empty() || info(word).unknown.is_empty() || word == "moves";
        let ends = MoveList::default().push_word(word).is_err();
        assert_eq!(ends, known, "{word}");
    }
}

#[test]
fn a_word_that_go_knows_is_not_written_as_an_unknown_one() {
    for word in candidates() {
        let unknown = Go { unknown: vec![Cow::Borrowed(word)], ..Go::default() };
        let written = Command::Go(unknown).write(Dialect::Uci, &mut String::new());
        assert_eq!(written.is_err(), go(word).unknown.is_empty(), "{word}");
    }
}
