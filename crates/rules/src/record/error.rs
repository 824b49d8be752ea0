//! Errors of reading and writing records.

use std::io;

use crate::{Game, MoveError, PositionError};

/// A game of a file that could not be read.
#[derive(Debug, thiserror::Error)]
#[error("game {game}, line {line}, column {column}: {kind}")]
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
#[derive(Debug, thiserror::Error)]
pub enum RecordErrorKind {
    /// Reading the file failed, or its encoding is an [`UnsupportedEncoding`](super::UnsupportedEncoding). No games follow.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The start position cannot be played.
    #[error("bad start position: {0}")]
    Start(PositionError),
    /// The format does not support the game.
    #[error("the format does not support {}", name(*.0))]
    WrongGame(Game),
    /// A move is illegal.
    #[error(transparent)]
    Move(MoveError),
    /// The text matches more than one legal move.
    #[error("`{0}` fits several moves")]
    AmbiguousMove(String),
    /// Another defect.
    #[error(transparent)]
    Defect(#[from] Defect),
    /// The game exceeds one of the [`Limits`](super::Limits).
    #[error("{0}")]
    LimitExceeded(Limit),
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

pub(super) fn name(game: Game) -> &'static str {
    match game {
        Game::Chess => "chess",
        Game::Chess960 => "Chess960",
        Game::Shogi => "shogi",
    }
}

/// Why a move could not be added to a record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddError {
    /// The record has no such node.
    #[error("the record has no such node")]
    NoSuchNode,
    /// The move is illegal there.
    #[error(transparent)]
    Move(MoveError),
    /// An illegal move ended the line.
    #[error("an illegal move ended the line")]
    AfterIllegalMove,
    /// The record, or this line of it, has the maximum length.
    #[error("the record is full")]
    Full,
    /// Two trees have no common position there.
    #[error("the positions differ")]
    OtherPosition,
    /// The id belongs to another node, or precedes that of the parent.
    #[error("the id of the node is in use")]
    IdInUse,
}

/// Why a text is not a condition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// The text is not an ECO code or a range of them.
    #[error("`{0}` is not an ECO code or a range such as B20-B99")]
    Eco(String),
    /// The text is not a date or a range of them.
    #[error("`{0}` is not a date or a range such as 2019-05..2021")]
    Date(String),
    /// The text is not a number or a range of them.
    #[error("`{0}` is not a number or a range such as 40..80")]
    Number(String),
    /// The text is not a position of chess or shogi.
    #[error("`{0}` is not a FEN or an SFEN")]
    Position(String),
    /// The text does not describe the pieces of both sides.
    #[error("`{0}` does not have the form KRPvKR (pieces of both sides)")]
    Material(String),
    /// The text is not a pattern, or no position matches it.
    #[error(transparent)]
    Pattern(#[from] PatternDefect),
}

readyok_protocol::errors! {
    /// What is wrong with a pattern of positions.
    #[derive(Debug, Clone, PartialEq, Eq)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(tag = "code", rename_all = "snake_case"))]
    #[cfg_attr(feature = "ts", derive(ts_rs::TS))]
    pub enum PatternDefect {
        PatternEmpty => "the pattern has no condition on pieces",
        PatternTerm {
            /// Shortened, as in the other variants.
            term: String,
        } => "unknown term of a pattern: `{term}`",
        PatternRepeated { term: String } => "a term of the pattern occurs twice: `{term}`",
        PatternForm {
            term: String,
            /// An example.
            form: String,
        } => "`{term}` does not have the form `{form}`",
        PatternRows { term: String } => "a board of chess has 8 rows, and one of shogi 9: `{term}`",
        PatternRow {
            /// From the top, from 1.
            row: usize,
            /// The number of squares that it must have.
            width: u8,
        } => "row {row} of the board does not have {width} squares",
        PatternLetter { letter: char } => "neither a piece of this game nor a wildcard: `{letter}`",
        PatternGames => "the pattern is for chess and for shogi",
        PatternRange { term: String } => "no number is in the range `{term}`",
        PatternPieces { term: String } => "too many pieces for a player: `{term}`",
        PatternRank { square: String } => "the piece is never on {square}",
        PatternSquare { square: String } => "contradictory conditions on {square}",
        PatternLength => "the pattern lasts for more positions than the range of moves has",
    }
}
