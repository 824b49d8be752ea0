//! Constants of the search as options, in builds with the feature `tune`, for `readyok tune`. In all other builds this
//! module does not exist.

use std::array;
use std::ops::RangeInclusive;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

use readyok_engine::{Dialect, Options, Spin};

use super::Tuning;
use crate::board::{Board, Chess, Shogi};

const COUNT: usize = 24;

/// Names and ranges of the options, after the name of the game.
const CONSTANTS: [(&str, RangeInclusive<i64>); COUNT] = [
    ("Window", 5..=200),
    ("ReverseFutility", 10..=400),
    ("Razor", 50..=1000),
    ("Futility", 0..=500),
    ("FutilityPerPly", 0..=500),
    ("QuietExchange", 0..=200),
    ("NoisyExchange", 0..=500),
    ("ProbCut", 50..=1000),
    ("Delta", 0..=1000),
    ("LateMoves", 1..=20),
    ("LateMovesPerDepth", 1..=5),
    ("Reduction", 0..=300),
    ("ReductionDivisor", 100..=600),
    ("ReductionCutNode", 0..=4096),
    ("ReductionNotImproving", 0..=4096),
    ("ReductionTtPv", 0..=4096),
    ("ReductionHistory", 0..=512),
    ("NullMove", -200..=400),
    ("NullMovePerPly", 0..=100),
    ("DoubleExtension", 0..=200),
    ("TripleExtension", 0..=500),
    ("Hindsight", 0..=1000),
    ("HistoryPruning", 0..=10_000),
    ("HistoryPruningPerPly", 0..=10_000),
];

fn values(tuning: &Tuning) -> [i32; COUNT] {
    let Tuning { futility: [futility, per_ply], late_moves: [late, per_depth], .. } = *tuning;
    let [reduction, divisor] = tuning.reduction;
    let [cut_node, not_improving, tt_pv, per_history] = tuning.reduction_terms;
    let [null_move, null_move_per_ply] = tuning.null_move;
    let [double, triple] = tuning.extensions;
    let [history, history_per_ply] = tuning.history_pruning;
    [
        tuning.window,
        tuning.reverse_futility,
        // The default of a game without razoring has no effect.
        tuning.razor.unwrap_or(250),
        futility,
        per_ply,
        tuning.quiet_exchange,
        tuning.noisy_exchange,
        tuning.probcut,
        tuning.delta,
        late,
        per_depth,
        reduction,
        divisor,
        cut_node,
        not_improving,
        tt_pv,
        per_history,
        null_move,
        null_move_per_ply,
        double,
        triple,
        tuning.hindsight,
        history,
        history_per_ply,
    ]
}

/// The values in use by game.
static CHESS: LazyLock<[AtomicI32; COUNT]> =
    LazyLock::new(|| values(&Chess::TUNING).map(AtomicI32::new));
static SHOGI: LazyLock<[AtomicI32; COUNT]> =
    LazyLock::new(|| values(&Shogi::TUNING).map(AtomicI32::new));

/// The constants of a board with the values of the options.
pub(super) fn current<B: Board>() -> Tuning {
    let values = if B::SQUARES == Shogi::SQUARES { &*SHOGI } else { &*CHESS };
    let [
        window,
        reverse_futility,
        razor,
        futility,
        per_ply,
        quiet_exchange,
        noisy_exchange,
        probcut,
        delta,
        late,
        per_depth,
        reduction,
        divisor,
        cut_node,
        not_improving,
        tt_pv,
        per_history,
        null_move,
        null_move_per_ply,
        double,
        triple,
        hindsight,
        history,
        history_per_ply,
    ] = values.each_ref().map(|value| value.load(Relaxed));
    Tuning {
        window,
        reverse_futility,
        razor: B::TUNING.razor.map(|_| razor),
        futility: [futility, per_ply],
        quiet_exchange,
        noisy_exchange,
        probcut,
        delta,
        late_moves: [late, per_depth],
        reduction: [reduction, divisor],
        reduction_terms: [cut_node, not_improving, tt_pv, per_history],
        null_move: [null_move, null_move_per_ply],
        extensions: [double, triple],
        hindsight,
        history_pruning: [history, history_per_ply],
        ..B::TUNING
    }
}

/// Handles of the options.
#[derive(Debug)]
pub(crate) struct TuningOptions {
    chess: [Spin; COUNT],
    shogi: [Spin; COUNT],
}

impl TuningOptions {
    pub(crate) fn declare(options: &mut Options) -> Self {
        let mut declare = |game: &str, tuning: &Tuning, dialect: Option<Dialect>| {
            let mut items = CONSTANTS.into_iter().zip(values(tuning));
            array::from_fn(|_| {
                let ((name, range), value) = items.next().unwrap_or((("", 0..=0), 0));
                let name = format!("{game}{name}");
                let spin = options.spin(&name, value.into(), range);
                if let Some(dialect) = dialect {
                    options.only_in(dialect, &name);
                }
                spin
            })
        };
        let chess = declare("Chess", &Chess::TUNING, Some(Dialect::Uci));
        let shogi = declare("Shogi", &Shogi::TUNING, None);
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
