//! The gradient of the bound of a mixture of exponential families by implicit differentiation.

use super::EfMixture;
use super::draw::EfMixtureEstimator;
use crate::block::BlockGradient;
use crate::family::{Batch, Gradient};
use crate::rule::FisherMatrix;
use crate::target::{Answer, Prior};

impl EfMixture<'_> {
    /// −E_c[∂_i h ∂z_i/∂η] for every component and coordinate, and E_c\[h\], with h = log q − log p (mathematics §5.1).
    /// Where the Fisher matrix is sampled, too, E_c[∂z_i/∂η t′(z_i)ᵀ] takes the place of a second gradient. Of joined
    /// coordinates it is −E_c[∇hᵀ∂z/∂η], and their Fisher matrix is not sampled.
    ///
    /// Paper: App. B.5.
    pub(super) fn accumulate(
        &self,
        evaluations: &Answer,
        prior: &Prior,
        work: &mut EfMixtureEstimator,
        batch: &Batch,
        baseline: f64,
        out: &mut Gradient,
    ) {
        let d = self.dim();
        for (s, h) in work.h.iter_mut().enumerate() {
            *h = batch.log_q[s] - evaluations.log_p()[s] - prior.log_density(batch.draws.get(s));
        }
        for (c, own) in out.blocks.iter_mut().enumerate() {
            let is_product = !self.component(c).is_empty();
            let sampled = work.plan.printed.is_some_and(|options| options.fisher == FisherMatrix::Sampled);
            let by_draws = sampled && is_product;
            let f = self.components[c].n_free();
            // Room is made once.
            own.g.resize(if by_draws { d * f * f } else { 0 }, 0.0);
            own.reset();
            let BlockGradient { b: own, g: fisher } = own;
            let mut expected_h = 0.0;
            let mut slopes = std::mem::take(&mut work.slope);
            for (s, weight) in work.weighted_draws(c).filter(|(_, weight)| *weight > 0.0) {
                expected_h += weight * (work.h[s] - baseline);
                let (z, grad) = (batch.draws.get(s), evaluations.grad(s));
                if !is_product {
                    let score = &work.score[s * d..(s + 1) * d];
                    slopes.iter_mut().zip(grad).zip(score).for_each(|((to, grad), score)| *to = grad - score);
                    prior.add_score(z, &mut slopes);
                    self.components[c].add_joint_path(z, &slopes, weight, own);
                }
                for (i, member) in self.component(c).iter().enumerate() {
                    let slope = grad[i] + prior.slope(i, z[i]) - work.score[s * d + i];
                    let path = member.path_derivative(z[i]);
                    let sums = &mut own[i * f..(i + 1) * f];
                    sums.iter_mut().zip(path).for_each(|(sum, path)| *sum += weight * (slope * path));
                    if by_draws && let Some(statistics) = member.statistics_slope(z[i]) {
                        for (row, path) in fisher[i * f * f..(i + 1) * f * f].chunks_exact_mut(f).zip(path) {
                            row.iter_mut().zip(statistics).for_each(|(entry, slope)| *entry += weight * path * slope);
                        }
                    }
                }
            }
            work.slope = slopes;
            out.expected_h[c] = expected_h;
        }
    }
}
