//! The likeliest law under a hypothesis: what was seen, tilted just enough to agree with it.
//!
//! Under a constraint `Σ p φ = 0` the multinomial likelihood is largest at `p = p̂ / (1 + θ φ)`,
//! where `θ` solves `Σ p̂ φ / (1 + θ φ) = 0` (M. Van den Bergh, *Support of the maximum likelihood
//! estimator of a multinomial distribution*, proposition 1.1; A. Owen, *Empirical likelihood ratio
//! confidence intervals for a single functional*, Biometrika 75, 1988).

use super::sample::{Bin, Law};

/// A hypothesis about the score of an item.
#[derive(Clone, Copy, Debug)]
pub(super) enum Hypothesis {
    /// Its mean.
    Mean(f64),
    /// How many standard deviations its mean is above one half.
    Deviations(f64),
}

/// A law that was tilted, with the logarithms of what each probability was divided by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tilt<const N: usize> {
    pub(super) law: Law<N>,
    pub(super) logarithms: [f64; N],
}

/// The likeliest law that agrees with a hypothesis; none if there is no such law, or if the
/// search for it does not settle.
pub(super) fn tilt<const N: usize>(seen: &Law<N>, hypothesis: Hypothesis) -> Option<Tilt<N>> {
    match hypothesis {
        Hypothesis::Mean(mean) => constrain(seen, |value| value - mean),
        Hypothesis::Deviations(t) => {
            settle(seen, seen.uniform(), t).or_else(|| settle(seen, *seen, t))
        }
    }
}

/// The constraint on the mean in standard deviations is not linear in the law: it is made linear at
/// the law that was last found, until nothing changes any more (M. Van den Bergh, *Normalized Elo,
/// practical considerations*, sections 4.1 and 4.2).
fn settle<const N: usize>(seen: &Law<N>, start: Law<N>, t: f64) -> Option<Tilt<N>> {
    const ROUNDS: u32 = 200;
    const SETTLED: f64 = 1e-13;
    // Rounding moves lopsided laws by more than that: there, to change no less than before will do.
    const ROUNDING: f64 = 1e-9;
    let mut law = start;
    let mut before = f64::INFINITY;
    for _ in 0..ROUNDS {
        let (mean, variance) = law.moments();
        let deviation = variance.sqrt();
        let next = constrain(seen, |value| {
            value - 0.5 - t * deviation / 2.0 * (1.0 + ((value - mean) / deviation).powi(2))
        })?;
        let change = law
            .bins
            .iter()
            .zip(&next.law.bins)
            .map(|(one, other)| (one.weight - other.weight).abs())
            .fold(0.0, f64::max);
        if change <= SETTLED || (change >= before && change <= ROUNDING) {
            return Some(next);
        }
        before = change;
        law = next.law;
    }
    None
}

fn constrain<const N: usize>(seen: &Law<N>, phi: impl Fn(f64) -> f64) -> Option<Tilt<N>> {
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
        // Close to the pole θ itself has too few digits: there the distance to the pole is sought.
        let far = near.map(|line| Line { at_zero: 1.0 - line.slope / extreme, ..line });
        let distance = root(&far, (-half).min(0.0), (-half).max(0.0), -half)?;
        for ((bin, logarithm), line) in bins.iter_mut().zip(&mut logarithms).zip(&far) {
            let divisor = line.at_zero + distance * line.slope;
            bin.weight /= divisor;
            *logarithm = divisor.ln();
        }
    }
    Some(Tilt { law: Law { bins }, logarithms })
}

/// What a probability is divided by, as the unknown changes, with the probability.
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

/// Where the sum, which falls from `low` to `high`, is 0.
///
/// Newton's method, kept within a bracket that shrinks at every step. General solvers know neither
/// the derivative, which costs nothing here, nor that the function may have a pole at an end of the
/// bracket, where they may not look; and this is the inner loop of every test.
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
        // Close to a pole Newton's steps are short: then the middle is the faster way.
        let next = if newton > low && newton < high && step.abs() < before / 2.0 {
            // The error of the next step is the square of this one's.
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
