//! Quiescence search: captures, quiet checks at first, and evasions.

use super::{
    Search, Tuning,
    movepick::{MovePicker, Selection},
    tt::{Bound, NO_VALUE, TtData, narrow},
};
use crate::{
    board::{Board, SearchMove},
    score::{DECIDED, DRAW, INFINITE, MAX_PLY, Value, is_decided, mate_in, mated_in, value_to_tt},
};

impl<B: Board> Search<'_, B> {
    /// Searches captures, checks and evasions. `depth` starts at 0 and decreases.
    pub(super) fn qsearch<const PV: bool>(
        &mut self,
        mut alpha: Value,
        beta: Value,
        depth: i32,
        ply: usize,
    ) -> Value {
        // Step 1. Stop, and ends of the game.
        if self.should_stop() {
            return DRAW;
        }
        self.enter_node(ply);
        if let Some(value) = self.game_end(ply) {
            return value;
        }
        let in_check = self.board.in_check();
        if ply >= MAX_PLY {
            return if in_check { DRAW } else { self.evaluate() };
        }

        // Step 2. Transposition table lookup.
        let key = self.key();
        let tte = self.shared.tt.get(key);
        let tt_value = tte.and_then(|tte| self.tt_value_of(tte, ply));
        let tt_pv = PV || tte.is_some_and(|tte| tte.tt_pv);
        if !PV
            && let (Some(tte), Some(value)) = (tte, tt_value)
            && tte.causes_cutoff(value, alpha, beta)
        {
            return value;
        }
        let tt_move = tte.and_then(|tte| self.board.unpack(tte.mv));

        // Step 3. Stand pat.
        let mut best = -INFINITE;
        let mut raw = NO_VALUE;
        let mut enough = INFINITE;
        if !in_check {
            if tte.is_none()
                && let Some(mv) = self.board.mate_in_one()
            {
                self.set_mate_line(ply, mv);
                return mate_in(ply + 1);
            }
            raw = match tte {
                Some(tte) if tte.eval != NO_VALUE => tte.eval,
                _ => narrow(self.evaluate()),
            };
            best = self.corrected(raw.into(), ply);
            if let (Some(tte), Some(value)) = (tte, tt_value)
                && !is_decided(value)
                && tte.improves_on(value, best)
            {
                best = value;
            }
            if best >= beta {
                if tte.is_none() {
                    self.store_eval(key, raw, tt_pv);
                }
                return if is_decided(best) { best } else { Value::midpoint(best, beta) };
            }
            alpha = alpha.max(best);
            enough = best + Tuning::of::<B>().delta;
        }

        // Step 4. Loop over the moves.
        let checks = depth > -B::TUNING.check_plies;
        let tt_move = tt_move.filter(|&mv| in_check || checks || self.board.is_noisy(mv));
        let wanted = if in_check { Selection::All } else { Selection::Noisy { checks } };
        // Quiet moves are sorted by history.
        let threats = if in_check || checks { self.board.threats() } else { 0 };
        let context = self.quiet_context(ply, threats);
        let lists = self.take_move_lists(ply);
        let mut picker = MovePicker::<B>::new(wanted, tt_move, [0; 2], context, 0, lists);
        let original_alpha = alpha;
        let (mut count, mut best_move) = (0, None);
        let mut skip_quiet = false;
        while let Some(mv) = picker.next(&self.board, self.histories, !skip_quiet) {
            count += 1;
            let noisy = self.board.is_noisy(mv);
            if best > -DECIDED {
                if picker.is_bad_noisy_stage() {
                    break;
                }
                // Limits the tree in positions with many captures.
                let is_narrow = depth <= -B::TUNING.wide_plies;
                if is_narrow && count > 1 {
                    break;
                }
                let may_win_little = !in_check && noisy && !self.board.gives_check(mv);
                if may_win_little {
                    let hoped = enough + self.board.material_gain(mv);
                    if hoped <= alpha {
                        best = best.max(hoped);
                        continue;
                    }
                }
                if !in_check && !self.board.see_ge(mv, 0) {
                    continue;
                }
                // Equal exchanges cannot raise alpha.
                let must_win = !in_check && enough <= alpha;
                if must_win && noisy && !self.board.see_ge(mv, 1) {
                    best = best.max(enough);
                    continue;
                }
                // One quiet evasion is enough.
                if in_check && !noisy {
                    skip_quiet = true;
                }
            }
            self.play(mv, ply);
            let value = -self.qsearch::<PV>(-beta, -alpha, depth - 1, ply + 1);
            self.undo(mv);
            if self.stopped {
                break;
            }
            if value > best {
                best = value;
                if value > alpha {
                    best_move = Some(mv);
                    if PV {
                        self.lines.extend(ply, mv);
                    }
                    if value >= beta {
                        break;
                    }
                    alpha = value;
                }
            }
        }
        let lists = picker.into_lists();
        self.return_move_lists(ply, lists);
        if self.stopped {
            return DRAW;
        }
        if in_check && count == 0 {
            return mated_in(ply);
        }

        // Step 5. Transposition table.
        let bound = if best >= beta {
            Bound::AtLeast
        } else if PV && best > original_alpha {
            Bound::Exact
        } else {
            Bound::AtMost
        };
        let tte = TtData {
            mv: best_move.map_or(0, SearchMove::packed),
            value: narrow(value_to_tt(best, ply)),
            eval: raw,
            depth: 0,
            bound: Some(bound),
            tt_pv,
        };
        self.shared.tt.put(key, tte);
        best
    }
}
