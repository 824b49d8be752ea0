//! Moves that need no search: those of opening books and tablebases.

use std::sync::{Mutex, PoisonError};

use readyok_rules::{Book, Move, Position, Syzygy, TablebaseCategory};

use super::config::Config;
use crate::player::Board;
use crate::terminal::print_error;

pub(crate) struct Known {
    books: Mutex<Vec<Book>>,
    book_moves: usize,
    tables: Option<Syzygy>,
}

impl Known {
    /// Opens books and tables.
    pub(crate) fn open(config: &Config) -> Result<Self, String> {
        let books = config
            .books
            .iter()
            .map(|path| Book::open(path).map_err(|error| format!("`{}`: {error}", path.display())));
        let books = Mutex::new(books.collect::<Result<_, _>>()?);
        let tables = (!config.syzygy.is_empty()).then(|| Syzygy::open(&config.syzygy)).transpose();
        let tables = tables.map_err(|error| error.to_string())?;
        Ok(Self { books, book_moves: config.book_moves, tables })
    }

    /// A move of the tables that keeps a win, or of a book.
    pub(super) fn best_move(&self, board: &Board) -> Option<Move> {
        match self.table_move(board.history.position()) {
            Some((TablebaseCategory::Win, mv)) => Some(mv),
            Some(_) => None,
            None if self.book_moves < board.move_number() => None,
            None => self.book_move(board.history.position()),
        }
    }

    /// Whether the tables have no win for the side to move.
    pub(super) fn is_winless(&self, position: &Position) -> bool {
        self.table_move(position)
            .is_some_and(|(category, _)| TablebaseCategory::CursedWin <= category)
    }

    fn table_move(&self, position: &Position) -> Option<(TablebaseCategory, Move)> {
        let result = self.tables.as_ref()?.probe_moves(position).ok()?;
        Some((result.value.category?, result.moves.first()?.mv))
    }

    /// A move of the first book that has the position, at random by its weights.
    fn book_move(&self, position: &Position) -> Option<Move> {
        let mut books = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        let moves = books.iter_mut().map(|book| {
            book.moves(position).unwrap_or_else(|error| {
                print_error(&format!("a book cannot be read: {error}"));
                Vec::new()
            })
        });
        let moves = moves.into_iter().find(|moves| !moves.is_empty())?;
        let weight = |weight: Option<u64>| weight.unwrap_or(1);
        let total = moves.iter().fold(0_u64, |sum, mv| sum.saturating_add(weight(mv.weight)));
        let mut random = getrandom::u64().ok()?.checked_rem(total)?;
        let chosen = moves.iter().find(|mv| {
            let is_chosen = random < weight(mv.weight);
            random = random.saturating_sub(weight(mv.weight));
            is_chosen
        });
        chosen.map(|mv| mv.mv)
    }
}
