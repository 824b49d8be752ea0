//! Constants of the search per game, and late move reductions.

use std::{array, sync::LazyLock};

use crate::{board::Board, score::Value};

/// Search constants of a game, tuned by matches.
pub(crate) struct Tuning {
    /// The initial aspiration window.
    pub(crate) window: Value,
    /// Reverse futility margin per ply of depth.
    pub(crate) reverse_futility: Value,
    /// Razoring margin per ply of depth, if razoring is used.
    pub(crate) razor: Option<Value>,
    /// Futility margin: constant and per ply of depth.
    pub(crate) futility: [Value; 2],
    /// SEE threshold of quiet moves, per squared depth.
    pub(crate) quiet_exchange: Value,
    /// SEE threshold of captures, per ply of depth.
    pub(crate) noisy_exchange: Value,
    /// `ProbCut` margin above beta.
    pub(crate) probcut: Value,
    /// Delta pruning margin.
    pub(crate) delta: Value,
    /// Late move pruning: quiet moves at depth 0 and per squared depth.
    pub(crate) late_moves: [i32; 2],
    /// Late move reductions: a constant and the divisor of the logarithms, in hundredths.
    pub(crate) reduction: [i32; 2],
    /// Terms of late move reductions in 1024ths of a ply: cut nodes, nodes that are not improving, the PV of the
    /// transposition table, and 1024 points of history.
    pub(crate) reduction_terms: [i32; 4],
    /// More of them: PV nodes, checks, quiet moves after a capture from the table, cut nodes without a table move,
    /// nodes after many cutoffs of children, and killers.
    pub(crate) special_reductions: [i32; 6],
    /// Butterfly history of the opponent's last move per centipawn that it has changed the evaluation.
    pub(crate) eval_change_bonus: i32,
    /// Bonus of a best move: per ply of depth, and its maximum.
    pub(crate) history_bonus: [i32; 2],
    /// The share of the correction history that is applied, in 256ths per table.
    pub(crate) correction: i32,
    /// Null move search: the margin of the static evaluation, and that per ply of depth.
    pub(crate) null_move: [Value; 2],
    /// Margins of double and triple extensions.
    pub(crate) extensions: [Value; 2],
    /// The gained evaluation from which the depth is reduced by hindsight.
    pub(crate) hindsight: Value,
    /// History pruning: a constant and the history per ply of depth.
    pub(crate) history_pruning: [i32; 2],
    /// Plies of qsearch with quiet checks.
    pub(crate) check_plies: i32,
    /// Plies of qsearch after which only the first good move is searched.
    pub(crate) wide_plies: i32,
}

impl Tuning {
    /// The constants of a board. Options replace them in builds with the feature `tune`.
    #[inline]
    pub(crate) fn of<B: Board>() -> Self {
        #[cfg(feature = "tune")]
        {
            super::tuning_options::current::<B>()
        }
        #[cfg(not(feature = "tune"))]
        {
            B::TUNING
        }
    }
}

/// Larger depths and move numbers count as this one.
const MAX_ARGUMENT: usize = 63;

/// Reductions in 1024ths of a ply, by depth and move number.
#[derive(Debug)]
pub(crate) struct Reductions {
    constant: f64,
    divisor: f64,
    logarithms: &'static [f64; MAX_ARGUMENT + 1],
}

/// The logarithm of 0 is not used.
#[expect(clippy::cast_precision_loss, reason = "small integers")]
static LOGARITHMS: LazyLock<[f64; MAX_ARGUMENT + 1]> =
    LazyLock::new(|| array::from_fn(|argument| (argument as f64).ln()));

impl Reductions {
    /// `constant` plus the product of both logarithms over `divisor`, which are in hundredths.
    pub(crate) fn new([constant, divisor]: [i32; 2]) -> Self {
        Self {
            constant: f64::from(constant) / 100.0,
            divisor: f64::from(divisor) / 100.0,
            logarithms: &LOGARITHMS,
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "all small")]
    pub(super) fn get(&self, depth: i32, number: i32) -> i32 {
        let log = |argument| {
            let index = usize::try_from(argument).unwrap_or(0).min(MAX_ARGUMENT);
            self.logarithms.get(index).copied().unwrap_or(0.0)
        };
        if depth < 1 || number < 2 {
            return 0;
        }
        (1024.0 * (self.constant + log(depth) * log(number) / self.divisor)) as i32
    }
}
