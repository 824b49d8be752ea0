//! Move ordering.

use super::history::{Histories, QuietContext};
use crate::{
    board::{Board, MoveList, SearchMove},
    score::Value,
};

/// Bonus of a quiet check.
const CHECK_BONUS: i32 = 8_000;

/// SEE threshold for that bonus.
const CHECK_MAX_LOSS: Value = -75;

/// Penalty of a drop that loses the piece.
const DROP_PENALTY: i32 = 6_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    FromTable,
    GenerateNoisy,
    GoodNoisy,
    GenerateQuiet,
    Quiet,
    BadNoisy,
}

/// The moves that a picker returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Selection {
    All,
    /// Noisy moves, and quiet checks if requested.
    Noisy {
        checks: bool,
    },
}

/// Returns the moves of a node in order: table move, good captures, killers, quiet moves, bad
/// captures.
pub(crate) struct MovePicker<B: Board> {
    stage: Stage,
    wanted: Selection,
    tt_move: Option<B::Move>,
    killers: [u16; 2],
    context: QuietContext,
    /// SEE threshold of good captures.
    least: Value,
    list: MoveList<B::Move>,
    /// Index of the next move in the list.
    next: usize,
    bad: MoveList<B::Move>,
}

impl<B: Board> MovePicker<B> {
    pub(crate) fn new(
        wanted: Selection,
        tt_move: Option<B::Move>,
        killers: [u16; 2],
        context: QuietContext,
        least: Value,
        (mut list, mut bad): (MoveList<B::Move>, MoveList<B::Move>),
    ) -> Self {
        list.clear();
        bad.clear();
        Self {
            stage: Stage::FromTable,
            wanted,
            tt_move,
            killers,
            context,
            least,
            list,
            next: 0,
            bad,
        }
    }

    /// The lists, for reuse.
    pub(crate) fn into_lists(self) -> (MoveList<B::Move>, MoveList<B::Move>) {
        (self.list, self.bad)
    }

    /// Whether the picker has reached the bad captures.
    pub(crate) fn is_bad_noisy_stage(&self) -> bool {
        self.stage == Stage::BadNoisy
    }

    /// The next legal move. Without `quiet`, quiet moves are skipped.
    pub(crate) fn next(
        &mut self,
        board: &B,
        histories: &Histories<B>,
        quiet: bool,
    ) -> Option<B::Move> {
        loop {
            match self.stage {
                Stage::FromTable => {
                    self.stage = Stage::GenerateNoisy;
                    if self.tt_move.is_some() {
                        return self.tt_move;
                    }
                }
                Stage::GenerateNoisy => {
                    self.stage = Stage::GoodNoisy;
                    board.generate_noisy(&mut self.list);
                    for (rank, mv) in &mut self.list {
                        let victim = board.victim(*mv);
                        *rank = 16 * board.material_gain(*mv) + histories.noisy(*mv, victim);
                    }
                }
                Stage::GoodNoisy => {
                    let Some((rank, mv)) = self.best() else {
                        self.stage = Stage::GenerateQuiet;
                        continue;
                    };
                    if !self.is_pending(board, mv) {
                        continue;
                    }
                    if !board.see_ge(mv, self.least - rank / 64) {
                        self.bad.push((rank, mv));
                        continue;
                    }
                    return Some(mv);
                }
                Stage::GenerateQuiet => {
                    self.stage = Stage::Quiet;
                    self.list.clear();
                    self.next = 0;
                    match self.wanted {
                        Selection::All if quiet => board.generate_quiets(&mut self.list),
                        Selection::Noisy { checks: true } => {
                            board.generate_quiet_checks(&mut self.list);
                        }
                        Selection::All | Selection::Noisy { .. } => {}
                    }
                    for (rank, mv) in &mut self.list {
                        let packed = mv.packed();
                        *rank = match self.killers {
                            [first, _] if first == packed => exact_rank(1_000_001),
                            [_, second] if second == packed => exact_rank(1_000_000),
                            _ => {
                                let history = histories.quiet(*mv, &self.context)
                                    + histories.low_ply(*mv, self.context.ply);
                                rank_bound(board, *mv, history + 16 * board.material_gain(*mv))
                            }
                        };
                    }
                }
                Stage::Quiet => {
                    let is_wanted = quiet || self.wanted != Selection::All;
                    let Some(mv) = is_wanted.then(|| self.next_best_quiet(board)).flatten() else {
                        self.stage = Stage::BadNoisy;
                        self.next = 0;
                        std::mem::swap(&mut self.list, &mut self.bad);
                        continue;
                    };
                    if self.is_pending(board, mv) {
                        return Some(mv);
                    }
                }
                Stage::BadNoisy => {
                    // Already sorted and legal.
                    let &(_, mv) = self.list.get(self.next)?;
                    self.next += 1;
                    return Some(mv);
                }
            }
        }
    }

    fn is_pending(&self, board: &B, mv: B::Move) -> bool {
        self.tt_move.is_none_or(|tt_move| tt_move.packed() != mv.packed()) && board.is_legal(mv)
    }

    /// The best remaining quiet move. SEE is computed only for moves that reach the top with an
    /// optimistic rank.
    fn next_best_quiet(&mut self, board: &B) -> Option<B::Move> {
        loop {
            let best = self.max_rank_index()?;
            let (rank, mv) = self.list.get_mut(best)?;
            if is_exact_rank(*rank) {
                return self.take(best).map(|(_, mv)| mv);
            }
            *rank = final_rank(board, *mv, *rank);
        }
    }

    /// The best remaining move.
    fn best(&mut self) -> Option<(i32, B::Move)> {
        let best = self.max_rank_index()?;
        self.take(best)
    }

    /// The index of the best remaining move.
    fn max_rank_index(&self) -> Option<usize> {
        let rest = self.list.iter().enumerate().skip(self.next);
        rest.max_by_key(|(_, (rank, _))| *rank).map(|(best, _)| best)
    }

    /// Removes the move at an index.
    fn take(&mut self, index: usize) -> Option<(i32, B::Move)> {
        let rest = self.list.get_mut(self.next..=index)?;
        let last = rest.len().checked_sub(1)?;
        rest.swap(0, last);
        self.next += 1;
        rest.first().copied()
    }
}

const fn exact_rank(rank: i32) -> i32 {
    2 * rank
}

/// Whether a rank is exact.
const fn is_exact_rank(rank: i32) -> bool {
    rank % 2 == 0
}

/// The rank of a quiet move, or an upper bound before SEE.
fn rank_bound<B: Board>(board: &B, mv: B::Move, rank: i32) -> i32 {
    let checks = board.gives_check(mv);
    let rank = if checks { rank + CHECK_BONUS } else { rank };
    let may_cost = checks || (B::is_drop(mv));
    exact_rank(rank) + i32::from(may_cost)
}

/// The exact rank: no bonus for checks that lose too much, a penalty for drops that lose the piece.
fn final_rank<B: Board>(board: &B, mv: B::Move, rank_bound: i32) -> i32 {
    let mut rank = (rank_bound - 1) / 2;
    if board.gives_check(mv) {
        if board.see_ge(mv, CHECK_MAX_LOSS) {
            return exact_rank(rank);
        }
        rank -= CHECK_BONUS;
    }
    if B::is_drop(mv) && !board.see_ge(mv, 0) {
        rank -= DROP_PENALTY;
    }
    exact_rank(rank)
}
