//! Maximum-likelihood distributions under a hypothesis.
//!
//! Under a constraint `Σ p φ = 0` the multinomial likelihood is largest at `p = p̂ / (1 + θ φ)`,
//! where `θ` solves `Σ p̂ φ / (1 + θ φ) = 0` (M. Van den Bergh, *Support of the maximum likelihood
//! estimator of a multinomial distribution*, proposition 1.1; A. Owen, *Empirical likelihood ratio
//! confidence intervals for a single functional*, Biometrika 75, 1988).

use super::sample::{Bin, Distribution};

/// A hypothesis about the score of an item.
#[derive(Clone, Copy, Debug)]
pub(super) enum Hypothesis {
    /// Its mean.
    Mean(f64),
    /// The distance of its mean from one half in standard deviations.
    Deviations(f64),
}

/// A constrained maximum-likelihood distribution, and the logarithm of the divisor of each probability.
#[derive(Clone, Copy, Debug)]
pub(super) struct Constrained<const N: usize> {
    pub(super) distribution: Distribution<N>,
    pub(super) logarithms: [f64; N],
}

/// The maximum-likelihood distribution under a hypothesis; none if it does not exist or the search
/// does not converge.
pub(super) fn fit<const N: usize>(
    seen: &Distribution<N>,
    hypothesis: Hypothesis,
) -> Option<Constrained<N>> {
    match hypothesis {
        Hypothesis::Mean(mean) => constrain(seen, |value| value - mean),
        Hypothesis::Deviations(t) => {
            iterate(seen, seen.uniform(), t).or_else(|| iterate(seen, *seen, t))
        }
    }
}

/// Solves the constraint in standard deviations, which is not linear in the distribution, by repeated
/// linearization at the last distribution (M. Van den Bergh, *Normalized Elo,
/// practical considerations*, sections 4.1 and 4.2).
fn iterate<const N: usize>(
    seen: &Distribution<N>,
    start: Distribution<N>,
    t: f64,
) -> Option<Constrained<N>> {
    const ROUNDS: u32 = 200;
    const TOLERANCE: f64 = 1e-13;
    // Rounding errors of extreme distributions are larger: stop when the change no longer decreases.
    const ROUNDING: f64 = 1e-9;
    let mut distribution = start;
    let mut before = f64::INFINITY;
    for _ in 0..ROUNDS {
        let (mean, variance) = distribution.moments();
        let deviation = variance.sqrt();
        let next = constrain(seen, |value| {
            value - 0.5 - t * deviation / 2.0 * (1.0 + ((value - mean) / deviation).powi(2))
        })?;
        let change = distribution
            .bins
            .iter()
            .zip(&next.distribution.bins)
            .map(|(one, other)| (one.weight - other.weight).abs())
            .fold(0.0, f64::max);
        if change <= TOLERANCE || (change >= before && change <= ROUNDING) {
            return Some(next);
        }
        before = change;
        distribution = next.distribution;
    }
    None
}

fn constrain<const N: usize>(
    seen: &Distribution<N>,
    phi: impl Fn(f64) -> f64,
) -> Option<Constrained<N>> {
    let terms = seen.bins.map(|bin| Bin { value: phi(bin.value), ..bin });
    let highest = terms.iter().map(|term| term.value).fold(f64::NEG_INFINITY, f64::max);
    let lowest = terms.iter().map(|term| term.value).fold(f64::INFINITY, f64::min);
    if !(lowest < 0.0 && highest > 0.0 && lowest.is_finite() && highest.is_finite()) {
        return None;
    }
    // The root lies between 0 and the pole of this extreme.
    let mean: f64 = terms.iter().map(|term| term.weight * term.value).sum();
    let extreme = if mean < 0.0 { highest } else { lowest };
    let half = -0.5 / extreme;
    let near = terms.map(|term| Line { at_zero: 1.0, slope: term.value, weight: term.weight });
    let (at_half, _) = sum(&near, half);
    let mut logarithms = [0.0; N];
    let mut bins = seen.bins;
    if at_half * mean <= 0.0 {
        let theta = root(&near, half.min(0.0), half.max(0.0), 0.0)?;
        for ((bin, logarithm), line) in bins.iter_mut().zip(&mut logarithms).zip(&near) {
            bin.weight /= 1.0 + theta * line.slope;
            *logarithm = (theta * line.slope).ln_1p();
        }
    } else {
        // Close to the pole θ has too few digits, so this solves for the distance to the pole.
        let far = near.map(|line| Line { at_zero: 1.0 - line.slope / extreme, ..line });
        let distance = root(&far, (-half).min(0.0), (-half).max(0.0), -half)?;
        for ((bin, logarithm), line) in bins.iter_mut().zip(&mut logarithms).zip(&far) {
            let divisor = line.at_zero + distance * line.slope;
            bin.weight /= divisor;
            *logarithm = divisor.ln();
        }
    }
    Some(Constrained { distribution: Distribution { bins }, logarithms })
}

/// The divisor of a probability as a linear function of the unknown, with the probability.
#[derive(Clone, Copy)]
struct Line {
    at_zero: f64,
    slope: f64,
    weight: f64,
}

/// `Σ p φ / (1 + θ φ)` and its derivative.
fn sum<const N: usize>(lines: &[Line; N], x: f64) -> (f64, f64) {
    let (mut value, mut slope) = (0.0, 0.0);
    for line in lines {
        let share = line.slope / (line.at_zero + x * line.slope);
        value += line.weight * share;
        slope -= line.weight * share * share;
    }
    (value, slope)
}

/// The root of the sum, which decreases from `low` to `high`.
///
/// Newton's method within a shrinking bracket. Unlike general solvers it uses the derivative and never
/// evaluates the function at the ends of the bracket, which may be poles.
fn root<const N: usize>(lines: &[Line; N], mut low: f64, mut high: f64, start: f64) -> Option<f64> {
    const STEPS: u32 = 200;
    const LAST_STEP: f64 = 1e-10;
    let mut x = start;
    let mut before = high - low;
    for _ in 0..STEPS {
        let (value, slope) = sum(lines, x);
        if value > 0.0 {
            low = x;
        } else if value < 0.0 {
            high = x;
        } else {
            return (value == 0.0).then_some(x);
        }
        let step = -value / slope;
        let newton = x + step;
        // Close to a pole Newton steps are short, and bisection is faster.
        let next = if newton > low && newton < high && step.abs() < before / 2.0 {
            // Newton converges quadratically.
            if step.abs() <= LAST_STEP * x.abs() {
                return Some(newton);
            }
            before = step.abs();
            newton
        } else {
            before = (high - low) / 2.0;
            low + before
        };
        if next <= low || next >= high || (next - x).abs() <= f64::EPSILON * x.abs() {
            return Some(x);
        }
        x = next;
    }
    None
}
