//! Helpers of a node: probes, history updates, evaluation, counters and buffers.

use std::sync::atomic::Ordering::Relaxed;

use super::{
    FULL_WIDTH_KEY, Frame, MIN_FIRST_ITERATION_NODES, MoveLists, POLL_INTERVAL, STACK_OFFSET,
    Search, SearchedMoves,
    history::{CONT_HIST_PLIES, ContHistKey, Histories},
    movepick::MovePicker,
    tt::{Bound, NO_VALUE, TtData, narrow},
};
use crate::{
    board::{Board, SearchMove},
    score::{DECIDED, DRAW, Value, tb_win, value_from_tt},
};

impl<B: Board> Search<'_, B> {
    /// Tablebase value, if known. A win hides nearby mates.
    pub(super) fn probe(&mut self, depth: i32, ply: usize, tt_pv: bool) -> Option<Value> {
        let tables = self.shared.tables?;
        let (value, bound) = self.board.probe(tables, depth, tb_win(ply))?;
        self.shared.tbhits.fetch_add(1, Relaxed);
        let value = if bound == Bound::Exact { self.draw(ply) } else { value };
        // Stored with extra depth, as it is exact.
        let tte = TtData {
            mv: 0,
            value: narrow(value),
            eval: NO_VALUE,
            depth: u8::try_from((depth + 6).clamp(0, 255)).unwrap_or(u8::MAX),
            bound: Some(bound),
            tt_pv,
        };
        self.shared.tt.put(self.key(), tte);
        Some(value)
    }

    /// Bonus for a quiet table move that causes a cutoff.
    pub(super) fn reward_tt_move(&mut self, packed: u16, depth: i32, ply: usize) {
        if let Some(mv) = self.board.unpack(packed)
            && !self.board.is_noisy(mv)
        {
            let cont_hist = self.cont_hist(ply);
            let (side, threats) = (self.board.side(), self.board.threats());
            self.histories.update_quiet(side, mv, &cont_hist, threats, bonus(depth));
        }
    }

    /// Bonus for the opponent's last move, if quiet, after a fail low.
    pub(super) fn reward_prior_move(&mut self, depth: i32, ply: usize) {
        let last = self.frame_before(ply, 1);
        let is_quiet = !last.noisy && last.cont_hist_key != ContHistKey::default();
        if let Some(&mv) = self.path.last().filter(|_| is_quiet) {
            let cont_hist =
                CONT_HIST_PLIES.map(|back| self.frame_before(ply, back + 1).cont_hist_key);
            let side = 1 - self.board.side();
            self.histories.update_quiet(side, mv, &cont_hist, last.threats, bonus(depth));
        }
    }

    /// Bonus for the best move, malus for the moves searched before it.
    pub(super) fn update_histories(
        &mut self,
        mv: B::Move,
        depth: i32,
        ply: usize,
        quiets: &[B::Move],
        noisies: &[B::Move],
    ) {
        let by = bonus(depth);
        let malus = if enabled!(Malus) { by } else { 0 };
        let side = self.board.side();
        let cont_hist = self.cont_hist(ply);
        let threats = self.frame(ply).threats;
        if self.board.is_noisy(mv) {
            let victim = self.board.victim(mv);
            self.histories.update_noisy(mv, victim, by);
        } else {
            let [first, second] = &mut self.frame(ply).killers;
            if enabled!(Killers) && *first != mv.packed() {
                *second = *first;
                *first = mv.packed();
            }
            // No bonus for an immediate cutoff at low depth.
            if depth > 3 || !quiets.is_empty() {
                self.histories.update_quiet(side, mv, &cont_hist, threats, by);
            }
            for &other in quiets {
                self.histories.update_quiet(side, other, &cont_hist, threats, -malus);
            }
        }
        for &other in noisies {
            let victim = self.board.victim(other);
            self.histories.update_noisy(other, victim, -malus);
        }
    }

    /// Scales an evaluation down as the fifty-move counter rises.
    pub(super) fn rule50_scaled(&self, raw: Value) -> Value {
        raw * self.board.rule50_scale() / 256
    }

    pub(super) fn corrected(&self, raw: Value) -> Value {
        let value = self.rule50_scaled(raw) + self.histories.correction(&self.board);
        value.clamp(1 - DECIDED, DECIDED - 1)
    }

    /// The value of a table entry, relative to the root.
    pub(super) fn tt_value_of(&self, tte: TtData, ply: usize) -> Option<Value> {
        tte.bound?;
        value_from_tt(tte.value.into(), ply, self.board.plies_left())
    }

    /// Stores a static evaluation without a search result.
    pub(super) fn store_eval(&self, key: u64, eval: i16, tt_pv: bool) {
        let tte = TtData { mv: 0, value: 0, eval, depth: 0, bound: None, tt_pv };
        self.shared.tt.put(key, tte);
    }

    /// The key in the transposition table. Full-width searches have their own entries, as pruned
    /// ones may miss mates.
    pub(super) fn key(&self) -> u64 {
        let salt = if self.shared.full_width { FULL_WIDTH_KEY } else { 0 };
        self.board.key() ^ salt
    }

    /// Ends the PV with a mate in one.
    pub(super) fn set_mate_line(&mut self, ply: usize, mv: B::Move) {
        self.lines.start(ply + 1);
        self.lines.extend(ply, mv);
    }

    pub(super) fn play(&mut self, mv: B::Move, ply: usize) {
        let noisy = self.board.is_noisy(mv);
        let frame = self.frame(ply);
        (frame.cont_hist_key, frame.noisy) = (Histories::<B>::cont_hist_key(mv), noisy);
        self.path.push(mv);
        self.accumulators.play(&self.board, mv);
        self.board.play(mv);
        self.shared.tt.prefetch(self.key());
    }

    pub(super) fn undo(&mut self, mv: B::Move) {
        self.board.undo(mv);
        self.accumulators.undo();
        self.path.pop();
    }

    /// The static evaluation.
    pub(crate) fn evaluate(&mut self) -> Value {
        self.accumulators.evaluate(&self.board)
    }

    /// The draw score for the side to move.
    pub(super) fn draw(&self, ply: usize) -> Value {
        if ply.is_multiple_of(2) { self.shared.draw } else { -self.shared.draw }
    }

    /// The value if the game has ended by rule, or the value set by the user.
    pub(super) fn game_end(&self, ply: usize) -> Option<Value> {
        match self.board.game_end(ply) {
            Some(value) if value == DRAW => Some(self.draw(ply)),
            Some(value) => Some(value),
            None => self.shared.position_values?.get_by_key(self.board.key()),
        }
    }

    /// The table move after a move.
    pub(crate) fn tt_reply(&mut self, mv: B::Move) -> Option<B::Move> {
        self.board.play(mv);
        let tte = self.shared.tt.get(self.key());
        let answer = tte.and_then(|tte| self.board.unpack(tte.mv));
        self.board.undo(mv);
        answer
    }

    /// Counts a node.
    pub(super) fn enter_node(&mut self, ply: usize) {
        self.nodes += 1;
        self.sel_depth = self.sel_depth.max(ply);
        self.lines.start(ply);
    }

    pub(super) fn should_stop(&mut self) -> bool {
        if self.stopped {
            return true;
        }
        if self.nodes >= self.node_limit {
            self.stopped = true;
        } else if self.nodes.is_multiple_of(POLL_INTERVAL) {
            self.count();
            let playable = self.null_move_at.and_then(|length| self.path.get(..length));
            let path = playable.unwrap_or(&self.path);
            let stopped = self.shared.stop.load(Relaxed) || (self.poll)(path);
            // The first iteration is needed for a sensible move.
            self.stopped = stopped && (self.depth > 1 || self.nodes >= MIN_FIRST_ITERATION_NODES);
        }
        self.stopped
    }

    /// Adds the nodes to the shared counter.
    pub(crate) fn count(&mut self) {
        self.shared.nodes.fetch_add(self.nodes - self.reported_nodes, Relaxed);
        self.reported_nodes = self.nodes;
    }

    #[expect(clippy::indexing_slicing, reason = "plies are bounded, and there are frames for all")]
    pub(super) fn frame(&mut self, ply: usize) -> &mut Frame {
        &mut self.frames[ply + STACK_OFFSET]
    }

    #[expect(clippy::indexing_slicing, reason = "there are frames before the root")]
    pub(super) fn frame_before(&self, ply: usize, back: usize) -> Frame {
        self.frames[ply + STACK_OFFSET - back]
    }

    /// Keys of the earlier moves for the continuation history.
    pub(super) fn cont_hist(&self, ply: usize) -> [ContHistKey; 3] {
        CONT_HIST_PLIES.map(|back| self.frame_before(ply, back).cont_hist_key)
    }

    pub(super) fn take_move_lists(&mut self, ply: usize) -> MoveLists<B> {
        self.lists.get_mut(ply).map(std::mem::take).unwrap_or_default()
    }

    pub(super) fn return_move_lists(&mut self, ply: usize, lists: MoveLists<B>) {
        if let Some(slot) = self.lists.get_mut(ply) {
            *slot = lists;
        }
    }

    pub(super) fn take_searched_moves(&mut self, ply: usize) -> SearchedMoves<B> {
        let (mut quiets, mut noisies) =
            self.searched_moves.get_mut(ply).map(std::mem::take).unwrap_or_default();
        quiets.clear();
        noisies.clear();
        (quiets, noisies)
    }

    /// Returns the buffers of a ply for reuse.
    pub(super) fn return_buffers(
        &mut self,
        ply: usize,
        picker: MovePicker<B>,
        quiets: Vec<B::Move>,
        noisies: Vec<B::Move>,
    ) {
        self.return_move_lists(ply, picker.into_lists());
        if let Some(slot) = self.searched_moves.get_mut(ply) {
            *slot = (quiets, noisies);
        }
    }
}

/// The history bonus of a depth.
fn bonus(depth: i32) -> i32 {
    (160 * depth - 100).clamp(20, 1800)
}
