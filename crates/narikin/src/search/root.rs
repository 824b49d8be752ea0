//! Iterative deepening at the root: one line, or several with different first moves.

use std::cmp::Reverse;

use crate::{
    board::{Board, MoveList, SearchMove, TbMove},
    eval::Evaluation,
    score::{DRAW, INFINITE, MAX_PLY, Value, is_decided, mate_in, mated_in},
    search::Search,
};

/// A first move and the line after it, as far as it has been searched.
#[derive(Clone)]
pub(crate) struct RootMove<M> {
    pub(crate) mv: M,
    pub(crate) value: Value,
    /// What it was worth in earlier iterations, roughly.
    average_value: Value,
    pub(crate) depth: i32,
    pub(crate) sel_depth: usize,
    /// The line, beginning with the move.
    pub(crate) pv: Vec<M>,
    /// Positions searched after this move.
    pub(crate) nodes: u64,
    /// Those of them before this iteration.
    nodes_before: u64,
    /// What showed last that it is no better than others.
    pub(crate) refutation: Option<M>,
    /// What tablebases say of it.
    pub(crate) tb: Option<TbMove>,
}

impl<M> RootMove<M> {
    /// Moves of a lower rank are better, whatever the search thinks.
    fn rank(&self) -> i32 {
        self.tb.map_or(0, |it| it.rank)
    }

    /// Takes what is known without a search.
    fn set_proved(&mut self, value: Value, pv: Vec<M>) {
        self.value = value;
        self.average_value = value;
        self.sel_depth = pv.len();
        self.depth = self.depth.max(1);
        self.pv = pv;
    }
}

/// What happens in the search that its owner wants to know of.
pub(crate) enum Progress {
    /// This move, which has this number, is searched now.
    Move(usize),
    /// All lines of an iteration are done.
    Iteration,
}

/// The root of one thread's search.
pub(crate) struct Root<'a, B: Board, E> {
    pub(crate) search: Search<'a, B, E>,
    /// Best first.
    pub(crate) moves: Vec<RootMove<B::Move>>,
    lines: usize,
    refutations: bool,
}

impl<'a, B: Board, E: Evaluation<B>> Root<'a, B, E> {
    /// The moves to search are among those that `wanted` names, or all if it names none. Of those
    /// that tablebases rank, only as many are searched as can be among the lines.
    pub(crate) fn new(
        search: Search<'a, B, E>,
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
        // Before anything is searched, any legal move has to do.
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
                tb: tb.iter().find(|it| it.mv == mv.packed()).copied(),
            })
            .collect();
        moves.sort_by_key(RootMove::rank);
        let lines = multipv.clamp(1, moves.len().max(1));
        if let Some(worst) = moves.get(lines - 1).map(RootMove::rank) {
            moves.retain(|root| root.rank() <= worst);
        }
        Self { search, moves, lines, refutations }
    }

    /// Takes a line that mates for the search's. Not if it does not begin with a move to search.
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

    /// Takes the best move out, as this line mates after it; the last one stays. Returns whether
    /// there is another best move now.
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

    /// The lines that are told, best first.
    pub(crate) fn told(&self) -> &[RootMove<B::Move>] {
        self.moves.get(..self.lines).unwrap_or(&self.moves)
    }

    /// Searches deeper and deeper, from one depth to another, until it is stopped or `on_progress` says
    /// no after an iteration.
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

    /// Has those moves first, of all that are not told, that took the most positions in the last iteration:
    /// they were the hardest to refute.
    fn sort_by_effort(&mut self) {
        if let Some(others) = self.moves.get_mut(self.lines..) {
            others.sort_by_key(|root| (root.rank(), Reverse(root.nodes - root.nodes_before)));
        }
        for root in &mut self.moves {
            root.nodes_before = root.nodes;
        }
    }

    /// Searches all lines one ply deeper. Returns whether it could; if not, several lines stay as
    /// they were, so that they can be compared, while a single one takes what was found.
    fn iterate(&mut self, on_progress: &mut dyn FnMut(&mut Self, Progress) -> bool) -> bool {
        if enabled!(RootOrder) {
            self.sort_by_effort();
        }
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

    /// While no line can be compared with another, has a move first that looks better than any.
    fn promote_unsearched(&mut self, mv: Option<B::Move>) {
        let index = self.moves.iter().position(|root| Some(root.mv) == mv && root.depth == 0);
        if let Some(moves) = index.and_then(|index| self.moves.get_mut(..=index))
            && moves.iter().all(|root| root.depth == 0)
        {
            moves.rotate_right(1);
        }
    }

    /// Finds the best move that no earlier line has, of those with the rank of the first, and brings
    /// it to its index. The window of values begins around the last one and grows where it was too
    /// small.
    fn search_line(
        &mut self,
        line: usize,
        on_progress: &mut dyn FnMut(&mut Self, Progress) -> bool,
    ) {
        let Some(first) = self.moves.get(line) else { return };
        let mut width = B::TUNING.window + first.average_value.abs() / 100;
        let (mut alpha, mut beta) = (-INFINITE, INFINITE);
        if enabled!(AspirationWindows) && self.search.depth >= 4 && !is_decided(first.value) {
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
                beta = Value::midpoint(alpha, beta);
                alpha = (value - width).max(-INFINITE);
                fail_high_count = 0;
            } else if value >= beta && beta < INFINITE {
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
            // Outside of the window, the line that was known says more.
            let inside = value > alpha || root.depth == 0;
            if inside {
                root.depth = self.search.depth;
                root.sel_depth = self.search.sel_depth;
                root.pv.truncate(1);
                root.pv.extend_from_slice(self.search.lines.from(1));
            }
            // The others keep their order, in which the best of earlier iterations come first.
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

/// The deepest iteration.
fn deepest() -> i32 {
    i32::try_from(MAX_PLY).unwrap_or(i32::MAX) - 1
}

/// The value of a position without a move.
pub(crate) fn value_without_moves<B: Board>(board: &B) -> Value {
    if board.in_check() || B::STALEMATE_LOSES { mated_in(0) } else { DRAW }
}
