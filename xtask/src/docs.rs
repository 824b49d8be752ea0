//! Generates the pages of `docs/` that list what the code declares.

use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

use readyok_protocol::{NoteKind, Rule, Severity};

/// Writes the pages.
pub(crate) fn write() -> io::Result<()> {
    fs::write(path(), rules())
}

/// Fails if the pages are not what would be written.
pub(crate) fn check() -> io::Result<()> {
    if fs::read_to_string(path())? == rules() {
        return Ok(());
    }
    Err(io::Error::other("docs/rules.md is stale: run `cargo xtask docs`"))
}

fn path() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/rules.md")
}

fn rules() -> String {
    let mut page = String::from(
        "# Rules\n\n\
        What a conversation and its lines are held to. Generated from the code by `cargo xtask docs`.\n\n\
        ## The order of messages\n\n\
        Who breaks a *must* has said something without a meaning; the other side ignores it. After a\n\
        broken *should* the conversation goes on.\n\n\
        | rule | binds | severity | what it says | where it stands |\n|---|---|---|---|---|\n",
    );
    rule_rows(&mut page, Rule::is_about_order);
    page.push_str(
        "\n## What is said, and what never is\n\n\
        Who listens to both sides knows which options were declared, when a search began, and what was\n\
        never answered; an answer that is still owed is reported at the end.\n\n\
        | rule | binds | severity | what it says | where it stands |\n|---|---|---|---|---|\n",
    );
    rule_rows(&mut page, |rule| !rule.is_about_order());
    page.push_str(
        "\n## The form of lines\n\nReading a line never fails; what is odd about it is noted.\n\n\
        | note | what was met | the rule |\n|---|---|---|\n",
    );
    for kind in NoteKind::ALL {
        row(&mut page, &format!("`{kind:?}` | {} | {}", kind.text(), kind.clause()));
    }
    page
}

fn rule_rows(page: &mut String, wanted: impl Fn(Rule) -> bool) {
    for rule in Rule::ALL.into_iter().filter(|rule| wanted(*rule)) {
        let severity = match rule.severity() {
            Severity::Must => "must",
            Severity::Should => "should",
        };
        let (binds, text, clause) = (rule.binds(), rule.text(), rule.clause());
        row(page, &format!("`{rule:?}` | {binds} | {severity} | {text} | {clause}"));
    }
}

fn row(page: &mut String, cells: &str) {
    // Writing into a `String` cannot fail.
    let _ = writeln!(page, "| {cells} |");
}
