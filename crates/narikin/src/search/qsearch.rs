//! The end of the search: captures, until the value of the position can be trusted.

use super::{
    Search,
    movepick::{Picker, Wanted},
    tt::{Bound, Known, NO_VALUE, narrow},
};
use crate::{
    board::{Board, Step},
    eval::Evaluation,
    score::{
        DECIDED, DRAW, INFINITE, MAX_PLY, Value, from_root_to_here, is_decided, mate_in, mated_in,
    },
};

impl<B: Board, E: Evaluation<B>> Search<'_, B, E> {
    /// Searches captures, checks at first, and answers to checks. `depth` starts at 0 and falls.
    pub(super) fn quiesce<const PV: bool>(
        &mut self,
        mut alpha: Value,
        beta: Value,
        depth: i32,
        ply: usize,
    ) -> Value {
        // 1. As in the main search.
        if self.must_stop() {
            return DRAW;
        }
        self.enter(ply);
        if let Some(value) = self.ended(ply) {
            return value;
        }
        let in_check = self.board.in_check();
        if ply >= MAX_PLY {
            return if in_check { DRAW } else { self.evaluate() };
        }

        // 2. What is known from an earlier visit.
        let key = self.key();
        let known = self.shared.table.get(key);
        let known_value = known.and_then(|known| self.value_of(known, ply));
        let was_pv = PV || known.is_some_and(|known| known.was_pv);
        if !PV
            && enabled!(TtCutoff)
            && let (Some(known), Some(value)) = (known, known_value)
            && known.decides(value, alpha, beta)
        {
            return value;
        }
        let from_table = known.and_then(|known| self.board.unpack(known.mv));

        // 3. Whoever is not in check can do without a capture.
        let mut best = -INFINITE;
        let mut raw = NO_VALUE;
        let mut enough = INFINITE;
        if !in_check {
            if known.is_none()
                && let Some(mv) = self.board.mate_in_one()
            {
                self.end_line(ply, mv);
                return mate_in(ply + 1);
            }
            raw = match known {
                Some(known) if known.eval != NO_VALUE => known.eval,
                _ => narrow(self.evaluate()),
            };
            best = self.corrected(raw.into());
            if let (Some(known), Some(value)) = (known, known_value)
                && !is_decided(value)
                && known.improves(value, best)
            {
                best = value;
            }
            if best >= beta {
                if known.is_none() {
                    self.keep_evaluation(key, raw, was_pv);
                }
                return if is_decided(best) { best } else { Value::midpoint(best, beta) };
            }
            alpha = alpha.max(best);
            enough = best + B::TUNING.delta;
        }

        // 4. Try what there is, as long as it can win enough to matter.
        let checks = enabled!(QsearchChecks) && depth > -B::TUNING.check_plies;
        let from_table = from_table.filter(|&mv| in_check || checks || self.board.is_noisy(mv));
        let wanted = if in_check { Wanted::All } else { Wanted::Noisy { checks } };
        let earlier = self.earlier(ply);
        let lists = self.take_lists(ply);
        let mut picker = Picker::<B>::new(wanted, from_table, [0; 2], earlier, 0, lists);
        let original_alpha = alpha;
        let (mut count, mut best_move) = (0, None);
        let mut skip_quiet = false;
        while let Some(mv) = picker.next(&self.board, self.histories, !skip_quiet) {
            count += 1;
            let noisy = self.board.is_noisy(mv);
            if best > -DECIDED {
                let by_exchange = enabled!(QsearchSee);
                if by_exchange && picker.is_at_bad_noisy() {
                    break;
                }
                // With many queens on the board, captures would go on for ever otherwise.
                let is_narrow = depth <= -B::TUNING.wide_plies;
                if enabled!(QsearchMoveLimit) && is_narrow && count > 1 {
                    break;
                }
                let may_win_little = !in_check && noisy && !self.board.gives_check(mv);
                if enabled!(DeltaPruning) && may_win_little {
                    let hoped = enough + self.board.gain(mv);
                    if hoped <= alpha {
                        best = best.max(hoped);
                        continue;
                    }
                }
                if by_exchange && !in_check && !self.board.wins_exchange(mv, 0) {
                    continue;
                }
                // Even trades do not help one who is so far behind.
                let must_win = enabled!(QsearchFutility) && !in_check && enough <= alpha;
                if must_win && noisy && !self.board.wins_exchange(mv, 1) {
                    best = best.max(enough);
                    continue;
                }
                // One quiet answer to a check says enough.
                if in_check && !noisy {
                    skip_quiet = true;
                }
            }
            self.play(mv, ply);
            let value = -self.quiesce::<PV>(-beta, -alpha, depth - 1, ply + 1);
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
        self.keep_lists(ply, lists);
        if self.stopped {
            return DRAW;
        }
        if in_check && count == 0 {
            return mated_in(ply);
        }

        // 5. Remember what was found.
        let bound = if best >= beta {
            Bound::AtLeast
        } else if PV && best > original_alpha {
            Bound::Exact
        } else {
            Bound::AtMost
        };
        let known = Known {
            mv: best_move.map_or(0, Step::packed),
            value: narrow(from_root_to_here(best, ply)),
            eval: raw,
            depth: 0,
            bound: Some(bound),
            was_pv,
        };
        self.shared.table.put(key, known);
        best
    }
}
