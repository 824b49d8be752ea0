//! The READMEs contain the examples of the crates.

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
fn check_contains(readme: &str, example: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join(readme)).expect("the README");
    let example = fs::read_to_string(root.join(example)).expect("the example");
    let block = format!("```rust\n{}\n```\n", code(&example));
    assert!(text.contains(&block), "missing in {readme}:\n{block}");
}

#[test]
fn readmes_contain_the_client_example() {
    for readme in ["README.md", "crates/client/README.md"] {
        check_contains(readme, "crates/client/examples/first_client.rs");
    }
}

#[test]
fn readmes_contain_the_engine_example() {
    for readme in ["README.md", "crates/engine/README.md"] {
        check_contains(readme, "crates/engine/examples/first_engine.rs");
    }
}
