//! Kinds of defects, by which reports group games.

use super::{Kept, Limit, Notice, NoticeReason, RecordErrorKind};

/// What a defect costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cost {
    /// Nothing: a usual deviation from the format.
    Nothing,
    /// Text, headers or a rule of the start position; no moves.
    Text,
    /// Moves, or all text after a comment that is not closed.
    Moves,
}

impl Notice {
    /// What the defect costs.
    pub fn cost(&self) -> Cost {
        match (self.kept, &self.reason) {
            (Kept::MainLine(_) | Kept::Variation(_), _)
            | (Kept::All, NoticeReason::OpenComment) => Cost::Moves,
            (Kept::All, NoticeReason::NoResult | NoticeReason::PieceLetters { .. }) => {
                Cost::Nothing
            }
            (Kept::All, _) => Cost::Text,
        }
    }
}

impl NoticeReason {
    /// The kind of the defect, without its text.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Skipped(_) => UNEXPECTED,
            Self::NoSuchMove(_) | Self::Move(_) => ILLEGAL,
            Self::Resolved { .. } => "ambiguous move",
            Self::Header(_) => "malformed header",
            Self::Contradiction(_) => "contradiction",
            Self::NoResult => "no result",
            Self::OpenComment => OPEN_COMMENT,
            Self::CastlingRight { .. } => "impossible castling right",
            Self::PieceLetters { .. } => "letters of pieces",
            Self::Board(_) => "incomplete board",
            Self::Start(_) => START,
            Self::LimitExceeded(limit) => limit.kind(),
        }
    }
}

const UNEXPECTED: &str = "unexpected text";
const ILLEGAL: &str = "illegal move";
const OPEN_COMMENT: &str = "comment not closed";
const START: &str = "bad start position";

impl RecordErrorKind {
    /// The kind of the error, without its text; the name of a game that is not supported.
    pub fn kind(&self) -> &str {
        match self {
            Self::Io(_) => "read error",
            Self::Start(_) => START,
            Self::UnknownGame(name) => name,
            Self::WrongGame(_) => "game of another format",
            Self::Move(_) | Self::NoSuchMove(_) | Self::AmbiguousMove(_) => ILLEGAL,
            Self::OpenComment => OPEN_COMMENT,
            Self::Unexpected(_) => UNEXPECTED,
            Self::UnknownFormat => "unknown format",
            Self::LimitExceeded(limit) => limit.kind(),
        }
    }
}

impl Limit {
    fn kind(self) -> &'static str {
        match self {
            Self::GameBytes => "game too large",
            Self::CommentBytes => "comment too long",
            Self::Headers => "too many headers",
            Self::HeaderBytes => "header too long",
            Self::Moves => "too many moves",
            Self::Plies => "line of moves too long",
            Self::Depth => "variations nested too deep",
        }
    }
}
