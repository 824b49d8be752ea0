//! What can be wrong with a record, where, and what was merely odd.

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
    /// What is wrong there.
    pub kind: RecordErrorKind,
}

/// What is wrong with a record.
#[derive(Debug)]
pub enum RecordErrorKind {
    /// The file could not be read on. Nothing follows.
    Io(io::Error),
    /// The start position cannot be played.
    Start(PositionError),
    /// The game is one that this crate does not know.
    UnknownGame(String),
    /// The format is for another game.
    WrongGame(Game),
    /// A move cannot be played.
    Move(MoveError),
    /// No legal move is meant by this text.
    NoSuchMove(String),
    /// A move's text fits more than one legal move.
    AmbiguousMove(String),
    /// A comment does not end.
    OpenComment,
    /// The text means nothing here.
    Unexpected(String),
    /// The file is in none of the formats.
    UnknownFormat,
    /// The game is over one of the [`Limits`](super::Limits).
    TooMuch(Limit),
}

impl From<io::Error> for RecordErrorKind {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Which of the [`Limits`](super::Limits) a game is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Limit {
    /// [`Limits::game_bytes`](super::Limits::game_bytes)
    GameBytes,
    /// [`Limits::comment_bytes`](super::Limits::comment_bytes)
    CommentBytes,
    /// [`Limits::headers`](super::Limits::headers)
    Headers,
    /// [`Limits::header_bytes`](super::Limits::header_bytes)
    HeaderBytes,
    /// [`Limits::moves`](super::Limits::moves)
    Moves,
    /// [`Limits::plies`](super::Limits::plies)
    Plies,
    /// [`Limits::depth`](super::Limits::depth)
    Depth,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::GameBytes => "the game is too large",
            Self::CommentBytes => "a comment is too long",
            Self::Headers => "there are too many headers",
            Self::HeaderBytes => "a header is too long",
            Self::Moves => "there are too many moves",
            Self::Plies => "a line of moves is too long",
            Self::Depth => "variations are nested too deep",
        })
    }
}

impl fmt::Display for RecordErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Start(error) => write!(f, "bad start position: {error}"),
            Self::UnknownGame(name) => write!(f, "`{name}` is no game known here"),
            Self::WrongGame(game) => write!(f, "the format has no games of {}", name(*game)),
            Self::Move(error) => error.fmt(f),
            Self::NoSuchMove(text) => write!(f, "no legal move is `{text}`"),
            Self::AmbiguousMove(text) => write!(f, "more than one move is `{text}`"),
            Self::OpenComment => f.write_str("a comment does not end"),
            Self::Unexpected(text) => write!(f, "`{text}` means nothing here"),
            Self::UnknownFormat => f.write_str("the format is not known"),
            Self::TooMuch(limit) => limit.fmt(f),
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
            RecordErrorKind::UnknownGame(_)
            | RecordErrorKind::WrongGame(_)
            | RecordErrorKind::NoSuchMove(_)
            | RecordErrorKind::AmbiguousMove(_)
            | RecordErrorKind::OpenComment
            | RecordErrorKind::Unexpected(_)
            | RecordErrorKind::UnknownFormat
            | RecordErrorKind::TooMuch(_) => None,
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

/// Something odd in a game that could be read nevertheless.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Oddity {
    /// The line, from 1.
    pub line: u64,
    /// The column, in characters, from 1.
    pub column: u64,
    /// What was odd.
    pub what: Strange,
}

/// What was odd, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Strange {
    /// A text that means nothing here was skipped.
    Skipped(String),
    /// A variation with a move that cannot be played was cut off before that move.
    CutVariation(String),
    /// A header is not written as it should be, and was read as well as it could be.
    Header(String),
    /// A header that contradicts the game, or is unknown, was replaced or ignored.
    Contradiction(String),
    /// The end of the game or of a variation is missing.
    NoEnd,
}

impl fmt::Display for Strange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Skipped(text) => write!(f, "skipped `{text}`"),
            Self::CutVariation(text) => write!(f, "a variation was cut before `{text}`"),
            Self::Header(text) => write!(f, "the header `{text}` is badly written"),
            Self::Contradiction(text) => write!(f, "`{text}` contradicts the rest of the game"),
            Self::NoEnd => f.write_str("the end is missing"),
        }
    }
}

impl fmt::Display for Oddity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.what)
    }
}

/// Why a record could not be written.
#[derive(Debug)]
pub enum WriteError {
    /// Writing failed.
    Io(io::Error),
    /// The format is for other games.
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
                write!(f, "{format} has no games of {}", name(*game))
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
    /// The move cannot be played there.
    Move(MoveError),
    /// The record, or this line of it, is as long as it can be.
    Full,
}

impl fmt::Display for AddError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchNode => f.write_str("the record has no such node"),
            Self::Move(error) => error.fmt(f),
            Self::Full => f.write_str("the record is full"),
        }
    }
}

impl error::Error for AddError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Move(error) => Some(error),
            Self::NoSuchNode | Self::Full => None,
        }
    }
}
