//! Tests of the results of a worker: the chi-squared test of homogeneity, which compares them with those of all others,
//! and the binomial distribution.

/// Minimum expected count of a category (W. G. Cochran, *The χ² test of goodness of fit*, 1952). Smaller categories are
/// merged with their neighbors.
const MIN_EXPECTED: f64 = 5.0;

/// The probability that two samples of one distribution differ at least as much as these counts, by Pearson's
/// chi-squared test. `None` if the samples are too small for the test.
///
/// ```
/// use readyok_arena::stats::homogeneity;
///
/// let p = homogeneity(&[10, 40, 50], &[100, 400, 500]).ok_or("too few")?;
/// assert!(p > 0.999);
/// let p = homogeneity(&[50, 40, 10], &[100, 400, 500]).ok_or("too few")?;
/// assert!(p < 1e-9);
/// assert_eq!(homogeneity(&[1, 0], &[1, 2]), None);
/// # Ok::<(), &str>(())
/// ```
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub fn homogeneity(one: &[u64], other: &[u64]) -> Option<f64> {
    let sum = |counts: &[u64]| counts.iter().sum::<u64>() as f64;
    let (n, m) = (sum(one), sum(other));
    let share = n.min(m) / (n + m);
    let mut categories: Vec<(f64, f64)> = Vec::new();
    let mut open = (0.0, 0.0);
    for (a, b) in one.iter().zip(other) {
        open = (open.0 + *a as f64, open.1 + *b as f64);
        if (open.0 + open.1) * share >= MIN_EXPECTED {
            categories.push(open);
            open = (0.0, 0.0);
        }
    }
    // The rest is too small for a category of its own.
    if let Some(last) = categories.last_mut() {
        *last = (last.0 + open.0, last.1 + open.1);
    }
    if categories.len() < 2 {
        return None;
    }
    let statistic: f64 = categories
        .iter()
        .map(|(a, b)| {
            let (expected_a, expected_b) = ((a + b) * n / (n + m), (a + b) * m / (n + m));
            (a - expected_a).powi(2) / expected_a + (b - expected_b).powi(2) / expected_b
        })
        .sum();
    Some(survival(categories.len() - 1, statistic))
}

/// The survival function of the chi-squared distribution (M. Abramowitz and I. A. Stegun, *Handbook of Mathematical
/// Functions*, 26.4.4 and 26.4.5).
fn survival(degrees: usize, statistic: f64) -> f64 {
    let half = statistic / 2.0;
    let (mut sum, mut term, mut at) = if degrees.is_multiple_of(2) {
        (0.0, (-half).exp(), 1.0)
    } else {
        let tail = libm::erfc(half.sqrt());
        (tail, (-half).exp() * (half / std::f64::consts::PI).sqrt() * 2.0, 1.5)
    };
    for _ in 0..degrees / 2 {
        sum += term;
        term *= half / at;
        at += 1.0;
    }
    sum.min(1.0)
}

/// The probability of at least `count` successes in `samples` samples with this probability of a success.
#[expect(clippy::cast_precision_loss, reason = "far less than 2^53 samples")]
pub fn binomial_tail(count: u64, samples: u64, probability: f64) -> f64 {
    if count > samples {
        return 0.0;
    }
    let (n, k) = (samples as f64, count as f64);
    let choose = libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0);
    let log = choose + k * probability.ln() + (n - k) * (1.0 - probability).ln();
    let odds = probability / (1.0 - probability);
    let (mut term, mut sum) = (log.exp(), 0.0);
    for successes in count..=samples {
        sum += term;
        let successes = successes as f64;
        let next = term * odds * (n - successes) / (successes + 1.0);
        // Beyond the mean, terms shrink faster and faster.
        if next < term && next < sum * f64::EPSILON {
            break;
        }
        term = next;
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Critical values of published tables.
    #[test]
    fn survival_matches_tables() {
        let check = |degrees, statistic, expected: f64| {
            let found = survival(degrees, statistic);
            assert!((found - expected).abs() < 5e-5, "{degrees} {statistic}: {found}");
        };
        check(1, 3.8415, 0.05);
        check(1, 10.8276, 0.001);
        check(2, 5.9915, 0.05);
        check(3, 7.8147, 0.05);
        check(4, 9.4877, 0.05);
        check(4, 18.4668, 0.001);
        check(5, 11.0705, 0.05);
        check(3, 0.0, 1.0);
    }

    /// Values of R: `pbinom(count - 1, samples, probability, lower.tail = FALSE)`.
    #[test]
    fn tails_of_the_binomial_distribution() {
        for (count, samples, probability, expected) in [
            (0, 10, 0.01, 1.0),
            (1, 10, 0.01, 0.095_617_924_991_195_51),
            (3, 8, 0.01, 5.393_332_119_79e-5),
            (11, 10, 0.5, 0.0),
            (5, 10, 0.5, 0.623_046_875),
        ] {
            let tail = binomial_tail(count, samples, probability);
            assert!(
                (tail - expected).abs() < 1e-6 * expected.max(1e-6),
                "{count} {samples} {tail}"
            );
        }
    }
}
