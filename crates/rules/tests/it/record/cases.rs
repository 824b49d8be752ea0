//! The files in `testdata/cases` are read as `expected.json` states.

use std::fs;
use std::path::Path;

use readyok_rules::record::{self, Format, GameRecord, RecordMove, write};
use readyok_rules::{CastlingForm, Game};
use serde_json::{Value, json};

/// The moves of the main line. An illegal one is marked.
fn moves(record: &GameRecord) -> String {
    let text =
        |mv: RecordMove| mv.to_uci(CastlingForm::KingMove) + if mv.is_illegal() { "!" } else { "" };
    record.mainline().filter_map(|node| node.mv().map(text)).collect::<Vec<_>>().join(" ")
}

#[test]
fn reads_defective_records_as_expected() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/cases");
    let expected = fs::read_to_string(directory.join("expected.json")).expect("a file");
    let expected: serde_json::Map<String, Value> = serde_json::from_str(&expected).expect("JSON");
    let mut found = serde_json::Map::new();
    let is_supported =
        |name: &&String| cfg!(feature = "encodings") || !name.ends_with("-is-sjis.kif");
    for name in expected.keys().filter(is_supported) {
        let bytes = fs::read(directory.join(name)).expect("a file");
        let mut records = record::read(&bytes[..], None);
        let (mut games, mut notices) = (Vec::new(), Vec::new());
        while let Some(record) = records.next() {
            let record = record.unwrap_or_else(|error| panic!("{name}: {error}"));
            let places =
                records.notices().iter().map(|notice| format!("{}:{}", notice.line, notice.column));
            notices.extend(places);
            is_stable(name, &record);
            games.push(moves(&record));
        }
        found.insert(name.clone(), json!({ "games": games, "notices": notices }));
    }
    assert_eq!(found.len(), if cfg!(feature = "encodings") { 34 } else { 33 });
    let wrong: Vec<_> = found.iter().filter(|(name, text)| expected[*name] != **text).collect();
    assert!(wrong.is_empty(), "other than expected: {wrong:#?}");
}

/// A board with a row that is short, missing or unreadable is rejected: its other rows do not move up.
#[test]
fn boards_with_defective_rows_are_rejected() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/cases");
    for (name, expected) in [
        ("short-row.kif", "game 1, line 5, column 1: bad start position: rank b has"),
        ("missing-row.kif", "game 1, line 6, column 1: bad start position: rank c has"),
        ("unknown-piece.kif", "game 1, line 4, column 1: bad start position: rank a has"),
    ] {
        let bytes = fs::read(directory.join(name)).expect("a file");
        let games: Vec<_> = record::read(&bytes[..], None).collect();
        let [Err(error)] = games.as_slice() else { panic!("{name}: {games:?}") };
        assert!(error.to_string().starts_with(expected), "{name}: {error}");
    }
}

/// A game that was written and read again is written identically, with its result.
#[track_caller]
fn is_stable(name: &str, record: &GameRecord) {
    let formats = match record.game() {
        Game::Chess | Game::Chess960 => &[Format::PGN][..],
        Game::Shogi => &[Format::KIF, Format::CSA, Format::JKF],
    };
    for &format in formats {
        let written = |record: &GameRecord| {
            let mut text = Vec::new();
            write(record, format, &mut text).unwrap_or_else(|error| panic!("{name}: {error}"));
            text
        };
        let first = written(record);
        let mut games = record::read(&first[..], format);
        let again = games.next().expect("a game").unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(written(&again), first, "{name}, {format:?}");
        assert_eq!(
            (again.result, moves(&again)),
            (record.result, moves(record)),
            "{name}, {format:?}"
        );
    }
}
