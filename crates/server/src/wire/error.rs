//! Errors: a category, a code with its parameters, and the context. The page has the texts.

use std::fmt;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{ErrorCode, ErrorSubject, Variant};

/// Why a request failed. Nothing has changed.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct ApiError {
    pub category: ErrorCategory,
    pub error: ErrorInfo,
}

/// The categories of failed requests.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCategory {
    /// The request is malformed or contradictory.
    InvalidRequest,
    /// The game, node, engine, process, match or entry does not exist.
    NotFound,
    /// The move is illegal, or its text is unreadable.
    IllegalMove,
    /// Several moves match the text.
    AmbiguousMove,
    /// The position is invalid, or its text is unreadable.
    InvalidPosition,
    /// The game record cannot be read or written.
    InvalidRecord,
    /// The current state does not allow the request: not this player's turn, the game is over, no search runs.
    Conflict,
    /// The engine does not support the request, or has failed.
    Engine,
    /// A limit of the server is reached.
    Limit,
    /// The path is outside of the allowed directories, or has another file type.
    InvalidPath,
    /// The disk or the library failed.
    Storage,
}

/// An error: its code and its context.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct ErrorInfo {
    #[serde(flatten)]
    pub code: ErrorCode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub context: Option<Box<ErrorContext>>,
}

/// The object and the location of an error.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize, TS)]
#[serde(default)]
#[ts(optional_fields)]
pub struct ErrorContext {
    /// The variant of the sides, squares and pieces in the parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<Variant>,
    /// The name of the engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The number of the game in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game: Option<u64>,
    /// The number of the entry in the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    /// The text of the rejected move.
    #[serde(rename = "move", skip_serializing_if = "Option::is_none")]
    pub mv: Option<String>,
    /// The last line that the engine wrote to its error output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
}

impl ApiError {
    pub(crate) fn new(category: ErrorCategory, error: impl Into<ErrorInfo>) -> Self {
        Self { category, error: error.into() }
    }

    pub(crate) fn invalid_request(error: impl Into<ErrorInfo>) -> Self {
        Self::new(ErrorCategory::InvalidRequest, error)
    }

    pub(crate) fn conflict(error: impl Into<ErrorInfo>) -> Self {
        Self::new(ErrorCategory::Conflict, error)
    }

    pub(crate) fn engine(error: impl Into<ErrorInfo>) -> Self {
        Self::new(ErrorCategory::Engine, error)
    }

    pub(crate) fn storage(error: impl Into<ErrorInfo>) -> Self {
        Self::new(ErrorCategory::Storage, error)
    }

    pub(crate) fn limit(error: impl Into<ErrorInfo>) -> Self {
        Self::new(ErrorCategory::Limit, error)
    }

    pub(crate) fn not_found(subject: ErrorSubject, name: impl ToString) -> Self {
        Self::new(ErrorCategory::NotFound, ErrorCode::unknown(subject, name))
    }

    pub(crate) fn too_many(subject: ErrorSubject) -> Self {
        Self::limit(ErrorCode::TooMany { subject })
    }

    /// Rejects a text that is empty, too long, or contains control characters.
    pub(crate) fn invalid_text(subject: ErrorSubject) -> Self {
        Self::invalid_request(ErrorCode::InvalidText { subject })
    }
}

impl ErrorCode {
    /// An error of the system or of a library, which has no code.
    pub(crate) fn system(error: &(impl ToString + ?Sized)) -> Self {
        Self::System { text: error.to_string() }
    }

    #[expect(clippy::needless_pass_by_value, reason = "callers pass numbers and texts")]
    pub(crate) fn unknown(subject: ErrorSubject, name: impl ToString) -> Self {
        Self::UnknownName { subject, name: name.to_string() }
    }

    /// An error with a context.
    pub(crate) fn with(self, set: impl FnOnce(&mut ErrorContext)) -> ErrorInfo {
        ErrorInfo::from(self).with(set)
    }
}

impl ErrorInfo {
    pub(crate) fn with(mut self, set: impl FnOnce(&mut ErrorContext)) -> Self {
        set(self.context.get_or_insert_default());
        self
    }
}

impl From<ErrorCode> for ErrorInfo {
    fn from(code: ErrorCode) -> Self {
        Self { code, context: None }
    }
}

impl From<ApiError> for ErrorInfo {
    fn from(error: ApiError) -> Self {
        error.error
    }
}

/// The English text: engine, location and move, then the text of the code.
impl fmt::Display for ErrorInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(context) = &self.context else { return self.code.fmt(f) };
        let ErrorContext { variant: _, engine, path, game, entry, line, column, mv, stderr } =
            &**context;
        if let Some(engine) = engine {
            write!(f, "{engine}: ")?;
        }
        let numbers = [("game", game), ("entry", entry), ("line", line), ("column", column)];
        let numbers = numbers
            .into_iter()
            .filter_map(|(name, number)| number.map(|number| format!("{name} {number}")));
        let location: Vec<String> = path.clone().into_iter().chain(numbers).collect();
        if !location.is_empty() {
            write!(f, "{}: ", location.join(", "))?;
        }
        if let Some(mv) = mv {
            write!(f, "{mv}: ")?;
        }
        self.code.fmt(f)?;
        match stderr {
            Some(line) => write!(f, "; last stderr line: {line}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_context_precedes_the_text() {
        let code = ErrorCode::UnexpectedText { text: "x".to_owned() };
        assert_eq!(ErrorInfo::from(code.clone()).to_string(), "unexpected text: x");
        let error = code.with(|it| {
            it.path = Some("a.pgn".to_owned());
            (it.game, it.line) = (Some(2), Some(7));
        });
        assert_eq!(error.to_string(), "a.pgn, game 2, line 7: unexpected text: x");
    }

    #[test]
    fn errors_keep_their_parameters_in_json() {
        let cause = ErrorCode::RankCount { count: 7, expected: 8 }.with(|it| it.line = Some(3));
        let error = ErrorInfo::from(ErrorCode::OpeningSkipped { cause: Box::new(cause) });
        let json = serde_json::to_value(&error).expect("it is serializable");
        let cause = serde_json::json!({
            "code": "rank_count", "count": 7, "expected": 8, "context": { "line": 3 }
        });
        assert_eq!(json, serde_json::json!({ "code": "opening_skipped", "cause": cause }));
        assert_eq!(serde_json::from_value::<ErrorInfo>(json).expect("it is an error"), error);
    }
}
