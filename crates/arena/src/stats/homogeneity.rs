//! The chi-squared test of homogeneity, which compares the results of a worker with those of all others.

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
}
