//! What can be wrong with a position's text, a move and a line of moves.

use std::{error, fmt};

use crate::Side;

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
    /// Half moves since the last capture or pawn move (chess).
    HalfmoveClock,
    /// The number of the move, counted in pairs (chess).
    FullmoveNumber,
    /// The pieces in hand (shogi).
    Hands,
    /// The number of the move, counted singly (shogi).
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

/// Why a text is no position, or a position cannot be played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PositionError {
    /// The text ends before this field.
    MissingField(Field),
    /// Something follows the last field.
    ExtraField {
        /// The first thing that follows, shortened.
        text: String,
    },
    /// A field cannot be read.
    BadField {
        /// Which.
        field: Field,
        /// What stands there, shortened.
        text: String,
    },
    /// The board has too few or too many ranks.
    RankCount {
        /// How many there are.
        count: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A rank has too few or too many squares.
    RankLength {
        /// The rank's name on the board: `8` is a rank of chess, `a` one of shogi.
        rank: char,
    },
    /// A letter on the board is no piece of this game, or one that cannot be promoted is.
    UnknownPiece {
        /// The letter.
        piece: char,
        /// The square where it stands.
        square: String,
    },
    /// A side has a wrong number of kings.
    Kings {
        /// Whose.
        side: Side,
        /// How many there are.
        count: usize,
    },
    /// The board has no king at all.
    NoKings,
    /// There are more pieces of a kind than the game has.
    TooManyPieces {
        /// The piece's letter.
        piece: char,
        /// How many there are.
        count: u32,
        /// How many there can be.
        limit: u32,
    },
    /// A side of chess has more pieces than promotions can give.
    TooMuchMaterial {
        /// Which.
        side: Side,
    },
    /// A piece stands where it could not have come or can never move.
    DeadPiece {
        /// The piece's letter.
        piece: char,
        /// Where it stands.
        square: String,
    },
    /// A side has two unpromoted pawns on one file (shogi).
    TwoPawns {
        /// Whose.
        side: Side,
        /// The file, 1 to 9.
        file: u8,
    },
    /// A castling right names a square without a fitting king and rook.
    CastlingRight {
        /// Where the rook should stand.
        square: String,
    },
    /// The side that is not to move is in check.
    OpponentInCheck {
        /// Where its king stands.
        king: String,
    },
    /// The board has no such square.
    NoSuchSquare {
        /// What was meant.
        square: String,
    },
    /// A piece that cannot be in hand.
    NotForHand {
        /// The piece's letter.
        piece: char,
    },
}

impl PositionError {
    /// Everything quoted in an error comes from outside, so that it may be of any length.
    pub(crate) fn bad(field: Field, text: &str) -> Self {
        Self::BadField { field, text: shortened(text) }
    }
}

pub(crate) fn shortened(text: &str) -> String {
    const LONGEST: usize = 40;
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    text.chars().take(LONGEST).chain(['…']).collect()
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
                write!(f, "`{piece}` on {square} is no piece of this game")
            }
            Self::Kings { side, count } => write!(f, "the {side} player has {count} kings"),
            Self::NoKings => f.write_str("the board has no king"),
            Self::TooManyPieces { piece, count, limit } => {
                write!(f, "there are {count} pieces `{piece}`, more than {limit}")
            }
            Self::TooMuchMaterial { side } => {
                write!(f, "the {side} player has more pieces than a game can give")
            }
            Self::DeadPiece { piece, square } => write!(f, "`{piece}` cannot stand on {square}"),
            Self::TwoPawns { side, file } => {
                write!(f, "the {side} player has two pawns on file {file}")
            }
            Self::CastlingRight { square } => {
                write!(
                    f,
                    "a castling right needs a rook on {square}, and but in Chess960 king and rook \
                     where they begin"
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

/// Why a move cannot be played.
///
/// What is forbidden in shogi is a foul by the rules for games of the Japan Shogi Association (JSA,
/// chapter 3, article 8), and loses at once; which moves are fouls stands in its list of forbidden
/// moves (kinjite). Articles of chess are those of the FIDE Laws of Chess (2023).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum IllegalReason {
    /// The word is no move of this game.
    Unreadable,
    /// No piece stands on the square that the move starts from.
    NoPiece,
    /// The piece belongs to the opponent.
    OpponentsPiece,
    /// A piece of the same side stands on the target square (FIDE 3.1).
    OwnPiece,
    /// The piece does not move so.
    CannotReach,
    /// Castling is not possible now (FIDE 3.8.2).
    Castling,
    /// The piece has to promote.
    PromotionMissing,
    /// The piece cannot promote, or not to that.
    PromotionImpossible,
    /// The king would be left in check, or go there (FIDE 3.9.2; JSA: ote hochi, and article 1.2 of the
    /// laws of the European federation, 2017).
    Check,
    /// The dropped piece is not in hand (shogi).
    NotInHand,
    /// A piece was dropped on another (shogi).
    SquareTaken,
    /// A second unpromoted pawn on a file (shogi; JSA: nifu).
    TwoPawns,
    /// The piece could never move again (shogi; JSA: a piece without anywhere to go).
    DeadPiece,
    /// A pawn was dropped to give mate (shogi; JSA: uchifuzume).
    DropMate,
    /// The game would be longer than can be counted (shogi): at 30,000 moves it is drawn under all rules,
    /// see [`Termination::MoveLimit`](crate::Termination::MoveLimit).
    GameTooLong,
    /// The notation fits several legal moves.
    Ambiguous,
    /// The side to move has no such piece.
    NoSuchPiece,
    /// The notation names the side that is not to move (shogi).
    WrongSide,
    /// The notation refers to the last move, and there is none (shogi).
    NoLastMove,
}

/// The reason that tells most, of those why each piece that was meant cannot go there: a piece that
/// does not move so was hardly the one.
pub(crate) fn most_telling(reasons: impl Iterator<Item = IllegalReason>) -> IllegalReason {
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
            Self::Unreadable => "it is no move of this game",
            Self::NoPiece => "no piece stands on its first square",
            Self::OpponentsPiece => "the piece belongs to the opponent",
            Self::OwnPiece => "the target square holds a piece of the same side",
            Self::CannotReach => "the piece does not move so",
            Self::Castling => "castling is not possible now",
            Self::PromotionMissing => "the piece has to promote",
            Self::PromotionImpossible => "the piece cannot promote so",
            Self::Check => "the king would be in check",
            Self::NotInHand => "no such piece is in hand",
            Self::SquareTaken => "the square is taken",
            Self::TwoPawns => "the file has a pawn of this side already",
            Self::DeadPiece => "the piece could never move again",
            Self::DropMate => "a dropped pawn may not give mate",
            Self::GameTooLong => "the game is too long",
            Self::Ambiguous => "it could be several moves",
            Self::NoSuchPiece => "the side to move has no such piece",
            Self::WrongSide => "the other side is to move",
            Self::NoLastMove => "there is no last move",
        })
    }
}

/// A move that cannot be played, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveError {
    /// The move as it was given, shortened.
    pub word: String,
    /// Why it cannot be played.
    pub why: IllegalReason,
    /// If it is [`IllegalReason::Ambiguous`]: the moves that it could be, as UCI or USI words.
    pub between: Vec<String>,
}

impl MoveError {
    pub(crate) fn new(word: &str, why: IllegalReason) -> Self {
        Self { word: shortened(word), why, between: Vec::new() }
    }

    pub(crate) fn ambiguous(word: &str, between: Vec<String>) -> Self {
        Self { word: shortened(word), why: IllegalReason::Ambiguous, between }
    }
}

impl fmt::Display for MoveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "illegal move `{}`: {}", self.word, self.why)?;
        if !self.between.is_empty() {
            write!(f, ": {}", self.between.join(", "))?;
        }
        Ok(())
    }
}

impl error::Error for MoveError {}

/// A line of moves with one that cannot be played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineError {
    /// How many moves before it could be played: the illegal one's index.
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
