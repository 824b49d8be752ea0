//! The mate solver of shogi (tsume): df-pn search of checks.
//!
//! The search is depth-first proof-number search (Nagai's df-pn). Repetition never mates; results
//! that depend on a repetition are stored for their path only.

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

/// Limits of the solver, which finds mates without the search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SolverLimits {
    /// Approximate maximum number of nodes.
    pub nodes: Option<u64>,
    /// Maximum length of the mate in plies.
    pub plies: Option<u16>,
    /// Additional nodes for the shortest mate, and then as many for a somewhat shorter one.
    pub shorten: u64,
    /// Restrict the first move to these; any move if empty.
    pub searchmoves: Vec<Move32>,
}

/// The result of the solver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Solution<M = Move32> {
    /// The side to move mates with this line; all other defenses fail as well. Not always the
    /// shortest mate or the longest defense.
    Mate(Vec<M>),
    /// There is no mate by checks, or none of the requested length.
    NoMate,
    /// A limit was reached.
    Unknown,
}

/// The solver, with its tables.
#[derive(Debug)]
pub struct Solver {
    table: ProofTable,
    path: Path,
    nodes: u64,
}

impl Solver {
    /// Creates a solver whose table grows to this size in megabytes.
    ///
    /// # Errors
    ///
    /// There is not enough memory for a minimal table.
    pub fn new(megabytes: usize) -> Result<Self, TryReserveError> {
        Ok(Self { table: ProofTable::new(megabytes)?, path: Path::new(), nodes: 0 })
    }

    /// Nodes of the last search.
    pub const fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Searches for a mate of the side to move. `stop` is polled with the number of nodes.
    ///
    /// The fourth occurrence of a position, including earlier positions of the game, is not a mate.
    pub fn solve(
        &mut self,
        position: &Position,
        limits: &SolverLimits,
        stop: &mut dyn FnMut(u64) -> bool,
    ) -> Solution {
        proof::solve(self, position, limits, stop)
    }
}

/// Nodes of the search for a shorter mate.
const SHORTEN_NODES: u64 = 200_000;

/// Maximum table size in megabytes.
const MAX_TABLE_MB: usize = 1024;

/// The interval of node counts.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);

fn node_info(nodes: u64, time: Duration) -> Info<'static> {
    Info {
        nodes: Some(nodes),
        nps: u64::try_from(u128::from(nodes) * 1_000_000 / time.as_micros().max(1)).ok(),
        time: Some(time),
        ..Info::default()
    }
}

/// Answers `go mate` of USI: searches until a result, a limit or a stop, with at most this much
/// memory. Without a mate within a maximum length, the result is a timeout.
pub(crate) fn checkmate(
    position: &readyok_rules::Position,
    limits: SolverLimits,
    megabytes: usize,
    control: &Control,
) -> Result<Checkmate<'static>, Failure> {
    let BoardRef::Shogi(board) = position.board() else {
        return Ok(Checkmate::NotImplemented);
    };
    let mut solver = Solver::new(megabytes.min(MAX_TABLE_MB))?;
    let limits = SolverLimits { shorten: SHORTEN_NODES, ..limits };
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
    let moves: Vec<_> = line.into_iter().map(|mv| Move::from(mv).uci(form)).collect();
    let plies = u32::try_from(moves.len()).unwrap_or(u32::MAX);
    control.info(Info {
        depth: Some(plies),
        score: Some(Score::MateIn { plies }),
        pv: Some(moves.iter().copied().collect()),
        ..info
    });
    Ok(Checkmate::Moves(moves.into_iter().collect()))
}
