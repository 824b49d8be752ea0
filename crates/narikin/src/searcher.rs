//! What a search gives, and what stays from one search to the next.

use std::collections::TryReserveError;

use readyok_rules::{BoardRef, Move, Position};

use crate::{
    board::{Chess, Shogi},
    control::{Control, Limits},
    deepening::deepen,
    score::Score,
    table::Table,
};

/// What a search has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The value for the side to move.
    pub score: Score,
    /// The best line; empty only if there is no legal move.
    pub pv: Vec<Move>,
    /// How deep it was searched, in plies; 0 if the search was stopped before anything else.
    pub depth: u32,
    /// Positions searched.
    pub nodes: u64,
}

impl Outcome {
    /// The move to play; none if there is no legal one.
    pub fn best(&self) -> Option<Move> {
        self.pv.first().copied()
    }

    /// The answer to expect.
    pub fn ponder(&self) -> Option<Move> {
        self.pv.get(1).copied()
    }
}

/// An engine's memory, with which it searches one position after the other.
#[derive(Debug)]
pub struct Searcher {
    table: Table,
}

impl Searcher {
    /// A searcher with a hash table of so many megabytes; 0 is next to none.
    pub fn new(hash: usize) -> Result<Self, TryReserveError> {
        Ok(Self { table: Table::new(hash)? })
    }

    /// Replaces the hash table by one of so many megabytes. If there is not enough memory, the old
    /// one stays.
    pub fn resize(&mut self, hash: usize) -> Result<(), TryReserveError> {
        self.table = Table::new(hash)?;
        Ok(())
    }

    /// Forgets everything, as for a new game.
    pub fn clear(&mut self) {
        self.table.clear();
    }

    /// Searches a position until a limit is reached or the control stops it. The same searches on
    /// the same memory give the same results.
    ///
    /// A position whose game is over by repetition or the fifty-move rule is searched like any
    /// other, and so is one where a win could be declared.
    pub fn search(
        &mut self,
        position: &Position,
        limits: &Limits,
        control: &dyn Control,
    ) -> Outcome {
        self.table.begin_search();
        match position.board() {
            BoardRef::Chess(board) => deepen(Chess::new(board), &mut self.table, limits, control),
            BoardRef::Shogi(board) => deepen(Shogi::new(board), &mut self.table, limits, control),
        }
    }
}
