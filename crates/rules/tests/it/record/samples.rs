//! The files in `testdata/records` give what stands beside them.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use readyok_rules::Side;
use readyok_rules::record::{self, Format, GameRecord, Node, NodeId};

use super::laws;

/// All nodes of a record.
fn nodes(record: &GameRecord) -> Vec<&Node> {
    let (mut nodes, mut open) = (Vec::new(), vec![NodeId::ROOT]);
    while let Some(node) = open.pop().and_then(|id| record.node(id)) {
        nodes.push(node);
        open.extend(node.children().iter().rev());
    }
    nodes
}

/// What is told of a game.
fn told(record: &GameRecord) -> String {
    let nodes = nodes(record);
    let count = |of: fn(&Node) -> usize| nodes.iter().map(|node| of(node)).sum::<usize>();
    let name = |side| record.player(side).unwrap_or("?");
    format!(
        "{:?} {} {:?}: {} of {} moves, {} headers, {} comments, {} signs, {} evaluations, {} times\n  \
         {} - {}\n  {}\n",
        record.game(),
        record.result.as_str(),
        record.termination(),
        record.mainline().count(),
        record.len(),
        record.headers.len(),
        count(|node| node.notes.before.len() + node.notes.comments.len()),
        count(|node| node.notes.nags.len()),
        count(|node| usize::from(node.notes.evaluation.is_some())),
        count(|node| usize::from(node.notes.elapsed.or(node.notes.clock).is_some())),
        name(Side::First),
        name(Side::Second),
        record.position(),
    )
}

#[test]
fn the_samples_are_read_as_they_should_be() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/records");
    let (mut checked, mut wrong) = (0, String::new());
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let extension = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
        let Some(format) = Format::from_extension(extension) else { continue };
        let bytes = fs::read(&path).expect("a file");
        assert!(
            // One reader takes both.
            Format::detect(&bytes).map(|it| if it == Format::Ki2 { Format::Kif } else { it })
                == Some(if format == Format::Ki2 { Format::Kif } else { format }),
            "{}",
            path.display()
        );
        let mut found = String::new();
        let mut games = record::read(&bytes[..], format);
        while let Some(game) = games.next() {
            match game {
                Ok(game) => found.push_str(&told(&game)),
                Err(error) => writeln!(found, "error: {error}").expect("a string takes all"),
            }
            for warning in games.warnings() {
                writeln!(found, "  warning: {warning}").expect("a string takes all");
            }
        }
        let expected = fs::read_to_string(path.with_extension(format!("{extension}.txt")));
        let expected = expected.unwrap_or_default();
        if found != expected {
            writeln!(wrong, "==> {}\n{found}", path.display()).expect("a string takes all");
        }
        checked += 1;
    }
    assert!(wrong.is_empty(), "other than expected:\n{wrong}");
    assert_eq!(checked, 33);
}

/// What a program has written is read, written and read again without a loss.
#[test]
fn the_samples_survive_being_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/records");
    let mut checked = 0;
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let extension = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
        let Some(format) = Format::from_extension(extension) else { continue };
        let bytes = fs::read(&path).expect("a file");
        let law = match format {
            Format::Pgn => laws::pgn,
            Format::Kif | Format::Ki2 => laws::kif,
            Format::Csa => laws::csa,
            Format::Jkf => laws::jkf,
            Format::Usi => laws::usi,
        };
        law(&bytes);
        checked += 1;
    }
    assert_eq!(checked, 33);
}
