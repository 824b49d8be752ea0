//! What the mate solver says of the root and of the move that the search would play.

use super::{Limits, Solution, Solver};
use crate::{
    board::{Board, SearchMove},
    eval::Evaluation,
    search::root::Root,
};

/// How often the solver looks, for the own mate and for the opponent's alike.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MateSearchShare {
    /// One position in so many is the solver's,
    node_share: u64,
    /// but for these, which are before all others.
    initial: u64,
    /// How many positions the first look at a question may take. Each further one may take twice as
    /// many, as the solver begins anew.
    first: u64,
}

impl MateSearchShare {
    /// Where positions are counted.
    pub(crate) const BY_NODES: Self = Self { node_share: 12, initial: 1_000, first: 1_000 };
    /// Where time is: a position of the solver takes about twice as long as one of the search, and a short
    /// search has no thousand to spare (docs/search.md).
    pub(crate) const BY_TIME: Self = Self { node_share: 24, initial: 0, first: 250 };
}

/// The solver beside a search: whether the side to move mates, and whether it is mated after the
/// move that looks best. The search sees neither if it takes many plies.
pub(crate) struct RootMateSearch<'s> {
    solver: &'s mut Solver,
    share: MateSearchShare,
    own: MateQuery,
    answer: MateQuery,
    /// The move that the second question is about, packed.
    best: u16,
    /// The longest mate that the side to move looks for, in plies.
    plies: Option<u16>,
}

/// A question to the solver that is asked again and again, with more and more time.
#[derive(Debug, Clone, Copy, Default)]
struct MateQuery {
    spent: u64,
    attempts: u32,
    decided: bool,
}

impl MateQuery {
    /// How many positions the next look may take, if it is worth one after so many positions of
    /// the search, with so many left.
    fn budget(&self, share: MateSearchShare, searched: u64, left: u64) -> Option<u64> {
        let next = share.first.checked_shl(self.attempts)?;
        let fair = self.spent + next <= share.initial + searched / share.node_share;
        // The solver may look at a few more.
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

    /// Whether a mate of the side to move is proved; then it is the line of the search.
    pub(crate) fn finds_mate<B: Board, E: Evaluation<B>>(
        &mut self,
        root: &mut Root<'_, B, E>,
        stop: &mut dyn FnMut() -> bool,
    ) -> bool {
        let (searched, left) = (root.search.nodes, root.search.nodes_left());
        let Some(budget) = self.own.budget(self.share, searched, left) else { return false };
        let limits = Limits { nodes: Some(budget), plies: self.plies, ..Limits::default() };
        let solution = query(self.solver, &mut self.own, &root.search.board, &limits, stop);
        root.search.nodes += self.solver.nodes();
        match solution {
            Solution::Mate(line) => root.set_mate(line),
            Solution::NoMate | Solution::Unknown => false,
        }
    }

    /// Whether the best move is proved to be answered by a mate. Then it is out, unless it is the
    /// last one that is left.
    pub(crate) fn drops_mated<B: Board, E: Evaluation<B>>(
        &mut self,
        root: &mut Root<'_, B, E>,
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
        let limits = Limits { nodes: Some(budget), ..Limits::default() };
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
    limits: &Limits,
    stop: &mut dyn FnMut() -> bool,
) -> Solution<B::Move> {
    let solution = board.mate(solver, limits, stop);
    question.spent += solver.nodes();
    question.attempts += 1;
    question.decided = !matches!(solution, Solution::Unknown);
    solution
}
