//! z | w ~ N(μ + u(w) α, s(w) Σ), w ~ q(w): one shell for every mixing law (mathematics §0.5).

mod density;
mod draw;
mod gradient;
mod shape;

pub use draw::MeanVarianceEstimator;

use super::{Approximation, Batch, Density, Estimator, Gradient, NoiseKey, Seen, batch};
use crate::block::Location;
use crate::law::Law;
use crate::target::{Contraction, Prior};

/// A member of a mean–variance family: N(μ, Σ) (mathematics §1.1), Student's t (mathematics §2), skew-Gaussian
/// (mathematics §3.2), exponentially modified Gaussian (mathematics §3.3), normal inverse-Gaussian (mathematics §4.1),
/// symmetric scale mixtures (mathematics §4.2, §10.6).
///
/// Paper: §2, §4.2, §4.3, Table 1, App. D, App. E, App. F, App. G, App. H.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MeanVariance<'q> {
    pub(crate) law: Law,
    pub(crate) block: &'q Location,
}

impl<'q> MeanVariance<'q> {
    pub(crate) fn of(q: &'q Approximation) -> Self {
        Self { law: q.law(), block: &q.locations()[0] }
    }
}

impl Estimator for MeanVarianceEstimator {
    fn batch(&self, q: &Approximation) -> Batch {
        MeanVariance::of(q).empty_batch(&self.plan)
    }

    fn draw(&mut self, q: &Approximation, key: NoiseKey, batch: &mut Batch) {
        let q = MeanVariance::of(q);
        q.fill_noise(key, self);
        q.place(self, batch);
    }

    fn weigh(&mut self, q: &Approximation, batch: &Batch) -> bool {
        MeanVariance::of(q).weigh_draws(self, batch)
    }

    fn contraction(&self) -> Contraction<'_> {
        Contraction::shared(&self.price, self.price.len())
    }

    /// With a t prior that shares w the bound is the one that is climbed, on (z, w).
    fn elbo(&self, q: &Approximation, log_p: &[f64], prior: &Prior, batch: &Batch) -> (f64, f64) {
        let q = MeanVariance::of(q);
        match prior.shared() {
            Some(shared) => q.joint_elbo(log_p, shared, self, batch),
            None => batch::mean_difference(log_p, prior, batch, 0..batch.n),
        }
    }

    fn gradient(&mut self, q: &Approximation, seen: &Seen<'_>, _baseline: f64, out: &mut Gradient) -> bool {
        let Seen { evaluations, curvature, prior, batch } = *seen;
        let q = MeanVariance::of(q);
        out.shape = 0.0;
        q.accumulate(evaluations, curvature, prior, self, batch, &mut out.blocks[0]);
        q.add_shape(evaluations, prior, self, batch, out);
        out.is_finite()
    }
}

impl Density for MeanVariance<'_> {
    fn log_density(&self, z: &[f64]) -> f64 {
        let forms = self.forms(z, &mut vec![0.0; 2 * self.block.dim()]);
        0.5 * self.block.scale().log_det_precision() + self.law.log_marginal(forms)
    }

    fn score(&self, z: &[f64], out: &mut [f64]) {
        self.score_at(z, out);
    }

    fn hessian(&self, z: &[f64], out: &mut [f64]) {
        self.hessian_at(z, out);
    }

    fn mean(&self) -> Vec<f64> {
        self.mean_vector()
    }

    fn covariance(&self) -> Vec<f64> {
        self.covariance_matrix()
    }

    fn entropy(&self) -> Option<f64> {
        let h = self.law.entropy(self.kappa(), self.block.dim())?;
        Some(h.value - 0.5 * self.block.scale().log_det_precision())
    }

    /// A learned shape moves by gradients.
    fn takes_values_alone(&self) -> bool {
        !self.law.is_learned()
    }
}
