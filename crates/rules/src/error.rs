//! Errors of positions, moves and lines of moves.

use std::fmt;

use crate::{Game, Side};

readyok_protocol::texts! {
    /// A part of a FEN or an SFEN.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
    #[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "PositionField"))]
    pub enum Field {
        Board => "the board",
        Turn => "the side to move",
        /// Chess only.
        Castling => "castling rights",
        /// Chess only.
        EnPassant => "the en passant square",
        /// Plies since the last capture or pawn move (chess).
        HalfmoveClock => "the halfmove clock",
        /// Chess only.
        FullmoveNumber => "the fullmove number",
        /// Shogi only.
        Hands => "the pieces in hand",
        /// The number of the move in plies (shogi).
        MoveNumber => "the move number",
    }
}

/// A side of a game, which decides its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "Side", into = "Side"))]
pub struct NamedSide {
    /// The side.
    pub side: Side,
    /// The game; `None` if only the side is stored.
    pub game: Option<Game>,
}

impl NamedSide {
    pub(crate) fn new(game: Game, side: Side) -> Self {
        Self { side, game: Some(game) }
    }
}

impl From<Side> for NamedSide {
    fn from(side: Side) -> Self {
        Self { side, game: None }
    }
}

impl From<NamedSide> for Side {
    fn from(named: NamedSide) -> Self {
        named.side
    }
}

impl fmt::Display for NamedSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (self.game, self.side) {
            (Some(Game::Chess | Game::Chess960), Side::First) => "White",
            (Some(Game::Chess | Game::Chess960), Side::Second) => "Black",
            (Some(Game::Shogi), Side::First) => "Black (sente)",
            (Some(Game::Shogi), Side::Second) => "White (gote)",
            (None, Side::First) => "the first player",
            (None, Side::Second) => "the second player",
        })
    }
}

readyok_protocol::errors! {
    /// Why a text is not a position, or a position cannot be played.
    #[derive(Debug, Clone, PartialEq, Eq)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(tag = "code", rename_all = "snake_case"))]
    #[cfg_attr(feature = "ts", derive(ts_rs::TS))]
    pub enum PositionError {
        MissingField { field: Field } => "missing field: {field}",
        ExtraField {
            /// The first token that follows, shortened.
            text: String,
        } => "unexpected text after the last field: `{text}`",
        InvalidField {
            field: Field,
            /// Shortened.
            text: String,
        } => "invalid value for {field}: `{text}`",
        RankCount { count: usize, expected: usize } =>
            "the board has {count} ranks; {expected} are required",
        RankLength {
            /// `8` is a rank of chess, `a` one of shogi.
            rank: char,
        } => "rank {rank} has the wrong number of squares",
        /// The letter is not one of this game, or a piece that cannot promote has a `+`.
        UnknownPiece { letter: char, square: String } => "unknown piece `{letter}` on {square}",
        KingCount {
            #[cfg_attr(feature = "ts", ts(type = "Side"))]
            side: NamedSide,
            count: usize,
        } => "{side} has {count} kings; 1 is required",
        NoKings => "the board has no king",
        TooManyPieces { piece: char = quoted(*piece), count: u32, limit: u32 } =>
            "too many pieces of type {piece}: {count}, maximum {limit}",
        /// Chess only.
        TooMuchMaterial {
            #[cfg_attr(feature = "ts", ts(type = "Side"))]
            side: NamedSide,
        } => "{side} has more pieces than promotions allow",
        /// The piece cannot have reached the square, or can never move from it.
        DeadPiece { piece: char = quoted(*piece), square: String } => "a {piece} cannot be on {square}",
        /// The pawns are unpromoted (shogi).
        TwoPawns {
            #[cfg_attr(feature = "ts", ts(type = "Side"))]
            side: NamedSide,
            /// 1 to 9.
            file: u8,
        } => "{side} has two pawns on file {file}",
        InvalidCastlingRight {
            /// The square of the rook.
            square: String,
        } => "the castling right requires a rook on {square}, and except in Chess960 king and rook on their start squares",
        OpponentInCheck { square: String } => "the side not to move is in check (king on {square})",
        UnknownSquare { square: String } => "unknown square: {square}",
        InvalidHandPiece { piece: char = quoted(*piece) } => "a {piece} cannot be in hand",
    }
}

/// The letter of a piece, as texts quote it. The page has the name of the piece instead.
fn quoted(letter: char) -> String {
    format!("`{letter}`")
}

impl PositionError {
    /// Quoted text comes from the input and can have any length.
    pub(crate) fn bad(field: Field, text: &str) -> Self {
        Self::InvalidField { field, text: shortened(text) }
    }
}

pub(crate) fn shortened(text: &str) -> String {
    const MAX_LEN: usize = 40;
    if text.chars().count() <= MAX_LEN {
        return text.to_owned();
    }
    text.chars().take(MAX_LEN).chain(['…']).collect()
}

readyok_protocol::texts! {
    /// Why a move is illegal.
    ///
    /// In shogi an illegal move is a foul under the rules for games of the Japan Shogi Association (JSA,
    /// chapter 3, article 8) and loses immediately. Its list of forbidden moves (kinjite) names the fouls.
    /// Articles of chess are those of the FIDE Laws of Chess (2023).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
    #[cfg_attr(feature = "ts", derive(ts_rs::TS))]
    // Aliases are the names in results of matches before the codes of the page replaced them.
    pub enum IllegalReason {
        #[cfg_attr(feature = "serde", serde(alias = "unreadable"))]
        InvalidMove => "not a move of this game",
        #[cfg_attr(feature = "serde", serde(alias = "no-piece"))]
        EmptyOriginSquare => "the origin square is empty",
        #[cfg_attr(feature = "serde", serde(alias = "opponents-piece"))]
        OpponentPiece => "the piece belongs to the opponent",
        /// FIDE 3.1.
        #[cfg_attr(feature = "serde", serde(alias = "own-piece"))]
        OccupiedByOwnPiece => "the target square holds a piece of the same side",
        #[cfg_attr(feature = "serde", serde(alias = "cannot-reach"))]
        Unreachable => "the piece cannot reach the target square",
        /// FIDE 3.8.2.
        #[cfg_attr(feature = "serde", serde(alias = "castling"))]
        CastlingNotAllowed => "castling is not possible now",
        #[cfg_attr(feature = "serde", serde(alias = "promotion-missing"))]
        PromotionRequired => "the piece must promote",
        /// The piece cannot promote, or not to this kind.
        #[cfg_attr(feature = "serde", serde(alias = "promotion-impossible"))]
        InvalidPromotion => "the piece cannot promote like this",
        /// FIDE 3.9.2; JSA: ote hochi; article 1.2 of the laws of the European federation (2017).
        #[cfg_attr(feature = "serde", serde(alias = "check"))]
        KingInCheck => "the king would be in check",
        #[cfg_attr(feature = "serde", serde(alias = "not-in-hand"))]
        NotInHand => "no such piece is in hand",
        /// By a drop.
        #[cfg_attr(feature = "serde", serde(alias = "square-taken"))]
        SquareOccupied => "the target square is occupied",
        /// Unpromoted pawns only.
        #[cfg_attr(feature = "serde", serde(alias = "two-pawns"))]
        SecondPawnOnFile => "the file already has a pawn of this side (nifu)",
        /// JSA: a piece without anywhere to go.
        #[cfg_attr(feature = "serde", serde(alias = "dead-piece"))]
        NoFurtherMove => "the piece could never move again",
        #[cfg_attr(feature = "serde", serde(alias = "drop-mate"))]
        PawnDropMate => "a dropped pawn may not give mate (uchifuzume)",
        /// At 30,000 moves a game of shogi is drawn under all rules, see
        /// [`Termination::MoveLimit`](crate::Termination::MoveLimit).
        #[cfg_attr(feature = "serde", serde(alias = "game-too-long"))]
        GameTooLong => "the game is too long",
        #[cfg_attr(feature = "serde", serde(alias = "ambiguous"))]
        AmbiguousMove => "several moves match",
        #[cfg_attr(feature = "serde", serde(alias = "no-such-piece"))]
        MissingPiece => "the side to move has no such piece",
        /// The text names the side that is not to move (shogi).
        #[cfg_attr(feature = "serde", serde(alias = "wrong-side"))]
        WrongSide => "the other side is to move",
        /// The text refers to it (shogi).
        #[cfg_attr(feature = "serde", serde(alias = "no-last-move"))]
        NoPreviousMove => "there is no previous move",
        /// The position violates the rules and is only for viewing, see
        /// [`Position::defect`](crate::Position::defect).
        #[cfg_attr(feature = "serde", serde(alias = "not-playable"))]
        NotPlayable => "the position cannot be played",
    }
}

/// The most specific of the reasons why each candidate piece cannot make the move. A piece that cannot
/// reach the target square was probably not meant.
pub(crate) fn most_specific(reasons: impl Iterator<Item = IllegalReason>) -> IllegalReason {
    let mut found = IllegalReason::Unreachable;
    for reason in reasons {
        if found == IllegalReason::Unreachable || reason == IllegalReason::KingInCheck {
            found = reason;
        }
    }
    found
}

/// An illegal move, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("illegal move `{text}`: {reason}{}", list(candidates))]
pub struct MoveError {
    /// The text of the move, shortened.
    pub text: String,
    /// Why it is illegal.
    pub reason: IllegalReason,
    /// The moves that fit if the reason is [`IllegalReason::AmbiguousMove`], in UCI or USI notation.
    pub candidates: Vec<String>,
}

fn list(candidates: &[String]) -> String {
    if candidates.is_empty() { String::new() } else { format!(": {}", candidates.join(", ")) }
}

impl MoveError {
    pub(crate) fn new(text: &str, reason: IllegalReason) -> Self {
        Self { text: shortened(text), reason, candidates: Vec::new() }
    }

    pub(crate) fn ambiguous(text: &str, candidates: Vec<String>) -> Self {
        Self { text: shortened(text), reason: IllegalReason::AmbiguousMove, candidates }
    }
}

/// A line of moves with an illegal one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("move {}: {error}", index.saturating_add(1))]
pub struct LineError {
    /// The index of the illegal move.
    pub index: usize,
    /// The illegal move.
    #[source]
    pub error: MoveError,
}
