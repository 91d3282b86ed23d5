//! Small dense matrices, written out so that the checks do not rest on the library's own linear algebra.

/// A matrix, column-major as in the library.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Matrix {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) entries: Vec<f64>,
}

impl Matrix {
    pub(crate) fn zeros(rows: usize, cols: usize) -> Self {
        Self { rows, cols, entries: vec![0.0; rows * cols] }
    }

    /// The matrix with these entries, column after column.
    pub(crate) fn from_columns(rows: usize, entries: &[f64]) -> Self {
        Self { rows, cols: entries.len() / rows, entries: entries.to_vec() }
    }

    /// The matrix with these rows; `None` if they differ in length.
    pub(crate) fn from_rows(rows: Vec<Vec<f64>>) -> Option<Self> {
        let cols = rows.first()?.len();
        if cols == 0 || rows.iter().any(|row| row.len() != cols) {
            return None;
        }
        let mut out = Self::zeros(rows.len(), cols);
        for (i, row) in rows.iter().enumerate() {
            for (j, value) in row.iter().enumerate() {
                *out.at_mut(i, j) = *value;
            }
        }
        Some(out)
    }

    /// diag(entries).
    pub(crate) fn diagonal(entries: &[f64]) -> Self {
        let mut out = Self::zeros(entries.len(), entries.len());
        entries.iter().enumerate().for_each(|(i, value)| *out.at_mut(i, i) = *value);
        out
    }

    pub(crate) fn at(&self, i: usize, j: usize) -> f64 {
        self.entries[j * self.rows + i]
    }

    pub(crate) fn at_mut(&mut self, i: usize, j: usize) -> &mut f64 {
        &mut self.entries[j * self.rows + i]
    }

    pub(crate) fn column(&self, j: usize) -> &[f64] {
        &self.entries[j * self.rows..(j + 1) * self.rows]
    }

    pub(crate) fn diagonal_entries(&self) -> Vec<f64> {
        (0..self.rows).map(|i| self.at(i, i)).collect()
    }

    pub(crate) fn transposed(&self) -> Self {
        let mut out = Self::zeros(self.cols, self.rows);
        for i in 0..self.rows {
            for j in 0..self.cols {
                *out.at_mut(j, i) = self.at(i, j);
            }
        }
        out
    }

    pub(crate) fn times(&self, other: &Self) -> Self {
        let mut out = Self::zeros(self.rows, other.cols);
        for i in 0..self.rows {
            for j in 0..other.cols {
                *out.at_mut(i, j) = (0..self.cols).map(|k| self.at(i, k) * other.at(k, j)).sum();
            }
        }
        out
    }

    pub(crate) fn times_vector(&self, x: &[f64]) -> Vec<f64> {
        self.times(&Self::from_columns(self.cols, x)).entries
    }

    /// A + c B.
    pub(crate) fn plus(&self, c: f64, other: &Self) -> Self {
        let entries = self.entries.iter().zip(&other.entries).map(|(a, b)| a + c * b).collect();
        Self { entries, ..*self }
    }

    pub(crate) fn scaled(&self, c: f64) -> Self {
        Self { entries: self.entries.iter().map(|a| c * a).collect(), ..*self }
    }

    /// L with A = L Lᵀ; `None` if the matrix is not positive definite.
    pub(crate) fn cholesky(&self) -> Option<Self> {
        let mut l = Self::zeros(self.rows, self.rows);
        for j in 0..self.rows {
            let pivot = self.at(j, j) - (0..j).map(|k| l.at(j, k).powi(2)).sum::<f64>();
            if !(pivot > 0.0 && pivot.is_finite()) {
                return None;
            }
            *l.at_mut(j, j) = pivot.sqrt();
            for i in j + 1..self.rows {
                let sum: f64 = (0..j).map(|k| l.at(i, k) * l.at(j, k)).sum();
                *l.at_mut(i, j) = (self.at(i, j) - sum) / l.at(j, j);
            }
        }
        Some(l)
    }

    /// A⁻¹X of a positive definite matrix.
    pub(crate) fn solve(&self, x: &Self) -> Self {
        let l = self.cholesky().expect("the vectors hold positive definite matrices here");
        let n = self.rows;
        let mut out = x.clone();
        for column in out.entries.chunks_exact_mut(n) {
            for i in 0..n {
                let sum: f64 = (0..i).map(|k| l.at(i, k) * column[k]).sum();
                column[i] = (column[i] - sum) / l.at(i, i);
            }
            for i in (0..n).rev() {
                let sum: f64 = (i + 1..n).map(|k| l.at(k, i) * column[k]).sum();
                column[i] = (column[i] - sum) / l.at(i, i);
            }
        }
        out
    }

    /// A⁻¹ of a positive definite matrix, symmetric, refined once.
    pub(crate) fn inverse(&self) -> Self {
        let identity = Self::diagonal(&vec![1.0; self.rows]);
        let first = self.solve(&identity);
        let refined = first.plus(1.0, &self.solve(&identity.plus(-1.0, &self.times(&first))));
        refined.plus(1.0, &refined.transposed()).scaled(0.5)
    }

    /// log|A| of a positive definite matrix.
    pub(crate) fn log_det(&self) -> f64 {
        let l = self.cholesky().expect("the vectors hold positive definite matrices here");
        2.0 * l.diagonal_entries().iter().map(|v| v.ln()).sum::<f64>()
    }

    pub(crate) fn trace(&self) -> f64 {
        self.diagonal_entries().iter().sum()
    }
}

pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| a * b).sum()
}

/// x − y.
pub(crate) fn difference(x: &[f64], y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).map(|(a, b)| a - b).collect()
}
