//! One batch of mirrored draws: residual scores, and what they say about the mean and the precision.

use super::gaussian::Whitened;
use super::pace::{Findings, Norm};
use crate::Error;
use crate::estimate::{LeastChange, match_covariance, square_norm_by_pairs};
use crate::evaluate::Evaluator;
use crate::linalg::{axpy, cholesky, dot, products};
use crate::random::{Noise, NoiseSource, Purpose};
use crate::target::DrawBuffer;

/// Memory for batches of one number of pairs.
pub(super) struct Batch {
    d: usize,
    noise: NoiseSource,
    /// Whitened draws e, one of each pair; then the same unwhitened, later residuals.
    e: Vec<f64>,
    spread: Vec<f64>,
    pub(super) draws: DrawBuffer,
    /// Odd and even parts of the residual scores of a pair.
    odd: Vec<f64>,
    even: Vec<f64>,
    heights: Vec<f64>,
    least: LeastChange,
    /// Gram matrices of pairs, where there are fewer draws than coordinates.
    grams: [Vec<f64>; 3],
    weights: Vec<f64>,
    scratch: Vec<f64>,
    matrices: [Vec<f64>; 2],
    workspace: cholesky::Workspace,
}

/// What came of a batch.
pub(super) enum Look {
    /// The ELBO with its standard error, and the findings; the whitened gradient was written.
    Good { elbo: (f64, f64), found: Findings },
    /// More than half of the pairs could not be evaluated.
    TooManyBad,
}

impl Batch {
    /// Memory for `n` pairs in `d` dimensions.
    pub(super) fn new(d: usize, n: usize) -> Self {
        let pairs = if n > d { 0 } else { n * n };
        Self {
            d,
            noise: NoiseSource::new(if n > d { Noise::QuasiMonteCarlo } else { Noise::Independent }, d, n),
            e: vec![0.0; d * n],
            spread: vec![0.0; d * n],
            draws: DrawBuffer::zeros(d, 2 * n),
            odd: vec![0.0; d * n],
            even: vec![0.0; d * n],
            heights: vec![0.0; n],
            least: LeastChange::new(d, n),
            grams: std::array::from_fn(|_| vec![0.0; pairs]),
            weights: vec![0.0; n],
            scratch: vec![0.0; d * products::GRAM_BLOCK.min(n)],
            matrices: std::array::from_fn(|_| vec![0.0; d * d]),
            workspace: cholesky::Workspace::new(d),
        }
    }

    pub(super) fn n_pairs(&self) -> usize {
        self.weights.len()
    }

    /// Draws, asks and estimates at `q`; writes the whitened gradient, a and then B, to `gradient`.
    ///
    /// # Errors
    /// A fatal error of the target; [`Error::Interrupted`].
    pub(super) fn look(
        &mut self,
        q: &Whitened,
        evaluator: &mut Evaluator<'_>,
        (seed, step): (u64, u64),
        gradient: &mut [f64],
    ) -> Result<Look, Error> {
        let (d, n) = (self.d, self.n_pairs());
        self.noise.begin(seed, Purpose::Draws, step, 0);
        self.noise.fill_eps(&mut self.e);
        let [gram, factor] = &mut self.matrices;
        let memory = [&mut gram[..], &mut factor[..]];
        let mut is_matched = n > d
            && match_covariance(d, &mut self.e, &mut self.weights, &mut self.scratch, memory, &mut self.workspace);
        self.spread.copy_from_slice(&self.e);
        cholesky::solve_factor_transposed(d, &q.factor, &mut self.spread);
        for (s, offset) in self.spread.chunks_exact(d).enumerate() {
            for (half, sign) in [(0, 1.0), (n, -1.0)] {
                let z = self.draws.get_mut(half + s);
                z.copy_from_slice(&q.mean);
                axpy(sign, offset, z);
            }
        }
        evaluator.evaluate_gradients(self.draws.view())?;
        let kept = self.keep_good(evaluator);
        if 2 * kept < n || kept < 2 {
            return Ok(Look::TooManyBad);
        }
        is_matched &= kept == n;
        let (e, odd, even) = (&self.e[..d * kept], &mut self.odd[..d * kept], &mut self.even[..d * kept]);
        cholesky::solve_factor(d, &q.factor, odd);
        cholesky::solve_factor(d, &q.factor, even);
        axpy(1.0, e, odd);
        let (a, b) = gradient.split_at_mut(d);
        let mean = mean_of(d, even, a, is_matched);
        let scale = self.scale_of(kept, is_matched, b);
        if !gradient.iter().all(|v| v.is_finite()) {
            return Ok(Look::TooManyBad);
        }
        let found = Findings { mean, scale, n_pairs: kept, n_lost: n - kept, is_determined: kept > d };
        Ok(Look::Good { elbo: self.elbo(kept, q), found })
    }

    /// Puts the pairs whose two draws are finite to the front, with odd and even parts of their gradients.
    fn keep_good(&mut self, evaluator: &Evaluator<'_>) -> usize {
        let (d, n, answer) = (self.d, self.n_pairs(), evaluator.answer());
        let good = |s: usize| answer.log_p()[s].is_finite() && answer.grad(s).iter().all(|v| v.is_finite());
        let mut kept = 0;
        for s in 0..n {
            if !(good(s) && good(n + s)) {
                continue;
            }
            let parts = self.odd[kept * d..(kept + 1) * d].iter_mut().zip(&mut self.even[kept * d..(kept + 1) * d]);
            for ((odd, even), (plus, minus)) in parts.zip(answer.grad(s).iter().zip(answer.grad(n + s))) {
                (*odd, *even) = (0.5 * (plus - minus), 0.5 * (plus + minus));
            }
            self.heights[kept] = 0.5 * (answer.log_p()[s] + answer.log_p()[n + s]);
            self.e.copy_within(s * d..(s + 1) * d, kept * d);
            kept += 1;
        }
        kept
    }

    /// The symmetric matrix of least change, and its squared norm.
    fn scale_of(&mut self, kept: usize, is_matched: bool, b: &mut [f64]) -> Norm {
        let d = self.d;
        let (e, odd) = (&self.e[..d * kept], &self.odd[..d * kept]);
        let square = |x: &[f64]| dot(x, x);
        if kept <= d {
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
        let residual = &mut self.spread[..d * kept];
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

    /// The mean of log p − log q over the draws, the entropy being known.
    fn elbo(&self, kept: usize, q: &Whitened) -> (f64, f64) {
        let (d, n) = (self.d, kept as f64);
        let height = |s: usize| self.heights[s] + 0.5 * dot(&self.e[s * d..(s + 1) * d], &self.e[s * d..(s + 1) * d]);
        let mean = (0..kept).map(height).sum::<f64>() / n;
        let variance = (0..kept).map(|s| (height(s) - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
        let constant = 0.5 * d as f64 * std::f64::consts::TAU.ln() - q.half_log_det();
        (mean + constant, (variance / n).sqrt())
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
