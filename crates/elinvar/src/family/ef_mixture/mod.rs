//! q(z) = Σ_c π_c q_c(z): finite mixtures of products of univariate exponential families, and of Dirichlet
//! distributions (mathematics §5).

mod density;
mod draw;
mod gradient;

pub use draw::EfMixtureEstimator;

use super::{Approximation, Batch, Estimator, Gradient, NoiseKey, Seen, finite_mixture as mixture};
use crate::block::{LogWeights, Natural};
use crate::component::Component;
use crate::estimate::Sampling;
use crate::target::{Contraction, Prior, Support};

/// A mixture whose components are products over the coordinates of members of one exponential family, or of two in
/// turn, or Dirichlet distributions.
///
/// For Birnbaum–Saunders components each coordinate has a hidden label of its own, which never leaves the component.
///
/// Paper: App. B.5, App. C.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EfMixture<'q> {
    pub(crate) weights: &'q LogWeights,
    pub(crate) components: &'q [Natural],
}

impl<'q> EfMixture<'q> {
    pub(crate) fn of(q: &'q Approximation) -> Self {
        Self { weights: q.weights(), components: q.naturals() }
    }

    /// K.
    pub(crate) fn n_components(&self) -> usize {
        self.components.len()
    }

    pub(crate) fn dim(&self) -> usize {
        self.components[0].dim()
    }

    /// The members of component `c`; none of a Dirichlet distribution.
    pub(crate) fn component(&self, c: usize) -> &'q [Component] {
        self.components[c].coordinates()
    }

    fn support(&self) -> Support {
        self.components[0].support()
    }
}

impl Estimator for EfMixtureEstimator {
    fn batch(&self, q: &Approximation) -> Batch {
        Batch::new(q.dim(), self.n(), 0, 0)
    }

    fn draw(&mut self, q: &Approximation, key: NoiseKey, batch: &mut Batch) {
        let q = EfMixture::of(q);
        q.fill(key, self, batch);
        q.place(self, batch);
    }

    fn weigh(&mut self, _q: &Approximation, batch: &Batch) -> bool {
        self.weigh_draws(batch)
    }

    fn contraction(&self) -> Contraction<'_> {
        match self.plan.sampling {
            Sampling::OwnDraws => Contraction::own(&self.weight, self.plan.n_draws),
            Sampling::Mixture | Sampling::Whole | Sampling::Implicit | Sampling::Stratified => {
                Contraction::shared(&self.weight, self.n())
            }
        }
    }

    fn elbo(&self, q: &Approximation, log_p: &[f64], prior: &Prior, batch: &Batch) -> (f64, f64) {
        mixture::elbo(log_p, prior, q.weights(), &self.plan, batch)
    }

    fn gradient(&mut self, q: &Approximation, seen: &Seen<'_>, baseline: f64, out: &mut Gradient) -> bool {
        let Seen { evaluations, prior, batch, .. } = *seen;
        EfMixture::of(q).accumulate(evaluations, prior, self, batch, baseline, out);
        out.blocks.iter().flat_map(|block| &block.b).chain(&out.expected_h).all(|v| v.is_finite())
    }
}
