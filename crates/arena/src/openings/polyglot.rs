//! Lines of a Polyglot book, drawn by lot.

use std::fs::File;
use std::io;

use readyok_rules::{Game, Position};

use super::OpeningFault;
use super::read::Line;
use crate::rng;

/// A book, which is read where it is needed.
#[derive(Debug)]
pub(super) struct Polyglot {
    book: readyok_rules::PolyglotBook<File>,
    seed: u64,
    plies: u32,
}

/// Lines of books are far shorter, but a book may lead in a circle.
const MOST_PLIES: u32 = 400;

impl Polyglot {
    pub(super) fn open(file: File, plies: Option<u32>, seed: u64) -> Result<Self, OpeningFault> {
        let plies = plies.ok_or(OpeningFault::NoPlies)?.min(MOST_PLIES);
        let bytes = file.metadata()?.len();
        let mut book =
            readyok_rules::PolyglotBook::new(file).map_err(|error| match error.kind() {
                io::ErrorKind::InvalidData => OpeningFault::NotPolyglot { bytes },
                _ => error.into(),
            })?;
        if book.moves(&Position::start(Game::Chess))?.is_empty() {
            return Err(OpeningFault::Empty);
        }
        Ok(Self { book, seed, plies })
    }

    /// A line of the book: at each move by lot, a move with twice the weight twice as often, until
    /// there is none or there are as many as wanted.
    pub(super) fn line(&mut self, game: Game, index: u64) -> Result<Line, OpeningFault> {
        let seed = rng::number(self.seed, index);
        let start = Position::start(game);
        let (mut position, mut words) = (start.clone(), Vec::new());
        for ply in 0..self.plies {
            let moves = self.book.moves(&position)?;
            let total: u64 = moves.iter().map(|&(_, weight)| u64::from(weight)).sum();
            if total == 0 {
                break;
            }
            let mut lot = rng::number(seed, ply.into()) % total;
            let drawn = moves.into_iter().find(|&(_, weight)| {
                let drawn = lot < weight.into();
                lot = lot.saturating_sub(weight.into());
                drawn
            });
            let Some((mv, _)) = drawn else { break };
            words.push(mv.to_uci(game.castling_form()));
            if position.play(mv).is_err() || position.outcome().is_some() {
                break;
            }
        }
        Ok(Line::with_moves(start, words))
    }
}
