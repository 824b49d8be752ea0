//! Reports of a run, and the list of checks, as text, JSON, JUnit XML and Markdown.

use std::fmt;
use std::fmt::Write as _;
use std::time::Duration;

use readyok_protocol::Party;
use readyok_protocol::translation::display_text;
use serde::Serialize;

use crate::causes::Cause;
use crate::checks::{Grade, GradeResult};
use crate::spec::{Check, Profile, Severity};
use crate::spec::{CheckResult, Report, Tally, Verdict};
use crate::transcript::Input;
use crate::{checks, mock_engine};

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let protocol =
            self.profile.map_or_else(|| self.dialect.handshake(), |profile| profile.name());
        let grades = self.grades();
        for result in &grades {
            writeln!(f, "{}", grade_line(result))?;
        }
        if !grades.is_empty() {
            writeln!(f)?;
        }
        let causes = self.causes();
        let counts =
            if causes.is_empty() { String::new() } else { format!(": {}", count_causes(&causes)) };
        writeln!(f, "{} ({protocol}) {}{counts}", display_text(&self.name), self.summary())?;
        for severity in [Severity::Must, Severity::Should, Severity::May] {
            let tally = self.tally(severity);
            if tally == Tally::default() {
                continue;
            }
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
        writeln!(
            f,
            "  level {}, in {:.1} s, with seed {}",
            self.level.name(),
            self.took.as_secs_f64(),
            self.seed
        )?;
        writeln!(f, "  {}", self.time_limits())?;
        if !self.is_complete {
            writeln!(f, "  not all failures were repeated: their causes may be the same")?;
        }
        for cause in &causes {
            write_cause(f, self, cause)?;
        }
        let is_root = |id| causes.iter().any(|cause| cause.id == id);
        for result in
            self.results.iter().filter(|result| result.cause.is_none() && !is_root(result.check.id))
        {
            if let Verdict::Inconclusive(why) = &result.verdict {
                writeln!(
                    f,
                    "\ninconclusive {}: {}",
                    result.check.id,
                    display_text(&why.to_string())
                )?;
            }
        }
        let unobserved = self.unobserved();
        if !unobserved.is_empty() {
            writeln!(f, "\nnothing relevant was observed for: {}", unobserved.join(", "))?;
        }
        let remarks = || self.results.iter().filter(|result| result.remark.is_some());
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

/// Maximum number of rules that a line names.
const MAX_NAMED: usize = 5;

/// `plays in matches: no, it violates search.clock`.
fn grade_line(result: &GradeResult) -> String {
    let named = |ids: &[&'static str]| {
        let first = ids.iter().take(MAX_NAMED).copied().collect::<Vec<_>>().join(", ");
        match ids.len().saturating_sub(MAX_NAMED) {
            0 => first,
            more => format!("{first} and {more} more"),
        }
    };
    let why = if result.violated.is_empty() { &result.open } else { &result.violated };
    let verb = if result.violated.is_empty() { "not checked:" } else { "it violates" };
    let why = if why.is_empty() { String::new() } else { format!(", {verb} {}", named(why)) };
    format!("{}: {}{why}", result.grade.name(), result.verdict())
}

impl Report {
    /// How long a reply was waited for, as a sentence.
    fn time_limits(&self) -> String {
        let scale = self.timeouts.scale();
        let reason = if 1.05 < scale {
            format!(", {scale:.1} times as long as on an idle computer")
        } else {
            String::new()
        };
        match self.side {
            Party::Engine => format!(
                "a reply counts as missing after {}{reason}; `isready` was answered in {:.1} ms",
                duration(self.timeouts.answer()),
                self.timeouts.ping().as_secs_f64() * 1000.0
            ),
            Party::Client if reason.is_empty() => {
                "time limits are those of an idle computer".into()
            }
            Party::Client => format!("time limits are {scale:.1} times those of an idle computer"),
        }
    }
}

/// `4.0 s`, or `11 min 28 s` from two minutes.
fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds < 120 {
        format!("{:.1} s", time.as_secs_f64())
    } else {
        format!("{} min {} s", seconds / 60, seconds % 60)
    }
}

/// Writes the findings of one cause, with the shortest transcript.
fn write_cause(f: &mut fmt::Formatter<'_>, report: &Report, cause: &Cause<'_>) -> fmt::Result {
    let fails = cause.root.is_some_and(|root| matches!(root.verdict, Verdict::Fail(_)));
    let kind = if fails { "FAIL" } else { "cause" };
    if let (Some(check), Some(severity)) = (cause.check(), cause.severity()) {
        writeln!(f, "\n{kind} {} ({severity}): {}", cause.id, check.rule)?;
        if let Some(name) = cause.name() {
            writeln!(f, "  cause: {}", display_text(&name.to_string()))?;
        }
        match cause.root {
            Some(root) if matches!(root.verdict, Verdict::Pass) => (),
            Some(root) => writeln!(f, "  seen: {}", display_text(&root.verdict.text()))?,
            None => writeln!(f, "  not selected; run `--only {}` for a transcript", cause.id)?,
        }
        for (source, text) in check.clauses_for(report.dialect) {
            writeln!(f, "  rule: {source}: {text}")?;
        }
        writeln!(f, "  advice: {}", check.advice)?;
    }
    let (failed, rest): (Vec<&CheckResult>, Vec<_>) = cause
        .dependents
        .iter()
        .partition(|dependent| matches!(dependent.verdict, Verdict::Fail(_)));
    for result in failed {
        writeln!(
            f,
            "  also {} ({}): {}",
            result.check.id,
            result.severity,
            display_text(&result.verdict.text())
        )?;
    }
    if !rest.is_empty() {
        let ids: Vec<&str> = rest.iter().map(|result| result.check.id).collect();
        writeln!(f, "  without a verdict because of it: {}", ids.join(", "))?;
    }
    let Some(shortest) = cause.shortest() else {
        return match cause.without_transcript() {
            Some(why) => writeln!(f, "  {why}"),
            None => Ok(()),
        };
    };
    if shortest.check.id != cause.id {
        writeln!(f, "  shortest transcript, of {}:", shortest.check.id)?;
    }
    for line in shortest.transcript.iter().flat_map(|transcript| transcript.lines()) {
        writeln!(f, "  {}", display_text(line))?;
    }
    if let Some(works) = shortest.repair.as_ref().and_then(|repair| repair.transcript.as_ref()) {
        writeln!(f, "  this dialogue works:")?;
        for line in works.lines() {
            writeln!(f, "  {}", display_text(line))?;
        }
    }
    match &shortest.input {
        // Not indented, because spaces would be pasted, too.
        Some(Input::Lines(lines)) => write!(f, "  paste into the engine's input:\n\n{lines}"),
        Some(Input::Command(command)) => {
            writeln!(f, "  write to the engine's input:\n\n{command} | ENGINE")
        }
        None => Ok(()),
    }
}

/// `1 root cause, 2 findings`.
pub(crate) fn count_causes(causes: &[Cause<'_>]) -> String {
    let findings: usize = causes.iter().map(Cause::findings).sum();
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    format!(
        "{} root cause{}, {findings} finding{}",
        causes.len(),
        plural(causes.len()),
        plural(findings)
    )
}

#[derive(Serialize)]
struct Written<'a> {
    name: &'a str,
    side: String,
    protocol: &'static str,
    profile: Option<&'static str>,
    verdict: &'static str,
    exit_status: u8,
    grade: Option<&'static str>,
    grades: Vec<WrittenGrade>,
    seed: u64,
    seconds: f64,
    answer_limit_seconds: f64,
    level: &'static str,
    causes: Vec<WrittenCause>,
    checks: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct WrittenGrade {
    grade: &'static str,
    name: &'static str,
    verdict: &'static str,
    violated: Vec<&'static str>,
    not_checked: Vec<&'static str>,
}

impl From<GradeResult> for WrittenGrade {
    fn from(result: GradeResult) -> Self {
        Self {
            grade: result.grade.key(),
            name: result.grade.name(),
            verdict: result.verdict(),
            violated: result.violated,
            not_checked: result.open,
        }
    }
}

#[derive(Serialize)]
struct WrittenCause {
    id: &'static str,
    /// The cause as text, and the change of the dialogue that has shown it.
    name: Option<String>,
    change: Option<&'static str>,
    severity: Option<&'static str>,
    findings: usize,
    dependents: Vec<&'static str>,
    /// The check with the shortest transcript, or the reason why it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    shortest: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    without_transcript: Option<&'static str>,
}

#[derive(Serialize)]
struct Row<'a> {
    id: &'static str,
    rule: &'static str,
    severity: &'static str,
    verdict: &'static str,
    text: String,
    cause: Option<&'static str>,
    loaded: bool,
    observed: Option<usize>,
    remark: Option<&'a str>,
    clauses: Vec<String>,
    advice: &'static str,
    transcript: Option<Vec<&'a str>>,
    works: Option<Vec<&'a str>>,
    input: Option<Vec<&'a str>>,
    input_command: Option<&'a str>,
    seconds: f64,
}

impl From<&Cause<'_>> for WrittenCause {
    fn from(cause: &Cause<'_>) -> Self {
        Self {
            id: cause.id,
            name: cause.name().map(ToString::to_string),
            change: cause.change(),
            severity: cause.severity().map(Severity::name),
            findings: cause.findings(),
            dependents: cause.dependents.iter().map(|dependent| dependent.check.id).collect(),
            shortest: cause.shortest().map(|result| result.check.id),
            without_transcript: cause.without_transcript(),
        }
    }
}

impl Report {
    /// The rules for which nothing relevant was observed.
    pub fn unobserved(&self) -> Vec<&'static str> {
        let is_unobserved = |result: &&CheckResult| {
            result.observed == Some(0) && !matches!(result.verdict, Verdict::Fail(_))
        };
        let results = self.results.iter().filter(is_unobserved);
        results.map(|result| result.check.id).collect()
    }

    /// One JSON object.
    pub fn to_json(&self) -> String {
        let rows = self.results.iter().map(|result| Row {
            id: result.check.id,
            rule: result.check.rule,
            severity: result.severity.name(),
            verdict: result.verdict.name(),
            text: result.verdict.text(),
            cause: result.cause,
            loaded: result.loaded,
            observed: result.observed,
            remark: result.remark.as_deref(),
            clauses: result
                .check
                .clauses_for(self.dialect)
                .into_iter()
                .map(|(source, text)| format!("{source}: {text}"))
                .collect(),
            advice: result.check.advice,
            transcript: result.transcript.as_deref().map(|transcript| transcript.lines().collect()),
            works: result
                .repair
                .as_ref()
                .and_then(|repair| Some(repair.transcript.as_deref()?.lines().collect())),
            input: match &result.input {
                Some(Input::Lines(lines)) => Some(lines.lines().collect()),
                Some(Input::Command(_)) | None => None,
            },
            input_command: match &result.input {
                Some(Input::Command(command)) => Some(command),
                Some(Input::Lines(_)) | None => None,
            },
            seconds: result.took.as_secs_f64(),
        });
        let written = Written {
            name: &self.name,
            side: self.side.to_string(),
            protocol: self.dialect.handshake(),
            profile: self.profile.map(Profile::name),
            verdict: self.summary(),
            exit_status: self.exit_status(),
            grade: self.grade().map(Grade::key),
            grades: self.grades().into_iter().map(WrittenGrade::from).collect(),
            seed: self.seed,
            seconds: self.took.as_secs_f64(),
            answer_limit_seconds: self.timeouts.answer().as_secs_f64(),
            level: self.level.name(),
            causes: self.causes().iter().map(WrittenCause::from).collect(),
            checks: rows.collect(),
        };
        // Serialization cannot fail.
        serde_json::to_string_pretty(&written).unwrap_or_default() + "\n"
    }
}

impl Report {
    /// One test suite with a test case for each check. Only violations of a must are failures.
    pub fn to_junit(&self) -> String {
        let broken = |result: &&CheckResult| result.severity == Severity::Must;
        let (failures, skipped) = (
            self.failures().filter(broken).count(),
            self.results.iter().filter(|result| is_skipped(result)).count(),
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
        let grades = self.grades();
        if !grades.is_empty() {
            xml.push_str("  <properties>\n");
            for result in grades {
                let (key, verdict) = (result.grade.key(), result.verdict());
                let _ = writeln!(xml, "    <property name=\"grade.{key}\" value=\"{verdict}\"/>");
            }
            xml.push_str("  </properties>\n");
        }
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
    /// The JSON of a badge for an endpoint of shields.io.
    pub fn to_badge(&self) -> String {
        let badge = serde_json::json!({
            "schemaVersion": 1,
            "label": self.dialect.handshake().to_uppercase(),
            "message": self.badge_text(),
            "color": self.color(),
        });
        badge.to_string() + "\n"
    }

    /// The highest grade, or the number of musts that the engine or client follows.
    fn badge_text(&self) -> String {
        self.grade().map_or_else(
            || {
                let must = self.tally(Severity::Must);
                let judged = must.passed + must.failed + must.inconclusive;
                format!("{} of {judged} musts", must.passed)
            },
            |grade| grade.name().to_owned(),
        )
    }

    /// The color of the badge.
    fn color(&self) -> &'static str {
        match (self.grade(), self.exit_status()) {
            (Some(Grade::Complete), _) | (None, 0) => "brightgreen",
            (Some(Grade::Matches), _) => "green",
            (Some(Grade::AnyGui), _) => "yellowgreen",
            (None, 1) => "red",
            (None, _) => "yellow",
        }
    }

    /// A badge, a table of failed checks, and their transcripts.
    pub fn to_markdown(&self) -> String {
        let protocol = self.dialect.handshake();
        let (text, color) = (self.badge_text().replace(' ', "%20"), self.color());
        let mut page =
            format!("![{protocol}](https://img.shields.io/badge/{protocol}-{text}-{color})\n\n");
        for result in self.grades() {
            // Writing to a `String` never fails.
            let _ = writeln!(page, "- {}", plain(&grade_line(&result)));
        }
        let _ = write!(
            page,
            "{}**{}** {}.\n\n\
            | severity | passed | failed | inconclusive | skipped |\n|---|---|---|---|---|\n",
            if self.side == Party::Engine { "\n" } else { "" },
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
        let causes = self.causes();
        if !causes.is_empty() {
            let _ = writeln!(page, "\n{}.", count_causes(&causes));
        }
        for cause in &causes {
            self.write_cause_markdown(&mut page, cause);
        }
        let is_root = |id| causes.iter().any(|cause| cause.id == id);
        for result in
            self.results.iter().filter(|result| result.cause.is_none() && !is_root(result.check.id))
        {
            if let Verdict::Inconclusive(why) = &result.verdict {
                let _ = write!(
                    page,
                    "\n### `{}`: inconclusive ({})\n\n{}. Seen: {}.\n",
                    result.check.id,
                    result.severity,
                    result.check.rule,
                    plain(&why.to_string())
                );
            }
        }
        page
    }

    fn write_cause_markdown(&self, page: &mut String, cause: &Cause<'_>) {
        // Writing to a `String` never fails.
        if let (Some(check), Some(severity)) = (cause.check(), cause.severity()) {
            let (verdict, seen) = match cause.root {
                Some(root) => (root.verdict.name(), plain(&root.verdict.text())),
                None => ("not selected", format!("`--only {}` shows it", cause.id)),
            };
            let _ = write!(
                page,
                "\n### `{}`: {verdict} ({severity})\n\n{}. Seen: {seen}.\n\nAdvice: {}.\n",
                cause.id, check.rule, check.advice
            );
            if let Some(name) = cause.name() {
                let _ = write!(page, "\nCause: {}.\n", plain(&name.to_string()));
            }
            for (source, text) in check.clauses_for(self.dialect) {
                let _ = write!(page, "\n- {}: {}.", plain(&source), text);
            }
            page.push('\n');
        }
        let (failed, rest): (Vec<&CheckResult>, Vec<_>) = cause
            .dependents
            .iter()
            .partition(|dependent| matches!(dependent.verdict, Verdict::Fail(_)));
        for result in failed {
            let text = plain(&result.verdict.text());
            let _ = write!(page, "\nAlso `{}` ({}): {text}.\n", result.check.id, result.severity);
        }
        if !rest.is_empty() {
            let ids: Vec<_> = rest.iter().map(|result| format!("`{}`", result.check.id)).collect();
            let _ = write!(page, "\nWithout a verdict because of it: {}.\n", ids.join(", "));
        }
        let Some(shortest) = cause.shortest() else {
            if let Some(why) = cause.without_transcript() {
                let _ = write!(page, "\nThere is {why}.\n");
            }
            return;
        };
        let works = shortest.repair.as_ref().and_then(|repair| repair.transcript.as_ref());
        for (heading, transcript) in
            [("", shortest.transcript.as_ref()), ("\nThis dialogue works:\n", works)]
        {
            let Some(transcript) = transcript else { continue };
            let _ = writeln!(page, "{heading}");
            // Indented, because no line of an engine can end such a block.
            for line in transcript.lines() {
                let _ = writeln!(page, "    {}", display_text(line));
            }
        }
        let (how, input) = match &shortest.input {
            Some(Input::Lines(lines)) => ("Paste into", lines.clone()),
            Some(Input::Command(command)) => ("Write to", format!("{command} | ENGINE\n")),
            None => return,
        };
        let _ = write!(
            page,
            "\n<details><summary>{how} the engine's input</summary>\n\n\
             ```text\n{input}```\n\n</details>\n"
        );
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
    /// The easiest grade with this rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    grade: Option<&'static str>,
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

/// Introduction of the list of engine checks.
const OF_ENGINES: &str = "# Checks of engines\n\n\
    The rules for engines that `readyok check` tests. A *must* is what clients depend on. A violated *should*\n\
    causes trouble with some clients. A *may* is a courtesy, or documents and practice disagree.\n\
    Without `--profile` a rule of only one edition of UCI is at most a *should*. The *grade* is the easiest one that\n\
    has the rule; each grade has the rules of easier ones, too.\n";

/// Introduction of the list of client checks.
const OF_CLIENTS: &str = "# Checks of clients\n\n\
    The rules for clients, GUIs and match runners that `readyok check --gui` tests. In most checks a\n\
    mock engine shows one behavior, once. A *must* is what engines depend on, or what must not crash\n\
    or hang a client. A violated *should* causes trouble with some engines. A *may* is a courtesy.\n";

/// The checks of a side.
fn checks(of: Party) -> Box<dyn Iterator<Item = &'static Check>> {
    match of {
        Party::Engine => Box::new(checks::all()),
        Party::Client => Box::new(mock_engine::all()),
    }
}

/// The easiest grade with a rule of engines.
fn grade_of(check: &Check) -> Option<Grade> {
    Grade::of(check).filter(|_| !check.id.starts_with("gui."))
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

/// Introduction of a list in Markdown.
const fn introduction(of: Party) -> &'static str {
    match of {
        Party::Engine => OF_ENGINES,
        Party::Client => OF_CLIENTS,
    }
}

/// The list of checks as a page of the book: one row for each check, with the sources of its clauses.
pub fn list_table(of: Party) -> String {
    let option = match of {
        Party::Engine => "",
        Party::Client => "--gui ",
    };
    let mut page = format!(
        "{}\n`readyok check {option}--list --markdown FILE` writes the same list with the text of each clause,\n\
        the requirements of each check, and advice. A test of `readyok-check` generates this page.\n",
        introduction(of)
    );
    let mut area = "";
    for check in checks(of) {
        let this = check.area();
        if this != area {
            // Writing to a `String` never fails.
            let (column, line) = match of {
                Party::Engine => (" grade |", "---|"),
                Party::Client => ("", ""),
            };
            let _ = writeln!(
                page,
                "\n## {this}\n\n| check | severity |{column} rule | clauses |\n|---|---|{line}---|---|"
            );
        }
        area = this;
        let clauses: Vec<_> = check.clauses.iter().map(|clause| clause.source).collect();
        let (id, severity, rule) = (check.id, check.severity, check.rule);
        let grade = match of {
            Party::Engine => format!(" {} |", grade_of(check).map_or("", Grade::name)),
            Party::Client => String::new(),
        };
        let clauses = clauses.join("; ");
        let _ = writeln!(page, "| `{id}` | {severity} |{grade} {rule} | {clauses} |");
    }
    page
}

/// The list of checks in Markdown, with clauses and advice.
pub fn list_markdown(of: Party) -> String {
    let mut page = String::from(introduction(of));
    let mut area = "";
    for check in checks(of) {
        let this = check.area();
        // Writing to a `String` never fails.
        let _ = if this == area { Ok(()) } else { writeln!(page, "\n## {this}") };
        area = this;
        let profiles: Vec<_> = check.profiles.iter().map(|profile| profile.name()).collect();
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
            grade: grade_of(check).map(Grade::key),
            profiles: check.profiles.iter().copied().map(Profile::name).collect(),
            needs: check.needs.iter().map(ToString::to_string).collect(),
            clauses: clauses
                .map(|clause| ListedClause { source: clause.source, text: clause.text })
                .collect(),
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
