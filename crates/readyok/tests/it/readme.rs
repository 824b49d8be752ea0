//! The README contains the examples of the crates.

use std::fs;
use std::path::Path;

/// The code of an example without its title and its lint attributes.
fn code(example: &str) -> String {
    let is_header =
        |line: &&str| line.is_empty() || line.starts_with("//!") || line.starts_with("#![");
    let lines: Vec<_> = example.lines().skip_while(is_header).collect();
    lines.join("\n")
}

#[track_caller]
fn check_contains(example: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(root.join("README.md")).expect("the README");
    let example = fs::read_to_string(root.join(example)).expect("the example");
    let block = format!("```rust\n{}\n```\n", code(&example));
    assert!(readme.contains(&block), "missing in the README:\n{block}");
}

#[test]
fn readme_contains_the_client_example() {
    check_contains("crates/client/examples/first_client.rs");
}

#[test]
fn readme_contains_the_engine_example() {
    check_contains("crates/engine/examples/first_engine.rs");
}
