//! Errors of positions, moves and lines of moves.

use std::{error, fmt};

use crate::{Game, Side};

/// A part of a FEN or an SFEN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Field {
    /// The pieces on the board (both games).
    Board,
    /// The side to move (both games).
    Turn,
    /// The castling rights (chess).
    Castling,
    /// The en passant square (chess).
    EnPassant,
    /// Plies since the last capture or pawn move (chess).
    HalfmoveClock,
    /// The fullmove number (chess).
    FullmoveNumber,
    /// The pieces in hand (shogi).
    Hands,
    /// The move number in plies (shogi).
    MoveNumber,
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Board => "board",
            Self::Turn => "side to move",
            Self::Castling => "castling rights",
            Self::EnPassant => "en passant square",
            Self::HalfmoveClock => "halfmove clock",
            Self::FullmoveNumber => "fullmove number",
            Self::Hands => "pieces in hand",
            Self::MoveNumber => "move number",
        })
    }
}

/// Why a text is not a position, or a position cannot be played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PositionError {
    /// The text ends before this field.
    MissingField(Field),
    /// A token follows the last field.
    ExtraField {
        /// The first token that follows, shortened.
        text: String,
    },
    /// A field is malformed.
    BadField {
        /// The field.
        field: Field,
        /// Its text, shortened.
        text: String,
    },
    /// The board has too few or too many ranks.
    RankCount {
        /// The number of ranks.
        count: usize,
        /// The expected number.
        expected: usize,
    },
    /// A rank has too few or too many squares.
    RankLength {
        /// The rank's name on the board: `8` is a rank of chess, `a` one of shogi.
        rank: char,
    },
    /// A letter on the board is not a piece of this game, or a piece that cannot promote has a `+`.
    UnknownPiece {
        /// The letter.
        piece: char,
        /// The square.
        square: String,
    },
    /// A side has the wrong number of kings.
    Kings {
        /// The game, which decides the name of the side.
        game: Game,
        /// The side.
        side: Side,
        /// The number of its kings.
        count: usize,
    },
    /// The board has no king.
    NoKings,
    /// There are more pieces of a kind than the game has.
    TooManyPieces {
        /// The piece's letter.
        piece: char,
        /// The number of pieces.
        count: u32,
        /// The maximum number.
        limit: u32,
    },
    /// A side of chess has more pieces than promotions allow.
    TooMuchMaterial {
        /// The side.
        side: Side,
    },
    /// A piece is on a square that it cannot have reached or where it can never move.
    DeadPiece {
        /// The piece's letter.
        piece: char,
        /// The square.
        square: String,
    },
    /// A side has two unpromoted pawns on one file (shogi).
    TwoPawns {
        /// The side.
        side: Side,
        /// The file, 1 to 9.
        file: u8,
    },
    /// A castling right names a square without a fitting king and rook.
    CastlingRight {
        /// The square of the rook.
        square: String,
    },
    /// The side that is not to move is in check.
    OpponentInCheck {
        /// The square of its king.
        king: String,
    },
    /// The board has no such square.
    NoSuchSquare {
        /// The name of the square.
        square: String,
    },
    /// A piece that cannot be in hand.
    NotForHand {
        /// The piece's letter.
        piece: char,
    },
}

impl PositionError {
    /// Quoted text comes from the input and can have any length.
    pub(crate) fn bad(field: Field, text: &str) -> Self {
        Self::BadField { field, text: shortened(text) }
    }
}

pub(crate) fn shortened(text: &str) -> String {
    const MAX_LEN: usize = 40;
    if text.chars().count() <= MAX_LEN {
        return text.to_owned();
    }
    text.chars().take(MAX_LEN).chain(['…']).collect()
}

impl fmt::Display for PositionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingField(field) => write!(f, "the {field} field is missing"),
            Self::ExtraField { text } => write!(f, "`{text}` follows the last field"),
            Self::BadField { field, text } => write!(f, "`{text}` cannot be the {field} field"),
            Self::RankCount { count, expected } => {
                write!(f, "the board has {count} ranks instead of {expected}")
            }
            Self::RankLength { rank } => write!(f, "rank `{rank}` has a wrong number of squares"),
            Self::UnknownPiece { piece, square } => {
                write!(f, "`{piece}` on {square} is not a piece of this game")
            }
            Self::Kings { game, side, count: 0 } => {
                write!(f, "{} has no king", player(*game, *side))
            }
            Self::Kings { game, side, count } => {
                write!(f, "{} has {count} kings", player(*game, *side))
            }
            Self::NoKings => f.write_str("the board has no king"),
            Self::TooManyPieces { piece, count, limit } => {
                write!(f, "there are {count} pieces `{piece}`, more than {limit}")
            }
            Self::TooMuchMaterial { side } => {
                let player = player(Game::Chess, *side);
                write!(f, "{player} has more pieces than promotions allow")
            }
            Self::DeadPiece { piece, square } => write!(f, "`{piece}` cannot be on {square}"),
            Self::TwoPawns { side, file } => {
                write!(f, "{} has two pawns on file {file}", player(Game::Shogi, *side))
            }
            Self::CastlingRight { square } => {
                write!(
                    f,
                    "a castling right needs a rook on {square}, and except in Chess960 king and rook \
 on their start squares"
                )
            }
            Self::OpponentInCheck { king } => {
                write!(f, "the king on {king} is in check, and its side is not to move")
            }
            Self::NoSuchSquare { square } => write!(f, "the board has no square `{square}`"),
            Self::NotForHand { piece } => write!(f, "`{piece}` cannot be in hand"),
        }
    }
}

impl error::Error for PositionError {}

/// The name of a side in its game.
fn player(game: Game, side: Side) -> &'static str {
    match (game, side) {
        (Game::Chess | Game::Chess960, Side::First) => "White",
        (Game::Chess | Game::Chess960, Side::Second) => "Black",
        (Game::Shogi, Side::First) => "Black (sente)",
        (Game::Shogi, Side::Second) => "White (gote)",
    }
}

/// Why a move is illegal.
///
/// In shogi an illegal move is a foul under the rules for games of the Japan Shogi Association (JSA,
/// chapter 3, article 8) and loses immediately. Its list of forbidden moves (kinjite) names the fouls.
/// Articles of chess are those of the FIDE Laws of Chess (2023).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum IllegalReason {
    /// The text is not a move of this game.
    Unreadable,
    /// The origin square is empty.
    NoPiece,
    /// The piece belongs to the opponent.
    OpponentsPiece,
    /// A piece of the same side is on the target square (FIDE 3.1).
    OwnPiece,
    /// The piece cannot reach the target square.
    CannotReach,
    /// Castling is not possible now (FIDE 3.8.2).
    Castling,
    /// The piece must promote.
    PromotionMissing,
    /// The piece cannot promote, or not to this kind.
    PromotionImpossible,
    /// The king would be left in check, or move into check (FIDE 3.9.2; JSA: ote hochi, and article 1.2
    /// of the laws of the European federation, 2017).
    Check,
    /// The dropped piece is not in hand (shogi).
    NotInHand,
    /// A piece was dropped on an occupied square (shogi).
    SquareTaken,
    /// A second unpromoted pawn on a file (shogi; JSA: nifu).
    TwoPawns,
    /// The piece could never move again (shogi; JSA: a piece without anywhere to go).
    DeadPiece,
    /// A dropped pawn gives checkmate (shogi; JSA: uchifuzume).
    DropMate,
    /// The game exceeds the maximum length (shogi): at 30,000 moves it is drawn under all rules,
    /// see [`Termination::MoveLimit`](crate::Termination::MoveLimit).
    GameTooLong,
    /// The text fits several legal moves.
    Ambiguous,
    /// The side to move has no such piece.
    NoSuchPiece,
    /// The text names the side that is not to move (shogi).
    WrongSide,
    /// The text refers to the last move, which does not exist (shogi).
    NoLastMove,
    /// The position violates the rules and is only for viewing, see
    /// [`Position::defect`](crate::Position::defect).
    NotPlayable,
}

/// The most specific of the reasons why each candidate piece cannot make the move. A piece that cannot
/// reach the target square was probably not meant.
pub(crate) fn most_specific(reasons: impl Iterator<Item = IllegalReason>) -> IllegalReason {
    let mut found = IllegalReason::CannotReach;
    for reason in reasons {
        if found == IllegalReason::CannotReach || reason == IllegalReason::Check {
            found = reason;
        }
    }
    found
}

impl fmt::Display for IllegalReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unreadable => "it is not a move of this game",
            Self::NoPiece => "its origin square is empty",
            Self::OpponentsPiece => "the piece belongs to the opponent",
            Self::OwnPiece => "the target square holds a piece of the same side",
            Self::CannotReach => "the piece cannot reach the target square",
            Self::Castling => "castling is not possible now",
            Self::PromotionMissing => "the piece must promote",
            Self::PromotionImpossible => "the piece cannot promote like this",
            Self::Check => "the king would be in check",
            Self::NotInHand => "no such piece is in hand",
            Self::SquareTaken => "the target square is occupied",
            Self::TwoPawns => "the file already has a pawn of this side",
            Self::DeadPiece => "the piece could never move again",
            Self::DropMate => "a dropped pawn may not give mate",
            Self::GameTooLong => "the game is too long",
            Self::Ambiguous => "it fits several moves",
            Self::NoSuchPiece => "the side to move has no such piece",
            Self::WrongSide => "the other side is to move",
            Self::NoLastMove => "there is no last move",
            Self::NotPlayable => "the position cannot be played",
        })
    }
}

/// An illegal move, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveError {
    /// The text of the move, shortened.
    pub text: String,
    /// Why it is illegal.
    pub reason: IllegalReason,
    /// The moves that fit if the reason is [`IllegalReason::Ambiguous`], in UCI or USI notation.
    pub candidates: Vec<String>,
}

impl MoveError {
    pub(crate) fn new(text: &str, reason: IllegalReason) -> Self {
        Self { text: shortened(text), reason, candidates: Vec::new() }
    }

    pub(crate) fn ambiguous(text: &str, candidates: Vec<String>) -> Self {
        Self { text: shortened(text), reason: IllegalReason::Ambiguous, candidates }
    }
}

impl fmt::Display for MoveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "illegal move `{}`: {}", self.text, self.reason)?;
        if !self.candidates.is_empty() {
            write!(f, ": {}", self.candidates.join(", "))?;
        }
        Ok(())
    }
}

impl error::Error for MoveError {}

/// A line of moves with an illegal one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineError {
    /// The index of the illegal move.
    pub index: usize,
    /// The illegal move.
    pub error: MoveError,
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "move {}: {}", self.index.saturating_add(1), self.error)
    }
}

impl error::Error for LineError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        Some(&self.error)
    }
}
