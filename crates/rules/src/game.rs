//! The games, their sides, and moves.

use std::fmt;

use readyok_protocol::{CastlingForm, Color, Dialect};
use rsshogi::types::Move32;

/// A game, which is the variant in the app.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[cfg_attr(feature = "ts", ts(rename = "Variant"))]
pub enum Game {
    /// Chess.
    Chess,
    /// Chess960 (Fischer random chess).
    Chess960,
    /// Shogi.
    Shogi,
}

readyok_protocol::names! {
    /// It is that of files, command lines and the messages of the server.
    Game: Chess = "chess" | "standard", Chess960 = "chess960" | "fischerandom", Shogi = "shogi"
}

#[cfg(feature = "cli")]
impl clap::ValueEnum for Game {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        let names = Self::NAMES.iter().filter(|(name, game)| game == self && *name != self.name());
        Some(clap::builder::PossibleValue::new(self.name()).aliases(names.map(|(name, _)| *name)))
    }
}

impl Game {
    /// All games.
    pub const ALL: [Self; 3] = [Self::Chess, Self::Chess960, Self::Shogi];

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

    /// The row of a side's king at the start, counted from the top.
    pub(crate) fn first_row(self, side: Side) -> u8 {
        match side {
            Side::First => self.width().saturating_sub(1),
            Side::Second => 0,
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

readyok_protocol::names! {
    /// It is that of files and the messages of the server.
    Side: First = "first", Second = "second"
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

    /// The color of the side in the clocks of a protocol: the first player is White in UCI, also in variants, and Black in
    /// USI.
    pub const fn color_in(self, dialect: Dialect) -> Color {
        match (self, dialect) {
            (Self::First, Dialect::Uci) | (Self::Second, Dialect::Usi) => Color::White,
            (Self::Second, Dialect::Uci) | (Self::First, Dialect::Usi) => Color::Black,
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

readyok_protocol::names! {
    Notation: Uci = "uci" | "usi", Western = "san" | "western", WesternDigits = "western-digits",
    Long = "lan" | "long", Japanese = "japanese", Csa = "csa"
}

impl Notation {
    /// All notations.
    pub const ALL: [Self; 6] =
        [Self::Uci, Self::Western, Self::WesternDigits, Self::Long, Self::Japanese, Self::Csa];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_read() {
        let names = Notation::NAMES.iter().map(|(name, _)| *name);
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Notation::NAMES.len());
        for notation in Notation::ALL {
            assert_eq!(Notation::from_name(notation.name()), Some(notation));
        }
        assert_eq!(Notation::from_name("usi"), Some(Notation::Uci));
        assert_eq!(Notation::from_name("klingon"), None);
        for game in Game::ALL {
            assert_eq!(Game::from_name(game.name()), Some(game));
        }
        for side in Side::BOTH {
            assert_eq!(Side::from_name(side.name()), Some(side));
        }
    }

    #[cfg(feature = "serde")]
    #[test]
    fn names_are_those_of_files() {
        for game in Game::ALL {
            assert_eq!(serde_json::to_value(game).ok(), Some(game.name().into()));
        }
        for side in Side::BOTH {
            assert_eq!(serde_json::to_value(side).ok(), Some(side.name().into()));
        }
    }

    #[cfg(feature = "cli")]
    #[test]
    fn command_lines_have_the_names() {
        for (name, game) in Game::NAMES {
            assert_eq!(<Game as clap::ValueEnum>::from_str(name, false), Ok(*game));
        }
    }
}
