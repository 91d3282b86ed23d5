//! A diagonal precision matrix: every operation elementwise.

use super::scale_matrix::{Candidate, LARGEST, MARGIN, ScaleMatrix};
use crate::Error;
use crate::rule::Rule;
use crate::target::Covariance;

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

impl ScaleMatrix for Diagonal {
    const COVARIANCE: Covariance = Covariance::Diagonal;

    fn from_precision(dim: usize, entries: Vec<f64>) -> Result<Self, Error> {
        if entries.len() != dim {
            return Err(Error::Shape { what: "entries of a diagonal precision", expected: dim, found: entries.len() });
        }
        if let Some(pivot) = entries.iter().position(|p| !(*p > 0.0 && p.is_finite())) {
            return Err(Error::NotPositiveDefinite { what: "the diagonal precision", pivot });
        }
        let root = entries.iter().map(|p| p.sqrt()).collect();
        Ok(Self { precision: entries, root })
    }

    fn dim(&self) -> usize {
        self.precision.len()
    }

    fn precision(&self) -> &[f64] {
        &self.precision
    }

    fn log_det_precision(&self) -> f64 {
        self.precision.iter().map(|p| p.ln()).sum()
    }

    fn unwhiten(&self, x: &mut [f64]) {
        Self::scale_rows(x, &self.root, |v, r| v / r);
    }

    fn whiten(&self, x: &[f64], out: &mut [f64]) {
        out.copy_from_slice(x);
        Self::scale_rows(out, &self.root, |v, r| v * r);
    }

    fn whiten_gradient(&self, x: &mut [f64]) {
        self.unwhiten(x);
    }

    fn factor_times(&self, x: &[f64], out: &mut [f64]) {
        self.whiten(x, out);
    }

    fn add_precision_times(&self, x: &[f64], out: &mut [f64]) {
        for ((out, p), value) in out.iter_mut().zip(&self.precision).zip(x) {
            *out += p * value;
        }
    }

    fn solve(&self, x: &mut [f64]) {
        Self::scale_rows(x, &self.precision, |v, p| v / p);
    }

    fn covariance_into(&self, out: &mut [f64]) {
        let d = self.dim();
        out.fill(0.0);
        for (i, p) in self.precision.iter().enumerate() {
            out[i * d + i] = 1.0 / p;
        }
    }

    fn add_outer(c: f64, v: &[f64], acc: &mut [f64]) {
        for (entry, vi) in acc.iter_mut().zip(v) {
            *entry += c * vi * vi;
        }
    }

    fn add_identity(_dim: usize, c: f64, leading: usize, acc: &mut [f64]) {
        for entry in &mut acc[..leading] {
            *entry += c;
        }
    }

    fn add_weighted_gram(dim: usize, r: &[f64], w: &[f64], _scratch: &mut [f64], acc: &mut [f64]) {
        for (column, weight) in r.chunks_exact(dim).zip(w) {
            Self::add_outer(*weight, column, acc);
        }
    }

    fn add_symmetrised(dim: usize, r: &[f64], g: &[f64], w: &[f64], _scratch: &mut [f64], acc: &mut [f64]) {
        for ((r, g), weight) in r.chunks_exact(dim).zip(g.chunks_exact(dim)).zip(w) {
            for ((entry, ri), gi) in acc.iter_mut().zip(r).zip(g) {
                *entry += weight * ri * gi;
            }
        }
    }

    fn complete(_dim: usize, _acc: &mut [f64]) {}

    fn propose(&self, rule: Rule, beta: f64, g: &[f64], _direction_ready: bool, candidate: &mut Candidate) -> bool {
        let entries = candidate.precision.iter_mut().zip(&mut candidate.factor);
        for (((new, root), p), gi) in entries.zip(&self.precision).zip(g) {
            *new = match rule {
                // ½[p + (p + βg)²/p]: a sum of non-negative terms.
                Rule::Retraction => 0.5 * (p + (p + beta * gi) * ((p + beta * gi) / p)),
                // The other rules come here with a plain step.
                _ => p + beta * gi,
            };
            let kept = *new > if rule == Rule::Retraction { 0.0 } else { MARGIN * p };
            *root = new.sqrt();
            if !(kept && *new < LARGEST && *root > 1.0 / LARGEST) {
                return false;
            }
        }
        true
    }

    fn solve_candidate(_dim: usize, candidate: &Candidate, x: &mut [f64]) {
        Self::scale_rows(x, &candidate.precision, |v, p| v / p);
    }

    fn whiten_candidate(_dim: usize, candidate: &Candidate, x: &[f64], out: &mut [f64]) {
        out.copy_from_slice(x);
        Self::scale_rows(out, &candidate.factor, |v, r| v * r);
    }

    fn divergence(&self, candidate: &mut Candidate) -> f64 {
        self.precision.iter().zip(&candidate.precision).map(|(old, new)| old / new - 1.0 - (old / new).ln()).sum()
    }

    fn accept(&mut self, candidate: &mut Candidate) {
        std::mem::swap(&mut self.precision, &mut candidate.precision);
        std::mem::swap(&mut self.root, &mut candidate.factor);
    }

    fn trace_product(&self, a: &[f64], b: &[f64], _candidate: &mut Candidate) -> f64 {
        self.precision.iter().zip(a).zip(b).map(|((p, a), b)| a * b / (p * p)).sum()
    }

    fn chart_len(dim: usize) -> usize {
        dim
    }

    fn chart(&self, _candidate: &mut Candidate, out: &mut [f64]) {
        out.iter_mut().zip(&self.precision).for_each(|(out, p)| *out = -0.5 * p.ln());
    }

    fn chart_gradient(&self, factor: f64, g: &[f64], _candidate: &mut Candidate, out: &mut [f64]) {
        out.iter_mut().zip(g).zip(&self.precision).for_each(|((out, g), p)| *out = -factor * g / p);
    }

    fn propose_chart(_dim: usize, coordinates: &[f64], candidate: &mut Candidate) -> bool {
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
            let (mut a, mut b) = (Candidate::new(Covariance::Diagonal, d), Candidate::new(Covariance::Full, d));
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
