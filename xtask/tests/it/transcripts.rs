//! Transcripts agree with their README.

use std::fs;
use std::path::PathBuf;

#[test]
fn transcripts_have_a_header_and_a_session() {
    let mut size = 0;
    for (name, text) in transcripts() {
        size += text.len();
        let mut lines = text.lines();
        for key in ["engine", "package", "recorded", "dialect"] {
            let header = format!("# {key}: ");
            assert!(lines.next().is_some_and(|line| line.starts_with(&header)), "{name}: {key}");
        }
        assert!(lines.clone().any(|line| matches!(line, "> uci" | "> usi")), "{name}");
        for line in lines {
            assert!(["# ", "> ", "< "].iter().any(|mark| line.starts_with(mark)), "{name}: {line}");
            assert!(!line.contains(char::is_control), "{name}: {line}");
        }
        assert!(text.lines().last().is_some_and(|line| line.starts_with("# end: ")), "{name}");
    }
    assert!((100_000..2_000_000).contains(&size), "{size} bytes");
}

#[test]
fn transcripts_show_all_known_defects() {
    let readme = fs::read_to_string(directory().join("README.md")).unwrap();
    let (_, defects) = readme.split_once("## Known defects").unwrap();
    let rows: Vec<&str> = defects.lines().filter(|row| row.starts_with("| `")).collect();
    assert!(!rows.is_empty());
    for row in rows {
        let cells: Vec<&str> = row.split(" | ").map(|cell| cell.trim_matches(['|', ' '])).collect();
        let (name, line) = (cells[0].trim_matches('`'), cells[1].trim_matches('`'));
        let text = fs::read_to_string(directory().join(format!("{name}.txt"))).unwrap();
        assert!(text.lines().any(|known| known == line), "{name} has no `{line}`");
    }
}

fn transcripts() -> Vec<(String, String)> {
    fs::read_dir(directory())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .map(|path| (path.display().to_string(), fs::read_to_string(&path).unwrap()))
        .collect()
}

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../testdata/transcripts")
}
