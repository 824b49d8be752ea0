//! Dense square matrices.

use std::ops::Mul;

#[derive(Clone, Debug)]
pub(super) struct Matrix {
    rows: Vec<Vec<f64>>,
}

impl Matrix {
    pub(super) fn zeros(size: usize) -> Self {
        Self { rows: vec![vec![0.0; size]; size] }
    }

    pub(super) fn get(&self, row: usize, column: usize) -> Option<f64> {
        self.rows.get(row)?.get(column).copied()
    }

    pub(super) fn get_mut(&mut self, row: usize, column: usize) -> Option<&mut f64> {
        self.rows.get_mut(row)?.get_mut(column)
    }

    /// None unless the matrix, which must be symmetric, is positive definite.
    pub(super) fn cholesky(&self) -> Option<Cholesky> {
        let mut lower: Vec<Vec<f64>> = Vec::with_capacity(self.rows.len());
        for source in &self.rows {
            let mut row: Vec<f64> = Vec::with_capacity(lower.len() + 1);
            for (above, entry) in lower.iter().zip(source) {
                row.push((entry - dot(&row, above)) / above.last()?);
            }
            let square = source.get(row.len())? - dot(&row, &row);
            if square.is_nan() || square <= 0.0 {
                return None;
            }
            row.push(square.sqrt());
            lower.push(row);
        }
        Some(Cholesky { lower })
    }
}

impl Mul for &Matrix {
    type Output = Matrix;

    fn mul(self, other: &Matrix) -> Matrix {
        let mut product = Matrix::zeros(self.rows.len());
        for (sums, row) in product.rows.iter_mut().zip(&self.rows) {
            for (factor, line) in row.iter().zip(&other.rows) {
                for (sum, entry) in sums.iter_mut().zip(line) {
                    *sum += factor * entry;
                }
            }
        }
        product
    }
}

/// A lower triangular matrix whose product with its transpose is a positive definite matrix.
#[derive(Clone, Debug)]
pub(super) struct Cholesky {
    /// Each row ends at the diagonal.
    lower: Vec<Vec<f64>>,
}

impl Cholesky {
    /// The solution of the equations with this right-hand side.
    pub(super) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let mut solution: Vec<f64> = Vec::with_capacity(right.len());
        for (row, value) in self.lower.iter().zip(right) {
            let rest = value - dot(row, &solution);
            solution.push(rest / row.last().copied().unwrap_or(1.0));
        }
        for (index, row) in self.lower.iter().enumerate().rev() {
            let (before, after) = solution.split_at_mut(index);
            let (Some((diagonal, entries)), Some(value)) = (row.split_last(), after.first_mut())
            else {
                continue;
            };
            *value /= diagonal;
            for (one, entry) in before.iter_mut().zip(entries) {
                *one -= entry * *value;
            }
        }
        solution
    }

    pub(super) fn inverse(&self) -> Matrix {
        let size = self.lower.len();
        let unit = |index| {
            let mut unit = vec![0.0; size];
            if let Some(entry) = unit.get_mut(index) {
                *entry = 1.0;
            }
            unit
        };
        // The inverse is symmetric: its columns are its rows.
        Matrix { rows: (0..size).map(|index| self.solve(&unit(index))).collect() }
    }
}

/// The scalar product of the common part of two vectors.
fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: &[&[f64]]) -> Matrix {
        Matrix { rows: rows.iter().map(|row| row.to_vec()).collect() }
    }

    #[test]
    fn solves_equations_and_inverts() {
        let a = matrix(&[&[4.0, 12.0, -16.0], &[12.0, 37.0, -43.0], &[-16.0, -43.0, 98.0]]);
        let cholesky = a.cholesky().expect("it is positive definite");
        assert_eq!(cholesky.lower, [vec![2.0], vec![6.0, 1.0], vec![-8.0, 5.0, 3.0]]);
        assert_eq!(cholesky.solve(&[-20.0, -43.0, 192.0]), [1.0, 2.0, 3.0]);
        let unit = &a * &cholesky.inverse();
        for (index, row) in unit.rows.iter().enumerate() {
            for (column, entry) in row.iter().enumerate() {
                let expected = if index == column { 1.0 } else { 0.0 };
                assert!((entry - expected).abs() < 1e-9, "{unit:?}");
            }
        }
    }

    #[test]
    fn rejects_matrices_that_are_not_positive_definite() {
        assert!(matrix(&[&[1.0, 2.0], &[2.0, 1.0]]).cholesky().is_none());
        assert!(matrix(&[&[f64::NAN]]).cholesky().is_none());
        assert!(Matrix::zeros(2).cholesky().is_none());
    }
}
