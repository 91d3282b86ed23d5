//! The gradient of the bound of a mixture of exponential families by implicit differentiation.

use super::EfMixture;
use super::draw::EfMixtureEstimator;
use crate::family::{Batch, Gradient};
use crate::target::{Evaluations, Prior};

impl EfMixture<'_> {
    /// −E_c[∂_i h ∂z_i/∂η] for every component and coordinate, and E_c\[h\], with h = log q − log p (mathematics §5.1).
    ///
    /// Paper: App. B.5.
    pub(super) fn accumulate(
        &self,
        evaluations: &Evaluations,
        prior: &Prior,
        work: &mut EfMixtureEstimator,
        batch: &Batch,
        baseline: f64,
        out: &mut Gradient,
    ) {
        let (d, f) = (self.dim(), self.n_free());
        for (s, h) in work.h.iter_mut().enumerate() {
            *h = batch.log_q[s] - evaluations.log_p()[s] - prior.log_density(batch.draws.get(s));
        }
        for (c, own) in out.blocks.iter_mut().enumerate() {
            own.reset();
            let own = &mut own.b[..];
            let mut expected_h = 0.0;
            for (s, weight) in work.weighted_draws(c).filter(|(_, weight)| *weight > 0.0) {
                expected_h += weight * (work.h[s] - baseline);
                let (z, grad) = (batch.draws.get(s), evaluations.grad(s));
                for (i, member) in self.component(c).iter().enumerate() {
                    let slope = grad[i] + prior.slope(i, z[i]) - work.score[s * d + i];
                    let path = member.path_derivative(z[i]);
                    let sums = &mut own[i * f..(i + 1) * f];
                    sums.iter_mut().zip(path).for_each(|(sum, path)| *sum += weight * (slope * path));
                }
            }
            out.expected_h[c] = expected_h;
        }
    }
}
