//! The README shows code that compiles.

use std::fs;
use std::path::Path;

/// The code of an example without what a reader does not need: its title and its lints.
fn code(example: &str) -> String {
    let unwanted =
        |line: &&str| line.is_empty() || line.starts_with("//!") || line.starts_with("#![");
    let lines: Vec<_> = example.lines().skip_while(unwanted).collect();
    lines.join("\n")
}

#[track_caller]
fn check_shown(example: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(root.join("README.md")).expect("the README");
    let example = fs::read_to_string(root.join(example)).expect("the example");
    let shown = format!("```rust\n{}\n```\n", code(&example));
    assert!(readme.contains(&shown), "the README does not show\n{shown}");
}

#[test]
fn the_readme_shows_the_first_client() {
    check_shown("crates/client/examples/first_client.rs");
}

#[test]
fn the_readme_shows_the_first_engine() {
    check_shown("crates/engine/examples/first_engine.rs");
}
