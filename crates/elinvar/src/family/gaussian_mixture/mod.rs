//! q(z) = Σ_c π_c N(z | μ_c, Σ_c): the finite mixture of Gaussians (mathematics §1).

mod density;
mod draw;
mod gradient;
mod implicit;

pub use draw::GaussianMixtureEstimator;

use super::{Approximation, Batch, Estimator, Gradient, NoiseKey, Seen, finite_mixture};
use crate::block::{Location, LogWeights};
use crate::estimate::Sampling;
use crate::target::{Contraction, Prior};

/// A mixture of Gaussians with weights as normalised logarithms.
///
/// Paper: §4.1, eq. (15), eq. (16), App. B.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GaussianMixture<'q> {
    pub(crate) weights: &'q LogWeights,
    pub(crate) components: &'q [Location],
}

impl<'q> GaussianMixture<'q> {
    pub(crate) fn of(q: &'q Approximation) -> Self {
        Self { weights: q.weights(), components: q.locations() }
    }
}

impl Estimator for GaussianMixtureEstimator {
    fn batch(&self, q: &Approximation) -> Batch {
        let k = q.n_components();
        Batch::new(q.dim(), self.n, 0, if self.plan.curvature.wants_centre() { k } else { 0 })
    }

    fn draw(&mut self, q: &Approximation, key: NoiseKey, batch: &mut Batch) {
        let q = GaussianMixture::of(q);
        q.fill_noise(key, self);
        q.place(self, batch);
    }

    fn weigh(&mut self, q: &Approximation, batch: &Batch) -> bool {
        GaussianMixture::of(q).weigh_draws(self, batch)
    }

    fn contraction(&self) -> Contraction<'_> {
        match self.plan.sampling {
            Sampling::OwnDraws => Contraction::own(&self.weight, self.plan.n_draws),
            Sampling::Mixture | Sampling::Whole | Sampling::Implicit | Sampling::Stratified => {
                Contraction::shared(&self.weight, self.n)
            }
        }
    }

    fn elbo(&self, q: &Approximation, log_p: &[f64], prior: &Prior, batch: &Batch) -> (f64, f64) {
        finite_mixture::elbo(log_p, prior, q.weights(), &self.plan, batch)
    }

    fn gradient(&mut self, q: &Approximation, seen: &Seen<'_>, baseline: f64, out: &mut Gradient) -> bool {
        let q = GaussianMixture::of(q);
        match self.plan.sampling {
            Sampling::Implicit => q.accumulate_implicit(seen, self, out),
            _ => q.accumulate(seen, baseline, self, out),
        }
        out.is_finite()
    }
}
