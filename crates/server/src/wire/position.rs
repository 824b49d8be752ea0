//! Positions and moves as the page draws them.

use std::fmt;

use readyok_rules::{GameOutcome, GameResult, Termination};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::ErrorInfo;

/// A game that can be played.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Variant {
    /// Chess.
    Chess,
    /// Chess with any of 960 first ranks.
    Chess960,
    /// Shogi.
    Shogi,
}

/// One of the players: first is White in chess and Black (sente) in shogi.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Moves first from the start position.
    First,
    /// The other.
    Second,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::First => "the first player",
            Self::Second => "the second player",
        })
    }
}

/// One thing for each side.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct Sides<T> {
    /// White's in chess, Black's (sente) in shogi.
    pub first: T,
    /// The other's.
    pub second: T,
}

/// Where a game starts.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Start {
    /// The usual start position.
    Usual,
    /// A start position of Chess960 by its number, 0 to 959; none for a random one.
    Number {
        /// 518 is that of chess.
        number: Option<u16>,
    },
    /// A handicap of shogi, by its name from [`Choices`].
    Handicap {
        /// Such as `lance`.
        name: String,
    },
    /// A position in FEN or SFEN, or a `position …` line.
    Text {
        /// The text.
        text: String,
    },
}

/// A move as text. The page chooses by its settings and language.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct MoveText {
    /// SAN in chess, `Nbd7`; Hodges' notation in shogi, `P-7f`.
    pub western: String,
    /// Shogi only: `▲７六歩`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub japanese: Option<String>,
}

/// A legal move, as a board needs it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct LegalMove {
    /// In UCI or USI notation. Castling in Chess960 is the king taking the rook.
    pub uci: String,
    /// The square it starts from, `e2` or `7g`; none for a drop.
    pub from: Option<String>,
    /// For a drop: the piece in upper case, `P`.
    pub drop: Option<String>,
    /// Where it can be pointed to. The first is where the piece is shown to land. Castling has two: the king's
    /// square and the rook's (one, if the other would mean another move).
    pub to: Vec<String>,
    /// What the piece becomes: `q`, `r`, `b` or `n` in chess, `+` in shogi.
    pub promotion: Option<String>,
    /// As text.
    pub text: MoveText,
}

/// A position with all that a board and its reader need.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct PositionView {
    /// FEN or SFEN.
    pub text: String,
    /// Whose turn it is.
    pub turn: Side,
    /// All legal moves.
    pub legal: Vec<LegalMove>,
    /// The square of the king that is in check.
    pub check: Option<String>,
    /// The squares of the move that led here: from (none for a drop) and to.
    pub last: Option<LastMove>,
    /// If the position ends a game by the rules: how.
    pub ending: Option<OutcomeView>,
}

/// The squares of a move that was played.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct LastMove {
    /// None for a drop.
    pub from: Option<String>,
    /// Where it went. For castling the king's square.
    pub to: String,
}

/// How a game ended, with the details that the page displays.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct OutcomeView {
    /// Who won.
    pub result: GameResult,
    /// What ended the game.
    pub termination: Termination,
    /// Details, for example the error of an engine.
    pub detail: Option<ErrorInfo>,
}

impl OutcomeView {
    /// The side that won.
    pub(crate) fn winner(&self) -> Option<Side> {
        self.result.winner().map(Side::from)
    }
}

impl From<GameOutcome> for OutcomeView {
    fn from(GameOutcome { result, termination }: GameOutcome) -> Self {
        Self { result, termination, detail: None }
    }
}

/// A position of the editor, judged. Asked for with `POST /api/position`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct PositionCheck {
    /// The position as it would be played, if it can be.
    pub position: Option<PositionView>,
    /// The setup as its text, playable or not; none if the text cannot be read.
    pub text: Option<String>,
    /// What is wrong.
    pub error: Option<ErrorInfo>,
    /// Squares that the error is about.
    pub squares: Vec<String>,
}

/// What there is to choose from when a game is set up. `GET /api/choices`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct Choices {
    /// The handicaps of shogi.
    pub handicaps: Vec<HandicapChoice>,
    /// The numeric annotation glyphs that have signs.
    pub nags: Vec<NagChoice>,
}

/// A handicap of shogi.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct HandicapChoice {
    /// Its name for commands and for English readers.
    pub name: String,
    /// Its Japanese name.
    pub japanese: String,
    /// Its start position.
    pub sfen: String,
}

/// A sign for a move.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct NagChoice {
    /// Its number in PGN.
    pub nag: u8,
    /// `!`, `?!`, `±`.
    pub sign: String,
}
