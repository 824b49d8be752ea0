//! Estimates from the pairs of a tuning: the best value of a parameter, and what its change has gained.
//!
//! A pair is a measurement of the gradient: its score divided by the difference of both values. The values move, so
//! the pairs measure it at different values. A straight line through these gradients, as of a strength with one
//! maximum, crosses zero at the best value, and its integral is the gain. The other parameters are noise: their signs
//! are independent.
//!
//! - The noise of a pair also moves the values after it. Within a window of pairs the gradient has an exact normal
//!   error; windows of doubling length, of which the first ones have seen little noise, keep its influence small.
//! - The interval has the best values whose profile likelihood is not rejected: a line through zero at such a value
//!   fits the windows. It is unbounded if the gradient does not fall significantly, so a parameter without influence,
//!   and one that has not moved, have no bounds.
//! - The gain is evaluated at an average that the same noise has chosen. This bias is subtracted to the first order:
//!   the noise of each window displaces the later values, and this displacement changes its own weight in the gain.
//!
//! A profile likelihood and a weak instrument: T. W. Anderson, H. Rubin, "Estimation of the parameters of a single
//! equation in a complete system of stochastic equations", Annals of Mathematical Statistics 20 (1949), 46–63.

use std::ops::Sub;

/// The 95 % quantile of the chi-squared distribution with one degree of freedom.
const CRITICAL: f64 = 3.841_459;

/// Number of windows; each one is as long as all before it.
pub(super) const WINDOWS: u32 = 7;

/// Sums over pairs, for one parameter. The difference of plus and minus is called x.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    /// The values after each pair.
    pub(super) values: f64,
    /// The squared changes of the value.
    pub(super) changes: f64,
    /// x².
    pub(super) squares: f64,
    /// x² times the mean of plus and minus.
    pub(super) moments: f64,
    /// x times the result in Elo.
    pub(super) products: f64,
    /// The displacement of the value by a gradient of 1 Elo per unit.
    pub(super) pushes: f64,
}

impl Sub for Sums {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            values: self.values - other.values,
            changes: self.changes - other.changes,
            squares: self.squares - other.squares,
            moments: self.moments - other.moments,
            products: self.products - other.products,
            pushes: self.pushes - other.pushes,
        }
    }
}

/// The pairs of a window.
#[derive(Clone, Copy, Debug)]
struct Window {
    /// The measured gradient, in Elo per unit.
    gradient: f64,
    /// The value at which it was measured.
    at: f64,
    /// The inverse of its variance.
    weight: f64,
    /// The displacement of the value by a gradient of 1 Elo per unit.
    push: f64,
    /// The part of a displacement in this window that reaches the average.
    share: f64,
}

/// The gradient of a parameter along the values of a tuning.
#[derive(Clone, Debug)]
pub(super) struct Gradient {
    windows: Vec<Window>,
}

/// A straight line through gradients, fitted by least squares.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// The sum of all weights.
    weight: f64,
    /// The weighted mean of the values.
    at: f64,
    /// The change of the gradient per unit: not positive, as of a strength with one maximum.
    slope: f64,
    /// The weighted sum of squared residuals.
    residuals: f64,
}

impl Gradient {
    /// The gradient in windows that end at these sums. `variance` is that of a result in Elo; the share of each window
    /// is the part of a displacement that reaches the average. `None` if a window has no difference of plus and minus.
    pub(super) fn new(ends: &[(Sums, f64)], variance: f64) -> Option<Self> {
        let mut before = Sums::default();
        let mut windows = Vec::with_capacity(ends.len());
        for &(end, share) in ends {
            let sums = end - before;
            before = end;
            let window = Window {
                gradient: sums.products / sums.squares,
                at: sums.moments / sums.squares,
                weight: sums.squares / variance,
                push: sums.pushes,
                share,
            };
            let numbers = [window.gradient, window.at, window.weight];
            if sums.squares <= 0.0 || numbers.iter().any(|number| !number.is_finite()) {
                return None;
            }
            windows.push(window);
        }
        (windows.len() > 1).then_some(Self { windows })
    }

    fn sum(&self, term: impl Fn(&Window) -> f64) -> f64 {
        self.windows.iter().map(|window| window.weight * term(window)).sum()
    }

    fn line(&self) -> Line {
        let weight = self.sum(|_| 1.0);
        let at = self.sum(|window| window.at) / weight;
        let gradient = self.sum(|window| window.gradient) / weight;
        let spread = self.sum(|window| (window.at - at).powi(2));
        let common = self.sum(|window| (window.at - at) * (window.gradient - gradient));
        let slope = if spread > 0.0 { (common / spread).min(0.0) } else { 0.0 };
        let residuals = self.sum(|window| (window.gradient - gradient).powi(2));
        let residuals = residuals - if slope < 0.0 { common * slope } else { 0.0 };
        Line { weight, at, slope, residuals }
    }

    /// The 95 % confidence interval of the value without a gradient. The bounds may be infinite.
    pub(super) fn interval(&self) -> (f64, f64) {
        const EVERYTHING: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);
        // Values x for which a line through zero at x, falling, has a sum of squares of at most `limit`:
        // Σ w g² − (Σ w g (t − x))² / Σ w (t − x)² ≤ limit, a quadratic inequality in x.
        let line = self.line();
        let limit = line.residuals + CRITICAL;
        let excess = self.sum(|window| window.gradient.powi(2)) - limit;
        if excess <= 0.0 {
            return EVERYTHING;
        }
        let gradients = self.sum(|window| window.gradient);
        let products = self.sum(|window| window.gradient * window.at);
        let a = gradients.powi(2) - excess * line.weight;
        let b = 2.0 * (excess * line.weight * line.at - products * gradients);
        let c = products.powi(2) - excess * self.sum(|window| window.at.powi(2));
        let root = (b * b - 4.0 * a * c).max(0.0).sqrt();
        let (one, other) = ((-b - root) / (2.0 * a), (-b + root) / (2.0 * a));
        let (low, high) = (one.min(other), one.max(other));
        if !low.is_finite() || !high.is_finite() {
            EVERYTHING
        } else if a < 0.0 {
            (low, high)
        } else if gradients > 0.0 {
            (high, f64::INFINITY)
        } else {
            (f64::NEG_INFINITY, low)
        }
    }

    /// The estimated Elo of `end` against `start`, and its variance. `end` is the average.
    pub(super) fn gain(&self, start: f64, end: f64) -> (f64, f64) {
        let slope = self.line().slope;
        let at: Vec<f64> = self.windows.iter().map(|window| window.at).collect();
        let weights = self.gain_weights(&at, start, end, slope < 0.0);
        let weighted = weights.iter().zip(&self.windows);
        let mut gain: f64 = weighted.clone().map(|(weight, window)| weight * window.gradient).sum();
        let mut variance: f64 =
            weighted.map(|(weight, window)| weight.powi(2) / window.weight).sum();
        // How the noise of each window changes the weights of all.
        let changes: Vec<Vec<f64>> = (0..self.windows.len())
            .map(|noisy| {
                let (shifts, end_shift) = self.displacements(noisy, slope);
                let shifted = |sign: f64| {
                    let at: Vec<f64> =
                        at.iter().zip(&shifts).map(|(at, shift)| at + sign * shift).collect();
                    self.gain_weights(&at, start, end + sign * end_shift, slope < 0.0)
                };
                let unit = self.noise(noisy);
                let both = shifted(1.0).into_iter().zip(shifted(-1.0));
                both.map(|(up, down)| (up - down) / (2.0 * unit)).collect()
            })
            .collect();
        let change = |of: usize, by: usize| {
            changes.get(by).and_then(|changes| changes.get(of)).copied().unwrap_or(0.0)
        };
        for (one, window) in self.windows.iter().enumerate() {
            gain -= change(one, one) / window.weight;
            for (other, second) in self.windows.iter().enumerate() {
                let both = change(one, other) * change(other, one);
                variance += both.max(0.0) / (window.weight * second.weight);
            }
        }
        (gain, variance)
    }

    /// The weights of the gradients in the integral of their line from `start` to `end`.
    fn gain_weights(&self, at: &[f64], start: f64, end: f64, has_slope: bool) -> Vec<f64> {
        let with_at = || self.windows.iter().map(|window| window.weight).zip(at);
        let total: f64 = with_at().map(|(weight, _)| weight).sum();
        let mean = with_at().map(|(weight, at)| weight * at).sum::<f64>() / total;
        let spread: f64 = with_at().map(|(weight, at)| weight * (at - mean).powi(2)).sum();
        let lever =
            if has_slope && spread > 0.0 { (start.midpoint(end) - mean) / spread } else { 0.0 };
        with_at()
            .map(|(weight, at)| (end - start) * weight * (1.0 / total + (at - mean) * lever))
            .collect()
    }

    /// A small error of the gradient of a window.
    fn noise(&self, window: usize) -> f64 {
        0.2 / self.windows.get(window).map_or(1.0, |window| window.weight).sqrt()
    }

    /// The displacements of the values of all windows, and of the average, by such an error. A falling gradient pulls
    /// the values back.
    fn displacements(&self, noisy: usize, slope: f64) -> (Vec<f64>, f64) {
        let mut shifts = vec![0.0; self.windows.len()];
        let (mut shift, mut end) = (0.0, 0.0);
        for (index, (mean, window)) in shifts.iter_mut().zip(&self.windows).enumerate() {
            // A displacement decays to exp(−pull) within the window.
            let pull = (-slope * window.push).max(1e-6);
            let rest = (-pull).exp();
            let before = shift;
            if index == noisy {
                let pushed = self.noise(noisy) * window.push;
                shift = pushed * (1.0 - rest) / pull;
                *mean = pushed * (pull - 1.0 + rest) / pull.powi(2);
            } else {
                shift *= rest;
                *mean = before * (1.0 - rest) / pull;
            }
            end += (shift - before) * window.share;
        }
        (shifts, end)
    }
}
