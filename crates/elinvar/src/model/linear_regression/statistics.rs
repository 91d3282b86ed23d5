//! Sums over rows that the likelihood is a function of: (XᵀX, Xᵀr, rᵀr) with r = y − Xβ̂.

use super::LinearRegression;
use crate::Error;
use crate::linalg::{axpy, cholesky, dot, products};
use crate::model::gaussian::factor;
use crate::target::Rows;

impl LinearRegression {
    pub(super) fn move_reference(&mut self) -> Result<(), Error> {
        let p = self.n_coefficients();
        let mut statistics = self.statistics_of_all();
        let (gram, rest) = statistics.split_at_mut(p * p);
        // A ridge that is small against each diagonal entry makes collinear columns solvable, whatever their units.
        for entry in gram.iter_mut().step_by(p + 1) {
            *entry = if *entry > 0.0 { *entry * (1.0 + 1e-10) } else { 1.0 };
        }
        let l = factor(p, gram, "XᵀX")?;
        let step = &mut rest[..p];
        cholesky::solve_factor(p, &l, step);
        cholesky::solve_factor_transposed(p, &l, step);
        axpy(1.0, step, &mut self.reference);
        for (i, residual) in self.residuals.iter_mut().enumerate() {
            *residual -= dot(self.x.row(i), step);
        }
        Ok(())
    }

    /// The least-squares estimate of each coefficient with its standard error; `None` where there are not more rows
    /// than coefficients, or columns depend on each other.
    pub fn least_squares(&self) -> Option<Vec<(f64, f64)>> {
        let p = self.n_coefficients();
        let (gram, rest) = self.full.split_at(p * p);
        let free = self.n_rows.checked_sub(p).filter(|free| *free > 0)?;
        let l = factor(p, gram, "XᵀX").ok()?;
        let variance = rest[p] / free as f64;
        let error = |j: usize| {
            let mut column = vec![0.0; p];
            column[j] = 1.0;
            cholesky::solve_factor(p, &l, &mut column);
            (variance * dot(&column, &column)).sqrt()
        };
        Some(self.reference.iter().copied().enumerate().map(|(j, b)| (b, error(j))).collect())
    }

    pub(super) fn statistics_of_all(&self) -> Vec<f64> {
        let p = self.n_coefficients();
        let mut statistics = vec![0.0; p * p + p + 1];
        let mut scaled = vec![0.0; products::GRAM_BLOCK * p];
        self.add_statistics(self.x.rows(0..self.x.n_rows()), &self.residuals, &mut scaled, &mut statistics);
        products::mirror_lower(p, &mut statistics[..p * p]);
        statistics
    }

    /// Adds (XᵀX, Xᵀr, rᵀr) of the rows; of XᵀX the lower triangle.
    fn add_statistics(&self, x: &[f64], residuals: &[f64], scaled: &mut [f64], statistics: &mut [f64]) {
        const ONES: [f64; products::GRAM_BLOCK] = [1.0; products::GRAM_BLOCK];
        let p = self.n_coefficients();
        let (gram, rest) = statistics.split_at_mut(p * p);
        let blocks = x.chunks(products::GRAM_BLOCK * p).zip(residuals.chunks(products::GRAM_BLOCK));
        for (x, residuals) in blocks {
            products::add_weighted_gram(x, p, &ONES[..residuals.len()], scaled, gram);
            products::add_rows_transposed_times(x, p, residuals, &mut rest[..p]);
            rest[p] += dot(residuals, residuals);
        }
    }

    pub(super) fn memory_len(&self) -> usize {
        let p = self.n_coefficients();
        p * p + p + 1 + 2 * p + products::GRAM_BLOCK * (2 * p + 1)
    }

    /// (XᵀX, Xᵀr, rᵀr) of the selection, and memory for (v, a).
    pub(super) fn statistics<'a>(&'a self, rows: Rows<'_>, memory: &'a mut [f64]) -> (&'a [f64], &'a mut [f64]) {
        let p = self.n_coefficients();
        let (deviation, memory) = memory.split_at_mut(2 * p);
        let Rows::Subset(indices) = rows else { return (&self.full, deviation) };
        let (statistics, memory) = memory.split_at_mut(p * p + p + 1);
        let (x, memory) = memory.split_at_mut(products::GRAM_BLOCK * p);
        let (residuals, scaled) = memory.split_at_mut(products::GRAM_BLOCK);
        statistics.fill(0.0);
        for block in indices.chunks(products::GRAM_BLOCK) {
            for ((index, row), residual) in block.iter().zip(x.chunks_exact_mut(p)).zip(residuals.iter_mut()) {
                row.copy_from_slice(self.x.row(*index as usize));
                *residual = self.residuals[*index as usize];
            }
            self.add_statistics(&x[..block.len() * p], &residuals[..block.len()], scaled, statistics);
        }
        products::mirror_lower(p, &mut statistics[..p * p]);
        (statistics, deviation)
    }

    /// Writes a = Xᵀ(y − Xβ) behind v in `deviation` and returns Σ(y_n − x_nᵀβ)².
    pub(super) fn scores(&self, z: &[f64], statistics: &[f64], deviation: &mut [f64]) -> f64 {
        let p = self.n_coefficients();
        let (gram, rest) = statistics.split_at(p * p);
        let (v, a) = deviation.split_at_mut(p);
        v.iter_mut().zip(self.reference.iter().zip(z)).for_each(|(v, (b, z))| *v = b - z);
        a.copy_from_slice(&rest[..p]);
        products::add_product(gram, v, p, p, 1, a);
        // R = rᵀr + (Xᵀr + a)ᵀ(β̂ − β).
        rest[p] + dot(&rest[..p], v) + dot(a, v)
    }
}
