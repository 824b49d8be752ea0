//! Notices: defects of games that were read nevertheless, and the kinds of defects, by which reports group games.

use std::fmt;

use crate::{MoveError, PositionError};

use super::{Defect, Limit, RecordErrorKind};

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
    pub kept: ReadExtent,
}

/// The defect of a [`Notice`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoticeReason {
    /// A defect of the text.
    #[error("{0}")]
    Defect(Defect),
    /// A move is illegal, or fits several moves.
    #[error("{0}")]
    Move(MoveError),
    /// A castling right without a king and a rook on their squares was dropped.
    #[error("the castling right with the rook on {square} is impossible")]
    CastlingRight {
        /// The square of the rook.
        square: String,
    },
    /// Squares or ranks of the start position are missing. They are empty.
    #[error("{0}; missing squares are empty")]
    Board(PositionError),
    /// The start position violates a rule, and can be viewed only.
    #[error("bad start position: {0}")]
    Start(PositionError),
    /// The game exceeds a limit.
    #[error("{0}")]
    LimitExceeded(Limit),
}

/// The part of a defective game that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadExtent {
    /// Everything except the text of the defect.
    All,
    /// The main line up to this ply. The text up to the next game was skipped.
    MainLine(u32),
    /// The variation up to this ply of the game, and the other lines.
    Variation(u32),
}

impl fmt::Display for ReadExtent {
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
            ReadExtent::All => Ok(()),
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
            (ReadExtent::MainLine(_) | ReadExtent::Variation(_), _)
            | (ReadExtent::All, NoticeReason::Defect(Defect::UnclosedComment)) => Cost::Moves,
            (
                ReadExtent::All,
                NoticeReason::Defect(Defect::MissingResult | Defect::PieceLetters { .. }),
            ) => Cost::Nothing,
            (ReadExtent::All, _) => Cost::Text,
        }
    }
}

impl NoticeReason {
    /// The kind of the defect, without its text.
    pub fn kind(&self) -> &str {
        match self {
            Self::Defect(defect) => defect.kind(),
            Self::Move(_) => ILLEGAL,
            Self::CastlingRight { .. } => "impossible castling right",
            Self::Board(_) => "incomplete board",
            Self::Start(_) => START,
            Self::LimitExceeded(limit) => limit.text(),
        }
    }
}

const ILLEGAL: &str = "illegal move";
const START: &str = "bad start position";

impl RecordErrorKind {
    /// The kind of the error, without its text; the name of a game that is not supported.
    pub fn kind(&self) -> &str {
        match self {
            Self::Io(_) => "read error",
            Self::Start(_) => START,
            Self::WrongGame(_) => "game of another format",
            Self::Move(_) | Self::AmbiguousMove(_) => ILLEGAL,
            Self::Defect(defect) => defect.kind(),
            Self::LimitExceeded(limit) => limit.text(),
        }
    }
}

impl Defect {
    fn kind(&self) -> &str {
        match self {
            Self::UnknownVariant { name } => name,
            Self::NoMatchingMove { .. } => ILLEGAL,
            Self::UnclosedComment => "comment not closed",
            Self::UnexpectedText { .. } | Self::TextSkipped { .. } => "unexpected text",
            Self::UnknownFormat => "unknown format",
            Self::MoveResolved { .. } => "ambiguous move",
            Self::MalformedHeader { .. } => "malformed header",
            Self::Contradiction { .. } => "contradiction",
            Self::MissingResult => "no result",
            Self::PieceLetters { .. } => "letters of pieces",
        }
    }
}
