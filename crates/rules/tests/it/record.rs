//! Game records: reading, writing and round trips.

mod cases;
mod combine;
mod csa;
mod edits;
mod encodings;
mod endings;
mod formats;
mod games;
mod jkf;
mod kif;
pub mod laws;
mod losses;
mod opening_tree;
mod patterns;
mod peers;
mod pgn;
#[cfg(feature = "encodings")]
mod samples;
mod seeds;
mod shogi_cases;
mod tolerance;
mod tree;
#[cfg(feature = "encodings")]
mod tsshogi;

use readyok_rules::record::{
    self, Annotations, Format, GameRecord, Node, NodeId, Notice, RecordError,
};

/// All games of a text.
fn read_all(bytes: &[u8], format: Format) -> Vec<Result<GameRecord, RecordError>> {
    record::read(bytes, format).collect()
}

/// The only game of a text, and its warnings.
#[track_caller]
fn read_one(bytes: &[u8], format: impl Into<Option<Format>>) -> (GameRecord, Vec<Notice>) {
    let mut games = record::read(bytes, format);
    let game = games.next().expect("a game");
    let game = game.unwrap_or_else(|error| panic!("{}: {error}", String::from_utf8_lossy(bytes)));
    let warnings = games.notices().to_vec();
    let more = games.next();
    assert!(more.is_none(), "{}: {more:?}", String::from_utf8_lossy(bytes));
    (game, warnings)
}

/// The annotations of the main line.
fn mainline_notes(record: &GameRecord) -> Vec<Annotations> {
    record.mainline().map(|node| record.annotations(node.id()).clone()).collect()
}

/// All nodes, each after its parent and after the variations before it.
fn nodes(record: &GameRecord) -> Vec<&Node> {
    let (mut nodes, mut open) = (Vec::new(), vec![NodeId::ROOT]);
    while let Some(node) = open.pop().and_then(|id| record.node(id)) {
        nodes.push(node);
        let children: Vec<NodeId> = record.children(node.id()).map(Node::id).collect();
        open.extend(children.iter().rev());
    }
    nodes
}

fn written(game: &GameRecord, format: Format) -> Vec<u8> {
    let mut out = Vec::new();
    record::write(game, format, &mut out).expect("it can be written");
    out
}

/// Checks that writing and reading returns the same record without warnings.
#[track_caller]
fn check_round_trip(game: &GameRecord, format: Format) {
    let text = written(game, format);
    let (read, warnings) = read_one(&text, format);
    assert!(read == *game, "{}\n{game:#?}\n{read:#?}", String::from_utf8_lossy(&text));
    assert_eq!(warnings, [], "{}", String::from_utf8_lossy(&text));
}
