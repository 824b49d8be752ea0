//! Observed frequencies of scores and their moments.

/// A score between 0 and 1 with its frequency or probability.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bin {
    pub(super) value: f64,
    pub(super) weight: f64,
}

/// The observed scores of items, which are games or pairs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample<const N: usize> {
    bins: [Bin; N],
    pub(super) games_per_item: f64,
}

/// The distribution of a score. Its weights are positive and sum to 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Distribution<const N: usize> {
    pub(super) bins: [Bin; N],
}

/// Replaces a count of zero, so that no score is impossible. fastchess, fishtest and OpenBench use the
/// same number, which gives the same log-likelihood ratios.
const ZERO_COUNT: f64 = 1e-3;

impl<const N: usize> Sample<N> {
    pub(super) fn new(bins: [(f64, u64); N], games_per_item: f64) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "counts are at most 2^53")]
        let bins = bins.map(|(value, count)| Bin { value, weight: count as f64 });
        Self { bins, games_per_item }
    }

    /// Number of items.
    pub(super) fn items(&self) -> f64 {
        self.bins.iter().map(|bin| bin.weight).sum()
    }

    /// Mean and variance; NaN without items.
    pub(super) fn moments(&self) -> (f64, f64) {
        let items = self.items();
        moments(&self.bins.map(|bin| Bin { weight: bin.weight / items, ..bin }))
    }

    /// The counts with `added` added to each.
    pub(super) fn with_added(&self, added: f64) -> [Bin; N] {
        self.bins.map(|bin| Bin { weight: bin.weight + added, ..bin })
    }

    /// The distribution with no zero probability, and the number of items including the replaced zeros.
    pub(super) fn distribution(&self) -> (Distribution<N>, f64) {
        let bins = self.bins.map(|bin| Bin {
            weight: if bin.weight > 0.0 { bin.weight } else { ZERO_COUNT },
            ..bin
        });
        let items: f64 = bins.iter().map(|bin| bin.weight).sum();
        (Distribution { bins: bins.map(|bin| Bin { weight: bin.weight / items, ..bin }) }, items)
    }
}

impl<const N: usize> Distribution<N> {
    /// All scores equally likely.
    pub(super) fn uniform(&self) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "three or five scores")]
        let weight = 1.0 / N as f64;
        Self { bins: self.bins.map(|bin| Bin { weight, ..bin }) }
    }

    /// Mean and variance.
    pub(super) fn moments(&self) -> (f64, f64) {
        moments(&self.bins)
    }
}

fn moments<const N: usize>(bins: &[Bin; N]) -> (f64, f64) {
    let mean: f64 = bins.iter().map(|bin| bin.weight * bin.value).sum();
    let variance = bins.iter().map(|bin| bin.weight * (bin.value - mean).powi(2)).sum();
    (mean, variance)
}
