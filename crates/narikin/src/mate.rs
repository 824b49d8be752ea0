//! Mates of shogi by checks alone: a search by proof numbers.
//!
//! The search is depth-first (Nagai's df-pn): it goes where the fewest leaves are left to be
//! proved, and down there until another place is better. Repetition is never a mate; a result that
//! holds because of it is kept for the way that leads to it, and for no other.

mod answer;
mod children;
mod hands;
mod line;
mod numbers;
mod path;
pub(crate) mod root;
mod search;
mod table;
#[cfg(test)]
mod tests;

use std::collections::TryReserveError;

use readyok_rules::rsshogi::board::Position;
use readyok_rules::rsshogi::types::Move32;

pub(crate) use self::answer::checkmate;
use self::{path::Path, table::Table};

/// How far to search for a mate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Look at no more than about this many positions.
    pub nodes: Option<u64>,
    /// Look for mates of at most this many plies only; a mate in one is one ply.
    pub plies: Option<u16>,
    /// When there is a mate, look at so many more positions for the shortest one, and then at as
    /// many for one that is somewhat shorter.
    pub shorten: u64,
    /// Look only for mates that begin with one of these moves; with any if there are none.
    pub searchmoves: Vec<Move32>,
}

/// What a search for a mate has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Solution<M = Move32> {
    /// The side to move mates with this line; every other defence was proved to fail, too. It is
    /// not always the shortest mate, nor the longest defence.
    Mate(Vec<M>),
    /// There is none by checks alone, or none of the length asked for.
    NoMate,
    /// The search ended before.
    Unknown,
}

/// The memory with which one position after the other is searched for mates.
#[derive(Debug)]
pub struct Solver {
    table: Table,
    path: Path,
    nodes: u64,
}

impl Solver {
    /// A solver with a table of about so many megabytes.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn new(megabytes: usize) -> Result<Self, TryReserveError> {
        Ok(Self { table: Table::new(megabytes)?, path: Path::new(), nodes: 0 })
    }

    /// How many positions the last search has looked at.
    pub const fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Whether the side to move can mate by checks alone. `stop` is asked every few positions
    /// whether to give up, and told how many there were.
    ///
    /// The fourth occurrence of a position counts as no mate, with the positions before this one.
    pub fn solve(
        &mut self,
        position: &Position,
        limits: &Limits,
        stop: &mut dyn FnMut(u64) -> bool,
    ) -> Solution {
        line::solve(self, position, limits, stop)
    }
}
