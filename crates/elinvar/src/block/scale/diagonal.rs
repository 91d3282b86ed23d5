//! A diagonal precision matrix: every operation elementwise.

use super::{Candidate, LARGEST, MARGIN};
use crate::Error;
use crate::rule::{Rule, retraction};

/// P = diag(p), with L = diag(√p).
#[derive(Debug, PartialEq)]
pub struct Diagonal {
    precision: Vec<f64>,
    root: Vec<f64>,
}

impl Clone for Diagonal {
    fn clone(&self) -> Self {
        Self { precision: self.precision.clone(), root: self.root.clone() }
    }

    fn clone_from(&mut self, source: &Self) {
        self.precision.clone_from(&source.precision);
        self.root.clone_from(&source.root);
    }
}

impl Diagonal {
    fn scale_rows(x: &mut [f64], by: &[f64], f: impl Fn(f64, f64) -> f64) {
        for column in x.chunks_exact_mut(by.len()) {
            for (value, b) in column.iter_mut().zip(by) {
                *value = f(*value, *b);
            }
        }
    }
}

/// The methods of [`Scale`](super::Scale), which says what they are.
impl Diagonal {
    pub(super) fn from_precision(dim: usize, entries: Vec<f64>) -> Result<Self, Error> {
        if entries.len() != dim {
            return Err(Error::Shape { what: "entries of a diagonal precision", expected: dim, found: entries.len() });
        }
        if let Some(pivot) = entries.iter().position(|p| !(*p > 0.0 && p.is_finite())) {
            return Err(Error::NotPositiveDefinite { what: "the diagonal precision", pivot });
        }
        let root = entries.iter().map(|p| p.sqrt()).collect();
        Ok(Self { precision: entries, root })
    }

    pub(super) fn refactor(&self, candidate: &mut Candidate) -> bool {
        candidate.factor.iter_mut().zip(&candidate.precision).for_each(|(root, p)| *root = p.sqrt());
        candidate.precision.iter().all(|p| *p > 0.0 && p.is_finite())
    }

    pub(super) fn dim(&self) -> usize {
        self.precision.len()
    }

    pub(super) fn precision(&self) -> &[f64] {
        &self.precision
    }

    pub(super) fn log_det_precision(&self) -> f64 {
        self.precision.iter().map(|p| p.ln()).sum()
    }

    pub(super) fn unwhiten(&self, x: &mut [f64]) {
        Self::scale_rows(x, &self.root, |v, r| v / r);
    }

    pub(super) fn whiten(&self, x: &[f64], out: &mut [f64]) {
        out.copy_from_slice(x);
        Self::scale_rows(out, &self.root, |v, r| v * r);
    }

    pub(super) fn whiten_gradient(&self, x: &mut [f64]) {
        self.unwhiten(x);
    }

    pub(super) fn factor_times(&self, x: &[f64], out: &mut [f64]) {
        self.whiten(x, out);
    }

    pub(super) fn add_precision_times(&self, x: &[f64], out: &mut [f64]) {
        for ((out, p), value) in out.iter_mut().zip(&self.precision).zip(x) {
            *out += p * value;
        }
    }

    pub(super) fn solve(&self, x: &mut [f64]) {
        Self::scale_rows(x, &self.precision, |v, p| v / p);
    }

    pub(super) fn log_det_candidate(&self, candidate: &Candidate) -> f64 {
        candidate.precision.iter().map(|p| p.ln()).sum()
    }

    pub(super) fn variances_into(&self, _scratch: &mut [f64], out: &mut [f64]) {
        out.iter_mut().zip(&self.precision).for_each(|(v, p)| *v = 1.0 / p);
    }

    pub(super) fn covariance_into(&self, out: &mut [f64]) {
        let d = self.dim();
        out.fill(0.0);
        for (i, p) in self.precision.iter().enumerate() {
            out[i * d + i] = 1.0 / p;
        }
    }

    pub(super) fn propose(
        &self,
        rule: Rule,
        beta: f64,
        g: &[f64],
        _direction_ready: bool,
        candidate: &mut Candidate,
    ) -> bool {
        let entries = candidate.precision.iter_mut().zip(&mut candidate.factor);
        for (((new, root), p), gi) in entries.zip(&self.precision).zip(g) {
            *new = match rule {
                Rule::Retraction => retraction::positive(*p, beta * gi),
                // The other rules come here with a plain step.
                _ => p + beta * gi,
            };
            let kept = *new > if matches!(rule, Rule::Retraction | Rule::Printed(_)) { 0.0 } else { MARGIN * p };
            *root = new.sqrt();
            if !(kept && *new < LARGEST && *root > 1.0 / LARGEST) {
                return false;
            }
        }
        true
    }

    pub(super) fn solve_candidate(&self, candidate: &Candidate, x: &mut [f64]) {
        Self::scale_rows(x, &candidate.precision, |v, p| v / p);
    }

    pub(super) fn whiten_candidate(&self, candidate: &Candidate, x: &[f64], out: &mut [f64]) {
        out.copy_from_slice(x);
        Self::scale_rows(out, &candidate.factor, |v, r| v * r);
    }

    pub(super) fn divergence(&self, candidate: &mut Candidate) -> f64 {
        self.precision.iter().zip(&candidate.precision).map(|(old, new)| old / new - 1.0 - (old / new).ln()).sum()
    }

    pub(super) fn accept(&mut self, candidate: &mut Candidate) {
        std::mem::swap(&mut self.precision, &mut candidate.precision);
        std::mem::swap(&mut self.root, &mut candidate.factor);
    }

    pub(super) fn trace_product(&self, a: &[f64], b: &[f64], _candidate: &mut Candidate) -> f64 {
        self.precision.iter().zip(a).zip(b).map(|((p, a), b)| a * b / (p * p)).sum()
    }

    pub(super) fn trace_of_solved(&self, g: &[f64], _scratch: &mut [f64]) -> f64 {
        g.iter().zip(&self.precision).map(|(g, p)| g / p).sum()
    }

    pub(super) fn congruent(&self, m: &[f64], _scratch: &mut [Vec<f64>; 2], out: &mut [f64]) {
        out.iter_mut().zip(m.iter().zip(&self.precision)).for_each(|(a, (m, p))| *a = m * p);
    }

    pub(super) fn chart_len(&self) -> usize {
        self.precision.len()
    }

    pub(super) fn chart(&self, _candidate: &mut Candidate, out: &mut [f64]) {
        out.iter_mut().zip(&self.precision).for_each(|(out, p)| *out = -0.5 * p.ln());
    }

    pub(super) fn chart_gradient(&self, factor: f64, g: &[f64], _candidate: &mut Candidate, out: &mut [f64]) {
        out.iter_mut().zip(g).zip(&self.precision).for_each(|((out, g), p)| *out = -factor * g / p);
    }

    pub(super) fn propose_chart(&self, coordinates: &[f64], candidate: &mut Candidate) -> bool {
        let entries = candidate.precision.iter_mut().zip(&mut candidate.factor);
        entries.zip(coordinates).all(|((p, root), log)| {
            *p = (-2.0 * log).exp();
            *root = p.sqrt();
            *p < LARGEST && *p > 1.0 / LARGEST
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Full;
    use super::*;
    use crate::target::Shape;

    /// A diagonal matrix behaves as the full matrix with the same entries.
    #[test]
    fn agrees_with_the_full_matrix() {
        let (d, p, g) = (3, [0.5, 2.0, 7.0], [0.3, -0.2, 1.5]);
        let spread = |v: &[f64]| {
            let mut m = vec![0.0; d * d];
            (0..d).for_each(|i| m[i * d + i] = v[i]);
            m
        };
        let diagonal = Diagonal::from_precision(d, p.to_vec()).expect("positive");
        let full = Full::from_precision(d, spread(&p)).expect("positive");
        for rule in [Rule::NaturalGradient, Rule::Retraction] {
            let (mut a, mut b) = (Candidate::new(Shape::Diagonal(d)), Candidate::new(Shape::Full(d)));
            assert!(diagonal.propose(rule, 0.7, &g, false, &mut a));
            assert!(full.propose(rule, 0.7, &spread(&g), false, &mut b));
            for i in 0..d {
                assert!((a.precision[i] - b.precision[i * d + i]).abs() < 1e-13);
            }
            assert!((diagonal.divergence(&mut a) - full.divergence(&mut b)).abs() < 1e-13);
            let (ta, tb) =
                (diagonal.trace_product(&g, &p, &mut a), full.trace_product(&spread(&g), &spread(&p), &mut b));
            assert!((ta - tb).abs() < 1e-13);
        }
    }
}
