//! Reports of a run, and the list of checks, as text, JSON, JUnit XML and Markdown.

use std::fmt;
use std::fmt::Write as _;

use readyok_protocol::Party;
use readyok_protocol::translation::display_text;
use serde::Serialize;

use crate::spec::{Check, Profile, Severity};
use crate::spec::{CheckResult, Report, Verdict};
use crate::transcript::Input;
use crate::{checks, mock_engine};

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let protocol =
            self.profile.map_or_else(|| self.dialect.handshake(), |profile| profile.name());
        writeln!(f, "{} ({protocol}) {}", display_text(&self.name), self.summary())?;
        for severity in [Severity::Must, Severity::Should, Severity::May] {
            let tally = self.tally(severity);
            write!(f, "  {:<7}{:>4} passed", severity.name(), tally.passed)?;
            for (count, what) in [
                (tally.failed, "failed"),
                (tally.inconclusive, "inconclusive"),
                (tally.skipped, "skipped"),
            ] {
                if 0 < count {
                    write!(f, ", {count} {what}")?;
                }
            }
            writeln!(f)?;
        }
        write!(f, "  in {:.1} s; ", self.took.as_secs_f64())?;
        match self.side {
            Party::Engine => writeln!(
                f,
                "limits: {:.1} s for an answer (stretched {:.1} times; `isready` took {:.1} ms); seed {}",
                self.timeouts.answer().as_secs_f64(),
                self.timeouts.scale(),
                self.timeouts.ping().as_secs_f64() * 1000.0,
                self.seed
            )?,
            Party::Client => {
                writeln!(
                    f,
                    "limits stretched {:.1} times; seed {}",
                    self.timeouts.scale(),
                    self.seed
                )?;
            }
        }
        for severity in [Severity::Must, Severity::Should, Severity::May] {
            for result in self.failures().filter(|it| it.severity == severity) {
                write_failure(f, result)?;
            }
        }
        for result in &self.results {
            if let Verdict::Inconclusive(why) = &result.verdict {
                writeln!(
                    f,
                    "\ninconclusive {}: {}",
                    result.check.id,
                    display_text(&why.to_string())
                )?;
            }
        }
        let remarks = || self.results.iter().filter(|it| it.remark.is_some());
        if remarks().next().is_some() {
            writeln!(f)?;
        }
        for result in remarks() {
            let remark = result.remark.as_deref().unwrap_or_default();
            writeln!(f, "{}: {}", result.check.id, display_text(remark))?;
        }
        Ok(())
    }
}

fn write_failure(f: &mut fmt::Formatter<'_>, result: &CheckResult) -> fmt::Result {
    let check = result.check;
    writeln!(f, "\nFAIL {} ({}): {}", check.id, result.severity, check.rule)?;
    writeln!(f, "  seen: {}", display_text(&result.verdict.text()))?;
    for clause in check.clauses {
        writeln!(f, "  rule: {}: {}", clause.source, clause.text)?;
    }
    writeln!(f, "  advice: {}", check.advice)?;
    for line in result.transcript.iter().flat_map(|it| it.lines()) {
        writeln!(f, "  {}", display_text(line))?;
    }
    match &result.input {
        // Not indented, because spaces would be pasted, too.
        Some(Input::Lines(lines)) => write!(f, "  paste into the engine's input:\n\n{lines}"),
        Some(Input::Command(command)) => {
            writeln!(f, "  write to the engine's input:\n\n{command} | ENGINE")
        }
        None => Ok(()),
    }
}

#[derive(Serialize)]
struct Written<'a> {
    name: &'a str,
    side: String,
    protocol: &'static str,
    profile: Option<&'static str>,
    verdict: &'static str,
    exit_status: u8,
    seed: u64,
    seconds: f64,
    answer_limit_seconds: f64,
    checks: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    id: &'static str,
    rule: &'static str,
    severity: &'static str,
    verdict: &'static str,
    text: String,
    remark: Option<&'a str>,
    clauses: Vec<String>,
    advice: &'static str,
    transcript: Option<Vec<&'a str>>,
    input: Option<Vec<&'a str>>,
    input_command: Option<&'a str>,
    seconds: f64,
}

impl Report {
    /// One JSON object.
    pub fn to_json(&self) -> String {
        let rows = self.results.iter().map(|it| Row {
            id: it.check.id,
            rule: it.check.rule,
            severity: it.severity.name(),
            verdict: it.verdict.name(),
            text: it.verdict.text(),
            remark: it.remark.as_deref(),
            clauses: it
                .check
                .clauses
                .iter()
                .map(|it| format!("{}: {}", it.source, it.text))
                .collect(),
            advice: it.check.advice,
            transcript: it.transcript.as_deref().map(|it| it.lines().collect()),
            input: match &it.input {
                Some(Input::Lines(lines)) => Some(lines.lines().collect()),
                Some(Input::Command(_)) | None => None,
            },
            input_command: match &it.input {
                Some(Input::Command(command)) => Some(command),
                Some(Input::Lines(_)) | None => None,
            },
            seconds: it.took.as_secs_f64(),
        });
        let written = Written {
            name: &self.name,
            side: self.side.to_string(),
            protocol: self.dialect.handshake(),
            profile: self.profile.map(Profile::name),
            verdict: self.summary(),
            exit_status: self.exit_status(),
            seed: self.seed,
            seconds: self.took.as_secs_f64(),
            answer_limit_seconds: self.timeouts.answer().as_secs_f64(),
            checks: rows.collect(),
        };
        // Serialization cannot fail.
        serde_json::to_string_pretty(&written).unwrap_or_default() + "\n"
    }
}

impl Report {
    /// One test suite with a test case for each check. Only violations of a must are failures.
    pub fn to_junit(&self) -> String {
        let broken = |it: &&CheckResult| it.severity == Severity::Must;
        let (failures, skipped) = (
            self.failures().filter(broken).count(),
            self.results.iter().filter(|it| is_skipped(it)).count(),
        );
        let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        // Writing to a `String` never fails.
        let _ = writeln!(
            xml,
            "<testsuite name=\"{}\" tests=\"{}\" failures=\"{failures}\" skipped=\"{skipped}\" time=\"{:.3}\">",
            escaped(&self.name),
            self.results.len(),
            self.took.as_secs_f64(),
        );
        for result in &self.results {
            let area = result.check.area();
            let _ = write!(
                xml,
                "  <testcase classname=\"{area}\" name=\"{}\" time=\"{:.3}\">",
                result.check.id,
                result.took.as_secs_f64()
            );
            let text = escaped(&result.verdict.text());
            let transcript = escaped(result.transcript.as_deref().unwrap_or_default());
            let _ = match &result.verdict {
                Verdict::Pass => Ok(()),
                Verdict::Fail(_) if result.severity == Severity::Must => {
                    write!(xml, "<failure message=\"{text}\">{transcript}</failure>")
                }
                Verdict::Fail(_) => {
                    write!(xml, "<skipped message=\"{}: {text}\"/>", result.severity)
                }
                Verdict::Skip(_) | Verdict::Inconclusive(_) => {
                    write!(xml, "<skipped message=\"{}: {text}\"/>", result.verdict.name())
                }
            };
            let _ = writeln!(xml, "</testcase>");
        }
        xml.push_str("</testsuite>\n");
        xml
    }
}

fn is_skipped(result: &CheckResult) -> bool {
    match result.verdict {
        Verdict::Pass => false,
        Verdict::Fail(_) => result.severity != Severity::Must,
        Verdict::Skip(_) | Verdict::Inconclusive(_) => true,
    }
}

/// Escapes text for an attribute or element of XML 1.0.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            // XML cannot represent these characters.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

impl Report {
    /// A badge, a table of failed checks, and their transcripts.
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
            // Writing to a `String` never fails.
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
                result.verdict.name(),
                result.severity,
                check.rule,
                plain(&result.verdict.text())
            );
            if let Some(transcript) = &result.transcript {
                let _ = write!(page, "\nAdvice: {}.\n\n", check.advice);
                // Indented, because no line of an engine can end such a block.
                for line in transcript.lines() {
                    let _ = writeln!(page, "    {}", display_text(line));
                }
            }
            let (how, input) = match &result.input {
                Some(Input::Lines(lines)) => ("Paste into", lines.clone()),
                Some(Input::Command(command)) => ("Write to", format!("{command} | ENGINE\n")),
                None => continue,
            };
            // Each line has a prefix, so that no line ends the block.
            let _ = write!(
                page,
                "\n<details><summary>{how} the engine's input</summary>\n\n\
                 ```text\n{input}```\n\n</details>\n"
            );
        }
        page
    }
}

/// Escapes the text of an engine for Markdown.
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

#[derive(Serialize)]
struct Listed {
    id: &'static str,
    rule: &'static str,
    severity: &'static str,
    profiles: Vec<&'static str>,
    needs: Vec<String>,
    clauses: Vec<ListedClause>,
    advice: &'static str,
}

#[derive(Serialize)]
struct ListedClause {
    source: &'static str,
    text: &'static str,
}

/// Introduction of the page about engines.
const OF_ENGINES: &str = "# Checks of `readyok check`\n\n\
    Every rule for engines with its clauses, and advice for an engine that violates it.\n\
    Generated from the code by `readyok check --list --markdown docs/conformance.md`.\n\n\
    A *must* is what clients depend on. A violated *should* causes trouble with some clients. A *may* is\n\
    a courtesy, or documents and practice disagree. Without `--profile` a rule of only one edition of\n\
    UCI is at most a *should*.\n";

/// Introduction of the page about clients.
const OF_CLIENTS: &str = "# Checks of `readyok check --gui`\n\n\
    Every rule for clients, GUIs and match runners, with its clauses, and advice for a client that\n\
    violates it. In most checks a mock engine shows one behavior, once.\n\
    Generated from the code by `readyok check --gui --list --markdown docs/conformance-clients.md`.\n\n\
    A *must* is what engines depend on, or what must not crash or hang a client. A violated *should*\n\
    causes trouble with some engines. A *may* is a courtesy.\n";

/// The checks of a side.
fn checks(of: Party) -> Box<dyn Iterator<Item = &'static Check>> {
    match of {
        Party::Engine => Box::new(checks::all()),
        Party::Client => Box::new(mock_engine::all()),
    }
}

/// The list of checks as text.
pub fn list_text(of: Party) -> String {
    let mut out = String::new();
    for check in checks(of) {
        // Writing to a `String` never fails.
        let _ = writeln!(out, "{:<32} {:<7} {}", check.id, check.severity.name(), check.rule);
    }
    out
}

/// The list of checks as a JSON array.
pub fn list_json(of: Party) -> String {
    let listed: Vec<Listed> = checks(of).map(Listed::from).collect();
    // Serialization cannot fail.
    serde_json::to_string_pretty(&listed).unwrap_or_default() + "\n"
}

/// The list of checks as a page of the documentation.
pub fn list_markdown(of: Party) -> String {
    let mut page = String::from(match of {
        Party::Engine => OF_ENGINES,
        Party::Client => OF_CLIENTS,
    });
    let mut area = "";
    for check in checks(of) {
        let this = check.area();
        // Writing to a `String` never fails.
        let _ = if this == area { Ok(()) } else { writeln!(page, "\n## {this}") };
        area = this;
        let profiles: Vec<_> = check.profiles.iter().map(|it| it.name()).collect();
        let _ = write!(
            page,
            "\n### `{}`\n\n*{}*, {}: {}.\n\n",
            check.id,
            check.severity,
            profiles.join(", "),
            check.rule
        );
        for clause in check.clauses {
            let _ = writeln!(page, "- {}: {}.", clause.source, clause.text);
        }
        for need in check.needs {
            let _ = writeln!(page, "- Requires {need}.");
        }
        let _ = writeln!(page, "- Advice: {}.", check.advice);
    }
    page
}

impl From<&'static Check> for Listed {
    fn from(check: &'static Check) -> Self {
        let clauses = check.clauses.iter();
        Self {
            id: check.id,
            rule: check.rule,
            severity: check.severity.name(),
            profiles: check.profiles.iter().copied().map(Profile::name).collect(),
            needs: check.needs.iter().map(ToString::to_string).collect(),
            clauses: clauses.map(|it| ListedClause { source: it.source, text: it.text }).collect(),
            advice: check.advice,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn what_xml_cannot_hold_is_escaped_or_replaced() {
        assert_eq!(escaped("a<b>&\"\u{1b}[2J"), "a&lt;b&gt;&amp;&quot;\u{fffd}[2J");
    }
}
