//! Patterns of positions and of material.

use std::str::FromStr;

use shakmaty::{Color, Position as _, Role};

use crate::{BoardRef, Game, Position, Side};

use super::super::GameRecord;
use super::FilterError;

/// A FEN or an SFEN, complete or with its first fields only.
///
/// Fields that are missing are not compared, move numbers never. In the placement, `?` is any square, `!` any
/// piece, `A` any piece of the first side and `a` any of the second side; such letters make the placement a
/// pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PositionPattern(PatternKind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum PatternKind {
    /// The key of a complete position.
    Key {
        shogi: bool,
        key: u64,
    },
    Placement {
        shogi: bool,
        cells: Vec<Cell>,
        turn: Option<Side>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Cell {
    Any,
    AnyPiece,
    AnyOf(Side),
    Empty,
    Piece(String),
}

impl PositionPattern {
    /// The positions of a game with a [`Position::key`].
    pub fn with_key(game: Game, key: u64) -> Self {
        Self(PatternKind::Key { shogi: game == Game::Shogi, key })
    }

    /// The key of the only position that matches.
    pub fn key(&self) -> Option<u64> {
        match &self.0 {
            PatternKind::Key { key, .. } => Some(*key),
            PatternKind::Placement { .. } => None,
        }
    }

    /// Whether a position of the game can match.
    pub fn is_of(&self, game: Game) -> bool {
        let (PatternKind::Key { shogi, .. } | PatternKind::Placement { shogi, .. }) = &self.0;
        *shogi == (game == Game::Shogi)
    }

    /// Whether a position matches.
    pub fn matches(&self, position: &Position) -> bool {
        if !self.is_of(position.game()) {
            return false;
        }
        match &self.0 {
            PatternKind::Key { key, .. } => position.key() == *key,
            PatternKind::Placement { shogi, cells, turn } => {
                if turn.is_some_and(|turn| turn != position.turn()) {
                    return false;
                }
                let text = position.to_string();
                let placement = text.split(' ').next().unwrap_or_default();
                let Some(actual) = read_cells(placement, *shogi, false) else { return false };
                actual.len() == cells.len()
                    && cells.iter().zip(&actual).all(|(cell, actual)| cell.allows(actual))
            }
        }
    }
}

impl Cell {
    fn allows(&self, actual: &Self) -> bool {
        match (self, actual) {
            (Self::Any, _) | (Self::AnyPiece, Self::Piece(_)) => true,
            (Self::AnyOf(side), Self::Piece(piece)) => {
                let is_first = piece.ends_with(|letter: char| letter.is_ascii_uppercase());
                is_first == (*side == Side::First)
            }
            (wanted, actual) => wanted == actual,
        }
    }
}

impl FromStr for PositionPattern {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        let invalid = || FilterError::Position(text.to_owned());
        let text = text.trim();
        let text = text.strip_prefix("position ").unwrap_or(text).trim_start();
        let text = text.strip_prefix("sfen ").or_else(|| text.strip_prefix("fen ")).unwrap_or(text);
        let fields: Vec<&str> = text.split_whitespace().collect();
        let placement = *fields.first().ok_or_else(invalid)?;
        let shogi = match placement.split('/').count() {
            8 => false,
            9 => true,
            _ => return Err(invalid()),
        };
        let cells = read_cells(placement, shogi, true).ok_or_else(invalid)?;
        let is_exact = cells.iter().all(|cell| matches!(cell, Cell::Empty | Cell::Piece(_)));
        if is_exact && fields.len() >= 3 {
            let game = if shogi { Game::Shogi } else { Game::Chess };
            let text = match (shogi, fields.as_slice()) {
                (true, [placement, turn, hands, ..]) => format!("{placement} {turn} {hands} 1"),
                (false, [placement, turn, castling, en_passant, ..]) => {
                    format!("{placement} {turn} {castling} {en_passant} 0 1")
                }
                (_, fields) => format!("{} - 0 1", fields.join(" ")),
            };
            let read = Position::from_text(game, &text)
                .or_else(|error| Position::from_text(Game::Chess960, &text).map_err(|_| error));
            let position = read.map_err(|_| invalid())?;
            return Ok(Self(PatternKind::Key { shogi, key: position.key() }));
        }
        let turn = match (fields.get(1).copied(), shogi) {
            (None | Some("-" | "*"), _) => None,
            (Some("w"), false) | (Some("b"), true) => Some(Side::First),
            (Some("b"), false) | (Some("w"), true) => Some(Side::Second),
            _ => return Err(invalid()),
        };
        Ok(Self(PatternKind::Placement { shogi, cells, turn }))
    }
}

/// The squares of a placement, row by row.
fn read_cells(placement: &str, shogi: bool, wildcards: bool) -> Option<Vec<Cell>> {
    let size = if shogi { 9 } else { 8 };
    let mut cells = Vec::with_capacity(size * size);
    for row in placement.split('/') {
        let before = cells.len();
        let mut promoted = false;
        for letter in row.chars() {
            match letter {
                '?' if wildcards => cells.push(Cell::Any),
                '!' if wildcards => cells.push(Cell::AnyPiece),
                'A' if wildcards => cells.push(Cell::AnyOf(Side::First)),
                'a' if wildcards => cells.push(Cell::AnyOf(Side::Second)),
                '+' if shogi => promoted = true,
                '~' if !shogi => {}
                letter if letter.is_ascii_alphabetic() => {
                    let plus = if promoted { "+" } else { "" };
                    cells.push(Cell::Piece(format!("{plus}{letter}")));
                    promoted = false;
                }
                letter => {
                    let count = usize::try_from(letter.to_digit(10)?).ok()?;
                    cells.extend(std::iter::repeat_n(Cell::Empty, count));
                }
            }
        }
        if cells.len() != before + size {
            return None;
        }
    }
    (cells.len() == size * size).then_some(cells)
}

/// The pieces of both sides in chess: `KRPvKR`, of either color. `*` after the pieces of a side allows more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaterialPattern([SideMaterial; 2]);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct SideMaterial {
    counts: [u8; 6],
    allows_more: bool,
}

impl SideMaterial {
    fn matches(self, counts: [u8; 6]) -> bool {
        if self.allows_more {
            self.counts.iter().zip(counts).all(|(wanted, actual)| *wanted <= actual)
        } else {
            self.counts == counts
        }
    }
}

impl MaterialPattern {
    pub(super) fn matches(self, record: &GameRecord) -> bool {
        let mut last = None;
        for position in record.positions() {
            let BoardRef::Chess(board) = position.board() else { return false };
            let counts = Color::ALL.map(|color| {
                let side = board.position().board().material_side(color);
                Role::ALL.map(|role| side[role])
            });
            if last == Some(counts) && self.fits(counts) {
                return true;
            }
            last = Some(counts);
        }
        last.is_some_and(|counts| self.fits(counts))
    }

    fn fits(self, [white, black]: [[u8; 6]; 2]) -> bool {
        let Self([first, second]) = self;
        first.matches(white) && second.matches(black)
            || first.matches(black) && second.matches(white)
    }
}

impl FromStr for MaterialPattern {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        let text = text.trim();
        let invalid = || FilterError::Material(text.to_owned());
        // `KRPKR` is the form of table names of some programs.
        let before_second_king =
            || text.rmatch_indices('K').find_map(|(at, _)| text.split_at_checked(at));
        let (first, second) = text
            .split_once(['v', 'V', ':', '-'])
            .or_else(before_second_king)
            .filter(|(first, _)| !first.is_empty())
            .ok_or_else(invalid)?;
        let side = |letters: &str| {
            let mut material = SideMaterial::default();
            for letter in letters.chars() {
                if letter == '*' {
                    material.allows_more = true;
                    continue;
                }
                let role = Role::from_char(letter.to_ascii_lowercase()).ok_or_else(invalid)?;
                let index = Role::ALL.iter().position(|known| *known == role);
                let count = index.and_then(|index| material.counts.get_mut(index));
                *count.ok_or_else(invalid)? += 1;
            }
            Ok(material)
        };
        Ok(Self([side(first)?, side(second)?]))
    }
}
