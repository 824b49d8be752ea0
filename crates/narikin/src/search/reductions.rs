//! How much less deep late moves are searched at first.

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
