//! Draws of a product of scale mixtures.

use super::Product;
use crate::family::{Approximation, Batch, DrawPlan, NoiseKey};
use crate::law::Forms;
use crate::random::{Noise, NoiseSource};
use crate::special::normal::normal_cdf;

/// Memory for a batch of a product of scale mixtures.
#[derive(Debug)]
pub(crate) struct ProductEstimator {
    noise: NoiseSource,
    /// ε and the normals from which w is made, 2d × n.
    pub(super) eps: Vec<f64>,
    /// w of each coordinate of each draw, d × n.
    pub(super) w: Vec<f64>,
    /// Weights of the average over draws.
    pub(super) weight: Vec<f64>,
}

impl ProductEstimator {
    /// Memory for batches drawn as the plan says.
    pub(crate) fn new(q: &Approximation, plan: &DrawPlan) -> Self {
        let (d, n) = (q.dim(), plan.n_draws);
        Self {
            noise: NoiseSource::new(plan.noise, 2 * d, n),
            eps: vec![0.0; 2 * d * n],
            w: vec![0.0; d * n],
            weight: vec![0.0; n],
        }
    }
}

impl Product<'_> {
    pub(super) fn fill_noise(&self, key: NoiseKey, work: &mut ProductEstimator) {
        let d = self.block.dim();
        work.noise.begin(key.seed, key.purpose, key.step, 0);
        work.noise.fill_eps(&mut work.eps);
        let antithetic = work.noise.noise() == Noise::Antithetic;
        for s in 0..work.weight.len() {
            if antithetic && s % 2 == 1 {
                // The two draws of a pair have the same w.
                work.w.copy_within((s - 1) * d..s * d, s * d);
                continue;
            }
            for i in 0..d {
                let u = normal_cdf(work.eps[(2 * s + 1) * d + i]).clamp(f64::EPSILON, 1.0 - f64::EPSILON);
                work.w[s * d + i] = self.law.sample(&mut work.noise.mixing_at(u));
            }
        }
    }

    /// Makes the draws from the noise: z_i = μ_i + √(s(w_i)/p_i) ε_i, with log q of each.
    pub(super) fn place(&self, work: &ProductEstimator, batch: &mut Batch) {
        let d = self.block.dim();
        let (mu, precision) = (self.block.column(0), self.block.scale().precision());
        let half_log_det = 0.5 * self.block.scale().log_det_precision();
        let z = batch.draws.as_mut_slice();
        for (s, log_q) in batch.log_q.iter_mut().enumerate() {
            *log_q = half_log_det;
            for i in 0..d {
                let root = self.law.scale(work.w[s * d + i]).sqrt() * work.eps[2 * s * d + i];
                z[s * d + i] = mu[i] + root / precision[i].sqrt();
                *log_q += self.law.log_marginal(Forms { dim: 1, q: root * root, ..Forms::default() });
            }
        }
        batch.kept.fill(true);
    }
}
