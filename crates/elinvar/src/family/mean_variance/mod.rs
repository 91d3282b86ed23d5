//! z | w ~ N(μ + u(w) α, s(w) Σ), w ~ q(w): one shell for every mixing law (mathematics §0.5).

mod density;
mod draw;
mod gradient;
mod shape;

pub use draw::MeanVarianceEstimator;

use super::{Approximation, Batch, Estimator, Gradient, NoiseKey, Seen, batch};
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
        Contraction::shared(&self.price, self.w.len())
    }

    /// A shape that is learned by traces has a sum of its own.
    fn n_sums(&self, _q: &Approximation) -> usize {
        1 + usize::from(self.is_by_traces())
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
        let q = MeanVariance::of(q);
        out.shape = 0.0;
        let n_entries = q.block.scale().precision().len();
        let (curvature, traced) = seen.curvature.split_at(n_entries.min(seen.curvature.len()));
        q.accumulate(&Seen { curvature, ..*seen }, self, &mut out.blocks[0]);
        q.add_shape(&Seen { curvature: traced, ..*seen }, self, out);
        out.is_finite()
    }
}
