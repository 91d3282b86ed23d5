//! The gradient of the bound of a family with k columns.

use super::Factor;
use super::estimator::FactorEstimator;
use super::factors::Factors;
use crate::block::BlockGradient;
use crate::estimate::{Baseline, Curvature, FirstOrder, ValuesOnly, add_curvature};
use crate::family::Seen;
use crate::law::Independent;
use crate::linalg::axpy;
use crate::target::Prior;

impl Factor<'_> {
    /// ∇_μ L = E[∇log p], ∇_A L = E[∇log p wᵀ] + PAC, G = −E[∇²log p] − P + PACAᵀP with C = E[Cov(w|z)], which is W for
    /// normal w, and the prior (mathematics §3.5, §3.8).
    pub(super) fn accumulate(&self, seen: &Seen<'_>, work: &mut FactorEstimator, out: &mut BlockGradient) {
        let Seen { evaluations, curvature, prior, batch } = *seen;
        let (d, k, n) = (self.block.dim(), self.rank(), batch.n);
        out.reset();
        if work.plan.curvature == Curvature::GradientFree {
            return self.accumulate_values(seen, work, out);
        }
        let grads = &evaluations.grads()[..d * n];
        for (s, grad) in grads.chunks_exact(d).enumerate() {
            let weight = work.weight[s];
            axpy(weight, grad, &mut out.b[..d]);
            for (loading, column) in work.loadings[s * k..(s + 1) * k].iter().zip(out.b[d..].chunks_exact_mut(d)) {
                axpy(weight * loading, grad, column);
            }
        }
        let (kind, shape) = (work.plan.curvature, self.block.scale().shape());
        let input = FirstOrder {
            residual: &work.residual,
            grad: grads,
            centre: seen.centre(kind, 0),
            weight: &work.weight,
            price: &work.weight,
        };
        add_curvature(kind, shape, curvature, &input, &mut work.spare, &mut work.gram, &mut out.g);
        if self.law == Independent::Normal {
            self.add_entropy(&work.factors, &mut work.spare, &mut work.gram, out);
        } else {
            self.add_entropy_by_draws(work, out);
        }
        self.add_prior(prior, out);
        shape.complete(&mut out.g);
    }

    /// The same from values of log p alone.
    fn accumulate_values(&self, seen: &Seen<'_>, work: &mut FactorEstimator, out: &mut BlockGradient) {
        let Seen { evaluations, prior, batch, .. } = *seen;
        let h = &mut work.spare[..batch.n];
        for (s, h) in h.iter_mut().enumerate() {
            *h = batch.log_q[s] - evaluations.log_p()[s] - prior.log_density(batch.draws.get(s));
        }
        let values = ValuesOnly {
            residual: &work.residual,
            loadings: &work.loadings,
            loadings_flip: self.law == Independent::Normal,
            weight: &work.weight,
            baseline: Baseline::LeaveOneOut(work.plan.noise),
        };
        values.add_gradient(self.block.scale(), |_| 1.0, h, &mut work.gram, out);
        self.block.scale().shape().complete(&mut out.g);
    }

    /// ∇_A H = PAW = X M⁻¹ and −2∇_Σ H = −P + XXᵀ.
    fn add_entropy(&self, factors: &Factors, spare: &mut [f64], gram: &mut [f64], out: &mut BlockGradient) {
        let (d, k) = (self.block.dim(), self.rank());
        axpy(-1.0, self.block.scale().precision(), &mut out.g);
        let ones = [1.0; 64];
        for columns in factors.x.chunks(64 * d) {
            self.block.scale().shape().add_weighted_gram(columns, &ones[..columns.len() / d], gram, &mut out.g);
        }
        // Y M = X, from the last column to the first.
        let y = &mut spare[..d * k];
        y.copy_from_slice(&factors.x);
        for j in (0..k).rev() {
            let (before, after) = y.split_at_mut((j + 1) * d);
            let column = &mut before[j * d..];
            for (i, later) in after.chunks_exact(d).enumerate() {
                axpy(-factors.m[j * k + j + 1 + i], later, column);
            }
            let pivot = factors.m[j * k + j];
            column.iter_mut().for_each(|v| *v /= pivot);
        }
        axpy(1.0, y, &mut out.b[d..]);
    }

    fn add_prior(&self, prior: &Prior, out: &mut BlockGradient) {
        let omega = |j: usize, k: usize| self.law.omega(j, k);
        let out = (&mut out.b[..], &mut out.g[..]);
        prior.add_to_block(self.block.b(), omega, 1.0, self.block.scale().shape(), out);
    }

    /// ∇_B H and −2∇_Σ H, where they are known without draws.
    #[cfg(feature = "theory")]
    pub(crate) fn entropy_gradient(&self) -> Option<BlockGradient> {
        if self.law != Independent::Normal {
            return None;
        }
        let (d, k) = (self.block.dim(), self.rank());
        let mut out = self.block.gradient();
        let mut scratch = vec![0.0; d * k];
        self.add_entropy(&Factors::of(self.block), &mut scratch, &mut vec![0.0; d * k], &mut out);
        self.block.scale().shape().complete(&mut out.g);
        Some(out)
    }

    /// ∇_B and −2∇_Σ of E[log prior].
    #[cfg(feature = "theory")]
    pub(crate) fn prior_gradient(&self, prior: &Prior) -> BlockGradient {
        let mut out = self.block.gradient();
        self.add_prior(prior, &mut out);
        out
    }
}
