//! The report as JSON.

use serde::Serialize;

use crate::excerpt::Input;
use crate::suite::Report;

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
    dialogue: Option<Vec<&'a str>>,
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
            severity: it.severity.word(),
            verdict: it.verdict.word(),
            text: it.verdict.text(),
            remark: it.remark.as_deref(),
            clauses: it
                .check
                .clauses
                .iter()
                .map(|it| format!("{}: {}", it.place, it.says))
                .collect(),
            advice: it.check.advice,
            dialogue: it.dialogue.as_deref().map(|it| it.lines().collect()),
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
            profile: self.profile.map(crate::Profile::name),
            verdict: self.summary(),
            exit_status: self.exit_status(),
            seed: self.seed,
            seconds: self.took.as_secs_f64(),
            answer_limit_seconds: self.pace.answer().as_secs_f64(),
            checks: rows.collect(),
        };
        // Nothing in it can fail to be written.
        serde_json::to_string_pretty(&written).unwrap_or_default() + "\n"
    }
}
