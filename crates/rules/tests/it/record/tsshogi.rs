//! Compares KIF, KI2, CSA, JKF and USI with tsshogi, the library of ShogiHome.
//!
//! Runs if `READYOK_REAL_ENGINES` is set. `scripts/install-record-peers.sh` installs tsshogi.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use proptest::strategy::Strategy as _;
use readyok_rules::record::{Annotations, Format, GameRecord, Node, NodeId, Tag};
use readyok_rules::{CastlingForm, Side};
use readyok_rules::{GameResult, Termination};
use serde_json::{Value, json};

use super::kif::no_time;
use super::peers::{query_with, samples};
use super::{endings, games, read_all, read_one, written};

const FORMATS: [(&str, Format); 5] = [
    ("kif", Format::KIF),
    ("ki2", Format::KI2),
    ("csa", Format::CSA),
    ("jkf", Format::JKF),
    ("usi", Format::USI),
];

/// What a format supports in both libraries.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "independent properties of a format")]
struct Capabilities {
    variations: bool,
    times: bool,
    comments: bool,
    players: bool,
}

fn capabilities(format: Format) -> Capabilities {
    let all = Capabilities { variations: true, times: true, comments: true, players: true };
    match format.name() {
        "kif" | "jkf" => all,
        "ki2" => Capabilities { times: false, ..all },
        "csa" => Capabilities { variations: false, ..all },
        _ => Capabilities { variations: false, times: false, comments: false, players: false },
    }
}

/// The name of an end in tsshogi, if both it and the format have one.
fn end_name(end: Termination, format: Format) -> Option<&'static str> {
    Some(match end {
        Termination::Resignation => "resign",
        Termination::Checkmate => "mate",
        Termination::Repetition => "repetitionDraw",
        Termination::Impasse => "impass",
        Termination::Declaration => "enteringOfKing",
        Termination::TimeForfeit => "timeout",
        Termination::IllegalMove => "foulLose",
        Termination::Aborted => "interrupt",
        Termination::NoMate => "noMate",
        Termination::MoveLimit if format == Format::CSA => "maxMoves",
        _ => return None,
    })
}

/// A comment without blanks at the ends of its lines.
fn trimmed(text: &str) -> String {
    text.lines().map(str::trim).collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// The tree that tsshogi should read.
fn tree(record: &GameRecord, format: Format) -> Vec<Value> {
    let capabilities = capabilities(format);
    let (mut nodes, mut open) = (Vec::new(), vec![NodeId::ROOT]);
    while let Some(node) = open.pop().and_then(|id| record.node(id)) {
        let uci = node.mv().map(|mv| mv.to_uci(CastlingForm::KingMove));
        let comment = trimmed(&record.annotations(node.id()).comments.join("\n"));
        let time = record.annotations(node.id()).elapsed.unwrap_or_default();
        nodes.push(json!({
            "move": uci.unwrap_or_default(),
            "ply": node.ply(),
            "comment": if capabilities.comments { comment } else { String::new() },
            "millis": if capabilities.times { time.as_millis() } else { 0 },
        }));
        let children = record.children(node.id()).map(Node::id);
        let children: Vec<NodeId> =
            children.take(if capabilities.variations { usize::MAX } else { 1 }).collect();
        open.extend(children.iter().rev());
    }
    nodes
}

/// The tree that tsshogi has read.
fn found(nodes: &Value) -> Vec<Value> {
    let nodes = nodes.as_array().expect("nodes");
    let found = |node: &Value| {
        json!({
            "move": node["move"],
            "ply": node["ply"],
            "comment": trimmed(node["comment"].as_str().expect("text")),
            "millis": node["millis"],
        })
    };
    nodes.iter().map(found).collect()
}

/// Games with variations, comments, times and ends.
fn records() -> Vec<GameRecord> {
    let notes = games::whole_seconds();
    // Tsshogi reads evaluations as comments.
    let notes = notes.prop_map(|notes| Annotations { evaluation: None, ..notes });
    let samples = samples(&(games::shogi_start(), games::plan(notes, 0..60), games::end()), 60);
    let records = samples.into_iter().map(|(start, plan, end)| {
        let plan = games::Plan { root: no_time(plan.root), ..plan };
        let mut record = games::build(&start, plan);
        record.set_header(Tag::Player(Side::First), "甲");
        record.set_header(Tag::Player(Side::Second), "乙");
        record.result = GameResult::Unknown;
        if let Some(termination) = end {
            record.finish(termination);
        }
        let last = record.last();
        if let Some(end) = record.annotations_mut(last).and_then(|notes| notes.end.as_mut()) {
            end.elapsed = Some(Duration::from_secs(5));
        }
        record
    });
    records.collect()
}

#[test]
fn exchanges_games_with_tsshogi() {
    let records = records();
    let texts = |record: &GameRecord| {
        let texts = FORMATS.map(|(name, format)| (name.to_owned(), text(record, format).into()));
        Value::Object(texts.into_iter().collect())
    };
    let Some(answer) = query(&records.iter().map(texts).collect::<Vec<_>>()) else { return };
    assert_eq!(answer.len(), records.len());
    for (record, theirs) in records.iter().zip(&answer) {
        for (name, format) in FORMATS {
            check(record, format, &theirs[name]);
        }
    }
}

/// Lets tsshogi read texts of games, keyed by the names of their formats.
fn query(games: &[Value]) -> Option<Vec<Value>> {
    let answer = query_with(&json!({ "shogi": games }), |installed, tests| {
        let mut node = Command::new("node");
        node.arg(tests.join("tsshogi.cjs")).env("NODE_PATH", installed.join("node_modules"));
        node
    });
    Some(answer?.as_array().expect("games").clone())
}

/// The moves and times of a tree. Comments differ, because programs write evaluations into them.
fn moves_and_times(nodes: Vec<Value>) -> Vec<[Value; 3]> {
    nodes.into_iter().map(|node| ["move", "ply", "millis"].map(|name| node[name].clone())).collect()
}

/// Files of many programs. Tsshogi reads only the first game.
#[test]
fn tsshogi_reads_the_samples_equally() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/records");
    let mut compared = 0;
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        let extension =
            path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        // For tsshogi, the lines of this file are not separate games.
        let format = Format::from_extension(extension).filter(|_| !path.ends_with("openings.sfen"));
        let Some((name, format)) = FORMATS.into_iter().find(|entry| Some(entry.1) == format) else {
            continue;
        };
        let bytes = fs::read(&path).expect("a file");
        let text = String::from_utf8(bytes.clone())
            .unwrap_or_else(|_| encoding_rs::SHIFT_JIS.decode(&bytes).0.into_owned());
        let Some(answer) = query(&[json!({ name: text })]) else { return };
        let theirs = &answer[0][name];
        let ours = read_all(&bytes, format).remove(0).expect("a game");
        let path = path.display();
        assert_eq!(theirs["error"], Value::Null, "{path}");
        let (theirs, ours) = (found(&theirs["nodes"]), tree(&ours, format));
        assert_eq!(moves_and_times(theirs), moves_and_times(ours), "{path}");
        compared += 1;
    }
    assert_eq!(compared, 28);
}

fn text(record: &GameRecord, format: Format) -> String {
    String::from_utf8(written(record, format)).expect("UTF-8")
}

fn check(record: &GameRecord, format: Format, theirs: &Value) {
    let text = text(record, format);
    assert_eq!(theirs["error"], Value::Null, "{text}");
    let position = |text: &str| text.split(' ').take(3).collect::<Vec<_>>().join(" ");
    let start = theirs["start"].as_str().map(position);
    assert_eq!(start, Some(position(&record.start().to_string())), "{text}");
    if capabilities(format).players {
        assert_eq!(theirs["players"], json!(["甲", "乙"]), "{text}");
    }
    let expected = tree(record, format);
    assert_eq!(found(&theirs["nodes"]), expected, "{format}: {text}");
    let file = theirs["written"].as_str().expect("text");
    let (read, warnings) = read_one(file.as_bytes(), format);
    assert_eq!(warnings, [], "{file}");
    assert_eq!(tree(&read, format), expected, "{file}");
    let end = record.annotations(record.last()).end.as_ref();
    let name = end.and_then(|end| end_name(end.outcome.termination, format));
    if let Some(name) = name.filter(|_| format != Format::USI && format != Format::KI2) {
        let nodes = theirs["nodes"].as_array().expect("nodes");
        let ends: Vec<&Value> =
            nodes.iter().flat_map(|node| node["end"].as_array().expect("ends")).collect();
        assert_eq!(ends, [&json!([name, "", 5000])], "{text}");
        assert_eq!(read.termination(), record.termination(), "{file}");
    }
}

/// Tsshogi derives the winner from the side to move, as KIF does.
#[test]
fn tsshogi_reads_the_winners_of_kif() {
    let cases = [
        (1, Termination::Resignation, Side::First, "resign"),
        (1, Termination::Resignation, Side::Second, "winByDefault"),
        (1, Termination::PerpetualCheck, Side::Second, "foulWin"),
        (1, Termination::EngineFailure, Side::First, "loseByDefault"),
        (2, Termination::PerpetualCheck, Side::Second, "foulLose"),
        (2, Termination::EngineFailure, Side::First, "winByDefault"),
        (2, Termination::Resignation, Side::First, "winByDefault"),
    ];
    let game = |(moves, end, winner, _): &(usize, Termination, Side, &str)| {
        let record = endings::game(*moves, *end, GameResult::Win(*winner));
        json!({ "kif": text(&record, Format::KIF) })
    };
    let Some(answer) = query(&cases.iter().map(game).collect::<Vec<_>>()) else { return };
    for ((.., name), theirs) in cases.iter().zip(answer) {
        let nodes = theirs["kif"]["nodes"].as_array().expect("nodes").iter();
        let ends: Vec<&Value> =
            nodes.flat_map(|node| node["end"].as_array().expect("ends")).collect();
        assert_eq!(ends.iter().map(|end| &end[0]).collect::<Vec<_>>(), [name], "{theirs}");
    }
}
