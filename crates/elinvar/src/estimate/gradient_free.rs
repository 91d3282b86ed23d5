//! Gradients of the bound from values of log p alone (mathematics §10.2).

use crate::block::{BlockGradient, Scale};
use crate::linalg::axpy;
use crate::random::Noise;

/// Fewest draws of a component: two antithetic pairs.
pub(crate) const FEWEST_DRAWS: usize = 4;

/// h = log q − log p at some draws, with what its derivatives are read off from.
///
/// Conditional on w a draw is normal, so that with r = z − Bũ
/// E[∇h ũᵀ] = E[(P r/s)(h − b) ũᵀ] and E[s ∇²h] = E[{P r rᵀP/s − P}(h − b)].
/// The entropy and the prior are inside h: where q is the target, h is constant and the estimate has no noise at all.
pub(crate) struct ValuesOnly<'a> {
    /// P r of each draw.
    pub(crate) residual: &'a [f64],
    /// ũ of each draw without its first entry, which is one.
    pub(crate) loadings: &'a [f64],
    /// Whether antithetic partners have opposite loadings.
    pub(crate) loadings_flip: bool,
    /// Weights of the average.
    pub(crate) weight: &'a [f64],
    pub(crate) baseline: Baseline,
}

/// The constant b: it costs no bias if it does not depend on the draws, and takes most of the noise if it is near the mean of h.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Baseline {
    /// Known before the draws were made.
    Given(f64),
    /// The mean of h over the other draws.
    LeaveOneOut(Noise),
}

impl Baseline {
    /// By how much sums of (h − mean) with odd and with even functions of ε have to be stretched, where the mean is over all n draws.
    ///
    /// h_s less the mean of the others is n/(n−1) times h_s less the mean of all. The odd functions of antithetic partners cancel,
    /// so that any b is free of bias; the even ones are equal, and pairs are what is independent. With quasi-random points the sums
    /// of all these functions are almost zero, whatever b.
    pub(crate) fn stretch(noise: Noise, n: usize) -> (f64, f64) {
        let n = n as f64;
        match noise {
            Noise::Independent => (n / (n - 1.0), n / (n - 1.0)),
            Noise::Antithetic => (1.0, n / (n - 2.0)),
            Noise::QuasiMonteCarlo => (1.0, 1.0),
        }
    }
}

impl ValuesOnly<'_> {
    /// Adds −E[∇h ũᵀ] to `out.b` and E[s ∇²h] to `out.g`; `h` holds the values, and weights of the Gram product afterwards.
    pub(crate) fn add_gradient(
        &self,
        matrix: &Scale,
        scale: impl Fn(usize) -> f64,
        h: &mut [f64],
        gram: &mut [f64],
        out: &mut BlockGradient,
    ) {
        let n = h.len();
        let (d, k) = (self.residual.len() / n, self.loadings.len() / n);
        let used = |s: &usize| self.weight[*s] != 0.0;
        let (baseline, (odd, even)) = match self.baseline {
            Baseline::Given(b) => (b, (1.0, 1.0)),
            Baseline::LeaveOneOut(noise) => {
                let mean = (0..n).filter(used).map(|s| self.weight[s] * h[s]).sum();
                (mean, Baseline::stretch(noise, (0..n).filter(used).count()))
            }
        };
        let of_loadings = if self.loadings_flip { even } else { odd };
        let mut total = 0.0;
        for (s, r) in self.residual.chunks_exact(d).enumerate() {
            // A dropped draw may have any value.
            let excess = if used(&s) { self.weight[s] * (h[s] - baseline) } else { 0.0 };
            let inv_s = 1.0 / scale(s);
            let (mu, columns) = out.b.split_at_mut(d);
            axpy(-odd * excess * inv_s, r, mu);
            for (u, column) in self.loadings[s * k..(s + 1) * k].iter().zip(columns.chunks_exact_mut(d)) {
                axpy(-of_loadings * excess * u * inv_s, r, column);
            }
            h[s] = even * excess * inv_s;
            total += even * excess;
        }
        axpy(-total, matrix.precision(), &mut out.g);
        matrix.shape().add_weighted_gram(self.residual, h, gram, &mut out.g);
    }
}
