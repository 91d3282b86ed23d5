//! The gradient of the bound in (B, Σ) from a batch of evaluations.

use super::MeanVariance;
use super::draw::MeanVarianceEstimator;
use crate::block::BlockGradient;
use crate::estimate::{Baseline, Curvature, FirstOrder, MixingWeights, ValuesOnly, add_curvature};
use crate::family::Seen;
use crate::linalg::{axpy, dot};
use crate::target::Prior;

impl MeanVariance<'_> {
    /// ∇_B L = E[∇log p ũᵀ] + prior + entropy and G = −E[s ∇²log p] + prior + entropy (mathematics §0.5, §0.6).
    ///
    /// Paper: eq. (19), eq. (20), eq. (22), eq. (23), eq. (24), App. B, App. D, App. E, App. F, App. G, App. H.
    pub(super) fn accumulate(&self, seen: &Seen<'_>, work: &mut MeanVarianceEstimator, out: &mut BlockGradient) {
        let Seen { evaluations, curvature, prior, batch } = *seen;
        let (d, n) = (self.block.dim(), batch.n);
        out.reset();
        if work.plan.curvature == Curvature::GradientFree {
            return self.accumulate_values(seen, work, out);
        }
        let (grads, shifted) = (&evaluations.grads()[..d * n], self.law.is_shifted());
        for (s, grad) in grads.chunks_exact(d).enumerate() {
            axpy(work.weight[s], grad, &mut out.b[..d]);
            if shifted {
                axpy(work.shift[s], grad, &mut out.b[d..]);
            }
        }
        if batch.n_paired > 0 && work.plan.weights == MixingWeights::Marginal {
            for s in 0..n {
                let v0 = self.law.two_point(work.forms[s]).map_or(0.0, |two| two.v0);
                axpy(work.weight[s] * v0, evaluations.grad(n + s), &mut out.b[d..]);
            }
        }
        let (kind, shape) = (work.plan.curvature, self.block.scale().shape());
        let input = FirstOrder {
            residual: &work.residual,
            grad: grads,
            centre: seen.centre(kind, 0),
            weight: &work.weight,
            price: &work.price[..n],
        };
        add_curvature(kind, shape, curvature, &input, &mut work.spare, &mut work.gram, &mut out.g);
        if shifted && self.law.has_exact_entropy() && work.is_entropy_sampled() {
            self.add_reparameterised_entropy(work, out);
        } else if self.law.has_exact_entropy() {
            self.add_exact_entropy(work.kappa, &work.v, out);
        } else {
            self.add_sampled_entropy(work, out);
        }
        self.add_prior(prior, out);
        shape.complete(&mut out.g);
    }

    /// The same from values of log p alone.
    fn accumulate_values(&self, seen: &Seen<'_>, work: &mut MeanVarianceEstimator, out: &mut BlockGradient) {
        let Seen { evaluations, prior, batch, .. } = *seen;
        let d = self.block.dim();
        // The weights s and u of gradients are not needed and lend their memory.
        for (s, h) in work.price.iter_mut().take(batch.n).enumerate() {
            let (z, log_p) = (batch.draws.get(s), evaluations.log_p()[s]);
            *h = match prior.shared() {
                // The bound is that of (z, w): log q(z|w) and log p(z|w) take the places of the marginals (mathematics
                // §2.2). What depends on w alone has no slope here.
                Some(shared) => {
                    let eps = &work.eps[s * d..(s + 1) * d];
                    0.5 * shared.square(z) / work.s[s] - 0.5 * dot(eps, eps) - log_p
                }
                None => batch.log_q[s] - log_p - prior.log_density(z),
            };
        }
        work.shift.copy_from_slice(&work.u);
        let values = ValuesOnly {
            residual: &work.residual,
            loadings: if self.law.is_shifted() { &work.shift } else { &[] },
            loadings_flip: false,
            weight: &work.weight,
            baseline: Baseline::LeaveOneOut(work.plan.noise),
        };
        let scale = |s: usize| work.s[s];
        values.add_gradient(self.block.scale(), scale, &mut work.price, &mut work.gram, out);
        self.block.scale().shape().complete(&mut out.g);
    }

    /// ∇_α H = e Pα and −2∇_Σ H = −P + e Pα(Pα)ᵀ (mathematics §0 (0.3)).
    pub(super) fn add_exact_entropy(&self, kappa: f64, v: &[f64], out: &mut BlockGradient) {
        axpy(-1.0, self.block.scale().precision(), &mut out.g);
        if self.law.is_shifted()
            && let Some(entropy) = self.law.entropy_slope(kappa)
        {
            axpy(entropy, v, &mut out.b[self.block.dim()..]);
            self.block.scale().shape().add_outer(entropy, v, &mut out.g);
        }
    }

    /// −E[∇log q ũᵀ] and E[P(z − Bũ) ∇log qᵀ], symmetrised: the entropy of a mean mixture differentiated along its
    /// draws.
    ///
    /// Paper: App. E, App. F.
    fn add_reparameterised_entropy(&self, work: &mut MeanVarianceEstimator, out: &mut BlockGradient) {
        let (d, n) = (self.block.dim(), work.weight.len());
        // ∇log q = −P(z − μ) + E[u|z] Pα = −P(z − Bũ) + (E[u|z] − u) Pα.
        for (s, score) in work.spare[..d * n].chunks_exact_mut(d).enumerate() {
            let u = work.u[s];
            score.iter_mut().zip(&work.residual[s * d..(s + 1) * d]).for_each(|(score, r)| *score = -r);
            axpy(work.conditional[s].u - u, &work.v, score);
            axpy(-work.weight[s], score, &mut out.b[..d]);
            axpy(-work.weight[s] * u, score, &mut out.b[d..]);
        }
        let shape = self.block.scale().shape();
        shape.add_symmetrised(&work.residual, &work.spare[..d * n], &work.weight, &mut work.gram, &mut out.g);
    }

    /// −∇log q and +∇²log q, averaged over the draws with the same weights as log p (mathematics §0 (0.2)).
    fn add_sampled_entropy(&self, work: &mut MeanVarianceEstimator, out: &mut BlockGradient) {
        let d = self.block.dim();
        let n = work.weight.len();
        // P(z − μ) = P(z − Bũ) + u Pα.
        work.spare[..d * n].copy_from_slice(&work.residual);
        let (mut precision, shifted) = (0.0, self.law.is_shifted());
        for (s, r) in work.spare[..d * n].chunks_exact_mut(d).enumerate() {
            let c = &work.conditional[s];
            if work.weight[s] == 0.0 {
                continue;
            }
            if shifted {
                axpy(work.u[s], &work.v, r);
            }
            axpy(work.weight[s] * c.inv_s, r, &mut out.b[..d]);
            if shifted {
                axpy(-work.weight[s] * c.u_inv_s, &work.v, &mut out.b[..d]);
                axpy(work.shift[s] * c.inv_s, r, &mut out.b[d..]);
                axpy(-work.shift[s] * c.u_inv_s, &work.v, &mut out.b[d..]);
            }
            precision += work.price[s] * c.inv_s;
        }
        axpy(-precision, self.block.scale().precision(), &mut out.g);
        // The laws that come here have u ∝ s, so u/s has no conditional variance and only the term in Var(1/s|z) is
        // left. The weights of the Gram products take the place of the shift weights, which are used up by now.
        for s in 0..n {
            work.shift[s] = work.price[s] * work.conditional[s].var_inv_s;
        }
        let shape = self.block.scale().shape();
        shape.add_weighted_gram(&work.spare[..d * n], &work.shift, &mut work.gram, &mut out.g);
    }

    /// The declared prior in the gradients of B and P.
    pub(super) fn add_prior(&self, prior: &Prior, out: &mut BlockGradient) {
        let m = self.law.moments();
        let upsilon = |j: usize, k: usize| [1.0, m.u, m.uu][j + k];
        let out = (&mut out.b[..], &mut out.g[..]);
        prior.add_to_block(self.block.b(), upsilon, m.s, self.block.scale().shape(), out);
    }
}
