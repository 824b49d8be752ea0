//! Books of the moves of games.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};

use super::{polyglot, yaneuraou};
use crate::{BoardRef, CastlingForm, Game, GameResult, Move, Position};

/// The format of a written book.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BookFormat {
    /// Chess and Chess960.
    Polyglot,
    /// Shogi.
    YaneuraOu,
}

impl BookFormat {
    /// The format of the books of a game.
    pub fn of(game: Game) -> Self {
        if game == Game::Shogi { Self::YaneuraOu } else { Self::Polyglot }
    }
}

/// Which moves a book has, and with which weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BookOptions {
    /// Moves of fewer games are omitted.
    pub min_games: u64,
    /// All moves have the weight 1. Otherwise a win of the side to move counts 2, a draw or an unknown result 1, a loss
    /// nothing, as in the books of Polyglot, and moves without weight are omitted.
    pub is_uniform: bool,
}

/// The size of a book.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BookSize {
    /// Number of positions.
    pub positions: u64,
    /// Number of moves.
    pub moves: u64,
}

/// A move in UCI or USI notation, padded with zeros.
type Text = [u8; 5];

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Polyglot(u64),
    Sfen(Box<str>),
}

#[derive(Debug, Clone, Copy, Default)]
struct Count {
    games: u64,
    points: u64,
}

impl Count {
    fn weight(self, options: &BookOptions) -> u64 {
        if options.is_uniform { 1 } else { self.points }
    }
}

/// Counts the moves of a part of all positions: several passes over the games, each for one part, bound the memory.
#[derive(Debug)]
pub struct BookCounter {
    format: BookFormat,
    part: u64,
    parts: u64,
    counts: HashMap<Key, Vec<(Text, Count)>>,
}

impl BookCounter {
    /// A counter for one of a number of parts, counted from 0.
    pub fn new(format: BookFormat, part: u64, parts: u64) -> Self {
        Self { format, part, parts: parts.max(1), counts: HashMap::new() }
    }

    /// Counts a move of a game with a result. Positions of another game, or of another part, are ignored.
    pub fn add(&mut self, position: &Position, mv: Move, result: GameResult) {
        let (key, hash) = match (self.format, position.board()) {
            (BookFormat::Polyglot, BoardRef::Chess(_)) => match polyglot::key(position) {
                Some(key) => (Key::Polyglot(key), key),
                None => return,
            },
            (BookFormat::YaneuraOu, BoardRef::Shogi(board)) => {
                let sfen = board.position().to_sfen(Some(1));
                let mut hasher = DefaultHasher::new();
                sfen.hash(&mut hasher);
                (Key::Sfen(sfen.into()), hasher.finish())
            }
            _ => return,
        };
        // The parts of the key space are in its order.
        let part = (u128::from(hash) * u128::from(self.parts)) >> 64;
        if part != u128::from(self.part) {
            return;
        }
        let text = mv.to_uci(CastlingForm::KingTakesRook);
        let mut bytes = Text::default();
        let Some(place) = bytes.get_mut(..text.len()) else { return };
        place.copy_from_slice(text.as_bytes());
        let points = match result {
            GameResult::Win(side) if side == position.turn() => 2,
            GameResult::Win(_) => 0,
            GameResult::Draw | GameResult::Unknown => 1,
        };
        let moves = self.counts.entry(key).or_default();
        let at = moves.iter().position(|(known, _)| *known == bytes).unwrap_or(moves.len());
        if at == moves.len() {
            moves.push((bytes, Count::default()));
        }
        if let Some((_, count)) = moves.get_mut(at) {
            count.games += 1;
            count.points += points;
        }
    }
}

/// Writes a book part by part.
#[derive(Debug)]
pub struct BookWriter<W> {
    out: W,
    options: BookOptions,
    size: BookSize,
    /// The moves of a book of shogi by SFEN: their order is not that of the parts.
    by_sfen: BTreeMap<Box<str>, Vec<(Text, u64)>>,
    format: BookFormat,
}

impl<W: Write> BookWriter<W> {
    /// Begins a book.
    pub fn new(out: W, format: BookFormat, options: BookOptions) -> Self {
        Self { out, options, size: BookSize::default(), by_sfen: BTreeMap::new(), format }
    }

    /// Adds the counts of the next part.
    ///
    /// # Errors
    /// The book cannot be written.
    pub fn add(&mut self, counter: BookCounter) -> io::Result<()> {
        let mut polyglot = Vec::new();
        for (key, moves) in counter.counts {
            let mut kept: Vec<(Text, u64)> = moves
                .into_iter()
                .filter(|(_, count)| self.options.min_games <= count.games)
                .map(|(text, count)| (text, count.weight(&self.options)))
                .filter(|(_, weight)| *weight > 0)
                .collect();
            if kept.is_empty() {
                continue;
            }
            kept.sort_unstable_by_key(|(text, weight)| (std::cmp::Reverse(*weight), *text));
            self.size.positions += 1;
            self.size.moves += kept.len() as u64;
            match key {
                Key::Polyglot(key) => polyglot.push((key, kept)),
                Key::Sfen(sfen) => _ = self.by_sfen.insert(sfen, kept),
            }
        }
        polyglot.sort_unstable_by_key(|(key, _)| *key);
        for (key, moves) in polyglot {
            let most = moves.first().map_or(1, |(_, weight)| *weight);
            for (text, weight) in moves {
                // The weights of a position are relative.
                let scaled = weight * u64::from(u16::MAX) / most;
                let weight = if most > u64::from(u16::MAX) { scaled.max(1) } else { weight };
                let weight = u16::try_from(weight).unwrap_or(u16::MAX);
                polyglot::write_entry(&mut self.out, key, trimmed(&text), weight)?;
            }
        }
        Ok(())
    }

    /// Completes the book, and returns its output and size.
    ///
    /// # Errors
    /// The book cannot be written.
    pub fn finish(mut self) -> io::Result<(W, BookSize)> {
        if self.format == BookFormat::YaneuraOu {
            yaneuraou::write_header(&mut self.out)?;
            for (sfen, moves) in &self.by_sfen {
                let moves = moves.iter().map(|(text, weight)| (trimmed(text), *weight));
                yaneuraou::write_position(&mut self.out, sfen, moves)?;
            }
        }
        self.out.flush()?;
        Ok((self.out, self.size))
    }
}

fn trimmed(text: &Text) -> &str {
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    text.get(..end).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::Side;
    use crate::book::Book;

    /// Counts games, which are lists of moves, and reads the written book back.
    fn book(
        game: Game,
        parts: u64,
        options: BookOptions,
        games: &[(&str, GameResult)],
    ) -> (Book, BookSize) {
        let format = BookFormat::of(game);
        let mut writer = BookWriter::new(Vec::new(), format, options);
        for part in 0..parts {
            let mut counter = BookCounter::new(format, part, parts);
            for (moves, result) in games {
                let mut position = Position::start(game);
                for text in moves.split(' ') {
                    let mv = position.parse_move(text).expect("legal");
                    counter.add(&position, mv, *result);
                    position.play(mv).expect("legal");
                }
            }
            writer.add(counter).expect("written");
        }
        let (bytes, size) = writer.finish().expect("written");
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(file.path(), bytes).expect("written");
        let mut book = Book::open(file.path()).expect("a book");
        assert_eq!(book.take_remark(), None);
        (book, size)
    }

    fn moves(book: &mut Book, position: &Position) -> Vec<(String, u64)> {
        let moves = book.moves(position).expect("read").into_iter();
        let text = |mv: Move| mv.to_uci(CastlingForm::KingMove);
        moves.map(|found| (text(found.mv), found.weight.expect("a weight"))).collect()
    }

    const WEIGHTED: BookOptions = BookOptions { min_games: 1, is_uniform: false };

    fn entry(text: &str, weight: u64) -> (String, u64) {
        (text.to_owned(), weight)
    }

    #[test]
    fn wins_count_two_and_draws_one() {
        let (white, black) = (GameResult::Win(Side::First), GameResult::Win(Side::Second));
        let games = [
            ("e2e4 e7e5", white),
            ("e2e4 c7c5", GameResult::Draw),
            ("d2d4 d7d5", GameResult::Unknown),
            ("g2g4 d7d5", black),
        ];
        for parts in [1, 7] {
            let (mut book, size) = book(Game::Chess, parts, WEIGHTED, &games);
            let start = Position::start(Game::Chess);
            assert_eq!(moves(&mut book, &start), [entry("e2e4", 3), entry("d2d4", 1)]);
            // The reply that lost has no weight.
            let after = |text| start.clone().after([text]).expect("legal");
            assert_eq!(moves(&mut book, &after("e2e4")), [entry("c7c5", 1)]);
            assert_eq!(moves(&mut book, &after("g2g4")), [entry("d7d5", 2)]);
            assert_eq!(size, BookSize { positions: 4, moves: 5 });
        }
        let uniform = BookOptions { min_games: 2, is_uniform: true };
        let (mut book, size) = book(Game::Chess, 1, uniform, &games);
        assert_eq!(moves(&mut book, &Position::start(Game::Chess)), [entry("e2e4", 1)]);
        assert_eq!(size, BookSize { positions: 1, moves: 1 });
    }

    #[test]
    fn castling_and_promotion_are_read_back() {
        let castling = "e2e4 e7e5 g1f3 g8f6 f1c4 f8c5 e1g1 e8g8";
        let promotion = "a2a4 b7b5 a4b5 a7a6 b5a6 c8b7 a6b7 h7h6 b7a8q";
        let games = [(castling, GameResult::Draw), (promotion, GameResult::Draw)];
        let (mut book, _) = book(Game::Chess, 1, WEIGHTED, &games);
        for (line, _) in games {
            let texts: Vec<&str> = line.split(' ').collect();
            for (ply, text) in texts.iter().enumerate() {
                let position = Position::start(Game::Chess).after(&texts[..ply]).expect("legal");
                let found = moves(&mut book, &position);
                assert!(found.contains(&entry(text, 1)), "{text}: {found:?}");
            }
        }
    }

    #[test]
    fn large_weights_keep_their_ratio() {
        let mut counter = BookCounter::new(BookFormat::Polyglot, 0, 1);
        let start = Position::start(Game::Chess);
        for (text, count) in [("e2e4", 50_000), ("d2d4", 25_000), ("a2a3", 1)] {
            let mv = start.parse_move(text).expect("legal");
            for _ in 0..count {
                counter.add(&start, mv, GameResult::Win(Side::First));
            }
        }
        let mut writer = BookWriter::new(Vec::new(), BookFormat::Polyglot, WEIGHTED);
        writer.add(counter).expect("written");
        let (bytes, _) = writer.finish().expect("written");
        let weights = bytes.as_chunks::<16>().0.iter();
        let weights: Vec<u16> =
            weights.map(|entry| u16::from_be_bytes([entry[10], entry[11]])).collect();
        assert_eq!(weights, [65_535, 32_767, 1]);
    }

    #[test]
    fn a_book_of_shogi_is_sorted() {
        let line = [
            ("7g7f 3c3d 8h2b+ 3a2b B*5e", GameResult::Draw),
            ("7g7f 8c8d", GameResult::Win(Side::Second)),
        ];
        for parts in [1, 5] {
            let (mut book, _) = book(Game::Shogi, parts, WEIGHTED, &line);
            let start = Position::start(Game::Shogi);
            assert_eq!(moves(&mut book, &start), [entry("7g7f", 1)]);
            let after = start.clone().after(["7g7f"]).expect("legal");
            assert_eq!(moves(&mut book, &after), [entry("8c8d", 2), entry("3c3d", 1)]);
            let drop = start.after(["7g7f", "3c3d", "8h2b+", "3a2b"]).expect("legal");
            assert_eq!(moves(&mut book, &drop), [entry("B*5e", 1)]);
        }
    }
}
