//! Errors as the host reads them.

use std::fmt;

use readyok_rules::record::{AddError, RecordError, WriteError};
use readyok_rules::{LineError, MoveError, PositionError};

/// The text of an error, with what its class in JavaScript has.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: Kind,
    details: String,
    text: String,
}

/// The class of an error in JavaScript.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// `PositionError`.
    Position,
    /// `IllegalMoveError`. Details are the index of the move in a line, or -1, and the candidates.
    Move,
    /// `RecordError`. Details are the numbers of game, line and column.
    Record,
    /// `TypeError`: a wrong call.
    Usage,
    /// `ReadyokError`.
    Other,
}

impl Failure {
    fn new(kind: Kind, details: String, text: &dyn fmt::Display) -> Self {
        Self { kind, details, text: text.to_string() }
    }

    /// A wrong call.
    pub(crate) fn usage(text: &str) -> Self {
        Self::new(Kind::Usage, String::new(), &text)
    }

    /// An error without a class of its own.
    pub(crate) fn other(text: &dyn fmt::Display) -> Self {
        Self::new(Kind::Other, String::new(), text)
    }

    /// The parts of the error, separated by line feeds. The text can contain more of them.
    pub(crate) fn to_text(&self) -> String {
        let kind = match self.kind {
            Kind::Position => "position",
            Kind::Move => "move",
            Kind::Record => "record",
            Kind::Usage => "usage",
            Kind::Other => "other",
        };
        [kind, &self.details, &self.text].join("\n")
    }

    fn of_move(index: i64, error: &MoveError, text: &dyn fmt::Display) -> Self {
        let mut details = index.to_string();
        for candidate in &error.candidates {
            details.push(' ');
            details.push_str(candidate);
        }
        Self::new(Kind::Move, details, text)
    }
}

impl From<PositionError> for Failure {
    fn from(error: PositionError) -> Self {
        Self::new(Kind::Position, String::new(), &error)
    }
}

impl From<MoveError> for Failure {
    fn from(error: MoveError) -> Self {
        Self::of_move(-1, &error, &error)
    }
}

impl From<LineError> for Failure {
    fn from(error: LineError) -> Self {
        Self::of_move(i64::try_from(error.index).unwrap_or(i64::MAX), &error.error, &error)
    }
}

impl From<AddError> for Failure {
    fn from(error: AddError) -> Self {
        match error {
            AddError::Move(error) => error.into(),
            error => Self::other(&error),
        }
    }
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Self {
        let RecordError { game, line, column, .. } = error;
        Self::new(Kind::Record, format!("{game} {line} {column}"), &error)
    }
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        Self::other(&error)
    }
}
