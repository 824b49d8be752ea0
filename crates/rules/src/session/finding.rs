//! What the judge of a session reports.

use std::fmt::{self, Write as _};
use std::time::Duration;

use readyok_protocol::{DiagnosticKind, Rule};

use super::PvFault;
use crate::{CodecError, MoveError};

/// A finding about a line, or about a missing message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// A rule is violated.
    Violation {
        /// The rule.
        rule: Rule,
        /// What violates it, if the line does not show it.
        detail: Option<Detail>,
    },
    /// An unusual form that violates no rule.
    Note {
        /// The kind.
        kind: DiagnosticKind,
        /// The tokens, shortened; empty if something is missing.
        tokens: String,
    },
}

/// What violates a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detail {
    /// A part of the line.
    Form {
        /// The kind.
        kind: DiagnosticKind,
        /// The tokens, shortened; empty if something is missing.
        tokens: String,
    },
    /// An option with this name, shortened.
    Option(String),
    /// An illegal position.
    Position(CodecError),
    /// An illegal move.
    Move(MoveError),
    /// An illegal ponder move.
    PonderMove(MoveError),
    /// An answer that is no move, although there are legal moves: the text, empty for `bestmove` alone.
    NoMove(String),
    /// A fault of a PV.
    Pv(PvFault),
    /// An answer after the limit.
    Late {
        /// The time of the search.
        took: Duration,
        /// The limit.
        limit: Duration,
    },
    /// `ponderhit` although another move was played.
    OtherMove {
        /// The last move of the position of `go ponder`.
        expected: String,
        /// The move that was played.
        played: String,
    },
}

impl Finding {
    /// A violation without details.
    pub(super) fn new(rule: Rule) -> Self {
        Self::Violation { rule, detail: None }
    }

    /// The violation with a detail.
    pub(super) fn with(self, detail: Detail) -> Self {
        match self {
            Self::Violation { rule, .. } => Self::Violation { rule, detail: Some(detail) },
            note @ Self::Note { .. } => note,
        }
    }

    /// The violated rule, if any.
    pub fn rule(&self) -> Option<Rule> {
        match self {
            Self::Violation { rule, .. } => Some(*rule),
            Self::Note { .. } => None,
        }
    }

    /// What violates the rule, if the line does not show it.
    pub fn detail(&self) -> Option<&Detail> {
        match self {
            Self::Violation { detail, .. } => detail.as_ref(),
            Self::Note { .. } => None,
        }
    }
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form { kind, tokens } => write_form(f, *kind, tokens),
            Self::Option(name) => write!(f, "`{}`", Shown(name)),
            Self::Position(error) => error.fmt(f),
            Self::Move(error) => error.fmt(f),
            Self::PonderMove(error) => write!(f, "{error} (ponder move)"),
            Self::NoMove(text) if text.is_empty() => {
                f.write_str("no move, although there are legal moves")
            }
            Self::NoMove(text) => {
                write!(f, "`{}`, although there are legal moves", Shown(text))
            }
            Self::Pv(fault) => fault.fmt(f),
            Self::Late { took, limit } => {
                write!(f, "{} ms, limit {} ms", took.as_millis(), limit.as_millis())
            }
            Self::OtherMove { expected, played } => {
                let (expected, played) = (Shown(expected), Shown(played));
                write!(f, "`{played}` was played, not `{expected}`")
            }
        }
    }
}

/// The detail of a violation, or the note.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Violation { rule, detail } => {
                f.write_str(rule.text())?;
                detail.as_ref().map_or(Ok(()), |detail| write!(f, ": {detail}"))
            }
            Self::Note { kind, tokens } => write_form(f, *kind, tokens),
        }
    }
}

fn write_form(f: &mut fmt::Formatter<'_>, kind: DiagnosticKind, tokens: &str) -> fmt::Result {
    write!(f, "{kind}")?;
    if tokens.is_empty() { Ok(()) } else { write!(f, ": `{}`", Shown(tokens)) }
}

/// A text of a program, without control characters.
struct Shown<'a>(&'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|letter| {
            if letter.is_control() {
                write!(f, "{}", letter.escape_default())
            } else {
                f.write_char(letter)
            }
        })
    }
}
