//! The mate solver at the root of the search: own mates, and mates after the best move.

use super::{Solution, Solver, SolverLimits};
use crate::{
    board::{Board, SearchMove},
    search::root::Root,
};

/// The share of the solver, for own and opponent's mates alike.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MateSearchShare {
    /// One in this many nodes belongs to the solver,
    node_share: u64,
    /// in addition to these initial nodes.
    initial: u64,
    /// Nodes of the first attempt; each further attempt restarts with twice as many.
    first: u64,
}

impl MateSearchShare {
    /// With limits by nodes or depth.
    pub(crate) const BY_NODES: Self = Self { node_share: 12, initial: 1_000, first: 1_000 };
    /// With limits by time: a node of the solver takes about twice as long as one of the search
    /// (docs/search.md).
    pub(crate) const BY_TIME: Self = Self { node_share: 24, initial: 0, first: 250 };
}

/// Runs the solver between iterations. It finds longer mates than the search.
pub(crate) struct RootMateSearch<'s> {
    solver: &'s mut Solver,
    share: MateSearchShare,
    own: MateQuery,
    answer: MateQuery,
    /// The best move of the second query, packed.
    best: u16,
    /// Maximum length of own mates in plies.
    plies: Option<u16>,
}

/// A query that is repeated with more nodes.
#[derive(Debug, Clone, Copy, Default)]
struct MateQuery {
    spent: u64,
    attempts: u32,
    decided: bool,
}

impl MateQuery {
    /// The nodes of the next attempt, if it is due.
    fn budget(&self, share: MateSearchShare, searched: u64, left: u64) -> Option<u64> {
        let next = share.first.checked_shl(self.attempts)?;
        let fair = self.spent + next <= share.initial + searched / share.node_share;
        // The solver may exceed its limit slightly.
        (!self.decided && fair && 2 * next <= left).then_some(next)
    }
}

impl<'s> RootMateSearch<'s> {
    pub(crate) fn new(solver: &'s mut Solver, share: MateSearchShare, plies: Option<u32>) -> Self {
        let plies = plies.and_then(|plies| u16::try_from(plies).ok());
        Self {
            solver,
            share,
            own: MateQuery::default(),
            answer: MateQuery::default(),
            best: 0,
            plies,
        }
    }

    /// Searches for an own mate; if found, it becomes the best line.
    pub(crate) fn finds_mate<B: Board>(
        &mut self,
        root: &mut Root<'_, B>,
        stop: &mut dyn FnMut() -> bool,
    ) -> bool {
        let (searched, left) = (root.search.nodes, root.search.nodes_left());
        let Some(budget) = self.own.budget(self.share, searched, left) else { return false };
        let limits =
            SolverLimits { nodes: Some(budget), plies: self.plies, ..SolverLimits::default() };
        let solution = query(self.solver, &mut self.own, &root.search.board, &limits, stop);
        root.search.nodes += self.solver.nodes();
        match solution {
            Solution::Mate(line) => root.set_mate(line),
            Solution::NoMate | Solution::Unknown => false,
        }
    }

    /// Searches for a mate after the best move; if found, the move is removed, unless it is the
    /// last one.
    pub(crate) fn drops_mated<B: Board>(
        &mut self,
        root: &mut Root<'_, B>,
        stop: &mut dyn FnMut() -> bool,
    ) -> bool {
        let Some(mv) = root.best().map(|best| best.mv) else { return false };
        if mv.packed() != self.best {
            (self.best, self.answer) = (mv.packed(), MateQuery::default());
        }
        let (searched, left) = (root.search.nodes, root.search.nodes_left());
        let Some(budget) = self.answer.budget(self.share, searched, left) else { return false };
        let mut board = root.search.board.clone();
        board.play(mv);
        let limits = SolverLimits { nodes: Some(budget), ..SolverLimits::default() };
        let solution = query(self.solver, &mut self.answer, &board, &limits, stop);
        root.search.nodes += self.solver.nodes();
        match solution {
            Solution::Mate(line) => root.drop_mated(line),
            Solution::NoMate | Solution::Unknown => false,
        }
    }
}

fn query<B: Board>(
    solver: &mut Solver,
    question: &mut MateQuery,
    board: &B,
    limits: &SolverLimits,
    stop: &mut dyn FnMut() -> bool,
) -> Solution<B::Move> {
    let solution = board.mate(solver, limits, stop);
    question.spent += solver.nodes();
    question.attempts += 1;
    question.decided = !matches!(solution, Solution::Unknown);
    solution
}
