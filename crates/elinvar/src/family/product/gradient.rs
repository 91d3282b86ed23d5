//! The gradient of the bound of a product of scale mixtures, coordinate by coordinate.

use super::Product;
use super::draw::ProductEstimator;
use crate::block::BlockGradient;
use crate::family::Seen;

impl Product<'_> {
    /// ∂L/∂μ_i = E[∂_i g] and G_i = −2∂L/∂Σ_i = −p_i E[(z_i − μ_i) ∂_i g] with g = log p + log prior − log q
    /// (mathematics §10.2, §10.6).
    ///
    /// The parts of log q and of the prior have known means; taken over the same draws they cancel the noise of log p
    /// where q is the target.
    pub(super) fn accumulate(&self, seen: &Seen<'_>, work: &ProductEstimator, out: &mut BlockGradient) {
        let Seen { evaluations, prior, batch, .. } = *seen;
        out.reset();
        let precision = self.block.scale().precision();
        for s in (0..batch.n).filter(|s| work.weight[*s] > 0.0) {
            let (z, grad, weight) = (batch.draws.get(s), evaluations.grad(s), work.weight[s]);
            for (i, (r, p, c)) in self.coordinates(z).enumerate() {
                let slope = weight * (grad[i] + prior.slope(i, z[i]) + c.inv_s * p * r);
                out.b[i] += slope;
                out.g[i] -= precision[i] * r * slope;
            }
        }
    }
}
