//! Mates of shogi by checks alone: a search by proof numbers.
//!
//! The search is depth-first (Nagai's df-pn): it goes where the fewest leaves are left to be
//! proved, and down there until another place is better. Repetition is never a mate; a result that
//! holds because of it is kept for the way that leads to it, and for no other.

mod hands;
mod proof;
pub(crate) mod root;
mod search;
mod table;
#[cfg(test)]
mod tests;

use std::collections::TryReserveError;
use std::time::Duration;

use readyok_engine::{Checkmate, Control, Failure, Info, Score};
use readyok_rules::rsshogi::board::Position;
use readyok_rules::rsshogi::types::Move32;
use readyok_rules::{BoardRef, Move};

use self::table::{Path, ProofTable};

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
    table: ProofTable,
    path: Path,
    nodes: u64,
}

impl Solver {
    /// A solver with a table of about so many megabytes.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn new(megabytes: usize) -> Result<Self, TryReserveError> {
        Ok(Self { table: ProofTable::new(megabytes)?, path: Path::new(), nodes: 0 })
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
        proof::solve(self, position, limits, stop)
    }
}

/// How many positions are looked at for a mate that is shorter than the one found.
const SHORTEN_NODES: u64 = 200_000;

/// No mate is worth a larger table, in megabytes.
const MAX_TABLE_MB: usize = 1024;

/// A megabyte of the table is for so many positions, or so many milliseconds. To make more than a
/// search can fill would take time from it.
const NODES_PER_MB: u64 = 16_384;
const MILLIS_PER_MB: u128 = 20;

/// The size of the table for a search of so many positions and so much time, of which there is memory
/// for so many megabytes.
fn table_size(megabytes: usize, nodes: Option<u64>, time: Option<Duration>) -> usize {
    let by_nodes = nodes.and_then(|nodes| usize::try_from(nodes / NODES_PER_MB).ok());
    let by_time = time.and_then(|time| usize::try_from(time.as_millis() / MILLIS_PER_MB).ok());
    let enough = [by_nodes, by_time].into_iter().flatten().min();
    enough.map_or(MAX_TABLE_MB, |enough| enough.saturating_add(1)).min(megabytes).min(MAX_TABLE_MB)
}

/// How often it is told how many positions were looked at.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);

fn node_info(nodes: u64, time: Duration) -> Info<'static> {
    Info {
        nodes: Some(nodes),
        nps: u64::try_from(u128::from(nodes) * 1_000_000 / time.as_micros().max(1)).ok(),
        time: Some(time),
        ..Info::default()
    }
}

/// Searches for a mate until it is found, refuted, or a limit or the control says to stop, with at
/// most so many megabytes of memory. None within so many plies is no word about longer ones.
pub(crate) fn checkmate(
    position: &readyok_rules::Position,
    limits: Limits,
    megabytes: usize,
    control: &Control,
) -> Result<Checkmate<'static>, Failure> {
    let BoardRef::Shogi(board) = position.board() else {
        return Ok(Checkmate::NotImplemented);
    };
    let size = table_size(megabytes, limits.nodes, control.budget().hard);
    let mut solver = Solver::new(size)?;
    let limits = Limits { shorten: SHORTEN_NODES, ..limits };
    let mut next = REPORT_INTERVAL;
    let solution = solver.solve(board.position(), &limits, &mut |nodes| {
        let time = control.elapsed();
        if next <= time {
            next = time + REPORT_INTERVAL;
            control.info(node_info(nodes, time));
        }
        control.stopped()
    });
    let info = node_info(solver.nodes(), control.elapsed());
    let line = match solution {
        Solution::Mate(line) => line,
        Solution::NoMate | Solution::Unknown => {
            control.info(info);
            let no_mate = solution == Solution::NoMate && limits.plies.is_none();
            return Ok(if no_mate { Checkmate::NoMate } else { Checkmate::Timeout });
        }
    };
    let form = position.game().castling_form();
    let moves: Result<Vec<_>, _> =
        line.into_iter().map(|mv| Move::from(mv).word(form).parse()).collect();
    let moves = moves?;
    let plies = u32::try_from(moves.len()).unwrap_or(u32::MAX);
    control.info(Info {
        depth: Some(plies),
        score: Some(Score::MateIn { plies }),
        pv: Some(moves.iter().copied().collect()),
        ..info
    });
    Ok(Checkmate::Moves(moves.into_iter().collect()))
}

#[cfg(test)]
mod table_size_tests {
    use super::*;

    #[test]
    fn a_short_search_has_a_small_table() {
        let millis = |millis| Some(Duration::from_millis(millis));
        assert_eq!(table_size(16, None, None), 16);
        assert_eq!(table_size(1 << 25, None, None), MAX_TABLE_MB);
        assert_eq!(table_size(1 << 25, None, millis(100)), 6);
        assert_eq!(table_size(1 << 25, Some(0), millis(60_000)), 1);
        assert_eq!(table_size(4, Some(u64::MAX), millis(60_000)), 4);
        assert_eq!(table_size(1 << 25, Some(u64::MAX), Some(Duration::MAX)), MAX_TABLE_MB);
        assert_eq!(table_size(0, None, millis(100)), 0);
    }
}
