//! The report as Markdown, with a line for a badge.

use std::fmt::Write as _;

use readyok_protocol::translation::display_text;

use crate::check::{Severity, Verdict};
use crate::excerpt::Input;
use crate::suite::Report;

impl Report {
    /// A badge, a table of what did not pass, and the dialogues.
    pub fn to_markdown(&self) -> String {
        let must = self.tally(Severity::Must);
        let (passed, judged) = (must.passed, must.passed + must.failed + must.inconclusive);
        let protocol = self.dialect.handshake();
        let color = if self.exit_status() == 0 { "brightgreen" } else { "red" };
        let mut page = format!(
            "![{protocol}](https://img.shields.io/badge/{protocol}-{passed}%20of%20{judged}%20musts-{color})\n\n\
            **{}** {}.\n\n\
            | severity | passed | failed | inconclusive | skipped |\n|---|---|---|---|---|\n",
            plain(&self.name),
            self.summary()
        );
        for severity in [Severity::Must, Severity::Should, Severity::May] {
            let tally = self.tally(severity);
            // Writing into a `String` cannot fail.
            let _ = writeln!(
                page,
                "| {severity} | {} | {} | {} | {} |",
                tally.passed, tally.failed, tally.inconclusive, tally.skipped
            );
        }
        for result in &self.results {
            if matches!(result.verdict, Verdict::Pass | Verdict::Skip(_)) {
                continue;
            }
            let check = result.check;
            let _ = write!(
                page,
                "\n### `{}`: {} ({})\n\n{}. Seen: {}.\n",
                check.id,
                result.verdict.word(),
                result.severity,
                check.rule,
                plain(&result.verdict.text())
            );
            if let Some(dialogue) = &result.dialogue {
                let _ = write!(page, "\nTo change: {}.\n\n", check.advice);
                // Indented, as no line of an engine can end such a block.
                for line in dialogue.lines() {
                    let _ = writeln!(page, "    {}", display_text(line));
                }
            }
            let (how, input) = match &result.input {
                Some(Input::Lines(lines)) => ("Paste into", lines.clone()),
                Some(Input::Command(command)) => ("Write to", format!("{command} | ENGINE\n")),
                None => continue,
            };
            // Each line begins with a word of ours, so that none ends the block.
            let _ = write!(
                page,
                "\n<details><summary>{how} the engine's input</summary>\n\n\
                 ```text\n{input}```\n\n</details>\n"
            );
        }
        page
    }
}

/// Text of an engine that is no Markdown.
fn plain(text: &str) -> String {
    let text = display_text(text);
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '&') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
