//! A full symmetric precision matrix.

use super::scale_matrix::{Candidate, LARGEST, MARGIN, ScaleMatrix, in_range};
use crate::Error;
use crate::linalg::{axpy, cholesky, products};
use crate::rule::Rule;
use crate::target::Covariance;

/// P = L Lᵀ with all entries.
#[derive(Clone, Debug, PartialEq)]
pub struct Full {
    dim: usize,
    precision: Vec<f64>,
    factor: Vec<f64>,
}

/// Whether a factor's diagonal, and so every triangular solve with it, stays in range.
fn factor_in_range(dim: usize, factor: &[f64]) -> bool {
    (0..dim).all(|i| {
        let pivot = factor[i * dim + i];
        pivot > 1.0 / LARGEST && pivot < LARGEST
    })
}

impl ScaleMatrix for Full {
    const COVARIANCE: Covariance = Covariance::Full;

    fn from_precision(dim: usize, entries: Vec<f64>) -> Result<Self, Error> {
        if entries.len() != dim * dim {
            return Err(Error::Shape {
                what: "entries of a full precision",
                expected: dim * dim,
                found: entries.len(),
            });
        }
        let mut factor = vec![0.0; dim * dim];
        cholesky::factor(dim, &entries, &mut factor, &mut cholesky::Workspace::new(dim))
            .map_err(|pivot| Error::NotPositiveDefinite { what: "the precision matrix", pivot })?;
        Ok(Self { dim, precision: entries, factor })
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn precision(&self) -> &[f64] {
        &self.precision
    }

    fn log_det_precision(&self) -> f64 {
        cholesky::log_det(self.dim, &self.factor)
    }

    fn unwhiten(&self, x: &mut [f64]) {
        cholesky::solve_factor_transposed(self.dim, &self.factor, x);
    }

    fn whiten(&self, x: &[f64], out: &mut [f64]) {
        cholesky::factor_transposed_times(self.dim, &self.factor, x, out);
    }

    fn whiten_gradient(&self, x: &mut [f64]) {
        cholesky::solve_factor(self.dim, &self.factor, x);
    }

    fn factor_times(&self, x: &[f64], out: &mut [f64]) {
        cholesky::factor_times(self.dim, &self.factor, x, out);
    }

    fn add_precision_times(&self, x: &[f64], out: &mut [f64]) {
        for (column, value) in self.precision.chunks_exact(self.dim).zip(x) {
            axpy(*value, column, out);
        }
    }

    fn solve(&self, x: &mut [f64]) {
        cholesky::solve_factor(self.dim, &self.factor, x);
        cholesky::solve_factor_transposed(self.dim, &self.factor, x);
    }

    fn covariance_into(&self, out: &mut [f64]) {
        cholesky::inverse(self.dim, &self.factor, out, &mut cholesky::Workspace::new(self.dim));
    }

    fn add_outer(c: f64, v: &[f64], acc: &mut [f64]) {
        for (column, vj) in acc.chunks_exact_mut(v.len()).zip(v) {
            axpy(c * vj, v, column);
        }
    }

    fn add_identity(dim: usize, c: f64, leading: usize, acc: &mut [f64]) {
        for i in 0..leading {
            acc[i * dim + i] += c;
        }
    }

    fn add_weighted_gram(dim: usize, r: &[f64], w: &[f64], scratch: &mut [f64], acc: &mut [f64]) {
        products::add_weighted_gram(r, dim, w, scratch, acc);
    }

    fn add_symmetrised(dim: usize, r: &[f64], g: &[f64], w: &[f64], scratch: &mut [f64], acc: &mut [f64]) {
        products::add_symmetrised(r, g, dim, w, scratch, acc);
    }

    fn complete(dim: usize, acc: &mut [f64]) {
        products::mirror_lower(dim, acc);
    }

    fn propose(&self, rule: Rule, beta: f64, g: &[f64], direction_ready: bool, candidate: &mut Candidate) -> bool {
        let d = self.dim;
        candidate.precision.copy_from_slice(&self.precision);
        axpy(beta, g, &mut candidate.precision);
        match rule {
            Rule::NaturalGradient => {
                candidate.spare.copy_from_slice(&candidate.precision);
                axpy(-MARGIN, &self.precision, &mut candidate.spare);
                if cholesky::factor(d, &candidate.spare, &mut candidate.factor, &mut candidate.workspace).is_err() {
                    return false;
                }
            }
            Rule::Retraction => {
                if !direction_ready {
                    // GΣG = WᵀW with W = L⁻¹G.
                    candidate.spare.copy_from_slice(g);
                    cholesky::solve_factor(d, &self.factor, &mut candidate.spare);
                    candidate.second.fill(0.0);
                    products::add_transposed_gram(&candidate.spare, d, &mut candidate.second);
                    products::mirror_lower(d, &mut candidate.second);
                }
                axpy(0.5 * beta * beta, &candidate.second, &mut candidate.precision);
            }
        }
        in_range(&candidate.precision)
            && cholesky::factor(d, &candidate.precision, &mut candidate.factor, &mut candidate.workspace).is_ok()
            && factor_in_range(d, &candidate.factor)
    }

    fn solve_candidate(dim: usize, candidate: &Candidate, x: &mut [f64]) {
        cholesky::solve_factor(dim, &candidate.factor, x);
        cholesky::solve_factor_transposed(dim, &candidate.factor, x);
    }

    fn whiten_candidate(dim: usize, candidate: &Candidate, x: &[f64], out: &mut [f64]) {
        cholesky::factor_transposed_times(dim, &candidate.factor, x, out);
    }

    fn divergence(&self, candidate: &mut Candidate) -> f64 {
        // tr(PΣ_new) = ‖L_new⁻¹ L‖².
        candidate.spare.copy_from_slice(&self.factor);
        let trace = cholesky::norm_of_quotient(self.dim, &candidate.factor, &mut candidate.spare);
        trace - self.dim as f64 + cholesky::log_det(self.dim, &candidate.factor) - self.log_det_precision()
    }

    fn accept(&mut self, candidate: &mut Candidate) {
        std::mem::swap(&mut self.precision, &mut candidate.precision);
        std::mem::swap(&mut self.factor, &mut candidate.factor);
    }

    fn trace_product(&self, a: &[f64], b: &[f64], candidate: &mut Candidate) -> f64 {
        let d = self.dim;
        candidate.spare.copy_from_slice(a);
        candidate.second.copy_from_slice(b);
        self.solve(&mut candidate.spare);
        self.solve(&mut candidate.second);
        // tr(XY) with X = ΣA, Y = ΣB.
        (0..d).map(|i| (0..d).map(|j| candidate.spare[j * d + i] * candidate.second[i * d + j]).sum::<f64>()).sum()
    }
}
