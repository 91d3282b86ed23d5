//! A full symmetric precision matrix.

use super::{Candidate, LARGEST, MARGIN, in_range};
use crate::Error;
use crate::linalg::{axpy, cholesky, dot, products};
use crate::rule::{Rule, retraction};

/// P = L Lᵀ with all entries.
#[derive(Debug, PartialEq)]
pub struct Full {
    dim: usize,
    precision: Vec<f64>,
    factor: Vec<f64>,
}

impl Clone for Full {
    fn clone(&self) -> Self {
        Self { dim: self.dim, precision: self.precision.clone(), factor: self.factor.clone() }
    }

    fn clone_from(&mut self, source: &Self) {
        self.dim = source.dim;
        self.precision.clone_from(&source.precision);
        self.factor.clone_from(&source.factor);
    }
}

impl Full {
    /// The lower factor C of Σ = C Cᵀ, written to `candidate.second`; false if rounding leaves none.
    ///
    /// With the order of the coordinates reversed, JPJ = MMᵀ, it is C = J M⁻ᵀ J, and reversing a matrix in both
    /// directions is reversing its entries: no inverse of P is factored.
    fn covariance_factor(&self, candidate: &mut Candidate) -> bool {
        let d = self.dim;
        candidate.spare.copy_from_slice(&self.precision);
        candidate.spare.reverse();
        if cholesky::factor(d, &candidate.spare, &mut candidate.factor, &mut candidate.workspace).is_err() {
            return false;
        }
        set_identity(d, &mut candidate.second);
        cholesky::solve_factor_transposed(d, &candidate.factor, &mut candidate.second);
        candidate.second.reverse();
        for (j, column) in candidate.second.chunks_exact_mut(d).enumerate() {
            column[..j].fill(0.0);
        }
        true
    }
}

fn set_identity(d: usize, matrix: &mut [f64]) {
    matrix.fill(0.0);
    matrix.iter_mut().step_by(d + 1).for_each(|entry| *entry = 1.0);
}

/// Whether a factor's diagonal, and so every triangular solve with it, stays in range.
fn factor_in_range(dim: usize, factor: &[f64]) -> bool {
    (0..dim).all(|i| {
        let pivot = factor[i * dim + i];
        pivot > 1.0 / LARGEST && pivot < LARGEST
    })
}

/// The methods of [`Scale`](super::Scale), which says what they are.
impl Full {
    pub(super) fn from_precision(dim: usize, entries: Vec<f64>) -> Result<Self, Error> {
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

    pub(super) fn refactor(&self, candidate: &mut Candidate) -> bool {
        let Candidate { precision, factor, workspace, .. } = candidate;
        cholesky::factor(self.dim, precision, factor, workspace).is_ok()
    }

    pub(super) fn dim(&self) -> usize {
        self.dim
    }

    pub(super) fn precision(&self) -> &[f64] {
        &self.precision
    }

    pub(super) fn log_det_precision(&self) -> f64 {
        cholesky::log_det(self.dim, &self.factor)
    }

    pub(super) fn unwhiten(&self, x: &mut [f64]) {
        cholesky::solve_factor_transposed(self.dim, &self.factor, x);
    }

    pub(super) fn whiten(&self, x: &[f64], out: &mut [f64]) {
        cholesky::factor_transposed_times(self.dim, &self.factor, x, out);
    }

    pub(super) fn whiten_gradient(&self, x: &mut [f64]) {
        cholesky::solve_factor(self.dim, &self.factor, x);
    }

    pub(super) fn factor_times(&self, x: &[f64], out: &mut [f64]) {
        cholesky::factor_times(self.dim, &self.factor, x, out);
    }

    pub(super) fn add_precision_times(&self, x: &[f64], out: &mut [f64]) {
        for (column, value) in self.precision.chunks_exact(self.dim).zip(x) {
            axpy(*value, column, out);
        }
    }

    pub(super) fn solve(&self, x: &mut [f64]) {
        cholesky::solve_factor(self.dim, &self.factor, x);
        cholesky::solve_factor_transposed(self.dim, &self.factor, x);
    }

    pub(super) fn log_det_candidate(&self, candidate: &Candidate) -> f64 {
        cholesky::log_det(self.dim, &candidate.factor)
    }

    /// V = L⁻ᵀL⁻¹: the squared columns of L⁻¹.
    pub(super) fn variances_into(&self, scratch: &mut [f64], out: &mut [f64]) {
        let inverse = &mut scratch[..self.dim * self.dim];
        set_identity(self.dim, inverse);
        self.whiten_gradient(inverse);
        out.iter_mut().zip(inverse.chunks_exact(self.dim)).for_each(|(v, column)| *v = dot(column, column));
    }

    pub(super) fn covariance_into(&self, out: &mut [f64]) {
        cholesky::inverse(self.dim, &self.factor, out, &mut cholesky::Workspace::new(self.dim));
    }

    pub(super) fn propose(
        &self,
        rule: Rule,
        beta: f64,
        g: &[f64],
        direction_ready: bool,
        candidate: &mut Candidate,
    ) -> bool {
        let d = self.dim;
        candidate.precision.copy_from_slice(&self.precision);
        axpy(beta, g, &mut candidate.precision);
        match rule {
            Rule::Retraction => {
                if !direction_ready {
                    retraction::second_order(d, &self.factor, g, &mut candidate.spare, &mut candidate.second);
                }
                retraction::complete(beta, &candidate.second, &mut candidate.precision);
            }
            // Positive definite is all that the paper asks for.
            Rule::Printed(_) => {}
            // The other rules come here with a plain step.
            _ => {
                candidate.spare.copy_from_slice(&candidate.precision);
                axpy(-MARGIN, &self.precision, &mut candidate.spare);
                if cholesky::factor(d, &candidate.spare, &mut candidate.factor, &mut candidate.workspace).is_err() {
                    return false;
                }
            }
        }
        in_range(&candidate.precision)
            && cholesky::factor(d, &candidate.precision, &mut candidate.factor, &mut candidate.workspace).is_ok()
            && factor_in_range(d, &candidate.factor)
    }

    pub(super) fn solve_candidate(&self, candidate: &Candidate, x: &mut [f64]) {
        cholesky::solve_factor(self.dim, &candidate.factor, x);
        cholesky::solve_factor_transposed(self.dim, &candidate.factor, x);
    }

    pub(super) fn whiten_candidate(&self, candidate: &Candidate, x: &[f64], out: &mut [f64]) {
        cholesky::factor_transposed_times(self.dim, &candidate.factor, x, out);
    }

    pub(super) fn divergence(&self, candidate: &mut Candidate) -> f64 {
        // tr(PΣ_new) = ‖L_new⁻¹ L‖².
        candidate.spare.copy_from_slice(&self.factor);
        let trace = cholesky::norm_of_quotient(self.dim, &candidate.factor, &mut candidate.spare);
        trace - self.dim as f64 + cholesky::log_det(self.dim, &candidate.factor) - self.log_det_precision()
    }

    pub(super) fn accept(&mut self, candidate: &mut Candidate) {
        std::mem::swap(&mut self.precision, &mut candidate.precision);
        std::mem::swap(&mut self.factor, &mut candidate.factor);
    }

    pub(super) fn trace_product(&self, a: &[f64], b: &[f64], candidate: &mut Candidate) -> f64 {
        let d = self.dim;
        candidate.spare.copy_from_slice(a);
        candidate.second.copy_from_slice(b);
        self.solve(&mut candidate.spare);
        self.solve(&mut candidate.second);
        // tr(XY) with X = ΣA, Y = ΣB.
        (0..d).map(|i| (0..d).map(|j| candidate.spare[j * d + i] * candidate.second[i * d + j]).sum::<f64>()).sum()
    }

    pub(super) fn trace_of_solved(&self, g: &[f64], scratch: &mut [f64]) -> f64 {
        let product = &mut scratch[..self.dim * self.dim];
        product.copy_from_slice(g);
        self.solve(product);
        product.iter().step_by(self.dim + 1).sum()
    }

    pub(super) fn congruent(&self, m: &[f64], scratch: &mut [Vec<f64>; 2], out: &mut [f64]) {
        let d = self.dim;
        let [product, transposed] = scratch;
        let (product, transposed) = (&mut product[..d * d], &mut transposed[..d * d]);
        self.factor_times(m, product);
        for (j, column) in product.chunks_exact(d).enumerate() {
            column.iter().enumerate().for_each(|(i, value)| transposed[i * d + j] = *value);
        }
        self.factor_times(transposed, out);
        // Products of both triangles round in their own ways.
        products::mirror_lower(d, out);
    }

    pub(super) fn chart_len(&self) -> usize {
        self.dim * (self.dim + 1) / 2
    }

    pub(super) fn chart(&self, candidate: &mut Candidate, out: &mut [f64]) {
        if !self.covariance_factor(candidate) {
            return out.fill(f64::NAN);
        }
        let mut at = 0;
        for (j, column) in candidate.second.chunks_exact(self.dim).enumerate() {
            let lower = &mut out[at..at + self.dim - j];
            lower.copy_from_slice(&column[j..]);
            lower[0] = lower[0].ln();
            at += lower.len();
        }
    }

    pub(super) fn chart_gradient(&self, factor: f64, g: &[f64], candidate: &mut Candidate, out: &mut [f64]) {
        let d = self.dim;
        if !self.covariance_factor(candidate) {
            return out.fill(f64::NAN);
        }
        candidate.spare.fill(0.0);
        products::add_product(g, &candidate.second, d, d, d, &mut candidate.spare);
        let mut at = 0;
        for j in 0..d {
            let lower = &mut out[at..at + d - j];
            let product = &candidate.spare[j * d + j..(j + 1) * d];
            lower.iter_mut().zip(product).for_each(|(out, entry)| *out = -factor * entry);
            lower[0] *= candidate.second[j * d + j];
            at += lower.len();
        }
    }

    pub(super) fn propose_chart(&self, coordinates: &[f64], candidate: &mut Candidate) -> bool {
        let d = self.dim;
        candidate.spare.fill(0.0);
        let mut at = 0;
        for (j, column) in candidate.spare.chunks_exact_mut(d).enumerate() {
            column[j..].copy_from_slice(&coordinates[at..at + d - j]);
            column[j] = column[j].exp();
            at += d - j;
        }
        if !(in_range(&candidate.spare) && factor_in_range(d, &candidate.spare)) {
            return false;
        }
        // P = WᵀW with W = C⁻¹.
        set_identity(d, &mut candidate.second);
        cholesky::solve_factor(d, &candidate.spare, &mut candidate.second);
        candidate.precision.fill(0.0);
        products::add_transposed_gram(&candidate.second, d, &mut candidate.precision);
        products::mirror_lower(d, &mut candidate.precision);
        // No step of a chart is bounded by the last state: products of two small entries must not vanish, either.
        in_range(&candidate.precision)
            && candidate.precision.iter().step_by(d + 1).all(|p| *p > 1.0 / LARGEST)
            && cholesky::factor(d, &candidate.precision, &mut candidate.factor, &mut candidate.workspace).is_ok()
            && factor_in_range(d, &candidate.factor)
    }
}
