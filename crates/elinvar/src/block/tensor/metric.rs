//! Products of gradients in the Fisher metric, and momentum.

use super::{Tensor, TensorScratch};
use crate::block::gradient::BlockGradient;
use crate::block::scale::Scale;
use crate::linalg::{axpy, dot};
use crate::rule::MatrixUpdate;

impl Tensor {
    /// Adds g₁ᵀF⁻¹g₂ in the metric of q to `sum`: ⟨∇₁, ∇₂ ×_j V_j⟩ + ½Σ_j D₋ⱼ tr(V_jG₁V_jG₂), in which the scale that all factors
    /// share counts once.
    pub(crate) fn add_inner(
        &self,
        one: &BlockGradient,
        two: &BlockGradient,
        scratch: &mut TensorScratch,
        sum: &mut f64,
    ) {
        let TensorScratch { stack, candidates, matrix, .. } = scratch;
        stack.set(&one.b);
        self.solve(stack);
        *sum += dot(stack.values(), &two.b);
        let (mut scale_one, mut scale_two, mut repeated) = (0.0, 0.0, 0.0);
        let mut other = &two.g[..];
        self.each(&one.g, |j, factor, first| {
            let (second, rest) = other.split_at(first.len());
            other = rest;
            *sum += 0.5 * self.others(j) * factor.trace_product(first, second, &mut candidates[j]);
            let x = self.mean_eigenvalue(j, first, matrix);
            let y = self.mean_eigenvalue(j, second, matrix);
            (scale_one, scale_two, repeated) = (scale_one + x, scale_two + y, repeated + x * y);
        });
        let k = self.factors().len() as f64;
        *sum += 0.5 * self.size() as f64 * (scale_one * scale_two / (k * k) - repeated);
    }

    /// Adds `ratio` times the move from `before` in the coordinates (W, P_1, …, P_K), each with its own metric (mathematics §7.1);
    /// the factors of `before` are first brought to the balance of these.
    pub(crate) fn add_momentum(
        &self,
        before: &Self,
        ratio: f64,
        update: MatrixUpdate,
        scratch: &mut TensorScratch,
        gradient: &mut BlockGradient,
    ) {
        let TensorScratch { stack, matrix, directions, .. } = scratch;
        // F_W ΔW = ΔW ×_j P_j.
        stack.set(self.w());
        axpy(-1.0, before.w(), stack.values_mut());
        self.whiten(stack);
        self.factor_times(stack);
        axpy(ratio, stack.values(), &mut gradient.b);

        let (ours, theirs) = (self.balance(), before.balance());
        let mut old = before.factors().iter();
        self.each_mut(directions, |j, factor, moved| {
            moved.copy_from_slice(factor.precision());
            let old = old.next().map(Scale::precision).unwrap_or_default();
            axpy(-theirs[j] / ours[j], old, moved);
        });
        if update == MatrixUpdate::Joint {
            // What the step will share out again.
            let k = self.factors().len() as f64;
            let scale = self.mean_scale(directions, matrix);
            self.each_mut(directions, |_, factor, moved| axpy((k - 1.0) * scale, factor.precision(), moved));
        }
        axpy(ratio, directions, &mut gradient.g);
    }
}
