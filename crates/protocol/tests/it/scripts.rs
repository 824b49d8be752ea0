//! Scripts of sessions in text files.
//!
//! ```text
//! define NAME            up to an empty line: the lines that `use NAME` inserts
//! # the rule that the script verifies, up to the next empty line
//! - a remark
//! row A => B             runs the script for this row, with its cells for `{1}` and `{2}`
//! start usi              where the session starts, if not after `uciok`
//! option Hash type …     an option that the engine declares
//! ```
//!
//! The other lines are the steps. `␣` and `␋` are a space and a vertical tab at the end or the start of a value.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub(crate) struct Script {
    /// The rule, and the row.
    pub(crate) name: String,
    pub(crate) start: String,
    pub(crate) options: Vec<String>,
    pub(crate) steps: String,
}

/// Runs every script of a file, and names those that fail.
pub(crate) fn check(file: &str, check: impl Fn(&Script)) {
    let mut failed = read(file);
    failed.retain(|script| catch_unwind(AssertUnwindSafe(|| check(script))).is_err());
    let failed: Vec<_> = failed.into_iter().map(|script| script.name).collect();
    assert!(failed.is_empty(), "failed scripts: {failed:#?}");
}

fn read(file: &str) -> Vec<Script> {
    let (mut definitions, mut scripts) = (BTreeMap::new(), Vec::new());
    for block in file.trim_end().split("\n\n") {
        let (first, lines) = block.split_once('\n').unwrap();
        if let Some(name) = first.strip_prefix("define ") {
            definitions.insert(name, lines);
            continue;
        }
        let rule = first.strip_prefix("# ").unwrap_or_else(|| panic!("no rule: {first}"));
        let mut all = String::new();
        expand(lines, &definitions, &mut all);
        let all = all.replace('␣', " ").replace('␋', "\u{b}");
        let rows: Vec<_> = all.lines().filter_map(|line| line.strip_prefix("row ")).collect();
        for row in if rows.is_empty() { vec![""] } else { rows } {
            let mut text = all.clone();
            for (index, cell) in row.split(" => ").enumerate() {
                text = text.replace(&format!("{{{}}}", index + 1), cell);
            }
            let name = if row.is_empty() { rule.to_owned() } else { format!("{rule}: {row}") };
            scripts.push(script(name, &text));
        }
    }
    assert!(!scripts.is_empty(), "a file without scripts");
    scripts
}

fn expand(lines: &str, definitions: &BTreeMap<&str, &str>, all: &mut String) {
    for line in lines.lines() {
        if let Some(name) = line.strip_prefix("use ") {
            expand(definitions[name], definitions, all);
        } else {
            all.extend([line, "\n"]);
        }
    }
}

fn script(name: String, text: &str) -> Script {
    let steps = format!("# {name}\n");
    let mut script = Script { name, start: "uci".to_owned(), options: Vec::new(), steps };
    for line in text.lines() {
        match line.split_once(' ').unwrap_or((line, "")) {
            ("row" | "-", _) => (),
            ("start", start) => start.clone_into(&mut script.start),
            ("option", option) => script.options.push(option.to_owned()),
            _ => script.steps.extend([line, "\n"]),
        }
    }
    script
}
