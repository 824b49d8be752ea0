//! The games, their sides, and moves.

use std::fmt;

use readyok_protocol::CastlingForm;
use rsshogi::types::Move32;
use shakmaty::uci::UciMove;

/// A game, which is the variant in the app.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[cfg_attr(feature = "ts", ts(rename = "Variant"))]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Game {
    /// Chess.
    #[cfg_attr(feature = "cli", value(alias = "standard", help = clap::builder::Resettable::Reset))]
    Chess,
    /// Chess960 (Fischer random chess).
    #[cfg_attr(feature = "cli", value(alias = "fischerandom", help = clap::builder::Resettable::Reset))]
    Chess960,
    /// Shogi.
    #[cfg_attr(feature = "cli", value(help = clap::builder::Resettable::Reset))]
    Shogi,
}

impl Game {
    /// The form of castling moves in UCI: the king's move, or king takes rook under `UCI_Chess960`.
    pub fn castling_form(self) -> CastlingForm {
        match self {
            Self::Chess | Self::Shogi => CastlingForm::KingMove,
            Self::Chess960 => CastlingForm::KingTakesRook,
        }
    }

    /// The number of files and of ranks.
    pub(crate) fn width(self) -> u8 {
        match self {
            Self::Chess | Self::Chess960 => 8,
            Self::Shogi => 9,
        }
    }

    /// The name of a file, counted from the left.
    pub(crate) fn file_name(self, column: u8) -> char {
        match self {
            Self::Chess | Self::Chess960 => char::from(b'a'.saturating_add(column)),
            Self::Shogi => char::from(b'9'.saturating_sub(column)),
        }
    }

    /// The name of a rank, counted from the top.
    pub(crate) fn rank_name(self, row: u8) -> char {
        match self {
            Self::Chess | Self::Chess960 => char::from(b'8'.saturating_sub(row)),
            Self::Shogi => char::from(b'a'.saturating_add(row)),
        }
    }
}

/// A side: the first is White in chess and Black (sente) in shogi.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum Side {
    /// The player who moves first from the start position: White in chess, Black (sente) in shogi.
    First,
    /// The player who moves second from the start position: Black in chess, White (gote) in shogi.
    Second,
}

impl Side {
    /// The opponent.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    /// Both sides, the first player first.
    pub const BOTH: [Self; 2] = [Self::First, Self::Second];

    /// The index in arrays of both players, such as [`BOTH`](Self::BOTH).
    pub const fn index(self) -> usize {
        match self {
            Self::First => 0,
            Self::Second => 1,
        }
    }

    /// The side of a piece letter: upper case is the first player.
    pub(crate) fn of_letter(letter: char) -> Self {
        if letter.is_ascii_uppercase() { Self::First } else { Self::Second }
    }

    /// The letter in this side's case.
    pub(crate) fn case(self, letter: char) -> char {
        match self {
            Self::First => letter.to_ascii_uppercase(),
            Self::Second => letter.to_ascii_lowercase(),
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::First => "the first player",
            Self::Second => "the second player",
        })
    }
}

/// A move of one of the games. It is meaningful only in a position where it is legal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Move {
    /// A move of chess or Chess960.
    Chess(shakmaty::Move),
    /// A move of shogi.
    Shogi(Move32),
}

impl Move {
    /// The move in UCI notation, or in USI notation for shogi. `castling` applies to chess only.
    ///
    /// With [`CastlingForm::KingMove`], a castling of Chess960 can have the same text as another move.
    pub fn to_uci(self, castling: CastlingForm) -> String {
        match (self, castling) {
            (Self::Chess(mv), CastlingForm::KingMove) => UciMove::from_standard(mv).to_string(),
            (Self::Chess(mv), CastlingForm::KingTakesRook) => {
                UciMove::from_chess960(mv).to_string()
            }
            (Self::Shogi(mv), _) => mv.to_usi(),
        }
    }
}

impl From<shakmaty::Move> for Move {
    fn from(mv: shakmaty::Move) -> Self {
        Self::Chess(mv)
    }
}

impl From<Move32> for Move {
    fn from(mv: Move32) -> Self {
        Self::Shogi(mv)
    }
}

/// A notation of moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Notation {
    /// UCI or USI notation: `e2e4`, `7g7f`. Castling has the form of
    /// [`Game::castling_form`].
    Uci,
    /// SAN for chess, `Nbd7`; Hodges' notation for shogi, `P-7f`.
    Western,
    /// SAN for chess; for shogi Hodges' notation with digits for the ranks, `P-76`.
    WesternDigits,
    /// [`Notation::Western`] with the origin square in every move: `Nb8-d7`, `P7g-7f`.
    Long,
    /// SAN for chess; Japanese notation for shogi: `▲７六歩`.
    Japanese,
    /// UCI for chess; for shogi the notation of the Computer Shogi Association: `+7776FU`.
    Csa,
}
