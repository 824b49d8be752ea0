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
    /// A term of a pattern is malformed, or no position matches it.
    #[error("pattern `{term}`: {defect}")]
    Pattern {
        /// The term, shortened.
        term: String,
        /// What is wrong.
        defect: PatternDefect,
    },
}

/// What is wrong with a pattern of positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PatternDefect {
    /// No term is a condition on a position.
    #[error("it has no condition on the pieces of a position")]
    NoCondition,
    /// The name of the term is not known.
    #[error(
        "it is none of board, pawns, on, material, balance, bishops, turn, flip, ply, for, game, or a piece such as R=1..2"
    )]
    UnknownTerm,
    /// A term occurs twice.
    #[error("the term occurs twice")]
    Repeated,
    /// The value is not one of those that the term can have.
    #[error("expected {0}")]
    Expected(&'static str),
    /// A board with another number of rows.
    #[error("a board of chess has 8 rows, and one of shogi 9")]
    RowCount,
    /// A row with too few or too many squares.
    #[error("row {row} from the top does not have {width} squares")]
    RowLength {
        /// The row from 1.
        row: usize,
        /// The width of the board.
        width: u8,
    },
    /// A character that is neither a piece nor a wildcard.
    #[error("`{0}` is neither a piece of the game nor a wildcard")]
    Character(char),
    /// A text that is not a piece on a square.
    #[error("expected a piece and a square, such as Nd5 in chess or P5e in shogi")]
    Square,
    /// Terms of both games.
    #[error("it is for chess and for shogi")]
    MixedGames,
    /// A term that the game does not have.
    #[error("{} has no such term", .0.name())]
    NotInGame(Game),
    /// The minimum is larger than the maximum.
    #[error("no number is in the range")]
    EmptyRange,
    /// More pieces than a side can have.
    #[error("a side never has so many of these pieces")]
    TooManyPieces,
    /// A pawn, or another piece, on a rank that it never has.
    #[error("this piece is never on this rank")]
    Rank,
    /// A square with conditions that exclude each other.
    #[error("the square {} has another condition that excludes it", .0.name(*.1))]
    Contradiction(crate::Square, Game),
    /// More successive positions than the range of moves has.
    #[error("there are fewer positions between these moves")]
    Length,
}
