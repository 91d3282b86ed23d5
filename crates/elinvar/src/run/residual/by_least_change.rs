//! The gradient in mean and precision from residual scores alone (mathematics §12.1).

use super::diagonal::Entries;
use super::findings::Norm;
use crate::estimate::{HermiteRegression, LeastChange, Parity, square_norm_by_pairs};
use crate::linalg::{axpy, dot, products};

/// Memory for one number of pairs.
pub(super) struct ByLeastChange {
    d: usize,
    entries: Entries,
    least: LeastChange,
    /// Gram matrices of pairs, where there are fewer draws than coordinates; otherwise what a regression leaves.
    grams: [Vec<f64>; 3],
    residual: Vec<f64>,
    /// Regressions that know the next order, where there are draws for it.
    slopes: Option<HermiteRegression>,
    centre: Option<HermiteRegression>,
    other: Vec<f64>,
}

impl ByLeastChange {
    pub(super) fn new(d: usize, n: usize, entries: Entries) -> Self {
        Self {
            d,
            entries,
            least: LeastChange::new(d, n),
            grams: std::array::from_fn(|_| vec![0.0; if n > d { 0 } else { n * n }]),
            residual: vec![0.0; if n > d { d * n } else { 0 }],
            slopes: HermiteRegression::new(d, n, Parity::Odd),
            centre: HermiteRegression::new(d, n, Parity::Even),
            other: vec![0.0; d * d],
        }
    }

    /// Writes a and B from draws and the odd and even parts of their residual scores. Each of the `n_parts` equal
    /// parts of the draws has the covariance I where they are matched.
    pub(super) fn estimate(
        &mut self,
        (e, odd, even): (&[f64], &[f64], &[f64]),
        n_parts: Option<usize>,
        (a, b): (&mut [f64], &mut [f64]),
    ) -> (Norm, Norm) {
        (self.mean_of(e, even, n_parts, a), self.scale_of(e, odd, n_parts.is_some(), b))
    }

    /// Whether the noise of the mean can be told: one part whose squares are exact says nothing about it.
    pub(super) fn knows_noise(&self, n_parts: Option<usize>) -> bool {
        self.centre.is_some() || n_parts != Some(1)
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
            if self.entries == Entries::Diagonal {
                // Too few were left of the pairs that were drawn; what noise is in so few is not known.
                let raw = self.entries.square(d, b);
                return Norm { raw, signal: raw };
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
            noise += match self.entries {
                Entries::All => 0.5 * (square(e) * square(residual) + dot(e, residual).powi(2)),
                Entries::Diagonal => e.iter().zip(residual).map(|(e, r)| (e * r).powi(2)).sum(),
            };
        }
        let n = kept as f64;
        let left = (n - 0.5 * (d as f64 + 1.0)).max(1.0);
        let noise = noise / (n * left);
        let known = self.slopes.as_mut().and_then(|slopes| slopes.estimate(e, odd, &mut self.other));
        let noise = match known.filter(|known| *known < noise) {
            Some(known) => {
                b.iter_mut().zip(&self.other).for_each(|(b, slope)| *b = -slope);
                known
            }
            None => noise,
        };
        let raw = self.entries.square(d, b);
        Norm { raw, signal: raw - noise.min(raw) }
    }

    /// Writes the mean of the even parts. Where draws have the covariance I the squares in them are exact, and what the
    /// rest comes to shows between parts of the draws; one part alone does not tell.
    fn mean_of(&mut self, e: &[f64], even: &[f64], n_parts: Option<usize>, a: &mut [f64]) -> Norm {
        let d = self.d;
        if let Some(noise) = self.centre.as_mut().and_then(|centre| centre.estimate(e, even, a)) {
            let raw = dot(a, a);
            return Norm { raw, signal: raw - noise };
        }
        let n = (even.len() / d) as f64;
        a.fill(0.0);
        even.chunks_exact(d).for_each(|even| axpy(1.0 / n, even, a));
        let raw = dot(a, a);
        let n_parts = n_parts.unwrap_or(even.len() / d);
        if n_parts == 1 {
            return Norm { raw, signal: raw };
        }
        let part = &mut self.other[..d];
        let (size, parts) = (even.len() / n_parts, n_parts as f64);
        let mut noise = 0.0;
        for even in even.chunks_exact(size) {
            part.copy_from_slice(a);
            even.chunks_exact(d).for_each(|even| axpy(-(d as f64) / size as f64, even, part));
            noise += dot(part, part) / (parts * (parts - 1.0));
        }
        Norm { raw, signal: raw - noise }
    }
}
