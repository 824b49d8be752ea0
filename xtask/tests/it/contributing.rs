//! `CONTRIBUTING.md` lists the programs that the tests need.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::workspace;

/// Environment variable that enables tests with third-party programs.
const SWITCH: &str = "READYOK_REAL_ENGINES";

#[test]
fn guide_lists_the_programs_of_each_test() {
    let installed = installed();
    let needed: BTreeMap<String, BTreeSet<String>> = tests_with_the_switch()
        .into_iter()
        .map(|(path, source)| {
            let named = |program: &&String| source.contains(&format!("\"{program}\""));
            (path, installed.iter().filter(named).cloned().collect())
        })
        .collect();
    let listed: BTreeMap<String, BTreeSet<String>> = table()
        .into_iter()
        // Another script installs the remaining programs.
        .map(|(path, programs)| (path, programs.intersection(&installed).cloned().collect()))
        .collect();
    assert_eq!(listed, needed);
}

#[test]
fn guide_lists_only_programs_that_a_script_installs() {
    let peers = read("scripts/install-record-peers.sh");
    let installed = installed();
    for program in table().into_values().flatten() {
        assert!(installed.contains(&program) || peers.contains(&program), "`{program}`");
    }
}

/// The programs of `scripts/install-engines.sh`.
fn installed() -> BTreeSet<String> {
    let script = read("scripts/install-engines.sh");
    let (_, list) = script.split_once("\nengines=(").unwrap();
    let (list, _) = list.split_once(')').unwrap();
    list.split_whitespace().map(str::to_owned).collect()
}

/// The table of tests and their programs.
fn table() -> BTreeMap<String, BTreeSet<String>> {
    let guide = read("CONTRIBUTING.md");
    let (_, table) = guide.split_once("| tests | need |\n|---|---|\n").unwrap();
    let rows = table.lines().take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let [_, path, programs, _] = row.split('|').collect::<Vec<_>>()[..] else {
            panic!("expected two cells: {row}")
        };
        let programs = programs.split('(').next().unwrap_or_default();
        let programs = programs.split(',').map(|name| name.trim().to_owned()).collect();
        (path.trim().trim_matches('`').to_owned(), programs)
    })
    .collect()
}

/// The test files that contain the switch, with their text.
fn tests_with_the_switch() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut directories: Vec<_> = fs::read_dir(workspace().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().path().join("tests"))
        .collect();
    while let Some(directory) = directories.pop() {
        let Ok(entries) = fs::read_dir(directory) else { continue };
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let source = fs::read_to_string(&path).unwrap();
                if source.contains(SWITCH) {
                    let path = path.strip_prefix(workspace()).unwrap();
                    found.push((path.to_str().unwrap().replace('\\', "/"), source));
                }
            }
        }
    }
    found
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(workspace().join(path)).unwrap()
}
