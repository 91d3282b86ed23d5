//! The gradient in mean and precision from sums of Hessians over the two halves of a batch (mathematics §12.5).

use super::batch::Kept;
use super::diagonal::Entries;
use super::findings::Norm;
use super::gaussian::Whitened;
use crate::linalg::{axpy, cholesky, dot};
use crate::target::Contraction;

/// Memory for one number of pairs.
pub(super) struct ByHessians {
    d: usize,
    entries: Entries,
    /// Weights of all draws in the sum of each half.
    weights: Vec<f64>,
    other: Vec<f64>,
    turned: Vec<f64>,
}

impl ByHessians {
    pub(super) fn new(d: usize, n: usize, entries: Entries) -> Self {
        Self { d, entries, weights: vec![0.0; 4 * n], other: vec![0.0; d * d], turned: vec![0.0; d * d] }
    }

    /// The averages over the first and over the second half of the pairs that are not lost.
    pub(super) fn weigh(&mut self, is_lost: &[bool]) -> Contraction<'_> {
        let n = is_lost.len();
        self.weights.fill(0.0);
        for (half, weights) in self.weights.chunks_exact_mut(2 * n).enumerate() {
            let pairs = half * (n / 2)..(half + 1) * (n / 2);
            let kept = pairs.clone().filter(|s| !is_lost[*s]).count();
            for s in pairs.filter(|s| !is_lost[*s]) {
                (weights[s], weights[n + s]) = (0.5 / kept as f64, 0.5 / kept as f64);
            }
        }
        Contraction::shared(&self.weights, 2 * n)
    }

    /// Writes a and B, from the even parts of whitened gradients and the averages of Hessians; nothing where a half was
    /// lost. The halves are independent, and half of their difference is as large as the noise of their mean.
    pub(super) fn estimate(
        &mut self,
        q: &Whitened,
        even: &[f64],
        kept: Kept,
        hessians: &[f64],
        (a, b): (&mut [f64], &mut [f64]),
    ) -> Option<(Norm, Norm)> {
        let d = self.d;
        let (first, second) = even.split_at(kept.first * d);
        if first.is_empty() || second.is_empty() || !hessians.iter().all(|v| v.is_finite()) {
            return None;
        }
        let other = &mut self.other[..d];
        for (even, out) in [(first, &mut *a), (second, &mut *other)] {
            out.fill(0.0);
            even.chunks_exact(d).for_each(|row| axpy(d as f64 / even.len() as f64, row, out));
        }
        let mean = average(a, other);
        let (first, second) = hessians.split_at(d * d);
        whiten(d, q, first, &mut self.turned, b);
        whiten(d, q, second, &mut self.turned, &mut self.other);
        let whole = average(b, &mut self.other);
        let noise = match self.entries {
            Entries::All => whole.noise(),
            Entries::Diagonal => self.other.iter().step_by(d + 1).map(|v| v * v).sum(),
        };
        b.iter_mut().step_by(d + 1).for_each(|entry| *entry -= 1.0);
        let raw = self.entries.square(d, b);
        Some((mean, Norm { raw, signal: raw - noise }))
    }
}

/// a ← (a + b)/2 and b ← (a − b)/2, with the product of the two as the square of the former without noise.
fn average(a: &mut [f64], b: &mut [f64]) -> Norm {
    let mut noise = 0.0;
    for (a, b) in a.iter_mut().zip(b) {
        (*a, *b) = (0.5 * (*a + *b), 0.5 * (*a - *b));
        noise += *b * *b;
    }
    let raw = dot(a, a);
    Norm { raw, signal: raw - noise }
}

/// out ← −L⁻¹HL⁻ᵀ.
pub(super) fn whiten(d: usize, q: &Whitened, hessian: &[f64], turned: &mut [f64], out: &mut [f64]) {
    turned.copy_from_slice(hessian);
    cholesky::solve_factor(d, &q.factor, turned);
    for (j, column) in out.chunks_exact_mut(d).enumerate() {
        column.iter_mut().enumerate().for_each(|(i, entry)| *entry = -turned[i * d + j]);
    }
    cholesky::solve_factor(d, &q.factor, out);
}
