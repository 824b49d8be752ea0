//! `ARCHITECTURE.md` names folders once, and files that are there.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::workspace;

#[test]
fn the_map_shows_each_folder_once_and_files_that_are_there() {
    let map = fs::read_to_string(workspace().join("ARCHITECTURE.md")).unwrap();
    let mut shown = BTreeSet::new();
    for part in map.split("\nInside ").skip(1) {
        let (head, table) = part.split_once('\n').unwrap();
        let folders: Vec<&str> = quoted(head).filter(|it| it.ends_with("src")).collect();
        for folder in &folders {
            assert!(shown.insert(folder.to_owned()), "`{folder}` is shown twice");
        }
        let mut inside = Vec::new();
        for folder in &folders {
            list(&workspace().join(folder), &mut inside);
        }
        let rows = table.lines().skip_while(|line| !line.starts_with('|'));
        for row in rows.take_while(|line| line.starts_with('|')) {
            let cell = row.split('|').nth(1).unwrap();
            for name in quoted(cell) {
                let end = format!("/{}", name.trim_end_matches('/'));
                assert!(inside.iter().any(|it| it.ends_with(&end)), "no `{name}` in {folders:?}");
            }
        }
    }
    assert!(shown.contains("crates/narikin/src"), "{shown:?}");
}

/// What stands between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// All that is in a folder, with `/` between the parts of a path.
fn list(folder: &Path, found: &mut Vec<String>) {
    for path in fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()) {
        found.push(path.to_str().unwrap().replace('\\', "/"));
        if path.is_dir() {
            list(&path, found);
        }
    }
}
