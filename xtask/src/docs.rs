//! Generated files of documentation: `docs/rules.md`, and the names of values in the packages for Python and JavaScript.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use readyok_protocol::{DiagnosticKind, Rule, Severity};

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
        The rules for the order and the form of messages. Generated from the code by `cargo xtask docs`.\n\n\
        ## Order of messages\n\n\
        A message that violates a *must* has no meaning and is ignored. After a violated *should* the session continues.\n\n\
        | rule | party | severity | text | source |\n|---|---|---|---|---|\n",
    );
    rule_rows(&mut page, Rule::is_ordering);
    page.push_str(
        "\n## Content of messages\n\n\
        These rules need both directions of a session. Missing answers are reported at its end.\n\n\
        | rule | party | severity | text | source |\n|---|---|---|---|---|\n",
    );
    rule_rows(&mut page, |rule| !rule.is_ordering());
    page.push_str(
        "\n## Form of lines\n\nParsing a line never fails; deviations are diagnostics.\n\n\
        | diagnostic | text | rule |\n|---|---|---|\n",
    );
    for kind in DiagnosticKind::ALL {
        row(&mut page, &format!("`{kind:?}` | {} | {}", kind.text(), kind.clause()));
    }
    page
}

fn rule_rows(page: &mut String, filter: impl Fn(Rule) -> bool) {
    for rule in Rule::ALL.into_iter().filter(|rule| filter(*rule)) {
        let severity = match rule.severity() {
            Severity::Must => "must",
            Severity::Should => "should",
        };
        let (party, text, clause) = (rule.binds(), rule.text(), rule.clause());
        row(page, &format!("`{rule:?}` | {party} | {severity} | {text} | {clause}"));
    }
}

fn row(page: &mut String, cells: &str) {
    // Writing to a string never fails.
    let _ = writeln!(page, "| {cells} |");
}
