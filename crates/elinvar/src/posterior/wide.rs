//! Draws that reach farther than the approximation, by which a verdict sees what lies outside of it.
//!
//! Draws of q alone cannot tell what p does where q has no mass: a Gaussian fit of a Cauchy law looks fine from inside.
//! So a verdict takes as many draws again from two multivariate t laws with two degrees of freedom around q, as wide as
//! q and three times as wide, and weighs all of them by p / (½ q + ¼ t₁ + ¼ t₃). The ratio is bounded by 2 p/q, so
//! nothing is lost where q is right; in many dimensions the t laws hit little, and the draws of q are left with twice
//! their weight. (The mixture as one proposal: A. Owen and Y. Zhou, Safe and effective importance sampling, JASA 95
//! (2000).)

use serde::{Deserialize, Serialize};

use super::diagnose::not_finite;
use super::{Posterior, WeightedDraws, shift};
use crate::Error;
use crate::evaluate::Evaluator;
use crate::linalg::cholesky::{self, Workspace};
use crate::random::{Purpose, Stream};
use crate::special::gamma::ln_gamma;
use crate::target::{DrawBuffer, Support};

/// Degrees of freedom of the wide laws: their tails are heavier than those of any law that has standard deviations.
const DEGREES: f64 = 2.0;
/// Their widths, in standard deviations of q.
const WIDTHS: [f64; 2] = [1.0, 3.0];
/// In more dimensions than this they hit nothing, and cost d² per draw.
const MOST_DIMENSIONS: usize = 200;
/// Block of [`Purpose::Diagnostics`] that belongs to these draws.
const BLOCK: u32 = 1 << 19;

/// What the draws of q and the wide ones are worth together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WideDraws {
    /// Number of wide draws, in addition to those of q.
    pub n_draws: usize,
    /// Effective number of all draws; about half of them or more where q is p.
    pub effective_sample_size: f64,
}

/// The draws of q, and then as many wide ones, with weights that turn all of them into draws of p.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Widened {
    /// The draws of z.
    pub draws: DrawBuffer,
    /// Weights that sum to one.
    pub weights: Vec<f64>,
}

/// The two laws around q.
struct Wide {
    mean: Vec<f64>,
    /// L with L Lᵀ = Cov q.
    factor: Vec<f64>,
    /// log density at the mean of the law as wide as q.
    peak: f64,
}

impl Wide {
    /// `None` where q has no covariance or does not live on all of ℝᵈ, or there are too many dimensions.
    fn around(posterior: &Posterior) -> Option<Self> {
        let d = posterior.dim();
        if d > MOST_DIMENSIONS || posterior.family().support() != Support::Real {
            return None;
        }
        let (mean, covariance) = (posterior.approximation().mean(), posterior.approximation().covariance());
        if !mean.iter().chain(&covariance).all(|x| x.is_finite()) {
            return None;
        }
        let mut factor = vec![0.0; d * d];
        cholesky::factor(d, &covariance, &mut factor, &mut Workspace::new(d)).ok()?;
        let dim = d as f64;
        let peak = ln_gamma(0.5 * (DEGREES + dim))
            - ln_gamma(0.5 * DEGREES)
            - 0.5 * dim * (DEGREES * std::f64::consts::PI).ln()
            - 0.5 * cholesky::log_det(d, &factor);
        Some(Self { mean, factor, peak })
    }

    /// `n` draws, of the two laws in turn.
    fn draw(&self, n: usize, seed: u64) -> DrawBuffer {
        let d = self.mean.len();
        let mut stream = Stream::open(seed, Purpose::Diagnostics, 0, BLOCK);
        let mut draws = DrawBuffer::zeros(d, n);
        let mut noise = vec![0.0; d];
        for s in 0..n {
            stream.fill_normal(&mut noise);
            let scale = WIDTHS[s % WIDTHS.len()] * (0.5 * DEGREES / stream.gamma(0.5 * DEGREES)).sqrt();
            noise.iter_mut().for_each(|x| *x *= scale);
            let z = draws.get_mut(s);
            cholesky::factor_times(d, &self.factor, &noise, z);
            z.iter_mut().zip(&self.mean).for_each(|(z, mean)| *z += mean);
        }
        draws
    }

    /// log (½ q + ¼ t₁ + ¼ t₃) at z, where log q is known; `u` is scratch.
    fn log_mixture(&self, z: &[f64], log_q: f64, u: &mut [f64]) -> f64 {
        let d = self.mean.len();
        u.iter_mut().zip(z).zip(&self.mean).for_each(|((u, z), mean)| *u = z - mean);
        cholesky::solve_factor(d, &self.factor, u);
        let square: f64 = u.iter().map(|u| u * u).sum();
        let share = 0.5 / WIDTHS.len() as f64;
        let terms = WIDTHS.map(|width| {
            let tail = (square / (width * width * DEGREES)).ln_1p();
            self.peak - d as f64 * width.ln() - 0.5 * (DEGREES + d as f64) * tail
        });
        let most = terms.iter().copied().fold(log_q, f64::max);
        let sum = 0.5 * (log_q - most).exp() + share * terms.iter().map(|term| (term - most).exp()).sum::<f64>();
        most + sum.ln()
    }
}

impl Posterior {
    /// Adds as many wide draws to those of q and replaces the shifts by what all of them say; leaves everything as it
    /// is where there are no wide laws.
    ///
    /// A wide draw outside the domain of the model has no weight: that is no fault of the approximation, and only the
    /// draws of q count as dropped. Returns log p at the wide draws, of which the first may be `known`.
    pub(super) fn look_wider(
        &self,
        evaluator: &mut Evaluator<'_>,
        seed: u64,
        known: &[f64],
        weighted: &mut WeightedDraws,
    ) -> Result<Vec<f64>, Error> {
        let Some(wide) = Wide::around(self) else { return Ok(Vec::new()) };
        let (d, n) = (self.dim(), weighted.draws.len());
        let beyond = wide.draw(n, seed);
        let before = evaluator.counts();
        let log_p = evaluator.values_beyond(known, &beyond)?;
        weighted.diagnostics.counts += evaluator.counts().since(before);
        // Where the model does not exist NaN is as good as −∞; +∞ is no density's anywhere.
        let fault = not_finite(&log_p, &beyond, 1.0);
        weighted.diagnostics.fault = weighted.diagnostics.fault.take().or(fault);
        let mut draws = DrawBuffer::zeros(d, 2 * n);
        let (ours, theirs) = draws.as_mut_slice().split_at_mut(d * n);
        ours.copy_from_slice(weighted.draws.view().as_slice());
        theirs.copy_from_slice(beyond.view().as_slice());

        let mut u = vec![0.0; d];
        let (mut to_p, mut to_q) = (Vec::with_capacity(2 * n), Vec::with_capacity(2 * n));
        let log_q = weighted.log_q.iter().copied().chain(beyond.view().iter().map(|z| self.log_density_z(z)));
        for ((z, log_q), log_p) in draws.view().iter().zip(log_q).zip(weighted.log_p.iter().chain(&log_p)) {
            let log_mixture = wide.log_mixture(z, log_q, &mut u);
            to_p.push(if log_p.is_finite() { log_p - log_mixture } else { f64::NEG_INFINITY });
            to_q.push(log_q - log_mixture);
        }
        let (to_p, to_q) = (normalised(&to_p), normalised(&to_q));
        let effective_sample_size = 1.0 / to_p.iter().map(|w| w * w).sum::<f64>();
        if !effective_sample_size.is_finite() {
            return Ok(log_p);
        }
        let names = (self.transforms(), self.names_z(), self.names());
        weighted.diagnostics.shifts = shift::shifts(names, &draws, &to_p, &to_q);
        weighted.diagnostics.wide = Some(WideDraws { n_draws: n, effective_sample_size });
        weighted.widened = Some(Widened { draws, weights: to_p });
        Ok(log_p)
    }
}

/// Weights that sum to one.
fn normalised(log_weights: &[f64]) -> Vec<f64> {
    let most = log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut weights: Vec<f64> = log_weights.iter().map(|w| (w - most).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|w| *w /= total);
    weights
}

#[cfg(test)]
mod tests;
