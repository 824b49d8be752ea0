//! Generated files of documentation: `docs/rules.md`, and the names of values in the packages for Python and JavaScript.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use readyok_protocol::{DiagnosticKind, Rule, RuleKind};

mod names;

/// The generated files, with their contents.
fn files() -> [(&'static str, String); 3] {
    [
        ("docs/rules.md", rules()),
        ("crates/python/readyok/_names.py", names::python()),
        ("packages/js/names.d.ts", names::typescript()),
    ]
}

/// Writes the files.
pub(crate) fn write() -> io::Result<()> {
    files().into_iter().try_for_each(|(path, text)| fs::write(absolute(path), text))
}

/// Fails if a file is stale.
pub(crate) fn check() -> io::Result<()> {
    for (path, text) in files() {
        if fs::read_to_string(absolute(path))? != text {
            return Err(io::Error::other(format!("{path} is stale: run `cargo xtask docs`")));
        }
    }
    Ok(())
}

fn absolute(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

fn rules() -> String {
    let mut page = String::from(
        "# Protocol rules\n\n\
        The rules for a session, with their severity. `readyok tap`, `readyok check` and the match runner use this list. The id is \
        that of the [conformance check](conformance.md), if there is one. Generated from the code by `cargo xtask docs`.\n\n\
        A message that violates a rule marked with * has no meaning, and the other side ignores it. After another violation the \
        session continues.\n",
    );
    for (kind, title, text) in [
        (RuleKind::Order, "Order of messages", "These rules depend on the messages before."),
        (
            RuleKind::Contents,
            "Content of messages",
            "These rules need both directions of a session. Missing answers are reported at its end.",
        ),
        (
            RuleKind::Game,
            "Positions, moves and clocks",
            "These rules need the rules of the games. Nothing is judged while the position of the engine is unknown: after an \
             illegal position, in an unknown variant, and after two `go` commands of which one may not be answered.",
        ),
        (
            RuleKind::Form,
            "Form of lines",
            "Parsing a line never fails; a part that violates a rule is quoted.",
        ),
    ] {
        let _ = write!(
            page,
            "\n## {title}\n\n{text}\n\n| id | party | severity | rule | source |\n|---|---|---|---|---|\n"
        );
        for rule in Rule::ALL.into_iter().filter(|rule| rule.kind() == kind) {
            let mark = if rule.is_ignored() { " *" } else { "" };
            let (id, party, severity) = (rule.id(), rule.binds(), rule.severity());
            let (text, clause) = (rule.text(), rule.clause());
            row(&mut page, &format!("`{id}`{mark} | {party} | {severity} | {text} | {clause}"));
        }
    }
    page.push_str(
        "\n## Diagnostics\n\nThe parts of a line that were skipped or repaired. Which rule they violate depends on the message; \
        an unusual form that readers accept is a note.\n\n\
        | diagnostic | text | source |\n|---|---|---|\n",
    );
    for kind in DiagnosticKind::ALL {
        row(&mut page, &format!("`{kind:?}` | {} | {}", kind.text(), kind.clause()));
    }
    page
}

fn row(page: &mut String, cells: &str) {
    // Writing to a string never fails.
    let _ = writeln!(page, "| {cells} |");
}
