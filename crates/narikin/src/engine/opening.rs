//! Playing openings from the book that the user has named.

use std::path::Path;

use readyok_rules::{Game, Position};

use super::settings::Settings;
use crate::book::{Book, BookMove};

/// The book in use.
#[derive(Debug, Default)]
pub(super) struct Opening {
    /// The path that was read last.
    path: String,
    book: Option<Book>,
    remarks: Vec<String>,
}

impl Opening {
    /// Opens the book that is wanted now, unless it is open.
    pub(super) fn prepare(&mut self, settings: &Settings) {
        let wanted = if settings.own_book.get() { settings.book_file.get() } else { String::new() };
        if wanted == self.path {
            return;
        }
        self.path = wanted;
        self.book = None;
        if self.path.is_empty() {
            return;
        }
        match Book::open(Path::new(&self.path)) {
            Ok(book) => self.book = Some(book),
            Err(error) => {
                let path = self.path.escape_debug();
                self.remarks.push(format!("no book in `{path}`: {error}"));
            }
        }
    }

    /// What went wrong.
    pub(super) fn take_remarks(&mut self) -> Vec<String> {
        std::mem::take(&mut self.remarks)
    }

    /// A move of the book, if there is one that may be played.
    pub(super) fn choose(&mut self, settings: &Settings, position: &Position) -> Option<BookMove> {
        let book = self.book.as_mut()?;
        if i64::from(move_number(position)) > settings.book_depth.get() {
            return None;
        }
        let lot = (!settings.best_book_move.get()).then(|| fastrand::u64(..));
        book.choose(position, lot).unwrap_or_else(|error| {
            // What fails once will fail again.
            self.book = None;
            let path = self.path.escape_debug();
            self.remarks.push(format!("the book in `{path}` is not used any more: {error}"));
            None
        })
    }
}

/// Which move of its side the next one is, from 1 on.
fn move_number(position: &Position) -> u32 {
    let number = position.setup().move_number();
    match position.game() {
        Game::Chess | Game::Chess960 => number,
        Game::Shogi => number.div_ceil(2),
    }
}
