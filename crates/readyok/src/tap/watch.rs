//! Listens to both sides of a conversation: its lines, and the rules that they break.

use std::fmt;
use std::time::Duration;

use readyok_protocol::{
    Command, Diagnostic, DiagnosticKind, Dialect, LineBuffer, LineTooLong, Observer, Party, Reply,
    Severity, Violation, decode,
};

use crate::text::printable;

/// Follows one conversation between a client and an engine.
///
/// The dialect is that of the client's first `uci` or `usi`.
#[derive(Debug)]
pub struct Watch {
    client: Ear,
    engine: Ear,
    witness: Observer,
}

/// What was heard, from whom and when.
#[derive(Debug)]
pub struct Entry<'a> {
    /// Time since the conversation began.
    pub at: Duration,
    /// Who spoke.
    pub side: Party,
    /// Which line of this side it is about, from 1.
    pub line: u64,
    /// What there is to tell.
    pub heard: Heard<'a>,
}

/// What a [`Watch`] tells of.
#[derive(Debug)]
pub enum Heard<'a> {
    /// A line as it was sent, without its end.
    Line(&'a [u8]),
    /// The line that was told last breaks a rule; at the end of a side, what never came does.
    Breach(Breach),
}

/// A broken rule.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Breach {
    /// The message should not have been sent then, or does not fit what was said before it.
    Rule(Violation),
    /// The line is not written as it should be.
    Form {
        /// What is odd about it.
        kind: DiagnosticKind,
        /// The words that are meant, shortened; empty where something is missing.
        words: String,
    },
    /// The line is so long that it was passed on unread.
    Length(LineTooLong),
}

#[derive(Debug, Default)]
struct Ear {
    buffer: LineBuffer,
    lines: u64,
}

impl Default for Watch {
    fn default() -> Self {
        Self {
            client: Ear::default(),
            engine: Ear::default(),
            witness: Observer::new(Dialect::default()),
        }
    }
}

impl Watch {
    /// Takes what a side has sent, cut anywhere, and tells of all lines that are complete.
    pub fn hear(
        &mut self,
        side: Party,
        at: Duration,
        bytes: &[u8],
        tell: &mut dyn FnMut(&Entry<'_>),
    ) {
        let (ear, witness) = self.of(side);
        ear.buffer.push(bytes);
        while let Some(line) = ear.buffer.next_line() {
            ear.lines += 1;
            let number = ear.lines;
            let mut tell = |heard: Heard<'_>| tell(&Entry { at, side, line: number, heard });
            match line {
                Ok(line) => judge(witness, side, at, line, &mut tell),
                Err(too_long) => tell(Heard::Breach(Breach::Length(too_long))),
            }
        }
    }

    /// Takes note that a side has closed its end. What it sent after its last line end counts as
    /// a line. What an engine owes for ever is told now.
    pub fn end(&mut self, side: Party, at: Duration, tell: &mut dyn FnMut(&Entry<'_>)) {
        let (ear, witness) = self.of(side);
        let mut number = ear.lines;
        let mut tell = |line: u64, heard: Heard<'_>| tell(&Entry { at, side, line, heard });
        if let Some(line) = ear.buffer.last_line() {
            ear.lines += 1;
            number = ear.lines;
            judge(witness, side, at, line, &mut |heard| tell(number, heard));
        }
        match side {
            Party::Client => witness.end_of_input(),
            Party::Engine => {
                for violation in witness.end_of_output() {
                    tell(number, Heard::Breach(Breach::Rule(violation)));
                }
            }
        }
    }

    /// Takes note that the engine is ended from outside: what it owes is not its fault.
    pub fn interrupt(&mut self) {
        self.witness.interrupt();
    }

    fn of(&mut self, side: Party) -> (&mut Ear, &mut Observer) {
        let ear = match side {
            Party::Client => &mut self.client,
            Party::Engine => &mut self.engine,
        };
        (ear, &mut self.witness)
    }
}

fn judge(
    witness: &mut Observer,
    side: Party,
    at: Duration,
    line: &[u8],
    tell: &mut dyn FnMut(Heard<'_>),
) {
    tell(Heard::Line(line));
    let (text, undecodable) = decode(line);
    let (notes, violations) = match side {
        Party::Client => {
            if let Some(dialect) = witness.other_handshake(&text) {
                witness.expect_handshake(dialect);
            }
            let reading = Command::read(&text, witness.protocol_state().dialect());
            (reading.diagnostics, witness.observe_command(&reading.value, at))
        }
        Party::Engine => {
            if let Some(dialect) = witness.other_handshake_ok(&text) {
                witness.return_to(dialect);
            }
            let reading = Reply::read(&text, witness.protocol_state().dialect());
            (reading.diagnostics, witness.observe_reply(&reading.value, at))
        }
    };
    for Diagnostic { kind, span } in undecodable.into_iter().chain(notes) {
        let words = shortened(text.get(span).unwrap_or_default());
        tell(Heard::Breach(Breach::Form { kind, words }));
    }
    for violation in violations {
        tell(Heard::Breach(Breach::Rule(violation)));
    }
}

/// At most so many characters of a line are repeated in a report.
const LONGEST_QUOTE: usize = 40;

fn shortened(words: &str) -> String {
    let mut shown = printable(words);
    if let Some((end, _)) = shown.char_indices().nth(LONGEST_QUOTE) {
        shown.truncate(end);
        shown.push('…');
    }
    shown
}

impl Breach {
    /// Whether the message had no meaning at all for the other side.
    pub fn is_must(&self) -> bool {
        match self {
            Self::Rule(violation) => violation.rule.severity() == Severity::Must,
            Self::Form { .. } | Self::Length(_) => false,
        }
    }
}

/// `must`, `should` or `note`, what is wrong, and in brackets the clause that says so.
impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule(Violation { rule, .. }) => {
                let level = match rule.severity() {
                    Severity::Must => "must",
                    Severity::Should => "should",
                };
                write!(f, "{level}: {} [{}]", rule.text(), rule.clause())
            }
            Self::Form { kind, words } if words.is_empty() => {
                write!(f, "note: {kind} [{}]", kind.clause())
            }
            Self::Form { kind, words } => {
                write!(f, "note: {kind}: `{words}` [{}]", kind.clause())
            }
            Self::Length(too_long) => {
                write!(f, "note: {too_long} [no rule of the protocols: it was passed on unread]")
            }
        }
    }
}
