//! Iterative deepening at the root, with MultiPV and aspiration windows.

use std::cmp::Reverse;

use readyok_engine::protocol::Bound;

use crate::{
    board::{Board, MoveList, SearchMove, TbMove},
    score::{DRAW, INFINITE, MAX_PLY, Value, is_decided, mate_in, mated_in},
    search::{Search, Tuning},
};

/// A root move and its PV.
#[derive(Clone)]
pub(crate) struct RootMove<M> {
    pub(crate) mv: M,
    pub(crate) value: Value,
    /// The average value of earlier iterations.
    average_value: Value,
    pub(crate) depth: i32,
    pub(crate) sel_depth: usize,
    pub(crate) pv: Vec<M>,
    /// Nodes searched for this move.
    pub(crate) nodes: u64,
    /// Nodes before this iteration.
    nodes_before: u64,
    /// The reply that refuted it last.
    pub(crate) refutation: Option<M>,
    /// The result by tablebases.
    pub(crate) tb: Option<TbMove>,
}

impl<M> RootMove<M> {
    /// Lower is better, regardless of the search value.
    fn rank(&self) -> i32 {
        self.tb.map_or(0, |tb| tb.rank)
    }

    #[cfg(test)]
    pub(super) fn with_line(mv: M, value: Value, depth: i32) -> Self
    where
        M: Copy,
    {
        Self {
            mv,
            value,
            average_value: value,
            depth,
            sel_depth: 0,
            pv: vec![mv],
            nodes: 0,
            nodes_before: 0,
            refutation: None,
            tb: None,
        }
    }

    /// Sets a proved value and line.
    fn set_proved(&mut self, value: Value, pv: Vec<M>) {
        self.value = value;
        self.average_value = value;
        self.sel_depth = pv.len();
        self.depth = self.depth.max(1);
        self.pv = pv;
    }
}

/// Progress of a search.
pub(crate) enum Progress {
    /// The root move of this index is searched next.
    Move(usize),
    /// The score of the line of this index left the aspiration window.
    Bound(usize, Bound),
    /// An iteration is complete.
    Iteration,
}

/// The root of one thread's search.
pub(crate) struct Root<'a, B: Board> {
    pub(crate) search: Search<'a, B>,
    /// Sorted, best first.
    pub(crate) moves: Vec<RootMove<B::Move>>,
    lines: usize,
    refutations: bool,
}

impl<'a, B: Board> Root<'a, B> {
    /// Selects the root moves: those that `wanted` accepts, or all if it accepts none. Of moves
    /// ranked by tablebases, only the ranks that can be among the lines are searched.
    pub(crate) fn new(
        mut search: Search<'a, B>,
        wanted: impl Fn(B::Move) -> bool,
        tb: &[TbMove],
        multipv: usize,
        refutations: bool,
    ) -> Self {
        let mut list = MoveList::new();
        search.board.generate_all(&mut list);
        if list.iter().any(|&(_, mv)| wanted(mv)) {
            list.retain(|&(_, mv)| wanted(mv));
        }
        // Fallback before the first iteration.
        let value = search.evaluate();
        let mut moves: Vec<_> = list
            .into_iter()
            .map(|(_, mv)| RootMove {
                mv,
                value,
                average_value: value,
                depth: 0,
                sel_depth: 0,
                pv: vec![mv],
                nodes: 0,
                nodes_before: 0,
                refutation: None,
                tb: tb.iter().find(|entry| entry.mv == mv.packed()).copied(),
            })
            .collect();
        moves.sort_by_key(RootMove::rank);
        let lines = multipv.clamp(1, moves.len().max(1));
        if let Some(worst) = moves.get(lines - 1).map(RootMove::rank) {
            moves.retain(|root| root.rank() <= worst);
        }
        Self { search, moves, lines, refutations }
    }

    /// Makes a proved mate the best line. Returns false if its first move is not a root move.
    pub(crate) fn set_mate(&mut self, line: Vec<B::Move>) -> bool {
        let first = line.first().copied();
        let Some(index) = self.moves.iter().position(|root| Some(root.mv) == first) else {
            return false;
        };
        if let Some(moves) = self.moves.get_mut(..=index) {
            moves.rotate_right(1);
        }
        let Some(best) = self.moves.first_mut() else { return false };
        best.set_proved(mate_in(line.len()), line);
        true
    }

    /// Removes the best move, as this line refutes it by mate; the last move stays. Returns whether
    /// other moves remain.
    pub(crate) fn drop_mated(&mut self, mut line: Vec<B::Move>) -> bool {
        let Some(best) = self.moves.first_mut() else { return false };
        line.insert(0, best.mv);
        best.set_proved(mated_in(line.len()), line);
        let others = self.moves.len() > 1;
        if others {
            self.moves.remove(0);
        }
        others
    }

    pub(crate) fn best(&self) -> Option<&RootMove<B::Move>> {
        self.moves.first()
    }

    /// The reported lines, best first.
    pub(crate) fn reported_lines(&self) -> &[RootMove<B::Move>] {
        self.moves.get(..self.lines).unwrap_or(&self.moves)
    }

    /// Iterative deepening between two depths, until stopped or until `on_progress` returns false.
    pub(crate) fn deepen(
        &mut self,
        first: i32,
        last: i32,
        on_progress: &mut dyn FnMut(&mut Self, Progress) -> bool,
    ) {
        for depth in first..=last.min(deepest()) {
            self.search.depth = depth;
            self.search.init_root();
            if !self.iterate(on_progress) || !on_progress(self, Progress::Iteration) {
                break;
            }
        }
    }

    /// Sorts the moves without a reported line by their nodes in the last iteration: those were the
    /// hardest to refute.
    fn sort_by_effort(&mut self) {
        if let Some(others) = self.moves.get_mut(self.lines..) {
            others.sort_by_key(|root| (root.rank(), Reverse(root.nodes - root.nodes_before)));
        }
        for root in &mut self.moves {
            root.nodes_before = root.nodes;
        }
    }

    /// One iteration over all lines. Returns false if stopped; several lines are then restored for
    /// consistency, a single one keeps its result.
    fn iterate(&mut self, on_progress: &mut dyn FnMut(&mut Self, Progress) -> bool) -> bool {
        self.sort_by_effort();
        let before = (self.lines > 1).then(|| self.moves.clone());
        for line in 0..self.lines {
            self.search_line(line, on_progress);
            if self.search.is_stopped() {
                if let Some(before) = before {
                    let found = self.best().filter(|best| best.depth > 0).map(|best| best.mv);
                    self.moves = before;
                    self.promote_unsearched(found);
                }
                return false;
            }
        }
        if let Some(found) = self.moves.get_mut(..self.lines) {
            found.sort_by_key(|root| (root.rank(), -root.value));
        }
        true
    }

    /// Before the first complete iteration, moves the best move found to the front.
    fn promote_unsearched(&mut self, mv: Option<B::Move>) {
        let index = self.moves.iter().position(|root| Some(root.mv) == mv && root.depth == 0);
        if let Some(moves) = index.and_then(|index| self.moves.get_mut(..=index))
            && moves.iter().all(|root| root.depth == 0)
        {
            moves.rotate_right(1);
        }
    }

    /// Searches one line of MultiPV with an aspiration window, among moves of the same rank.
    fn search_line(
        &mut self,
        line: usize,
        on_progress: &mut dyn FnMut(&mut Self, Progress) -> bool,
    ) {
        let Some(first) = self.moves.get(line) else { return };
        let mut width = Tuning::of::<B>().window + first.average_value.abs() / 100;
        let (mut alpha, mut beta) = (-INFINITE, INFINITE);
        if self.search.depth >= 4 && !is_decided(first.value) {
            alpha = (first.average_value - width).max(-INFINITE);
            beta = (first.average_value + width).min(INFINITE);
        }
        let mut fail_high_count = 0;
        loop {
            let depth = (self.search.depth - fail_high_count).max(1);
            let value = self.search_window(line, alpha, beta, depth, on_progress);
            if self.search.is_stopped() {
                break;
            }
            if value <= alpha && alpha > -INFINITE {
                on_progress(self, Progress::Bound(line, Bound::Upper));
                beta = Value::midpoint(alpha, beta);
                alpha = (value - width).max(-INFINITE);
                fail_high_count = 0;
            } else if value >= beta && beta < INFINITE {
                on_progress(self, Progress::Bound(line, Bound::Lower));
                beta = (value + width).min(INFINITE);
                fail_high_count =
                    if self.search.shared.full_width { 0 } else { (fail_high_count + 1).min(3) };
            } else {
                break;
            }
            width += width / 2;
            if width > 1500 {
                (alpha, beta) = (-INFINITE, INFINITE);
            }
        }
        if let Some(root) = self.moves.get_mut(line) {
            root.average_value = if root.depth > 1 && !is_decided(root.value) {
                Value::midpoint(root.average_value, root.value)
            } else {
                root.value
            };
        }
    }

    fn search_window(
        &mut self,
        line: usize,
        mut alpha: Value,
        beta: Value,
        depth: i32,
        on_progress: &mut dyn FnMut(&mut Self, Progress) -> bool,
    ) -> Value {
        let mut best = -INFINITE;
        self.search.sel_depth = 0;
        let rank = self.moves.get(line).map(RootMove::rank);
        for index in line..self.moves.len() {
            let Some(root) = self.moves.get(index) else { break };
            if Some(root.rank()) != rank {
                break;
            }
            let mv = root.mv;
            on_progress(self, Progress::Move(index));
            let before = self.search.nodes;
            let number = i32::try_from(index - line + 1).unwrap_or(i32::MAX);
            let value = self.search.root_move(mv, alpha, beta, depth, number);
            let searched = self.search.nodes - before;
            let Some(root) = self.moves.get_mut(index) else { break };
            root.nodes += searched;
            if self.search.is_stopped() {
                break;
            }
            if index > line && value <= alpha {
                best = best.max(value);
                if self.refutations {
                    root.refutation = self.search.tt_reply(mv);
                }
                continue;
            }
            root.refutation = None;
            best = value;
            root.value = value;
            // A fail-low result keeps the previous PV.
            let inside = value > alpha || root.depth == 0;
            if inside {
                root.depth = self.search.depth;
                root.sel_depth = self.search.sel_depth;
                root.pv.truncate(1);
                root.pv.extend_from_slice(self.search.lines.from(1));
            }
            // The others keep their order from earlier iterations.
            if let Some(better) = self.moves.get_mut(line..=index) {
                better.rotate_right(1);
            }
            if value >= beta {
                break;
            }
            alpha = alpha.max(value);
        }
        best
    }
}

/// The maximum depth.
fn deepest() -> i32 {
    i32::try_from(MAX_PLY).unwrap_or(i32::MAX) - 1
}

/// The value of a position without legal moves.
pub(crate) fn value_without_moves<B: Board>(board: &B) -> Value {
    if board.in_check() || B::STALEMATE_LOSES { mated_in(0) } else { DRAW }
}
