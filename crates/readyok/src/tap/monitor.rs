//! Observes both sides of a session and reports lines and violations.

use std::fmt;
use std::time::Duration;

use readyok_protocol::{
    Diagnostic, Dialect, LineBuffer, LineTooLong, Party, Rule, Severity, decode,
};
use readyok_rules::session::{self, Judge};

/// Observes a session between a client and an engine. The first `uci` or `usi` selects the dialect.
#[derive(Debug)]
pub struct Monitor {
    client: LineReader,
    engine: LineReader,
    judge: Judge,
}

/// A line or a finding with its time and its side.
#[derive(Debug)]
pub struct Entry<'a> {
    /// Time since the start of the session.
    pub at: Duration,
    /// The sender.
    pub side: Party,
    /// Line number of this side, from 1.
    pub line: u64,
    /// The line or the finding.
    pub content: Content<'a>,
}

/// The content of an [`Entry`].
#[derive(Debug)]
pub enum Content<'a> {
    /// A line without its line end.
    Line(&'a [u8]),
    /// A finding about the previous line. At the end of a side, a finding about a missing message.
    Finding(Finding),
}

/// A finding about a line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Finding {
    /// A violation, or an unusual form.
    Judged(session::Finding),
    /// The line is too long and was relayed without a check.
    TooLong(LineTooLong),
}

#[derive(Debug, Default)]
struct LineReader {
    buffer: LineBuffer,
    lines: u64,
}

impl Default for Monitor {
    fn default() -> Self {
        Self {
            client: LineReader::default(),
            engine: LineReader::default(),
            judge: Judge::new(Dialect::default()),
        }
    }
}

impl Monitor {
    /// Handles bytes of a side, split anywhere, and reports all complete lines.
    pub fn observe(
        &mut self,
        side: Party,
        at: Duration,
        bytes: &[u8],
        report: &mut dyn FnMut(&Entry<'_>),
    ) {
        let (reader, judge) = self.of(side);
        reader.buffer.push(bytes);
        while let Some(line) = reader.buffer.next_line() {
            reader.lines += 1;
            let number = reader.lines;
            let mut report =
                |content: Content<'_>| report(&Entry { at, side, line: number, content });
            match line {
                Ok(line) => check(judge, side, at, line, &mut report),
                Err(too_long) => report(Content::Finding(Finding::TooLong(too_long))),
            }
        }
    }

    /// Handles the end of the output of a side. Bytes after the last line end are a line. Missing replies of
    /// the engine are reported now.
    pub fn close(&mut self, side: Party, at: Duration, report: &mut dyn FnMut(&Entry<'_>)) {
        let (reader, judge) = self.of(side);
        let mut number = reader.lines;
        let mut report =
            |line: u64, content: Content<'_>| report(&Entry { at, side, line, content });
        if let Some(line) = reader.buffer.last_line() {
            reader.lines += 1;
            number = reader.lines;
            check(judge, side, at, line, &mut |content| report(number, content));
        }
        match side {
            Party::Client => judge.end_of_input(),
            Party::Engine => {
                for finding in judge.end_of_output() {
                    report(number, Content::Finding(Finding::Judged(finding)));
                }
            }
        }
    }

    /// Handles an interrupt of the session: missing replies are not reported.
    pub fn interrupt(&mut self) {
        self.judge.interrupt();
    }

    fn of(&mut self, side: Party) -> (&mut LineReader, &mut Judge) {
        let reader = match side {
            Party::Client => &mut self.client,
            Party::Engine => &mut self.engine,
        };
        (reader, &mut self.judge)
    }
}

fn check(
    judge: &mut Judge,
    side: Party,
    at: Duration,
    line: &[u8],
    report: &mut dyn FnMut(Content<'_>),
) {
    report(Content::Line(line));
    let (text, undecodable) = decode(line);
    for Diagnostic { kind, span } in undecodable {
        let tokens = text.get(span).unwrap_or_default().to_owned();
        report(Content::Finding(Finding::Judged(session::Finding::Note { kind, tokens })));
    }
    let found = match side {
        Party::Client => judge.command(&text, at),
        Party::Engine => judge.reply(&text, at),
    };
    for finding in found {
        report(Content::Finding(Finding::Judged(finding)));
    }
}

impl Finding {
    /// The violated rule.
    pub fn rule(&self) -> Option<Rule> {
        match self {
            Self::Judged(finding) => finding.rule(),
            Self::TooLong(_) => None,
        }
    }

    /// Whether a must is violated.
    pub fn is_must(&self) -> bool {
        self.rule().is_some_and(|rule| rule.severity() == Severity::Must)
    }

    /// The clause of the rule.
    pub fn clause(&self) -> &'static str {
        match self {
            Self::Judged(session::Finding::Violation { rule, .. }) => rule.clause(),
            Self::Judged(session::Finding::Note { kind, .. }) => kind.clause(),
            Self::TooLong(_) => "not a protocol rule: relayed without a check",
        }
    }

    /// The rule or the note, with its details.
    pub fn text(&self) -> String {
        match self {
            Self::Judged(finding) => finding.to_string(),
            Self::TooLong(too_long) => too_long.to_string(),
        }
    }
}

/// The severity and the id of the rule, or `note`; the rule with its details; and its source in brackets.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rule() {
            Some(rule) => write!(f, "{} {}", rule.severity(), rule.id())?,
            None => f.write_str("note")?,
        }
        write!(f, ": {} [{}]", self.text(), self.clause())
    }
}
