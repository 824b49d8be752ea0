//! Constants of the search as options, in builds with the feature `tune`, for `readyok tune`. In all other builds this
//! module does not exist.

use std::array;
use std::ops::RangeInclusive;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

use readyok_engine::{Dialect, Options, Spin};

use super::Tuning;
use crate::board::{Board, Chess, Shogi};

const COUNT: usize = 34;

/// The constant of a game; none if it does not use the step.
type Field = fn(&mut Tuning) -> Option<&mut i32>;

/// Names after the name of the game, ranges and constants of the options.
const CONSTANTS: [(&str, RangeInclusive<i64>, Field); COUNT] = [
    ("Window", 5..=200, |tuning| Some(&mut tuning.window)),
    ("ReverseFutility", 10..=400, |tuning| Some(&mut tuning.reverse_futility)),
    ("Razor", 50..=1000, |tuning| tuning.razor.as_mut()),
    ("Futility", 0..=500, |tuning| Some(&mut tuning.futility[0])),
    ("FutilityPerPly", 0..=500, |tuning| Some(&mut tuning.futility[1])),
    ("QuietExchange", 0..=200, |tuning| Some(&mut tuning.quiet_exchange)),
    ("NoisyExchange", 0..=500, |tuning| Some(&mut tuning.noisy_exchange)),
    ("ProbCut", 50..=1000, |tuning| Some(&mut tuning.probcut)),
    ("Delta", 0..=1000, |tuning| Some(&mut tuning.delta)),
    ("LateMoves", 1..=20, |tuning| Some(&mut tuning.late_moves[0])),
    ("LateMovesPerDepth", 1..=5, |tuning| Some(&mut tuning.late_moves[1])),
    ("Reduction", 0..=300, |tuning| Some(&mut tuning.reduction[0])),
    ("ReductionDivisor", 100..=600, |tuning| Some(&mut tuning.reduction[1])),
    ("ReductionCutNode", 0..=4096, |tuning| Some(&mut tuning.reduction_terms[0])),
    ("ReductionNotImproving", 0..=4096, |tuning| Some(&mut tuning.reduction_terms[1])),
    ("ReductionTtPv", 0..=4096, |tuning| Some(&mut tuning.reduction_terms[2])),
    ("ReductionHistory", 0..=512, |tuning| Some(&mut tuning.reduction_terms[3])),
    ("NullMove", -200..=400, |tuning| Some(&mut tuning.null_move[0])),
    ("NullMovePerPly", 0..=100, |tuning| Some(&mut tuning.null_move[1])),
    ("DoubleExtension", 0..=200, |tuning| Some(&mut tuning.extensions[0])),
    ("TripleExtension", 0..=500, |tuning| Some(&mut tuning.extensions[1])),
    ("Hindsight", 0..=1000, |tuning| Some(&mut tuning.hindsight)),
    ("HistoryPruning", 0..=10_000, |tuning| Some(&mut tuning.history_pruning[0])),
    ("HistoryPruningPerPly", 0..=10_000, |tuning| Some(&mut tuning.history_pruning[1])),
    ("ReductionPv", 0..=4096, |tuning| Some(&mut tuning.special_reductions[0])),
    ("ReductionCheck", 0..=4096, |tuning| Some(&mut tuning.special_reductions[1])),
    ("ReductionTtCapture", 0..=4096, |tuning| Some(&mut tuning.special_reductions[2])),
    ("ReductionNoTtMove", 0..=4096, |tuning| Some(&mut tuning.special_reductions[3])),
    ("ReductionCutoffs", 0..=4096, |tuning| Some(&mut tuning.special_reductions[4])),
    ("ReductionKiller", 0..=4096, |tuning| Some(&mut tuning.special_reductions[5])),
    ("EvalChangeBonus", 0..=100, |tuning| Some(&mut tuning.eval_change_bonus)),
    ("HistoryBonus", 10..=1000, |tuning| Some(&mut tuning.history_bonus[0])),
    ("HistoryBonusMax", 100..=8000, |tuning| Some(&mut tuning.history_bonus[1])),
    ("Correction", 0..=512, |tuning| Some(&mut tuning.correction)),
];

fn values(mut tuning: Tuning) -> [i32; COUNT] {
    // The default of a step that the game does not use has no effect.
    CONSTANTS.map(|(_, range, field)| match field(&mut tuning) {
        Some(value) => *value,
        None => i32::try_from(*range.start()).unwrap_or_default(),
    })
}

/// The values in use by game.
static CHESS: LazyLock<[AtomicI32; COUNT]> =
    LazyLock::new(|| values(Chess::TUNING).map(AtomicI32::new));
static SHOGI: LazyLock<[AtomicI32; COUNT]> =
    LazyLock::new(|| values(Shogi::TUNING).map(AtomicI32::new));

/// The constants of a board with the values of the options.
pub(super) fn current<B: Board>() -> Tuning {
    let values = if B::SQUARES == Shogi::SQUARES { &*SHOGI } else { &*CHESS };
    let mut tuning = B::TUNING;
    for ((.., field), value) in CONSTANTS.into_iter().zip(values) {
        if let Some(constant) = field(&mut tuning) {
            *constant = value.load(Relaxed);
        }
    }
    tuning
}

/// Handles of the options.
#[derive(Debug)]
pub(crate) struct TuningOptions {
    chess: [Spin; COUNT],
    shogi: [Spin; COUNT],
}

impl TuningOptions {
    pub(crate) fn declare(options: &mut Options) -> Self {
        let mut declare = |game: &str, tuning: Tuning, dialect: Option<Dialect>| {
            let mut items = CONSTANTS.into_iter().zip(values(tuning));
            array::from_fn(|_| {
                let ((name, range, _), value) = items.next().unwrap_or((("", 0..=0, |_| None), 0));
                let name = format!("{game}{name}");
                let spin = options.spin(&name, value.into(), range);
                if let Some(dialect) = dialect {
                    options.only_in(dialect, &name);
                }
                spin
            })
        };
        let chess = declare("Chess", Chess::TUNING, Some(Dialect::Uci));
        let shogi = declare("Shogi", Shogi::TUNING, None);
        Self { chess, shogi }
    }

    /// Applies the values to all searches of this process from now on.
    pub(crate) fn apply(&self) {
        for (values, spins) in [(&*CHESS, &self.chess), (&*SHOGI, &self.shogi)] {
            for (value, spin) in values.iter().zip(spins) {
                value.store(i32::try_from(spin.get()).unwrap_or_default(), Relaxed);
            }
        }
    }
}
