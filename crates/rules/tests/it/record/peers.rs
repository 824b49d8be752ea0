//! Compares with other libraries: python-chess for PGN, cshogi for KIF, KI2 and CSA.
//!
//! Runs if `READYOK_REAL_ENGINES` is set. `scripts/install-record-peers.sh` installs the libraries.

use std::env;
use std::fs;
use std::io::{Write as _, stderr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use proptest::strategy::{Strategy, ValueTree as _};
use proptest::test_runner::TestRunner;
use readyok_protocol::Score;
use readyok_rules::record::{Annotations, Format, GameRecord, MarkColor, Node, Tag};
use readyok_rules::{Game, Side, Square};
use readyok_rules::{GameResult, Termination};
use serde_json::{Value, json};

use super::kif::uci_moves;
use super::{endings, games, nodes, read_all, read_one, written};

/// Sends a request to the Python libraries.
fn query(request: &Value) -> Option<Value> {
    query_with(request, |installed, tests| {
        let mut python = Command::new(installed.join("bin/python"));
        python.arg(tests.join("peers.py")).env("PYTHONIOENCODING", "utf-8");
        python
    })
}

/// Sends a request to a program and returns its reply. `program` gets the directory of the installed
/// libraries and that of these tests. `None` if the tests are not enabled.
pub(super) fn query_with(
    request: &Value,
    program: impl FnOnce(&Path, &Path) -> Command,
) -> Option<Value> {
    if env::var_os("READYOK_REAL_ENGINES").is_none() {
        // The output of `eprintln!` is hidden for tests that pass.
        let text = "not tested: records of other programs, which need READYOK_REAL_ENGINES=1\n";
        stderr().write_all(text.as_bytes()).expect("standard error is open");
        return None;
    }
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let installed = root.join("../../target/record-peers");
    assert!(installed.is_dir(), "scripts/install-record-peers.sh was not run");
    let mut child = program(&installed, &root.join("tests/it/record"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("scripts/install-record-peers.sh was run");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(request.to_string().as_bytes()).expect("an open pipe");
    drop(input);
    let output = child.wait_with_output().expect("an exit status");
    assert!(output.status.success(), "{}", output.status);
    Some(serde_json::from_slice(&output.stdout).expect("JSON"))
}

/// Random values, the same in every run.
pub(super) fn samples<T: std::fmt::Debug>(
    strategy: &impl Strategy<Value = T>,
    count: usize,
) -> Vec<T> {
    let mut runner = TestRunner::deterministic();
    (0..count).map(|_| strategy.new_tree(&mut runner).expect("a value").current()).collect()
}

/// The annotations that python-chess should read.
fn notes(notes: &Annotations) -> Value {
    let seconds = |time: Option<Duration>| time.map(|time| time.as_secs_f64());
    let mut nags: Vec<u8> = notes.nags.iter().map(|nag| nag.0).collect();
    nags.sort_unstable();
    nags.dedup();
    let number = |square: Square| u32::from(square.column()) + 8 * (7 - u32::from(square.row()));
    let marks: Vec<Value> = notes
        .marks
        .iter()
        .map(|mark| {
            let color = match mark.color {
                MarkColor::Green => "green",
                MarkColor::Red => "red",
                MarkColor::Yellow => "yellow",
                MarkColor::Blue => "blue",
            };
            json!([color, number(mark.from), number(mark.to.unwrap_or(mark.from))])
        })
        .collect();
    json!({
        "nags": nags,
        "comment": notes.comments.join(" "),
        "before": notes.before.join(" "),
        "clock": seconds(notes.clock),
        "elapsed": seconds(notes.elapsed),
        "score": notes.evaluation.map(|evaluation| match evaluation.score {
            Score::Cp(score) => json!(score),
            mate => {
                let moves = i64::from(mate.mate_plies().unwrap_or(0).div_ceil(2));
                json!([if mate.is_mating() { moves } else { -moves }])
            }
        }),
        "depth": notes.evaluation.and_then(|evaluation| evaluation.depth),
        "marks": marks,
    })
}

/// All nodes, in the order of [`nodes`].
fn tree(record: &GameRecord) -> Vec<Value> {
    let described = |node: &Node| {
        let mut value = notes(record.annotations(node.id()));
        let uci = node.mv().map(|mv| mv.to_uci(record.game().castling_form()));
        value["move"] = uci.unwrap_or_default().into();
        value["ply"] = node.ply().into();
        value
    };
    nodes(record).into_iter().map(described).collect()
}

#[test]
fn exchanges_games_with_python_chess() {
    // Python-chess does not support comments with `;` after a move, and drops `}`.
    let plans = games::plan(games::pgn_notes(), 0..80);
    let mut records: Vec<GameRecord> = samples(&(games::chess_start(), plans), 60)
        .into_iter()
        .map(|(start, plan)| games::build(&start, plan))
        .collect();
    for (index, record) in records.iter_mut().enumerate() {
        // Python-chess does not unescape `\"` in headers.
        record.set_header(Tag::Event, format!("game {index}"));
        record.headers.push("Annotator", "Ä [b]");
    }
    let text: Vec<u8> = records.iter().flat_map(|record| written(record, Format::PGN)).collect();
    let text = String::from_utf8(text).expect("UTF-8");
    let Some(answer) = query(&json!({ "pgn": text })) else { return };
    let answer = answer.as_array().expect("games");
    assert_eq!(answer.len(), records.len());
    for (record, theirs) in records.iter().zip(answer) {
        assert_eq!(theirs["errors"], json!([]));
        assert_eq!(theirs["headers"]["Result"], record.result.as_str());
        assert_eq!(theirs["headers"]["Event"], record.header(Tag::Event).expect("it was set"));
        assert_eq!(theirs["headers"]["Annotator"], "Ä [b]");
        let (ours, theirs_nodes) = (tree(record), theirs["nodes"].as_array().expect("nodes"));
        assert_eq!(ours.len(), theirs_nodes.len());
        for (ours, theirs) in ours.iter().zip(theirs_nodes) {
            assert_eq!(ours, theirs, "{text}");
        }
        let pgn = theirs["pgn"].as_str().expect("text");
        let (read, warnings) = read_one(pgn.as_bytes(), Format::PGN);
        assert_eq!((tree(&read), warnings), (ours, vec![]), "{pgn}");
        assert_eq!((read.game(), read.result), (record.game(), record.result));
        assert_eq!(read.start().to_string(), record.start().to_string());
        assert_eq!(read.headers, record.headers);
    }
}

/// Files of many programs.
#[test]
fn python_chess_reads_the_samples_equally() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/records");
    let mut compared = 0;
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        // Libraries read broken games differently.
        if path.extension().is_none_or(|extension| extension != "pgn") || name == "broken.pgn" {
            continue;
        }
        let bytes = fs::read(&path).expect("a file");
        let latin1 = || bytes.iter().copied().map(char::from).collect();
        let text = String::from_utf8(bytes.clone()).unwrap_or_else(|_| latin1());
        let text = for_python_chess(&text);
        let Some(answer) = query(&json!({ "pgn": text })) else { return };
        let ours = read_all(&bytes, Format::PGN);
        assert_eq!(answer.as_array().map(Vec::len), Some(ours.len()), "{name}");
        for (theirs, ours) in answer.as_array().expect("games").iter().zip(ours) {
            check_sample(name, theirs, &ours.expect("a game"));
            compared += 1;
        }
    }
    assert_eq!(compared, 36);
}

/// Replaces what python-chess skips or rejects: glyphs of evaluations, seconds without minutes, and names of variants.
fn for_python_chess(text: &str) -> String {
    [
        (" +- ", " $18 "),
        ("[%emt 0.", "[%emt 0:00:00."),
        ("[%emt 1.", "[%emt 0:00:01."),
        ("[%emt 2.", "[%emt 0:00:02."),
        ("[Variant \"wild/fr\"]", "[Variant \"Chess960\"]"),
        ("[Variant \"wild/0\"]", "[Variant \"Chess960\"]"),
    ]
    .into_iter()
    .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

fn check_sample(name: &str, theirs: &Value, ours: &GameRecord) {
    assert_eq!(theirs["errors"], json!([]), "{name}");
    assert_eq!(theirs["fen"], ours.start().to_string(), "{name}");
    assert_eq!(theirs["headers"]["Result"], ours.result.as_str(), "{name}");
    // A record has these outside of its headers.
    let held = ["Result", "FEN", "SetUp", "Variant"];
    let mut headers = theirs["headers"].as_object().expect("headers").clone();
    headers.retain(|name, _| !held.contains(&name.as_str()));
    let known = |(name, value): &(&str, &str)| {
        let unknown = ["?", "????.??.??"].contains(value);
        !unknown && !held.contains(name)
    };
    let found = ours.headers.iter().filter(known);
    let found = found.map(|(name, value)| (name.to_owned(), value.into())).collect();
    assert_eq!(headers, found, "{name}");
    let nodes = theirs["nodes"].as_array().expect("nodes");
    for (theirs, ours) in nodes.iter().zip(&tree(ours)) {
        assert_eq!(theirs, ours, "{name}");
    }
    assert_eq!(nodes.len(), ours.len() + 1, "{name}");
}

#[test]
fn exchanges_games_with_cshogi() {
    // Cshogi does not support variations and board diagrams.
    let texts = [
        "",
        "lnsgkgsn1/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
        "2sgkgs2/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    ];
    let choices = proptest::collection::vec(proptest::num::u16::ANY, 1..120);
    let mut records = Vec::new();
    for (index, choices) in samples(&choices, 45).into_iter().enumerate() {
        let mut record = GameRecord::new(super::super::position(Game::Shogi, texts[index % 3]));
        record.set_header(Tag::Player(Side::First), "甲");
        record.set_header(Tag::Player(Side::Second), "乙");
        for choice in choices {
            let moves = record.position().legal_moves();
            let Some(mv) = moves.get(usize::from(choice) % moves.len().max(1)) else { break };
            let id = record.play(*mv).expect("legal");
            let notes = record.annotations_mut(id).expect("it is there");
            notes.elapsed = Some(Duration::from_secs(u64::from(choice) / 7));
            notes.comments.push("一言".to_owned());
        }
        record.finish(Termination::Resignation);
        records.push(record);
    }
    let text = |record, format| String::from_utf8(written(record, format)).expect("UTF-8");
    let request: Vec<Value> = records
        .iter()
        .map(|record| {
            json!({
                "kif": text(record, Format::KIF),
                "ki2": text(record, Format::KI2),
                "csa": text(record, Format::CSA),
            })
        })
        .collect();
    let Some(answer) = query(&json!({ "shogi": request })) else { return };
    let answer = answer.as_array().expect("games");
    assert_eq!(answer.len(), records.len());
    for (record, theirs) in records.iter().zip(answer) {
        let moves: Vec<String> = uci_moves(record).split_whitespace().map(str::to_owned).collect();
        let mut times: Vec<u64> = record
            .mainline()
            .filter_map(|node| record.annotations(node.id()).elapsed)
            .map(|time| time.as_secs())
            .collect();
        for format in ["kif", "csa"] {
            let read = &theirs[format];
            assert_eq!(read["moves"], json!(moves), "{}", text(record, Format::KIF));
            assert_eq!(read["sfen"], record.start().to_string());
            assert_eq!(read["names"], json!(["甲", "乙"]));
            assert_eq!(read["times"], json!(times), "{format}");
        }
        assert_eq!(theirs["csa"]["end"], "%TORYO");
        if record.start().turn() == Side::First {
            assert_eq!(theirs["ki2"]["moves"], json!(moves), "{}", text(record, Format::KI2));
        }
        times.fill(61);
        for (name, format) in [("kif", Format::KIF), ("ki2", Format::KI2), ("csa", Format::CSA)] {
            let Some(file) = theirs["written"][name].as_str() else { continue };
            let read = read_all(file.as_bytes(), format).remove(0);
            let read = read.unwrap_or_else(|error| panic!("{file}: {error}"));
            assert_eq!(uci_moves(&read), uci_moves(record), "{file}");
            assert_eq!(read.player(Side::First), Some("a"));
            // KI2 of cshogi has no end.
            if format != Format::KI2 {
                assert_eq!(read.termination(), Some(Termination::Resignation), "{file}");
                assert_eq!(read.result, record.result);
                let read: Vec<Duration> = read
                    .mainline()
                    .filter_map(|node| read.annotations(node.id()).elapsed)
                    .collect();
                assert_eq!(read.len(), times.len());
                assert!(read.iter().all(|time| time.as_secs() == 61));
            }
        }
    }
}

/// Cshogi never reads the wrong winner, regardless of the side to move.
#[test]
fn cshogi_reads_the_winners() {
    let decided = [GameResult::Win(Side::First), GameResult::Win(Side::Second)];
    let ends = endings::ends().into_iter();
    let records: Vec<GameRecord> = ends
        .flat_map(|end| decided.into_iter().map(move |result| (end, result)))
        .flat_map(|(end, result)| [1, 2].map(|moves| endings::game(moves, end, result)))
        .collect();
    let text = |record, format| String::from_utf8(written(record, format)).expect("UTF-8");
    let request: Vec<Value> = records
        .iter()
        .map(|record| {
            json!({
                "kif": text(record, Format::KIF),
                "ki2": text(record, Format::KI2),
                "csa": text(record, Format::CSA),
            })
        })
        .collect();
    let Some(answer) = query(&json!({ "shogi": request })) else { return };
    for (record, theirs) in records.iter().zip(answer.as_array().expect("games")) {
        let winner = if record.result == GameResult::Win(Side::First) { 1 } else { 2 };
        let end = record.termination().expect("an end");
        // Cshogi does not support other ends.
        let is_known = matches!(
            end,
            Termination::Resignation
                | Termination::PerpetualCheck
                | Termination::Declaration
                | Termination::FailedDeclaration
                | Termination::TryRule
                | Termination::IllegalMove
                | Termination::EngineFailure
                | Termination::Adjudication
        );
        for (name, format) in [("kif", Format::KIF), ("csa", Format::CSA)] {
            let found = &theirs[name]["win"];
            let is_missing = found.is_null() || *found == 0;
            assert!(*found == winner || is_missing && !is_known, "{}", text(record, format));
        }
    }
}
