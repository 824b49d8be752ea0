//! Helpers of a node: probes, history updates, evaluation, counters and buffers.

use std::sync::atomic::Ordering::Relaxed;

use super::{
    FULL_WIDTH_KEY, Frame, MIN_FIRST_ITERATION_NODES, MoveLists, POLL_INTERVAL, STACK_OFFSET,
    Search, SearchedMoves, Tuning,
    history::{CONT_HIST_PLIES, ContHistKey, Histories, QuietContext},
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
            let context = self.quiet_context(ply, self.board.threats());
            self.histories.update_quiet(mv, &context, bonus::<B>(depth));
        }
    }

    /// The opponent's last move, if quiet, and the context in which it was played.
    fn prior_quiet_move(&self, ply: usize) -> Option<(B::Move, QuietContext)> {
        let last = self.frame_before(ply, 1);
        if last.noisy || last.cont_hist_key == ContHistKey::default() {
            return None;
        }
        let context = QuietContext {
            side: 1 - self.board.side(),
            ply: ply.saturating_sub(1),
            cont_hist: CONT_HIST_PLIES.map(|back| self.frame_before(ply, back + 1).cont_hist_key),
            threats: last.threats,
            pawns: last.pawns,
        };
        Some((*self.path.last()?, context))
    }

    /// Bonus for the opponent's last move, if quiet, after a fail low.
    pub(super) fn reward_prior_move(&mut self, depth: i32, ply: usize) {
        if let Some((mv, context)) = self.prior_quiet_move(ply) {
            self.histories.update_quiet(mv, &context, bonus::<B>(depth));
        }
    }

    /// Bonus or malus for the opponent's last move, if quiet, by the change of the evaluation.
    pub(super) fn judge_prior_move(&mut self, gained: Value, ply: usize) {
        if let Some((mv, context)) = self.prior_quiet_move(ply) {
            let by = (-Tuning::of::<B>().eval_change_bonus * gained)
                .clamp(-MAX_EVAL_CHANGE_BONUS, MAX_EVAL_CHANGE_BONUS);
            self.histories.update_butterfly(mv, &context, by);
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
        let by = bonus::<B>(depth);
        let context = self.quiet_context(ply, self.frame_before(ply, 0).threats);
        if self.board.is_noisy(mv) {
            let victim = self.board.victim(mv);
            self.histories.update_noisy(mv, victim, by);
        } else {
            let [first, second] = &mut self.frame(ply).killers;
            if *first != mv.packed() {
                *second = *first;
                *first = mv.packed();
            }
            // No bonus for an immediate cutoff at low depth.
            if depth > 3 || !quiets.is_empty() {
                self.histories.update_quiet(mv, &context, by);
            }
            for &other in quiets {
                self.histories.update_quiet(other, &context, -by);
            }
        }
        for &other in noisies {
            let victim = self.board.victim(other);
            self.histories.update_noisy(other, victim, -by);
        }
    }

    /// Scales an evaluation down as the fifty-move counter rises.
    pub(super) fn rule50_scaled(&self, raw: Value) -> Value {
        raw * self.board.rule50_scale() / 256
    }

    pub(super) fn corrected(&self, raw: Value, ply: usize) -> Value {
        let correction = self.histories.correction(&self.board, self.last_moves(ply));
        let value = self.rule50_scaled(raw) + correction;
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

    /// What the history of quiet moves depends on at this node.
    pub(super) fn quiet_context(&self, ply: usize, threats: u128) -> QuietContext {
        let [pawns, ..] = self.board.correction_keys();
        QuietContext {
            side: self.board.side(),
            ply,
            cont_hist: CONT_HIST_PLIES.map(|back| self.frame_before(ply, back).cont_hist_key),
            threats,
            pawns,
        }
    }

    /// Keys of the last two moves for the correction history.
    pub(super) fn last_moves(&self, ply: usize) -> [ContHistKey; 2] {
        [1, 2].map(|back| self.frame_before(ply, back).cont_hist_key)
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

/// The limit of the bonus for a change of the evaluation.
const MAX_EVAL_CHANGE_BONUS: i32 = 1_000;

/// The history bonus of a depth.
fn bonus<B: Board>(depth: i32) -> i32 {
    let [per_ply, max] = Tuning::of::<B>().history_bonus;
    (per_ply * depth - 100).clamp(20, max)
}
