//! Errors of reading and writing records.

use std::{error, fmt, io};

use crate::{Game, MoveError, PositionError};

use super::Format;

/// A game of a file that could not be read.
#[derive(Debug)]
pub struct RecordError {
    /// The game's number in the file, from 1.
    pub game: u64,
    /// The line, from 1.
    pub line: u64,
    /// The column, in characters, from 1.
    pub column: u64,
    /// The error.
    pub kind: RecordErrorKind,
}

readyok_protocol::errors! {
    /// A defect of a record that concerns neither its start position nor a legal move. Texts are shortened.
    #[derive(Debug, Clone, PartialEq, Eq)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(tag = "code", rename_all = "snake_case"))]
    #[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "RecordDefect"))]
    pub enum Defect {
        UnknownVariant { name: String } => "the game `{name}` is not supported",
        NoMatchingMove { text: String } => "`{text}` is not a legal move",
        UnclosedComment => "a comment is not closed",
        UnexpectedText { text: String } => "unexpected `{text}`",
        UnknownFormat => "unknown format",
        /// The rest of the game is read.
        TextSkipped { text: String } => "unexpected `{text}`",
        MoveResolved {
            text: String,
            /// The moves that it fits, in UCI notation, separated by commas.
            #[cfg_attr(feature = "serde", serde(default))]
            candidates: String,
            /// In UCI notation.
            chosen: String,
        } => "`{text}` fits several moves ({candidates}): read as {chosen}, which the next moves require",
        /// The header is read as well as possible.
        MalformedHeader { text: String } => "the header `{text}` is malformed",
        /// The header, or another statement, is replaced or ignored.
        Contradiction { text: String } => "`{text}` contradicts the rest of the game",
        MissingResult => "no result after the last move",
        PieceLetters {
            /// The language, or the languages that are equal in this.
            language: String,
        } => "the letters of the pieces are {language}",
    }
}

/// The error in a record.
#[derive(Debug)]
pub enum RecordErrorKind {
    /// Reading the file failed. No games follow.
    Io(io::Error),
    /// The start position cannot be played.
    Start(PositionError),
    /// The format does not support the game.
    WrongGame(Game),
    /// A move is illegal.
    Move(MoveError),
    /// The text matches more than one legal move.
    AmbiguousMove(String),
    /// Another defect.
    Defect(Defect),
    /// The game exceeds one of the [`Limits`](super::Limits).
    LimitExceeded(Limit),
}

impl From<Defect> for RecordErrorKind {
    fn from(defect: Defect) -> Self {
        Self::Defect(defect)
    }
}

impl From<io::Error> for RecordErrorKind {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

readyok_protocol::texts! {
    /// One of the [`Limits`](super::Limits).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
    #[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "RecordLimit"))]
    pub enum Limit {
        /// [`Limits::game_bytes`](super::Limits::game_bytes)
        GameTooLarge => "game too large",
        /// [`Limits::comment_bytes`](super::Limits::comment_bytes)
        CommentTooLong => "comment too long",
        /// [`Limits::headers`](super::Limits::headers)
        TooManyHeaders => "too many headers",
        /// [`Limits::header_bytes`](super::Limits::header_bytes)
        HeaderTooLong => "header too long",
        /// [`Limits::moves`](super::Limits::moves)
        TooManyMoves => "too many moves",
        /// [`Limits::plies`](super::Limits::plies)
        LineTooLong => "line of moves too long",
        /// [`Limits::depth`](super::Limits::depth)
        NestingTooDeep => "variations nested too deep",
    }
}

impl fmt::Display for RecordErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Start(error) => write!(f, "bad start position: {error}"),
            Self::WrongGame(game) => write!(f, "the format does not support {}", name(*game)),
            Self::Move(error) => error.fmt(f),
            Self::AmbiguousMove(text) => write!(f, "`{text}` fits several moves"),
            Self::Defect(defect) => defect.fmt(f),
            Self::LimitExceeded(limit) => limit.fmt(f),
        }
    }
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { game, line, column, kind } = self;
        write!(f, "game {game}, line {line}, column {column}: {kind}")
    }
}

impl error::Error for RecordError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match &self.kind {
            RecordErrorKind::Io(error) => Some(error),
            RecordErrorKind::Start(error) => Some(error),
            RecordErrorKind::Move(error) => Some(error),
            RecordErrorKind::WrongGame(_)
            | RecordErrorKind::AmbiguousMove(_)
            | RecordErrorKind::Defect(_)
            | RecordErrorKind::LimitExceeded(_) => None,
        }
    }
}

fn name(game: Game) -> &'static str {
    match game {
        Game::Chess => "chess",
        Game::Chess960 => "Chess960",
        Game::Shogi => "shogi",
    }
}

/// Why a record could not be written.
#[derive(Debug)]
pub enum WriteError {
    /// Writing failed.
    Io(io::Error),
    /// The format does not support the game.
    WrongGame {
        /// The format.
        format: Format,
        /// The record's game.
        game: Game,
    },
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::WrongGame { format, game } => {
                write!(f, "{format} does not support {}", name(*game))
            }
        }
    }
}

impl error::Error for WriteError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::WrongGame { .. } => None,
        }
    }
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Why a move could not be added to a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddError {
    /// The record has no such node.
    NoSuchNode,
    /// The move is illegal there.
    Move(MoveError),
    /// An illegal move ended the line.
    AfterIllegalMove,
    /// The record, or this line of it, has the maximum length.
    Full,
    /// The id belongs to another node, or precedes that of the parent.
    IdInUse,
}

impl fmt::Display for AddError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchNode => f.write_str("the record has no such node"),
            Self::Move(error) => error.fmt(f),
            Self::AfterIllegalMove => f.write_str("an illegal move ended the line"),
            Self::Full => f.write_str("the record is full"),
            Self::IdInUse => f.write_str("the id of the node is in use"),
        }
    }
}

impl error::Error for AddError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Move(error) => Some(error),
            Self::NoSuchNode | Self::AfterIllegalMove | Self::Full | Self::IdInUse => None,
        }
    }
}
