//! The gradient in mean and precision from residual scores alone (mathematics §12.1).

use super::pace::Norm;
use crate::estimate::{LeastChange, square_norm_by_pairs};
use crate::linalg::{axpy, dot, products};

/// Memory for one number of pairs.
pub(super) struct ByLeastChange {
    d: usize,
    least: LeastChange,
    /// Gram matrices of pairs, where there are fewer draws than coordinates; otherwise what a regression leaves.
    grams: [Vec<f64>; 3],
    residual: Vec<f64>,
}

impl ByLeastChange {
    pub(super) fn new(d: usize, n: usize) -> Self {
        Self {
            d,
            least: LeastChange::new(d, n),
            grams: std::array::from_fn(|_| vec![0.0; if n > d { 0 } else { n * n }]),
            residual: vec![0.0; if n > d { d * n } else { 0 }],
        }
    }

    /// Writes a and B from draws and the odd and even parts of their residual scores.
    pub(super) fn estimate(
        &mut self,
        (e, odd, even): (&[f64], &[f64], &[f64]),
        is_matched: bool,
        (a, b): (&mut [f64], &mut [f64]),
    ) -> (Norm, Norm) {
        (mean_of(self.d, even, a, is_matched), self.scale_of(e, odd, is_matched, b))
    }

    /// The symmetric matrix of least change, and its squared norm.
    fn scale_of(&mut self, e: &[f64], odd: &[f64], is_matched: bool, b: &mut [f64]) -> Norm {
        let d = self.d;
        let kept = e.len() / d;
        let square = |x: &[f64]| dot(x, x);
        if kept <= d && !self.grams[0].is_empty() {
            // With n ≪ d the size of B and of the noise around Be is known before B is, and so is the best ridge.
            let [ee, ss, es] = &mut self.grams;
            let pairs = kept * kept;
            let grams = [&mut ee[..pairs], &mut ss[..pairs], &mut es[..pairs]];
            let signal = square_norm_by_pairs(d, e, odd, grams);
            let raw = square(odd) / kept as f64;
            let noise = (raw - signal.max(0.0)).max(0.0) / d as f64;
            let size = signal.max(0.0) / (d * d) as f64;
            let ridge = if noise > 0.0 { (noise / size.max(f64::MIN_POSITIVE)).min(1e6 * kept as f64) } else { 0.0 };
            if !self.least.solve(e, odd, ridge, b) {
                b.fill(0.0);
            }
            return Norm { raw, signal: signal.min(raw) };
        }
        if is_matched {
            self.least.solve_matched(e, odd, 0.0, b);
        } else if !self.least.solve(e, odd, 0.0, b) {
            b.fill(0.0);
        }
        let residual = &mut self.residual[..d * kept];
        residual.copy_from_slice(odd);
        products::add_product(b, e, d, d, kept, residual);
        let mut noise = 0.0;
        for (e, residual) in e.chunks_exact(d).zip(residual.chunks_exact(d)) {
            noise += 0.5 * (square(e) * square(residual) + dot(e, residual).powi(2));
        }
        let (n, d) = (kept as f64, d as f64);
        let left = (n - 0.5 * (d + 1.0)).max(1.0);
        let raw = square(b);
        Norm { raw, signal: raw - (noise / (n * left)).min(raw) }
    }
}

/// Writes the mean of the even parts; where draws have the covariance I the squares in them are exact, and there is no
/// noise worth its estimate.
fn mean_of(d: usize, even: &[f64], a: &mut [f64], is_matched: bool) -> Norm {
    let n = (even.len() / d) as f64;
    a.fill(0.0);
    even.chunks_exact(d).for_each(|even| axpy(1.0 / n, even, a));
    let raw = dot(a, a);
    if is_matched {
        return Norm { raw, signal: raw };
    }
    let apart = |even: &[f64]| even.iter().zip(a.iter()).map(|(v, a)| (v - a) * (v - a)).sum::<f64>();
    let noise: f64 = even.chunks_exact(d).map(apart).sum::<f64>() / (n * (n - 1.0));
    Norm { raw, signal: raw - noise }
}
