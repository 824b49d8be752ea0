//! Polyglot books: moves of chess with weights, by the key of their position.
//!
//! Source: the description of the format by Michel Van den Bergh and others,
//! <http://hgm.nubati.net/book_format.html>. A file is a list of entries of 16 bytes in rising order
//! of keys, each with a move and its weight, all big-endian.

use std::io::{self, Read, Seek, SeekFrom, Write};

use shakmaty::{EnPassantMode, Position as _, zobrist::Zobrist64};

use crate::{BoardRef, Move, Position};

/// A book. Its entries are read on demand.
#[derive(Debug)]
pub struct PolyglotBook<R> {
    file: R,
    entries: u64,
}

const ENTRY: u64 = 16;

/// Maximum number of entries of one position.
const MAX_MOVES: u64 = 256;

struct BookEntry {
    key: u64,
    mv: u16,
    weight: u16,
}

impl<R: Read + Seek> PolyglotBook<R> {
    /// Opens a book.
    ///
    /// # Errors
    /// The file cannot be read, or its size is not that of a book, which is
    /// [`io::ErrorKind::InvalidData`].
    pub fn new(mut file: R) -> io::Result<Self> {
        let bytes = file.seek(SeekFrom::End(0))?;
        if bytes % ENTRY != 0 {
            let text =
                format!("{bytes} bytes are not a Polyglot book: each entry has {ENTRY} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        Ok(Self { file, entries: bytes / ENTRY })
    }

    /// The legal moves of the book for a position, with their weights, in the order of the file. Empty
    /// in shogi.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn moves(&mut self, position: &Position) -> io::Result<Vec<(Move, u16)>> {
        let Some(key) = key(position) else { return Ok(Vec::new()) };
        let first = self.first(key)?;
        let mut moves = Vec::new();
        for index in first..self.entries.min(first.saturating_add(MAX_MOVES)) {
            let entry = self.entry(index)?;
            if entry.key != key {
                break;
            }
            // A move that is not legal belongs to another position with the same key.
            if let Ok(mv) = position.parse_move(&uci_text(entry.mv)) {
                moves.push((mv, entry.weight));
            }
        }
        Ok(moves)
    }

    /// The index of the first entry whose key is not less than a key.
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

    fn entry(&mut self, index: u64) -> io::Result<BookEntry> {
        self.file.seek(SeekFrom::Start(index * ENTRY))?;
        let mut halves = [[0; 8]; 2];
        self.file.read_exact(halves.as_flattened_mut())?;
        let [key, [mv_high, mv_low, weight_high, weight_low, ..]] = halves;
        Ok(BookEntry {
            key: u64::from_be_bytes(key),
            mv: u16::from_be_bytes([mv_high, mv_low]),
            weight: u16::from_be_bytes([weight_high, weight_low]),
        })
    }
}

/// The key of a position. An en passant square counts only next to a pawn that could capture.
pub(crate) fn key(position: &Position) -> Option<u64> {
    let BoardRef::Chess(board) = position.board() else { return None };
    let Zobrist64(key) = board.position().zobrist_hash(EnPassantMode::PseudoLegal);
    Some(key)
}

/// A move in the UCI notation of Chess960: castling is king takes rook.
fn uci_text(mv: u16) -> String {
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

/// Writes an entry with a move in the UCI notation of Chess960.
pub(super) fn write_entry(out: &mut impl Write, key: u64, mv: &str, weight: u16) -> io::Result<()> {
    let mv = code(mv).ok_or(io::ErrorKind::InvalidInput)?;
    out.write_all(&key.to_be_bytes())?;
    out.write_all(&mv.to_be_bytes())?;
    out.write_all(&weight.to_be_bytes())?;
    // No program learns from a new book.
    out.write_all(&[0; 4])
}

/// The inverse of [`uci_text`].
fn code(text: &str) -> Option<u16> {
    let square = |file: u8, rank: u8| {
        let (file, rank) = (file.checked_sub(b'a')?, rank.checked_sub(b'1')?);
        (file < 8 && rank < 8).then(|| u16::from(rank) << 3 | u16::from(file))
    };
    let (from, to, promotion) = match *text.as_bytes() {
        [a, b, c, d] => (square(a, b)?, square(c, d)?, 0),
        [a, b, c, d, piece] => {
            let piece = [b'n', b'b', b'r', b'q'].iter().position(|known| *known == piece)?;
            (square(a, b)?, square(c, d)?, u16::try_from(piece + 1).ok()?)
        }
        _ => return None,
    };
    Some(promotion << 12 | from << 6 | to)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::PolyglotBook;
    use crate::{CastlingForm, Game, Position};

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
    fn converts_moves_to_uci() {
        assert_eq!(super::uci_text(0x031c), "e2e4");
        assert_eq!(super::uci_text(0x0107), "e1h1");
        assert_eq!(super::uci_text(0x4dbf), "g7h8q");
        for code in [0x031c, 0x0107, 0x4dbf] {
            assert_eq!(super::code(&super::uci_text(code)), Some(code));
        }
        for text in ["", "e2", "e2e9", "i2e4", "e7e8k", "P*5e", "e7e8qq"] {
            assert_eq!(super::code(text), None, "{text}");
        }
    }

    fn book(entries: &[(u64, u16, u16)]) -> PolyglotBook<Cursor<Vec<u8>>> {
        let mut bytes = Vec::new();
        for (key, mv, weight) in entries {
            bytes.extend(key.to_be_bytes());
            bytes.extend(mv.to_be_bytes());
            bytes.extend(weight.to_be_bytes());
            bytes.extend([0; 4]);
        }
        PolyglotBook::new(Cursor::new(bytes)).expect("a book")
    }

    #[test]
    fn returns_the_moves_of_a_position_with_weights() {
        let mut book = book(&[
            (1, 0x031c, 9),
            (0x463b_9618_1691_fc9c, 0x031c, 3),
            (0x463b_9618_1691_fc9c, 0x02db, 5),
            // Not legal.
            (0x463b_9618_1691_fc9c, 0x0107, 7),
            (u64::MAX, 0x031c, 9),
        ]);
        let moves = book.moves(&Position::start(Game::Chess)).expect("it can be read");
        let moves_read: Vec<_> =
            moves.iter().map(|(mv, weight)| (mv.to_uci(CastlingForm::KingMove), *weight)).collect();
        assert_eq!(moves_read, [("e2e4".to_owned(), 3), ("d2d4".to_owned(), 5)]);
        let later = Position::start(Game::Chess).after(["e2e4"]).expect("legal");
        assert!(book.moves(&later).expect("it can be read").is_empty());
        assert!(book.moves(&Position::start(Game::Shogi)).expect("it can be read").is_empty());
    }

    #[test]
    fn castling_takes_the_rook() {
        let text = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
        let position = Position::from_text(Game::Chess, text).expect("a position");
        let key = super::key(&position).expect("chess");
        let moves = book(&[(key, 0x0107, 1), (key, 0x0100, 1)]).moves(&position);
        let moves = moves.expect("it can be read").into_iter();
        let moves_read: Vec<_> = moves.map(|(mv, _)| mv.to_uci(CastlingForm::KingMove)).collect();
        assert_eq!(moves_read, ["e1g1", "e1c1"]);
    }

    #[test]
    fn rejects_files_of_another_size() {
        assert!(PolyglotBook::new(Cursor::new([0; 17])).is_err());
        let mut empty = PolyglotBook::new(Cursor::new([0; 0])).expect("an empty book");
        assert!(empty.moves(&Position::start(Game::Chess)).expect("nothing to read").is_empty());
    }
}
