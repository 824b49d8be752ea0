//! Principal variation search with a transposition table and a quiescence search.

mod currline;
pub(crate) mod history;
mod movepick;
mod node;
mod qsearch;
pub(crate) mod root;
pub(crate) mod run;
mod stack;
pub(crate) mod timeman;
pub(crate) mod tt;
mod tuning;
#[cfg(feature = "tune")]
pub(crate) mod tuning_options;
mod vote;

use std::sync::atomic::{AtomicBool, AtomicU64};

pub(crate) use self::tuning::{Reductions, Tuning};
use self::{
    history::{ContHistKey, Histories},
    movepick::{MovePicker, Selection},
    stack::PvTable,
    tt::{Bound, NO_VALUE, TranspositionTable, TtData, narrow},
};
use crate::{
    PositionValues,
    board::{Board, MoveList, SearchMove},
    control::TbConfig,
    network::{Accumulators, Network},
    score::{DECIDED, DRAW, INFINITE, MAX_PLY, Value, is_decided, mate_in, mated_in, value_to_tt},
};

/// Separates the entries of a full-width search from all others.
const FULL_WIDTH_KEY: u64 = 0xD6E8_FEB8_6659_FD93;

/// Nodes between two polls of the stop flag.
const POLL_INTERVAL: u64 = 256;
/// The first iteration is completed if it takes at most this many nodes.
const MIN_FIRST_ITERATION_NODES: u64 = 8192;

/// State shared by all threads of a search.
#[derive(Debug)]
pub(crate) struct Shared<'a> {
    pub(crate) tt: &'a TranspositionTable,
    pub(crate) reductions: &'a Reductions,
    pub(crate) stop: AtomicBool,
    /// Nodes searched by all threads.
    pub(crate) nodes: AtomicU64,
    /// Tablebase hits of all threads.
    pub(crate) tbhits: AtomicU64,
    pub(crate) tables: Option<&'a TbConfig>,
    /// Score of a draw for the side to move at the root.
    pub(crate) draw: Value,
    /// Scores set by `UCI_SetPositionValue`.
    pub(crate) position_values: Option<&'a PositionValues>,
    /// Disables all pruning, so that a mate is found at its depth or does not exist.
    pub(crate) full_width: bool,
}

/// State of one ply of the current line.
#[derive(Debug, Clone, Copy, Default)]
struct Frame {
    /// The static evaluation with the correction history; [`INFINITE`] in check.
    eval: Value,
    /// The move played at this ply.
    cont_hist_key: ContHistKey,
    /// Whether that move is noisy.
    noisy: bool,
    /// The move excluded by a singular extension search, packed.
    excluded: u16,
    /// Killer moves, packed.
    killers: [u16; 2],
    /// Number of beta cutoffs in child nodes.
    cutoff_count: i32,
    /// Plies of extensions in the current line.
    extensions: i32,
    /// Whether the evaluation is better than two plies ago.
    improving: bool,
    /// The reduction of the move played at this ply.
    reduction: i32,
    /// Squares that the opponent attacks.
    threats: u128,
    /// The key of the pawns.
    pawns: u64,
}

/// Returns whether to stop. Called regularly with the current line.
pub(crate) type Poll<'a, B> = dyn FnMut(&[<B as Board>::Move]) -> bool + 'a;

/// Move lists of a move picker.
type MoveLists<B> = (MoveList<<B as Board>::Move>, MoveList<<B as Board>::Move>);

/// Quiet moves and captures searched at a node.
type SearchedMoves<B> = (Vec<<B as Board>::Move>, Vec<<B as Board>::Move>);

/// Stack frames before the root, so that access to earlier plies needs no check.
const STACK_OFFSET: usize = 5;

/// One thread's search of one position.
pub(crate) struct Search<'a, B: Board> {
    pub(crate) board: B,
    accumulators: Accumulators<'a>,
    pub(crate) shared: &'a Shared<'a>,
    pub(crate) histories: &'a mut Histories<B>,
    poll: &'a mut Poll<'a, B>,
    /// The current line from the root.
    path: Vec<B::Move>,
    /// The length of the current line before its first null move.
    null_move_at: Option<usize>,
    /// The depth of this iteration.
    pub(crate) depth: i32,
    pub(crate) nodes: u64,
    /// Nodes already added to the shared counter.
    reported_nodes: u64,
    /// The maximum ply since the last reset.
    pub(crate) sel_depth: usize,
    node_limit: u64,
    stopped: bool,
    frames: Vec<Frame>,
    pub(crate) lines: PvTable<B::Move>,
    /// Move lists per ply, reused.
    lists: Vec<MoveLists<B>>,
    /// Searched moves per ply, reused.
    searched_moves: Vec<SearchedMoves<B>>,
    /// Null move is disabled below this ply during a verification search.
    nmp_min_ply: usize,
}

impl<'a, B: Board> Search<'a, B> {
    pub(crate) fn new(
        board: B,
        network: &'a Network,
        shared: &'a Shared<'a>,
        histories: &'a mut Histories<B>,
        node_limit: Option<u64>,
        poll: &'a mut Poll<'a, B>,
    ) -> Self {
        histories.start_search();
        Self {
            accumulators: Accumulators::new(network, &board),
            board,
            shared,
            histories,
            poll,
            path: Vec::with_capacity(MAX_PLY),
            null_move_at: None,
            depth: 0,
            nodes: 0,
            reported_nodes: 0,
            sel_depth: 0,
            node_limit: node_limit.unwrap_or(u64::MAX),
            stopped: false,
            frames: vec![Frame { eval: INFINITE, ..Frame::default() }; MAX_PLY + STACK_OFFSET + 4],
            lines: PvTable::new(),
            lists: vec![(Vec::new(), Vec::new()); MAX_PLY + 2],
            searched_moves: vec![(Vec::new(), Vec::new()); MAX_PLY + 2],
            nmp_min_ply: 0,
        }
    }

    /// The rest of the node limit.
    pub(crate) fn nodes_left(&self) -> u64 {
        self.node_limit.saturating_sub(self.nodes)
    }

    /// Whether the search was stopped. Its last value is then invalid.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped
    }

    pub(crate) fn init_root(&mut self) {
        let in_check = self.board.in_check();
        let eval = if in_check {
            INFINITE
        } else {
            let raw = self.evaluate();
            self.corrected(raw, 0)
        };
        let threats = self.board.threats();
        let [pawns, ..] = self.board.correction_keys();
        let frame = self.frame(0);
        (frame.threats, frame.pawns) = (threats, pawns);
        frame.eval = eval;
        frame.excluded = 0;
        for ply in [1, 2] {
            self.frame(ply).cutoff_count = 0;
        }
    }

    /// Searches a root move. `number` is its index in the move order, from 1.
    pub(crate) fn root_move(
        &mut self,
        mv: B::Move,
        alpha: Value,
        beta: Value,
        depth: i32,
        number: i32,
    ) -> Value {
        let noisy = self.board.is_noisy(mv);
        let gives_check = self.board.gives_check(mv);
        self.play(mv, 0);
        let mut value = alpha + 1;
        if number > 1 {
            let mut reduction = 0;
            let full_width = self.shared.full_width;
            let is_late = depth >= 3 && number > 3 && !noisy && !gives_check && !full_width;
            if is_late {
                reduction = (self.shared.reductions.get(depth, number) - 1024) / 1024;
                reduction = reduction.clamp(0, depth - 2);
            }
            value = -self.negamax::<false>(-alpha - 1, -alpha, depth - 1 - reduction, 1, true);
            if value > alpha && reduction > 0 {
                value = -self.negamax::<false>(-alpha - 1, -alpha, depth - 1, 1, false);
            }
        }
        if value > alpha {
            value = -self.negamax::<true>(-beta, -alpha, depth - 1, 1, false);
        }
        self.undo(mv);
        value
    }

    /// Searches a node with `depth` plies left, `ply` plies after the root. A cut node is expected
    /// to fail high.
    fn negamax<const PV: bool>(
        &mut self,
        mut alpha: Value,
        mut beta: Value,
        mut depth: i32,
        ply: usize,
        cut: bool,
    ) -> Value {
        // Step 1. Quiescence search at the horizon.
        if depth <= 0 {
            return self.qsearch::<PV>(alpha, beta, 0, ply);
        }

        // Step 2. Stop.
        if self.should_stop() {
            return DRAW;
        }
        let excluded = self.frame(ply).excluded;
        if excluded == 0 {
            self.enter_node(ply);
        }

        // Step 3. Ends of the game by rule, and upcoming repetitions.
        if excluded == 0 {
            if let Some(value) = self.game_end(ply) {
                return value;
            }
            let draw = self.draw(ply);
            if alpha < draw && self.board.has_upcoming_repetition(ply) {
                alpha = draw;
                if alpha >= beta {
                    return alpha;
                }
            }
        }
        let in_check = self.board.in_check();
        if ply >= MAX_PLY {
            return if in_check { DRAW } else { self.evaluate() };
        }

        // Step 4. Mate distance pruning.
        alpha = alpha.max(mated_in(ply));
        beta = beta.min(mate_in(ply + 1));
        if alpha >= beta {
            return alpha;
        }

        // Step 5. Transposition table lookup.
        let key = self.key() ^ u64::from(excluded).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let tte = self.shared.tt.get(key);
        let tt_value = tte.and_then(|tte| self.tt_value_of(tte, ply));
        let tt_pv = PV || tte.is_some_and(|tte| tte.tt_pv);
        if !PV
            && excluded == 0
            && let (Some(tte), Some(value)) = (tte, tt_value)
            && i32::from(tte.depth) >= depth
            && self.board.rule50_scale() > 256 - 90
            && tte.causes_cutoff(value, alpha, beta)
        {
            if value >= beta && tte.mv != 0 {
                self.reward_tt_move(tte.mv, depth, ply);
            }
            return value;
        }
        let tt_move = tte.and_then(|tte| self.board.unpack(tte.mv));

        // Step 6. Tablebase probe and mate in one.
        if excluded == 0
            && let Some(value) = self.probe(depth, ply, tt_pv)
        {
            return value;
        }
        if tte.is_none()
            && excluded == 0
            && !in_check
            && let Some(mv) = self.board.mate_in_one()
        {
            self.set_mate_line(ply, mv);
            return mate_in(ply + 1);
        }

        // Step 7. Static evaluation, corrected by the history and the table.
        let raw = match tte {
            _ if in_check => NO_VALUE,
            Some(tte) if tte.eval != NO_VALUE => tte.eval,
            _ if excluded != 0 => narrow(self.frame(ply).eval),
            _ => {
                let raw = narrow(self.evaluate());
                self.store_eval(key, raw, tt_pv);
                raw
            }
        };
        let threats = self.board.threats();
        let context = self.quiet_context(ply, threats);
        (self.frame(ply).threats, self.frame(ply).pawns) = (threats, context.pawns);
        let tuning = Tuning::of::<B>();
        let mut eval = INFINITE;
        let mut improving = false;
        if in_check {
            self.frame(ply).eval = INFINITE;
        } else if excluded == 0 {
            eval = self.corrected(raw.into(), ply);
            self.frame(ply).eval = eval;
            let previous = match (self.frame_before(ply, 2).eval, self.frame_before(ply, 4).eval) {
                (INFINITE, INFINITE) => eval,
                (INFINITE, previous) | (previous, _) => previous,
            };
            improving = eval > previous;
            self.frame(ply).improving = improving;
            let parent = self.frame_before(ply, 1);
            if parent.eval != INFINITE {
                self.judge_prior_move(eval + parent.eval, ply);
            }
            if parent.eval != INFINITE {
                // Hindsight: compares both sides' evaluations across the last, reduced move.
                let gained = eval + parent.eval;
                if parent.reduction >= 3 && gained < 0 {
                    depth += 1;
                } else if parent.reduction >= 2 && depth >= 2 && gained > tuning.hindsight {
                    depth -= 1;
                }
            }
            if let (Some(tte), Some(value)) = (tte, tt_value)
                && !is_decided(value)
                && tte.improves_on(value, eval)
            {
                eval = value;
            }
        } else {
            eval = self.frame(ply).eval;
            improving = self.frame(ply).improving;
        }
        self.frame(ply + 1).excluded = 0;
        self.frame(ply + 2).killers = [0; 2];
        self.frame(ply + 2).cutoff_count = 0;

        let full_width = self.shared.full_width;
        if !PV && !in_check && excluded == 0 && !full_width {
            // Step 8. Reverse futility pruning.
            let margin = tuning.reverse_futility * (depth - i32::from(improving));
            if depth <= 8
                && !tt_pv
                && tt_move.is_none_or(|mv| self.board.is_noisy(mv))
                && !is_decided(beta)
                && eval - margin >= beta
                && !is_decided(eval)
            {
                return Value::midpoint(eval, beta);
            }

            // Step 9. Razoring.
            if depth <= 4 && tuning.razor.is_some_and(|razor| eval + razor * depth < alpha) {
                let value = self.qsearch::<false>(alpha, alpha + 1, 0, ply);
                if value <= alpha {
                    return value;
                }
            }

            // Step 10. Null move search.
            if depth >= 3
                && eval >= beta
                && self.frame(ply).eval + tuning.null_move[1] * depth >= beta + tuning.null_move[0]
                && ply >= self.nmp_min_ply
                && cut
                && !is_decided(beta)
                && self.frame_before(ply, 1).cont_hist_key != ContHistKey::default()
                && self.board.null_move_allowed()
            {
                let reduction = 4 + depth / 3 + ((eval - beta) / 200).min(3);
                self.frame(ply).cont_hist_key = ContHistKey::default();
                let null_move_at = self.null_move_at;
                self.null_move_at = null_move_at.or(Some(self.path.len()));
                self.board.make_null();
                let value =
                    -self.negamax::<false>(-beta, -beta + 1, depth - reduction, ply + 1, !cut);
                self.board.unmake_null();
                self.null_move_at = null_move_at;
                if self.stopped {
                    return DRAW;
                }
                if value >= beta {
                    let value = if is_decided(value) { beta } else { value };
                    let verifies = B::HAS_ZUGZWANG;
                    if !verifies || depth < 14 || self.nmp_min_ply != 0 {
                        return value;
                    }
                    // Verification search against zugzwang.
                    self.nmp_min_ply =
                        ply + usize::try_from((depth - reduction) * 3 / 4).unwrap_or(0);
                    let verified =
                        self.negamax::<false>(beta - 1, beta, depth - reduction, ply, false);
                    self.nmp_min_ply = 0;
                    if verified >= beta {
                        return value;
                    }
                }
            }

            // Step 11. ProbCut.
            let probcut_beta = beta + tuning.probcut;
            if depth >= 5
                && !is_decided(beta)
                && tt_value.is_none_or(|value| value >= probcut_beta)
                && let Some(value) = self.probcut(probcut_beta, depth, ply, cut, tt_move)
            {
                return value;
            }
        }

        // Step 12. Loop over the moves until a beta cutoff.
        let lists = self.take_move_lists(ply);
        let (mut quiets, mut noisies) = self.take_searched_moves(ply);
        let killers = self.frame(ply).killers;
        let mut picker = MovePicker::<B>::new(Selection::All, tt_move, killers, context, 0, lists);
        let (original_alpha, mut best, mut best_move) = (alpha, -INFINITE, None);
        let mut count = 0;
        let mut skip_quiet = false;
        let tt_move_is_noisy = tt_move.is_some_and(|mv| self.board.is_noisy(mv));
        let late = tuning.late_moves;
        while let Some(mv) = picker.next(&self.board, self.histories, !skip_quiet) {
            if mv.packed() == excluded {
                continue;
            }
            count += 1;
            let noisy = self.board.is_noisy(mv);
            let victim = self.board.victim(mv);
            let history = if noisy {
                self.histories.noisy(mv, victim)
            } else {
                self.histories.quiet(mv, &context)
            };
            let gives_check = self.board.gives_check(mv);
            let base = self.shared.reductions.get(depth, count);

            // Step 13. Pruning at shallow depth.
            if best > -DECIDED && !full_width {
                let lmr_depth = (depth - base / 1024).max(0);
                if !noisy {
                    let most = (late[0] + late[1] * depth * depth) / (2 - i32::from(improving));
                    if count >= most.max(2) {
                        skip_quiet = true;
                    }
                    let [base_margin, per_ply] = tuning.futility;
                    if !in_check
                        && !gives_check
                        && lmr_depth <= 7
                        && self.frame(ply).eval + base_margin + per_ply * lmr_depth + history / 128
                            <= alpha
                    {
                        skip_quiet = true;
                        continue;
                    }
                    if lmr_depth <= 4
                        && history
                            < -tuning.history_pruning[1] * lmr_depth - tuning.history_pruning[0]
                        && !gives_check
                    {
                        continue;
                    }
                    let see_threshold = -tuning.quiet_exchange * lmr_depth * lmr_depth;
                    if lmr_depth <= 7 && !self.board.see_ge(mv, see_threshold) {
                        continue;
                    }
                } else if depth <= 7 && picker.is_bad_noisy_stage() {
                    let see_threshold = -tuning.noisy_exchange * depth;
                    if !self.board.see_ge(mv, see_threshold) {
                        continue;
                    }
                }
            }

            // Step 14. Singular extensions.
            let mut extension = 0;
            let extensions = self.frame_before(ply, 1).extensions;
            let may_extend =
                extensions < self.depth && ply < 2 * self.depth.unsigned_abs() as usize;
            if let (Some(tte), Some(value)) = (tte, tt_value)
                && Some(mv) == tt_move
                && may_extend
                && excluded == 0
                && !full_width
                && depth >= 5
                && i32::from(tte.depth) >= depth - 3
                && matches!(tte.bound, Some(Bound::Exact | Bound::AtLeast))
                && !is_decided(value)
            {
                let singular_beta = value - depth * if tt_pv && !PV { 2 } else { 1 };
                self.frame(ply).excluded = mv.packed();
                let singular_value = self.negamax::<false>(
                    singular_beta - 1,
                    singular_beta,
                    (depth - 1) / 2,
                    ply,
                    cut,
                );
                self.frame(ply).excluded = 0;
                if self.stopped {
                    break;
                }
                if singular_value < singular_beta {
                    extension = 1;
                    let is_double = !PV && singular_value < singular_beta - tuning.extensions[0];
                    if is_double {
                        extension = 2;
                        let is_triple =
                            singular_value < singular_beta - tuning.extensions[1] && !noisy;
                        extension += i32::from(is_triple);
                    }
                } else if singular_beta >= beta {
                    // Multicut: another move fails high as well.
                    self.return_buffers(ply, picker, quiets, noisies);
                    return singular_beta;
                } else if value >= beta {
                    extension = -2;
                } else if cut {
                    extension = -1;
                }
            }

            // Step 15. Search: late moves with a reduced depth, all but the first with a zero
            // window.
            self.frame(ply).extensions = extensions + extension.max(0);
            self.play(mv, ply);
            let new_depth = depth - 1 + extension;
            let mut value = alpha + 1;
            if count > 1 || !PV {
                let mut reduced_depth = new_depth;
                let is_late = depth >= 2 && count > 1 + i32::from(PV) && !full_width;
                if is_late {
                    let mut reduction = base;
                    let [cut_node, not_improving, tt_pv_node, per_history] = tuning.reduction_terms;
                    let [pv_node, check, tt_capture, no_tt_move, cutoffs, killer] =
                        tuning.special_reductions;
                    if noisy {
                        reduction = reduction / 2 - history * per_history / 2048;
                    } else {
                        reduction -= history * per_history / 1024;
                    }
                    if cut {
                        reduction += cut_node;
                    }
                    if tt_pv {
                        reduction -= tt_pv_node;
                    }
                    if PV {
                        reduction -= pv_node;
                    }
                    if !improving {
                        reduction += not_improving;
                    }
                    if gives_check {
                        reduction -= check;
                    }
                    if !noisy && tt_move_is_noisy {
                        reduction += tt_capture;
                    }
                    if cut && tt_move.is_none() {
                        reduction += no_tt_move;
                    }
                    if self.frame(ply + 1).cutoff_count > 3 {
                        reduction += cutoffs;
                    }
                    if killers.contains(&mv.packed()) {
                        reduction -= killer;
                    }
                    reduced_depth = (new_depth - reduction / 1024)
                        .clamp(1.min(new_depth), new_depth + i32::from(PV));
                }
                // Reduced searches, and moves of all-nodes, are expected to fail high in the child.
                let child_cuts = reduced_depth < new_depth || !cut;
                self.frame(ply).reduction = (new_depth - reduced_depth).max(0);
                value =
                    -self.negamax::<false>(-alpha - 1, -alpha, reduced_depth, ply + 1, child_cuts);
                self.frame(ply).reduction = 0;
                if value > alpha && reduced_depth < new_depth {
                    // Full-depth search after a reduced one failed high.
                    let deeper = i32::from(value > best + 40 + 2 * new_depth)
                        - i32::from(value < best + new_depth);
                    if reduced_depth < new_depth + deeper {
                        value = -self.negamax::<false>(
                            -alpha - 1,
                            -alpha,
                            new_depth + deeper,
                            ply + 1,
                            !cut,
                        );
                    }
                }
            }
            if PV && (count == 1 || value > alpha) {
                value = -self.negamax::<true>(-beta, -alpha, new_depth, ply + 1, false);
            }
            self.undo(mv);
            if self.stopped {
                break;
            }

            // Step 16. Update of the best move.
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
                    // Other moves are less likely to raise alpha again.
                    let is_shallow = depth > 2 && depth < 12 && !is_decided(value);
                    if is_shallow && !full_width {
                        depth -= 1;
                    }
                }
            }
            if Some(mv) != best_move && count < 64 {
                if noisy { noisies.push(mv) } else { quiets.push(mv) }
            }
        }
        if self.stopped {
            self.return_buffers(ply, picker, quiets, noisies);
            return DRAW;
        }

        // Step 17. Checkmate and stalemate.
        if count == 0 {
            self.return_buffers(ply, picker, quiets, noisies);
            return if excluded != 0 {
                alpha
            } else if in_check || B::STALEMATE_LOSES {
                mated_in(ply)
            } else {
                self.draw(ply)
            };
        }

        // Step 18. History updates.
        self.frame(ply).cutoff_count += i32::from(best >= beta);
        if let Some(mv) = best_move {
            self.update_histories(mv, depth + i32::from(best > beta + 60), ply, &quiets, &noisies);
        }
        if best_move.is_none() && excluded == 0 {
            self.reward_prior_move(depth, ply);
        }
        self.return_buffers(ply, picker, quiets, noisies);

        // Step 19. Transposition table and correction history. Fail-high values are pulled towards
        // beta at low depth.
        if best >= beta && !is_decided(best) && !is_decided(beta) {
            best = (best * depth + beta) / (depth + 1);
        }
        let bound = if best >= beta {
            Bound::AtLeast
        } else if best > original_alpha {
            Bound::Exact
        } else {
            Bound::AtMost
        };
        if excluded == 0 {
            let tte = TtData {
                mv: best_move.map_or(0, SearchMove::packed),
                value: narrow(value_to_tt(best, ply)),
                eval: raw,
                depth: u8::try_from(depth.clamp(0, 255)).unwrap_or(0),
                bound: Some(bound),
                tt_pv,
            };
            self.shared.tt.put(key, tte);
            let static_eval = self.frame(ply).eval;
            let consistent = match bound {
                Bound::Exact => false,
                Bound::AtLeast => best <= static_eval,
                Bound::AtMost => best >= static_eval,
            };
            let quiet = best_move.is_none_or(|mv| !self.board.is_noisy(mv));
            let updates_correction = !in_check && quiet && !consistent && !is_decided(best);
            if updates_correction {
                let uncorrected = self.rule50_scaled(raw.into());
                let last = self.last_moves(ply);
                self.histories.update_correction(&self.board, last, best - uncorrected, depth);
            }
        }
        best
    }

    /// `ProbCut`: returns a value if a good capture fails high in a reduced search.
    fn probcut(
        &mut self,
        probcut_beta: Value,
        depth: i32,
        ply: usize,
        cut: bool,
        tt_move: Option<B::Move>,
    ) -> Option<Value> {
        let tt_move = tt_move.filter(|&mv| self.board.is_noisy(mv));
        let lists = self.take_move_lists(ply);
        let wins = probcut_beta - self.frame(ply).eval;
        let context = self.quiet_context(ply, 0);
        let wanted = Selection::Noisy { checks: false };
        let mut picker = MovePicker::<B>::new(wanted, tt_move, [0; 2], context, wins, lists);
        let mut found = None;
        while let Some(mv) = picker.next(&self.board, self.histories, false) {
            if picker.is_bad_noisy_stage() {
                break;
            }
            if !self.board.see_ge(mv, wins) {
                continue;
            }
            self.play(mv, ply);
            let mut value = -self.qsearch::<false>(-probcut_beta, -probcut_beta + 1, 0, ply + 1);
            if value >= probcut_beta && depth > 4 {
                value = -self.negamax::<false>(
                    -probcut_beta,
                    -probcut_beta + 1,
                    depth - 4,
                    ply + 1,
                    !cut,
                );
            }
            self.undo(mv);
            if self.stopped {
                break;
            }
            if value >= probcut_beta {
                found =
                    Some(if is_decided(value) { value } else { value - Tuning::of::<B>().probcut });
                break;
            }
        }
        let lists = picker.into_lists();
        self.return_move_lists(ply, lists);
        found
    }
}
