//! How a family turns draws into a gradient.

use super::batch::mean_difference;
use super::{Approximation, Batch, Gradient};
use crate::estimate::Curvature;
use crate::random::Purpose;
use crate::target::{Answer, Contraction, CurvatureMut, Prior};

/// Which random numbers a batch is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoiseKey {
    /// The seed of the run.
    pub seed: u64,
    /// What the draws are for.
    pub purpose: Purpose,
    /// The step, or the number of the batch.
    pub step: u64,
}

/// A batch with what the target said about it.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// log p and ∇log p at the points of the batch, without the declared prior.
    pub evaluations: &'a Answer,
    /// The contracted Hessians, where the plan asks for them.
    pub curvature: &'a [f64],
    /// The declared prior.
    pub prior: &'a Prior,
    /// The draws.
    pub batch: &'a Batch,
}

impl<'a> Seen<'a> {
    /// ∇log p at the centre of block `c`, where the plan asks for it; one that could not be evaluated costs variance,
    /// not correctness.
    pub(crate) fn centre(&self, curvature: Curvature, c: usize) -> Option<&'a [f64]> {
        let evaluations = self.evaluations;
        let gradient = curvature.wants_centre().then(|| evaluations.grad(self.batch.centre(c)));
        gradient.filter(|gradient| gradient.iter().all(|v| v.is_finite()))
    }
}

/// What turns evaluations at draws of a member into the gradient of the bound; it owns the memory for batches of one
/// plan.
///
/// The order of calls is [`draw`](Estimator::draw), [`weigh`](Estimator::weigh) (again whenever the kept draws change),
/// evaluation of the target at the batch with the weights of [`contraction`](Estimator::contraction),
/// [`gradient`](Estimator::gradient). None of these allocates.
pub trait Estimator: Send {
    /// A batch of the right shape.
    fn batch(&self, q: &Approximation) -> Batch;
    /// Fills the batch with draws and log q; a pure function of the member, the plan and the key.
    fn draw(&mut self, q: &Approximation, key: NoiseKey, batch: &mut Batch);
    /// Recomputes the weights of the draws from `batch.kept`; false if a component has no draw left.
    fn weigh(&mut self, q: &Approximation, batch: &Batch) -> bool;
    /// The weighted sums of Hessians that [`Estimator::gradient`] needs.
    fn contraction(&self) -> Contraction<'_>;
    /// Number of these sums.
    fn n_sums(&self, q: &Approximation) -> usize {
        q.n_components()
    }
    /// ELBO of the batch with its Monte Carlo standard error, that of independent draws by default; `log_p` is log p
    /// without the declared prior.
    ///
    /// Paper: §2, eq. (2).
    fn elbo(&self, _q: &Approximation, log_p: &[f64], prior: &Prior, batch: &Batch) -> (f64, f64) {
        mean_difference(log_p, prior, batch, 0..batch.n)
    }
    /// The gradient of the bound; false if it is not finite.
    ///
    /// `baseline` is subtracted from h = log q − log p before it enters the weights of a mixture: any constant that
    /// does not depend on the batch leaves the estimate unbiased, and one near the mean of h takes most of its noise
    /// (mathematics §1.5).
    fn gradient(&mut self, q: &Approximation, seen: &Seen<'_>, baseline: f64, out: &mut Gradient) -> bool;
    /// Adds −Σ_n weight g_n g_nᵀ of the gradients of single items at draw `s` to the contracted curvature.
    fn add_item_gradients(&mut self, q: &Approximation, s: usize, items: &[f64], curvature: &mut [f64]) {
        let mut out = CurvatureMut::new(q.family().covariance, q.dim(), curvature);
        for (k, weight) in self.contraction().of_draw(s) {
            items.chunks_exact(q.dim()).for_each(|item| out.add_outer(k, -weight, item));
        }
    }
}
