//! The files in `testdata/records` are read as the text files next to them state.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use readyok_rules::Side;
use readyok_rules::record::{self, Annotations, Format, GameRecord};

use super::{laws, nodes};

/// A summary of a game.
fn summary(record: &GameRecord) -> String {
    let nodes = nodes(record);
    let count = |of: fn(&Annotations) -> usize| {
        nodes.iter().map(|node| of(record.annotations(node.id()))).sum::<usize>()
    };
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
        count(|notes| notes.before.len() + notes.comments.len()),
        count(|notes| notes.nags.len()),
        count(|notes| usize::from(notes.evaluation.is_some())),
        count(|notes| usize::from(notes.elapsed.or(notes.clock).is_some())),
        name(Side::First),
        name(Side::Second),
        record.position(),
    )
}

#[test]
fn reads_the_samples_as_expected() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/records");
    let (mut checked, mut wrong) = (0, String::new());
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        let extension =
            path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let Some(format) = Format::from_extension(extension) else { continue };
        let bytes = fs::read(&path).expect("a file");
        assert!(
            // KIF and KI2 have the same reader.
            Format::detect(&bytes).map(|format| if format == Format::KI2 {
                Format::KIF
            } else {
                format
            }) == Some(if format == Format::KI2 { Format::KIF } else { format }),
            "{}",
            path.display()
        );
        let mut found = String::new();
        let mut games = record::read(&bytes[..], format);
        while let Some(game) = games.next() {
            match game {
                Ok(game) => found.push_str(&summary(&game)),
                Err(error) => writeln!(found, "error: {error}").expect("writing to a string"),
            }
            for notice in games.notices() {
                writeln!(found, "  notice: {notice}").expect("writing to a string");
            }
        }
        let expected_path = path.with_extension(format!("{extension}.txt"));
        if std::env::var_os("READYOK_BLESS").is_some() {
            fs::write(&expected_path, &found).expect("a writable file");
        }
        let expected = fs::read_to_string(expected_path).unwrap_or_default();
        if found != expected {
            writeln!(wrong, "==> {}\n{found}", path.display()).expect("writing to a string");
        }
        checked += 1;
    }
    assert!(wrong.is_empty(), "other than expected:\n{wrong}");
    assert_eq!(checked, 46);
}

/// Files of programs satisfy the properties of all files.
#[test]
fn samples_satisfy_the_properties() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/records");
    let mut checked = 0;
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        let extension =
            path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let Some(format) = Format::from_extension(extension) else { continue };
        let bytes = fs::read(&path).expect("a file");
        let law: fn(&[u8]) = match format.name() {
            "pgn" => laws::pgn,
            "kif" | "ki2" => laws::kif,
            "csa" => laws::csa,
            "jkf" => laws::jkf,
            "uci" => laws::uci,
            "usi" => laws::usi,
            name => panic!("no properties of {name}"),
        };
        law(&bytes);
        checked += 1;
    }
    assert_eq!(checked, 46);
}
