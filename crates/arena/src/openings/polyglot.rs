//! Polyglot books: moves with weights, by the key of their position.
//!
//! Source: the description of the format by Michel Van den Bergh and others,
//! <http://hgm.nubati.net/book_format.html>. A file is a list of entries of 16 bytes in rising order
//! of keys, each with a move and its weight, all big-endian.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use readyok_rules::shakmaty::{EnPassantMode, Position as _, zobrist::Zobrist64};
use readyok_rules::{BoardRef, Game, Move, Position};

use super::OpeningFault;
use super::read::Line;
use crate::lot;

/// A book, which is read where it is needed.
#[derive(Debug)]
pub(super) struct Polyglot {
    file: File,
    entries: u64,
    seed: u64,
    plies: u32,
}

const ENTRY: u64 = 16;
/// Lines of books are far shorter, but a book may lead in a circle.
const MOST_PLIES: u32 = 400;

struct Entry {
    key: u64,
    mv: u16,
    weight: u16,
}

impl Polyglot {
    pub(super) fn open(
        mut file: File,
        plies: Option<u32>,
        seed: u64,
    ) -> Result<Self, OpeningFault> {
        let plies = plies.ok_or(OpeningFault::NoPlies)?.min(MOST_PLIES);
        let bytes = file.seek(SeekFrom::End(0))?;
        if bytes % ENTRY != 0 {
            return Err(OpeningFault::NotPolyglot { bytes });
        }
        let mut book = Self { file, entries: bytes / ENTRY, seed, plies };
        if book.moves(&Position::start(Game::Chess))?.is_empty() {
            return Err(OpeningFault::Empty);
        }
        Ok(book)
    }

    /// A line of the book: at each move by lot, a move with twice the weight twice as often, until
    /// there is none or there are as many as wanted.
    pub(super) fn line(&mut self, game: Game, index: u64) -> Result<Line, OpeningFault> {
        let seed = lot::number(self.seed, index);
        let start = Position::start(game);
        let (mut position, mut words) = (start.clone(), Vec::new());
        for ply in 0..self.plies {
            let moves = self.moves(&position)?;
            let total: u64 = moves.iter().map(|&(_, weight)| weight).sum();
            if total == 0 {
                break;
            }
            let mut lot = lot::number(seed, ply.into()) % total;
            let drawn = moves.into_iter().find(|&(_, weight)| {
                let drawn = lot < weight;
                lot = lot.saturating_sub(weight);
                drawn
            });
            let Some((mv, _)) = drawn else { break };
            words.push(mv.word(game.castling_form()));
            if position.play(mv).is_err() || position.ending().is_some() {
                break;
            }
        }
        Ok(Line::with_moves(start, words))
    }

    /// The legal moves that the book has here, with their weights.
    fn moves(&mut self, position: &Position) -> io::Result<Vec<(Move, u64)>> {
        let Some(key) = key(position) else { return Ok(Vec::new()) };
        let mut moves = Vec::new();
        for index in self.first(key)?..self.entries {
            let entry = self.entry(index)?;
            if entry.key != key {
                break;
            }
            // A move that is not legal belongs to another position with the same key.
            if let Ok(mv) = position.parse_move(&word(entry.mv)) {
                moves.push((mv, entry.weight.into()));
            }
        }
        Ok(moves)
    }

    /// The first entry that does not come before a key.
    fn first(&mut self, key: u64) -> io::Result<u64> {
        let (mut from, mut to) = (0, self.entries);
        while from < to {
            let middle = from.midpoint(to);
            if self.entry(middle)?.key < key {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        Ok(from)
    }

    fn entry(&mut self, index: u64) -> io::Result<Entry> {
        self.file.seek(SeekFrom::Start(index * ENTRY))?;
        let mut halves = [[0; 8]; 2];
        self.file.read_exact(halves.as_flattened_mut())?;
        let [key, [mv_high, mv_low, weight_high, weight_low, ..]] = halves;
        Ok(Entry {
            key: u64::from_be_bytes(key),
            mv: u16::from_be_bytes([mv_high, mv_low]),
            weight: u16::from_be_bytes([weight_high, weight_low]),
        })
    }
}

/// The key of a position, in which an en passant square counts only beside a pawn that could take.
fn key(position: &Position) -> Option<u64> {
    let BoardRef::Chess(board) = position.board() else { return None };
    let Zobrist64(key) = board.position().zobrist_hash(EnPassantMode::PseudoLegal);
    Some(key)
}

/// A move as UCI has it for Chess960: castling takes the rook.
fn word(mv: u16) -> String {
    let bits = |shift: u16| u8::try_from(mv >> shift & 7).unwrap_or(0);
    let square = |shift: u16| [char::from(b'a' + bits(shift)), char::from(b'1' + bits(shift + 3))];
    let promotion = match bits(12) {
        1 => "n",
        2 => "b",
        3 => "r",
        4 => "q",
        _ => "",
    };
    square(6).into_iter().chain(square(0)).chain(promotion.chars()).collect()
}

#[cfg(test)]
mod tests {
    use readyok_rules::{Game, Position};

    fn check(moves: &str, key: u64) {
        let position = Position::start(Game::Chess).after(moves.split_whitespace());
        assert_eq!(super::key(&position.expect(moves)), Some(key), "{moves}");
    }

    /// From the description of the format.
    #[test]
    fn keys_are_those_of_the_description() {
        check("", 0x463b_9618_1691_fc9c);
        check("e2e4", 0x823c_9b50_fd11_4196);
        check("e2e4 d7d5", 0x0756_b944_61c5_0fb0);
        check("e2e4 d7d5 e4e5", 0x662f_afb9_65db_29d4);
        check("e2e4 d7d5 e4e5 f7f5", 0x22a4_8b5a_8e47_ff78);
        check("e2e4 d7d5 e4e5 f7f5 e1e2", 0x652a_607c_a3f2_42c1);
        check("e2e4 d7d5 e4e5 f7f5 e1e2 e8f7", 0x00fd_d303_c946_bdd9);
        check("a2a4 b7b5 h2h4 b5b4 c2c4", 0x3c81_23ea_7b06_7637);
        check("a2a4 b7b5 h2h4 b5b4 c2c4 b4c3 a1a3", 0x5c3f_9b82_9b27_9560);
    }

    #[test]
    fn moves_are_words() {
        assert_eq!(super::word(0x031c), "e2e4");
        assert_eq!(super::word(0x0107), "e1h1");
        assert_eq!(super::word(0x4dbf), "g7h8q");
    }
}
