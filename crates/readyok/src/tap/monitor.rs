//! Observes both sides of a session and reports lines and violations.

use std::fmt;
use std::time::Duration;

use readyok_protocol::{
    Command, Diagnostic, DiagnosticKind, Dialect, LineBuffer, LineTooLong, Observer, Party, Reply,
    Severity, Violation, decode,
};

use crate::terminal::printable;

/// Observes a session between a client and an engine. The first `uci` or `usi` selects the dialect.
#[derive(Debug)]
pub struct Monitor {
    client: LineReader,
    engine: LineReader,
    observer: Observer,
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

/// A violation of the protocol.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Finding {
    /// The message is not allowed in the current state of the session.
    Rule(Violation),
    /// The syntax of the line is invalid.
    Syntax {
        kind: DiagnosticKind,
        /// The tokens, truncated; empty if something is missing.
        tokens: String,
    },
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
            observer: Observer::new(Dialect::default()),
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
        let (reader, observer) = self.of(side);
        reader.buffer.push(bytes);
        while let Some(line) = reader.buffer.next_line() {
            reader.lines += 1;
            let number = reader.lines;
            let mut report =
                |content: Content<'_>| report(&Entry { at, side, line: number, content });
            match line {
                Ok(line) => check(observer, side, at, line, &mut report),
                Err(too_long) => report(Content::Finding(Finding::TooLong(too_long))),
            }
        }
    }

    /// Handles the end of the output of a side. Bytes after the last line end are a line. Missing replies of
    /// the engine are reported now.
    pub fn close(&mut self, side: Party, at: Duration, report: &mut dyn FnMut(&Entry<'_>)) {
        let (reader, observer) = self.of(side);
        let mut number = reader.lines;
        let mut report =
            |line: u64, content: Content<'_>| report(&Entry { at, side, line, content });
        if let Some(line) = reader.buffer.last_line() {
            reader.lines += 1;
            number = reader.lines;
            check(observer, side, at, line, &mut |content| report(number, content));
        }
        match side {
            Party::Client => observer.end_of_input(),
            Party::Engine => {
                for violation in observer.end_of_output() {
                    report(number, Content::Finding(Finding::Rule(violation)));
                }
            }
        }
    }

    /// Handles an interrupt of the session: missing replies are not reported.
    pub fn interrupt(&mut self) {
        self.observer.interrupt();
    }

    fn of(&mut self, side: Party) -> (&mut LineReader, &mut Observer) {
        let reader = match side {
            Party::Client => &mut self.client,
            Party::Engine => &mut self.engine,
        };
        (reader, &mut self.observer)
    }
}

fn check(
    observer: &mut Observer,
    side: Party,
    at: Duration,
    line: &[u8],
    report: &mut dyn FnMut(Content<'_>),
) {
    report(Content::Line(line));
    let (text, undecodable) = decode(line);
    let (diagnostics, violations) = match side {
        Party::Client => {
            if let Some(dialect) = observer.other_handshake(&text) {
                observer.expect_handshake(dialect);
            }
            let reading = Command::read(&text, observer.protocol_state().dialect());
            (reading.diagnostics, observer.observe_command(&reading.value, at))
        }
        Party::Engine => {
            if let Some(dialect) = observer.other_handshake_ok(&text) {
                observer.return_to(dialect);
            }
            let reading = Reply::read(&text, observer.protocol_state().dialect());
            (reading.diagnostics, observer.observe_reply(&reading.value, at))
        }
    };
    for Diagnostic { kind, span } in undecodable.into_iter().chain(diagnostics) {
        let tokens = truncated(text.get(span).unwrap_or_default());
        report(Content::Finding(Finding::Syntax { kind, tokens }));
    }
    for violation in violations {
        report(Content::Finding(Finding::Rule(violation)));
    }
}

/// Maximum length of a quotation in a finding, in characters.
const MAX_QUOTE_LEN: usize = 40;

fn truncated(tokens: &str) -> String {
    let mut shown = printable(tokens);
    if let Some((end, _)) = shown.char_indices().nth(MAX_QUOTE_LEN) {
        shown.truncate(end);
        shown.push('…');
    }
    shown
}

impl Finding {
    /// Whether a must is violated.
    pub fn is_must(&self) -> bool {
        match self {
            Self::Rule(violation) => violation.rule.severity() == Severity::Must,
            Self::Syntax { .. } | Self::TooLong(_) => false,
        }
    }
}

/// `must`, `should` or `note`, the rule, and its source in brackets.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule(Violation { rule, .. }) => {
                let level = match rule.severity() {
                    Severity::Must => "must",
                    Severity::Should => "should",
                };
                write!(f, "{level}: {} [{}]", rule.text(), rule.clause())
            }
            Self::Syntax { kind, tokens } if tokens.is_empty() => {
                write!(f, "note: {kind} [{}]", kind.clause())
            }
            Self::Syntax { kind, tokens } => {
                write!(f, "note: {kind}: `{tokens}` [{}]", kind.clause())
            }
            Self::TooLong(too_long) => {
                write!(f, "note: {too_long} [not a protocol rule: relayed without a check]")
            }
        }
    }
}
