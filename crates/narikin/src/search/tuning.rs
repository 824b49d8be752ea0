//! Constants of the search per game, and the table of late move reductions.

use crate::score::Value;

/// What pays in a game: found by matches.
pub(crate) struct Tuning {
    /// The width of the first window around the last value.
    pub(crate) window: Value,
    /// What a position may lose per ply of depth and still be good enough.
    pub(crate) reverse_futility: Value,
    /// How hopeless a position may be per ply of depth before only captures are tried, if that is done at all.
    pub(crate) razor: Option<Value>,
    /// How much a quiet move can win at once, and per ply of depth.
    pub(crate) futility: [Value; 2],
    /// What a quiet move may lose in exchanges, per square of the depth.
    pub(crate) quiet_exchange: Value,
    /// What a capture may lose in exchanges, per ply of depth.
    pub(crate) noisy_exchange: Value,
    /// How far above the window a capture must come for a cut without full search.
    pub(crate) probcut: Value,
    /// How much a capture in the quiescence search can win besides its victim.
    pub(crate) delta: Value,
    /// Quiet moves tried at depth 0, and per square of the depth.
    pub(crate) late_moves: [i32; 2],
    /// Reductions: a constant, and the divisor of the logarithms, in hundredths.
    pub(crate) reduction: [i32; 2],
    /// Whether quiet moves are ranked by what came of them after whatever moves, too (butterfly history), and not by what
    /// came of them as answers alone.
    pub(crate) butterfly: bool,
    /// How many plies of quiescence also try quiet checks.
    pub(crate) check_plies: i32,
    /// After how many plies of quiescence only the first move counts that does not lose.
    pub(crate) wide_plies: i32,
}

const DEPTHS: usize = 64;
const MOVES: usize = 64;

/// Reductions in 1024ths of a ply, by depth and number of the move.
#[derive(Debug)]
pub(crate) struct Reductions(Vec<i32>);

impl Reductions {
    /// Grows with the logarithms of both: `constant` plus their product over `divisor`, which are
    /// in hundredths.
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "all small")]
    pub(crate) fn new([constant, divisor]: [i32; 2]) -> Self {
        let (constant, divisor) = (f64::from(constant) / 100.0, f64::from(divisor) / 100.0);
        let reduction = |index: usize| {
            let (depth, number) = ((index / MOVES) as f64, (index % MOVES) as f64);
            if depth < 1.0 || number < 2.0 {
                return 0;
            }
            (1024.0 * (constant + depth.ln() * number.ln() / divisor)) as i32
        };
        Self((0..DEPTHS * MOVES).map(reduction).collect())
    }

    pub(super) fn get(&self, depth: i32, number: i32) -> i32 {
        let at = |value: i32, most: usize| usize::try_from(value).unwrap_or(0).min(most - 1);
        self.0.get(at(depth, DEPTHS) * MOVES + at(number, MOVES)).copied().unwrap_or(0)
    }
}
