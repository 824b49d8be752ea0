//! The search: principal variation search with a hash table, and captures until it is quiet.

use readyok_rules::Move;

use crate::{
    board::Board,
    control::Control,
    order::{self, Killers, Ranked},
    score::{
        DRAW, INFINITE, MAX_PLY, Value, from_here_to_root, from_root_to_here, mate_in, mated_in,
    },
    table::{Bound, Table},
};

/// How many positions go by between two questions whether to stop.
const POLL_INTERVAL: u64 = 512;

/// How many plies of captures go by before checks are no longer answered, and before everything
/// ends.
const EVASION_PLIES: i32 = 2;
const CAPTURE_PLIES: i32 = 6;

/// What the squares of pieces may be worth besides the pieces, when a capture seems to be too small.
const MARGIN: Value = 200;

/// One search, of one position.
pub(crate) struct Search<'a, B: Board> {
    pub(crate) board: B,
    pub(crate) table: &'a mut Table,
    pub(crate) control: &'a dyn Control,
    /// The depth of this iteration, which bounds how far checks may extend it.
    pub(crate) depth: i32,
    pub(crate) nodes: u64,
    /// The longest line since it was last set to 0.
    pub(crate) longest: usize,
    node_limit: u64,
    stopped: bool,
    killers: Killers,
    /// The best line from each ply on.
    lines: Vec<Vec<B::Move>>,
    /// The moves that are left to try at each ply, kept to be filled again.
    lists: Vec<Vec<Ranked<B::Move>>>,
}

impl<'a, B: Board> Search<'a, B> {
    pub(crate) fn new(
        board: B,
        table: &'a mut Table,
        control: &'a dyn Control,
        node_limit: Option<u64>,
    ) -> Self {
        Self {
            board,
            table,
            control,
            depth: 0,
            nodes: 0,
            longest: 0,
            node_limit: node_limit.unwrap_or(u64::MAX),
            stopped: false,
            killers: Killers::new(),
            lines: vec![Vec::new(); MAX_PLY + 1],
            lists: vec![Vec::new(); MAX_PLY + 1],
        }
    }

    /// The best line after the move at the root that was searched last.
    pub(crate) fn line(&self) -> impl Iterator<Item = Move> {
        self.lines.get(1).into_iter().flatten().map(|&mv| mv.into())
    }

    /// Whether the search was stopped, so that the last value means nothing.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Plays a move at the root and searches what follows. Only values above `alpha` are exact.
    pub(crate) fn root_move(&mut self, mv: B::Move, alpha: Value, is_first: bool) -> Value {
        self.child(mv, alpha, INFINITE, self.depth, 0, is_first)
    }

    /// Searches a position; `depth` plies are left, and `ply` have been played since the root.
    fn negamax(&mut self, mut alpha: Value, mut beta: Value, mut depth: i32, ply: usize) -> Value {
        // 1. A finished search wants to be left at once.
        if self.must_stop() {
            return DRAW;
        }
        self.nodes += 1;
        self.longest = self.longest.max(ply);
        self.clear_line(ply);

        // 2. Draws and wins by rule.
        if let Some(value) = self.board.ended(ply) {
            return value;
        }

        // 3. A mate that is nearer than any in this line makes it pointless.
        alpha = alpha.max(mated_in(ply));
        beta = beta.min(mate_in(ply + 1));
        if alpha >= beta {
            return alpha;
        }

        // 4. Checks are searched deeper; everything else ends quietly.
        let in_check = self.board.in_check();
        let may_extend = i32::try_from(ply).is_ok_and(|ply| ply < 2 * self.depth);
        depth += i32::from(in_check && may_extend);
        if depth <= 0 || ply >= MAX_PLY {
            return self.quiesce(alpha, beta, 0, ply);
        }

        // 5. What is known from an earlier visit. Lines that will be shown are searched anyway.
        let key = self.board.key();
        let known = self.table.get(key);
        let shown = beta - alpha > 1;
        if let Some(known) = known
            && !shown
            && i32::from(known.depth) >= depth
        {
            let value = from_here_to_root(known.value.into(), ply);
            let decides = match known.bound() {
                Bound::Exact => true,
                Bound::AtLeast => value >= beta,
                Bound::AtMost => value <= alpha,
            };
            if decides {
                return value;
            }
        }

        // 6. The moves, best first; none is mate or stalemate.
        let mut list = self.take_list(ply);
        let from_table = known.map_or(0, |known| known.mv);
        order::all_moves(&self.board, &mut list, from_table, &self.killers, ply);
        if list.is_empty() {
            self.keep_list(ply, list);
            return if in_check || B::STALEMATE_LOSES { mated_in(ply) } else { DRAW };
        }

        // 7. Try them, until one is too good for the opponent to allow this position.
        let (mut best, mut best_move, mut bound) = (-INFINITE, 0, Bound::AtMost);
        for (index, &(_, mv)) in list.iter().enumerate() {
            let value = self.child(mv, alpha, beta, depth, ply, index == 0);
            if self.stopped {
                break;
            }
            best = best.max(value);
            if value > alpha {
                alpha = value;
                bound = Bound::Exact;
                best_move = B::pack(mv);
                self.extend_line(ply, mv);
            }
            if alpha >= beta {
                bound = Bound::AtLeast;
                if self.board.gain(mv).is_none() {
                    self.killers.add(ply, best_move);
                }
                break;
            }
        }
        self.keep_list(ply, list);

        // 8. Remember what was found, unless it was broken off.
        if !self.stopped {
            self.table.put(key, best_move, from_root_to_here(best, ply), depth, bound);
        }
        best
    }

    /// Plays a move and searches it: the first one fully, the others only as far as it takes to see
    /// that they are no better.
    fn child(
        &mut self,
        mv: B::Move,
        alpha: Value,
        beta: Value,
        depth: i32,
        ply: usize,
        is_first: bool,
    ) -> Value {
        self.board.play(mv);
        let mut value = alpha + 1;
        if !is_first {
            value = -self.negamax(-alpha - 1, -alpha, depth - 1, ply + 1);
        }
        if value > alpha && (is_first || value < beta) {
            value = -self.negamax(-beta, -alpha, depth - 1, ply + 1);
        }
        self.board.undo(mv);
        value
    }

    /// Searches captures, and all answers to checks at first, until the value can be trusted.
    /// `depth` starts at 0 and falls.
    fn quiesce(&mut self, mut alpha: Value, beta: Value, depth: i32, ply: usize) -> Value {
        // 1. As in the main search, where the first of these positions was counted.
        if depth < 0 {
            if self.must_stop() {
                return DRAW;
            }
            self.nodes += 1;
            self.longest = self.longest.max(ply);
            self.clear_line(ply);
        }
        if ply >= MAX_PLY || depth < -CAPTURE_PLIES {
            return self.board.evaluate();
        }

        // 2. Whoever is not in check can do without a capture.
        let in_check = depth > -EVASION_PLIES && self.board.in_check();
        let mut best = if in_check { mated_in(ply) } else { self.board.evaluate() };
        if best >= beta {
            return best;
        }
        alpha = alpha.max(best);

        // 3. Try what there is, as long as it can win enough to matter.
        let enough = alpha - best - MARGIN;
        let mut list = self.take_list(ply);
        if in_check {
            order::all_moves(&self.board, &mut list, 0, &self.killers, ply);
        } else {
            order::captures(&self.board, &mut list);
        }
        for &(_, mv) in &list {
            if !in_check && self.board.gain(mv).is_some_and(|gain| gain < enough) {
                continue;
            }
            self.board.play(mv);
            let value = -self.quiesce(-beta, -alpha, depth - 1, ply + 1);
            self.board.undo(mv);
            if self.stopped {
                break;
            }
            best = best.max(value);
            if value > alpha {
                alpha = value;
                self.extend_line(ply, mv);
            }
            if alpha >= beta {
                break;
            }
        }
        self.keep_list(ply, list);
        best
    }

    fn must_stop(&mut self) -> bool {
        if self.nodes >= self.node_limit {
            self.stopped = true;
        } else if self.nodes.is_multiple_of(POLL_INTERVAL) {
            let late =
                || self.control.bounds().hard.is_some_and(|end| self.control.elapsed() >= end);
            self.stopped = self.stopped || self.control.stopped() || late();
        }
        self.stopped
    }

    fn clear_line(&mut self, ply: usize) {
        if let Some(line) = self.lines.get_mut(ply) {
            line.clear();
        }
    }

    /// Makes the best line from here on this move and the best line after it.
    fn extend_line(&mut self, ply: usize, mv: B::Move) {
        if let Some([line, rest, ..]) = self.lines.get_mut(ply..) {
            line.clear();
            line.push(mv);
            line.extend_from_slice(rest);
        }
    }

    fn take_list(&mut self, ply: usize) -> Vec<Ranked<B::Move>> {
        self.lists.get_mut(ply).map(std::mem::take).unwrap_or_default()
    }

    fn keep_list(&mut self, ply: usize, list: Vec<Ranked<B::Move>>) {
        if let Some(kept) = self.lists.get_mut(ply) {
            *kept = list;
        }
    }
}
