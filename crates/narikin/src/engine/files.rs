//! Files that options name: opening books and networks.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use readyok_engine::Failure;
use readyok_rules::{Book, BookMove, Game, Position};

use super::settings::Settings;
use crate::book;
use crate::network::{MAX_BYTES, Network};
use crate::searcher::Searcher;

/// The book in use.
#[derive(Debug, Default)]
pub(super) struct Opening {
    /// The last path; none if no book is requested.
    path: Option<String>,
    book: Option<Book>,
    /// Whether a mismatch of the game was reported.
    reported_foreign: bool,
    remarks: Vec<String>,
}

impl Opening {
    /// Opens the requested book, unless it is open.
    pub(super) fn prepare(&mut self, settings: &Settings) {
        let wanted = settings.own_book.get().then(|| settings.book_file.get());
        if wanted == self.path {
            return;
        }
        *self = Self { path: wanted, remarks: self.take_remarks(), ..Self::default() };
        match self.path.clone().as_deref() {
            None => (),
            Some("") => self.remarks.push("no book: `Book File` is empty".to_owned()),
            Some(path) => match Book::open(Path::new(path)) {
                Ok(mut book) => {
                    let empty = book.is_empty().then(|| "is empty".to_owned());
                    self.remark(book.take_remark().or(empty));
                    self.book = Some(book);
                }
                Err(error) => {
                    self.remarks.push(format!("no book in `{}`: {error}", path.escape_debug()));
                }
            },
        }
    }

    /// Adds a message about the book.
    fn remark(&mut self, what: Option<String>) {
        let path = self.path.as_deref().unwrap_or_default().escape_debug();
        self.remarks.extend(what.map(|what| format!("the book in `{path}` {what}")));
    }

    /// Takes the messages.
    pub(super) fn take_remarks(&mut self) -> Vec<String> {
        std::mem::take(&mut self.remarks)
    }

    /// Chooses a book move, if any.
    pub(super) fn choose(&mut self, settings: &Settings, position: &Position) -> Option<BookMove> {
        let book = self.book.as_mut()?;
        if i64::from(move_number(position)) > settings.book_depth.get() {
            return None;
        }
        if !book.is_of(position.game()) {
            if !std::mem::replace(&mut self.reported_foreign, true) {
                self.remark(Some("is for another game".to_owned()));
            }
            return None;
        }
        let seed = (!settings.best_book_move.get()).then(|| fastrand::u64(..));
        let chosen = book::choose(book, position, seed);
        let remark = book.take_remark();
        self.remark(remark);
        chosen.unwrap_or_else(|error| {
            // The failure would repeat.
            self.book = None;
            self.remark(Some(format!("is disabled: {error}")));
            None
        })
    }
}

/// The number of the next move of its side, from 1.
fn move_number(position: &Position) -> u32 {
    let number = position.setup().move_number();
    match position.game() {
        Game::Chess | Game::Chess960 => number,
        Game::Shogi => number.div_ceil(2),
    }
}

/// The network in use.
#[derive(Debug, Default)]
pub(super) struct NetworkFile {
    /// The last path; empty for none.
    path: String,
}

impl NetworkFile {
    /// Loads or resets the networks, and returns a message about a file that is invalid, or that is for
    /// another game than `game`.
    pub(super) fn prepare(
        &mut self,
        wanted: String,
        game: Option<Game>,
        searcher: &mut Searcher,
    ) -> Option<String> {
        if wanted == self.path {
            return None;
        }
        self.path = wanted;
        for game in [Game::Chess, Game::Shogi] {
            searcher.reset_network(game);
        }
        if self.path.is_empty() {
            return None;
        }
        let path = self.path.escape_debug();
        match load(Path::new(&self.path)) {
            Ok(network) => {
                let found = network.architecture().game();
                let remark = (game != Some(found)).then(|| {
                    let name = network.name();
                    format!("the network {name} in `{path}` evaluates {}", name_of(found))
                });
                searcher.set_network(Arc::new(network));
                remark
            }
            Err(error) => Some(format!("no network in `{path}`: {error}")),
        }
    }
}

/// The name of a game in messages. Chess and Chess960 share a network.
pub(super) fn name_of(game: Game) -> &'static str {
    match game {
        Game::Chess | Game::Chess960 => "chess",
        Game::Shogi => "shogi",
    }
}

fn load(path: &Path) -> Result<Network, Failure> {
    let mut bytes = Vec::new();
    // One more byte shows that the file is too long.
    let most = u64::try_from(MAX_BYTES).map_or(u64::MAX, |most| most + 1);
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(Network::read(&bytes)?)
}
