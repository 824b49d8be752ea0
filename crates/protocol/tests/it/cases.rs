//! Tables of lines with the expected result of reading and writing.
//!
//! ```text
//! # clause of the specification, or a topic, for the lines that follow
//! dialect uci
//! > a line of the client, or `< ` one of the engine
//! = the line that is written for it, if it is another one
//! ? it is not understood, and kept as text
//! ! Diagnostic 0..4, Diagnostic 7..7
//! - a remark
//! ```
//!
//! A backslash is `\\`, and `\xNN` is a byte: white space at the end of a line is `\x20`.

use std::fmt::Write;

use readyok_protocol::{Command, Diagnostic, Dialect, Reply};

use crate::laws;

/// One line of a table.
#[derive(Debug, Default)]
pub(crate) struct Case {
    pub(crate) clause: String,
    pub(crate) dialect: Dialect,
    pub(crate) from_client: bool,
    /// The line with the escapes of the table.
    pub(crate) spelling: String,
    pub(crate) written: Option<String>,
    pub(crate) understood: bool,
    pub(crate) diagnostics: String,
    pub(crate) remark: String,
}

/// Reads a table. A malformed line is an error in the table.
pub(crate) fn read(table: &str) -> Vec<Case> {
    let (mut clause, mut dialect) = (String::new(), Dialect::Uci);
    let mut cases: Vec<Case> = Vec::new();
    for line in table.lines().filter(|line| !line.is_empty()) {
        let (mark, text) = line.split_once(' ').unwrap_or((line, ""));
        let text = text.to_owned();
        match mark {
            "#" => clause = text,
            "dialect" => {
                dialect =
                    Dialect::ALL.into_iter().find(|dialect| dialect.handshake() == text).unwrap();
            }
            ">" | "<" => cases.push(Case {
                clause: clause.clone(),
                dialect,
                from_client: mark == ">",
                spelling: text,
                understood: true,
                ..Case::default()
            }),
            _ => {
                let case = cases.last_mut().unwrap();
                match mark {
                    "=" => case.written = Some(text),
                    "?" => case.understood = false,
                    "!" => case.diagnostics = text,
                    "-" => case.remark = text,
                    _ => panic!("{line:?} is no line of a table"),
                }
            }
        }
    }
    assert!(!cases.is_empty(), "a table without lines");
    cases
}

/// The result of reading a line, in the notation of the table.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) written: String,
    pub(crate) understood: bool,
    pub(crate) diagnostics: String,
}

impl Case {
    pub(crate) fn line(&self) -> String {
        String::from_utf8(unescaped(&self.spelling)).unwrap()
    }

    pub(crate) fn expected(&self) -> Outcome {
        Outcome {
            written: self.written.clone().unwrap_or_else(|| self.spelling.clone()),
            understood: self.understood,
            diagnostics: self.diagnostics.clone(),
        }
    }

    pub(crate) fn outcome(&self) -> Outcome {
        let line = self.line();
        let (written, understood, diagnostics) = if self.from_client {
            let read = Command::read(&line, self.dialect);
            let understood = !matches!(read.value, Command::Unknown(_));
            (laws::command(&line, self.dialect), understood, read.diagnostics)
        } else {
            let read = Reply::read(&line, self.dialect);
            let understood = !matches!(read.value, Reply::Unknown(_));
            (laws::reply(&line, self.dialect), understood, read.diagnostics)
        };
        Outcome {
            written: escaped(&written.unwrap()),
            understood,
            diagnostics: spelled(&diagnostics),
        }
    }

    /// Checks that reading and writing have the expected result.
    pub(crate) fn check(&self) {
        assert_eq!(self.outcome(), self.expected(), "{}: {}", self.clause, self.spelling);
    }
}

fn spelled(diagnostics: &[Diagnostic]) -> String {
    let mut text = String::new();
    for Diagnostic { span, kind } in diagnostics {
        let comma = if text.is_empty() { "" } else { ", " };
        write!(text, "{comma}{kind:?} {}..{}", span.start, span.end).unwrap();
    }
    text
}

/// Replaces the escapes `\\` and `\xNN` of a text.
pub(crate) fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        bytes.extend(before.bytes());
        rest = if let Some(after) = after.strip_prefix('\\') {
            bytes.push(b'\\');
            after
        } else {
            let digits = after.strip_prefix('x').and_then(|rest| rest.split_at_checked(2)).unwrap();
            bytes.push(u8::from_str_radix(digits.0, 16).unwrap());
            digits.1
        };
    }
    bytes.extend(rest.bytes());
    bytes
}

fn escaped(text: &str) -> String {
    let mut spelling = String::new();
    for c in text.chars() {
        match c {
            '\\' => spelling.push_str("\\\\"),
            c if c < ' ' => write!(spelling, "\\x{:02x}", u32::from(c)).unwrap(),
            c => spelling.push(c),
        }
    }
    let text = spelling.trim_end_matches(' ');
    format!("{text}{}", "\\x20".repeat(spelling.len() - text.len()))
}
