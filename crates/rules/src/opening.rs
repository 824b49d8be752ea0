//! Names of chess openings, by position.
//!
//! `opening/names.tsv` has one line per opening: the Polyglot key of its position, the code of the
//! *Encyclopaedia of Chess Openings*, the name, and moves that lead there. It is derived from the
//! collection <https://github.com/lichess-org/chess-openings> (CC0 1.0, commit `51b88624` of July
//! 2026) and sorted by key.

use std::sync::LazyLock;

use crate::{Game, Move, Position, book::polyglot};

const NAMES: &str = include_str!("opening/names.tsv");

/// The keys in ascending order, and the openings in the same order.
static TABLE: LazyLock<(Vec<u64>, Vec<Opening>)> = LazyLock::new(|| {
    let parsed = NAMES.lines().filter_map(|line| {
        let mut fields = line.split('\t');
        let key = u64::from_str_radix(fields.next()?, 16).ok()?;
        Some((key, Opening { eco: fields.next()?, name: fields.next()? }))
    });
    parsed.unzip()
});

/// A named opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The code of the *Encyclopaedia of Chess Openings*, `A00` to `E99`.
    pub eco: &'static str,
    /// The name in English: the family, a colon, and its variations.
    pub name: &'static str,
}

impl Opening {
    /// The plies of the longest named line. Later positions have a name only by transposition.
    pub const PLIES: usize = 36;

    /// The opening of exactly this position, regardless of the moves that led to it. `None` in Chess960 and shogi.
    pub fn of(position: &Position) -> Option<Self> {
        if position.game() != Game::Chess {
            return None;
        }
        Self::with_key(polyglot::key(position)?)
    }

    /// The opening of a line: that of its last named position. An illegal move ends the line.
    pub fn of_line(start: &Position, moves: impl IntoIterator<Item = Move>) -> Option<Self> {
        let mut position = start.clone();
        let mut opening = Self::of(&position);
        for mv in moves.into_iter().take(Self::PLIES) {
            if position.play(mv).is_err() {
                break;
            }
            opening = Self::of(&position).or(opening);
        }
        opening
    }

    /// The opening of the position with a Polyglot key, which is [`Position::key`] unless an en passant
    /// capture is illegal only because of a pin.
    pub fn with_key(key: u64) -> Option<Self> {
        let (keys, openings) = &*TABLE;
        openings.get(keys.binary_search(&key).ok()?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Notation;

    fn after(moves: &str) -> Position {
        let mut position = Position::start(Game::Chess);
        for text in moves.split(' ').filter(|text| !text.is_empty()) {
            let mv = position.parse(text, Notation::Western).expect(moves);
            position.play(mv).expect(moves);
        }
        position
    }

    /// Each line has the key of its position, in ascending order, and is found.
    #[test]
    fn table_lines_match_their_moves() {
        let mut last = String::new();
        let (mut count, mut plies) = (0, 0);
        for line in NAMES.lines() {
            let [key, eco, name, moves] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            let position = after(moves);
            assert_eq!(polyglot::key(&position), u64::from_str_radix(key, 16).ok(), "{line}");
            assert_eq!(polyglot::key(&position), Some(position.key()), "{line}");
            assert!(last.as_str() < key, "{line}");
            assert_eq!(Opening::of(&position), Some(Opening { eco, name }), "{line}");
            let (volume, number) = eco.split_at(1);
            assert!(("A"..="E").contains(&volume) && number.len() == 2, "{line}");
            assert!(number.parse::<u8>().is_ok() && !name.is_empty(), "{line}");
            key.clone_into(&mut last);
            count += 1;
            plies = plies.max(moves.split(' ').count());
        }
        assert_eq!((count, plies), (3_807, Opening::PLIES));
    }

    #[test]
    fn finds_the_name_for_any_move_order() {
        let najdorf = Opening { eco: "B90", name: "Sicilian Defense: Najdorf Variation" };
        for moves in [
            "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6",
            "Nf3 c5 e4 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6",
            "e4 d6 Nf3 c5 d4 cxd4 Nxd4 Nf6 Nc3 a6",
        ] {
            assert_eq!(Opening::of(&after(moves)), Some(najdorf), "{moves}");
        }
    }

    #[test]
    fn unnamed_positions_have_no_opening() {
        assert_eq!(Opening::of(&after("")), None);
        assert_eq!(Opening::of(&after("a4 a5 h4 h5 Ra3 Ra6")), None);
        for game in [Game::Chess960, Game::Shogi] {
            let mut position = Position::start(game);
            let text = if game == Game::Shogi { "7g7f" } else { "e2e4" };
            let mv = position.parse_move(text).expect(text);
            position.play(mv).expect(text);
            assert_eq!(Opening::of(&position), None, "{game:?}");
        }
    }
}
