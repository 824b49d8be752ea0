//! Notices: defects of games that were read nevertheless, and the kinds of defects, by which reports group games.

use std::fmt;

use crate::{MoveError, PositionError};

use super::{Limit, RecordErrorKind};

/// A defect of a game that was read nevertheless.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The line, from 1.
    pub line: u64,
    /// The column, in characters, from 1.
    pub column: u64,
    /// The defect.
    pub reason: NoticeReason,
    /// The part of the game that was read.
    pub kept: Kept,
}

/// The defect of a [`Notice`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoticeReason {
    /// Unexpected text was skipped.
    Skipped(String),
    /// The text is not a legal move.
    NoSuchMove(String),
    /// A move is illegal, or fits several moves.
    Move(MoveError),
    /// A move fits several moves. Only one of them permits the moves after it.
    Resolved {
        /// The move.
        text: String,
        /// The moves that it fits, in UCI notation.
        candidates: Vec<String>,
        /// The move that was read, in UCI notation.
        chosen: String,
    },
    /// A malformed header was read as well as possible.
    Header(String),
    /// A header that contradicts the game, or is unknown, was replaced or ignored.
    Contradiction(String),
    /// The moves end without a result.
    NoResult,
    /// A comment is not closed.
    OpenComment,
    /// A castling right without a king and a rook on their squares was dropped.
    CastlingRight {
        /// The square of the rook.
        square: String,
    },
    /// The pieces have letters of another language than English.
    PieceLetters {
        /// The language, or the languages that are equal in this.
        language: &'static str,
    },
    /// Squares or ranks of the start position are missing. They are empty.
    Board(PositionError),
    /// The start position violates a rule, and can be viewed only.
    Start(PositionError),
    /// The game exceeds a limit.
    LimitExceeded(Limit),
}

/// The part of a defective game that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// Everything except the text of the defect.
    All,
    /// The main line up to this ply. The text up to the next game was skipped.
    MainLine(u32),
    /// The variation up to this ply of the game, and the other lines.
    Variation(u32),
}

impl fmt::Display for NoticeReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Skipped(text) => write!(f, "unexpected `{text}`"),
            Self::NoSuchMove(text) => write!(f, "`{text}` is not a legal move"),
            Self::Move(error) => error.fmt(f),
            Self::Resolved { text, candidates, chosen } => write!(
                f,
                "`{text}` fits several moves ({}): read as {chosen}, which the next moves require",
                candidates.join(", ")
            ),
            Self::Header(text) => write!(f, "the header `{text}` is malformed"),
            Self::Contradiction(text) => write!(f, "`{text}` contradicts the rest of the game"),
            Self::NoResult => f.write_str("no result after the last move"),
            Self::OpenComment => f.write_str("a comment is not closed"),
            Self::CastlingRight { square } => {
                write!(f, "the castling right with the rook on {square} is impossible")
            }
            Self::PieceLetters { language } => {
                write!(f, "the letters of the pieces are {language}")
            }
            Self::Board(error) => write!(f, "{error}; missing squares are empty"),
            Self::Start(error) => write!(f, "bad start position: {error}"),
            Self::LimitExceeded(limit) => limit.fmt(f),
        }
    }
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("the rest of the game is complete"),
            Self::MainLine(0) => f.write_str("no moves were read"),
            Self::MainLine(ply) => write!(f, "the main line was read up to ply {ply}"),
            Self::Variation(ply) => write!(f, "the variation was read up to ply {ply}"),
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.reason)?;
        match self.kept {
            Kept::All => Ok(()),
            kept => write!(f, "; {kept}"),
        }
    }
}

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
