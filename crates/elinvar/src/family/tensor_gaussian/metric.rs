//! Products of gradients in the Fisher metric, and momentum.

use super::TensorGaussian;
use super::draw::TensorWork;
use super::gradient::TensorGradient;
use crate::block::ScaleMatrix;
use crate::family::MatrixUpdate;
use crate::linalg::{axpy, dot};

impl<S: ScaleMatrix> TensorGaussian<S> {
    /// g₁ᵀF⁻¹g₂ in the metric of q: ⟨∇₁, ∇₂ ×_j V_j⟩ + ½Σ_j D₋ⱼ tr(V_jG₁V_jG₂), in which the scale that all factors share counts once.
    pub(super) fn product(&self, one: &TensorGradient, two: &TensorGradient, work: &mut TensorWork) -> f64 {
        let (mut sum, mut g_one, mut g_two) = (0.0, &one.g[..], &two.g[..]);
        for (which, (rows, group)) in self.parts().enumerate() {
            work.tensors.set(&one.w[rows.clone()]);
            group.solve(&mut work.tensors);
            sum += dot(work.tensors.values(), &two.w[rows]);
            let (own_one, rest_one) = g_one.split_at(group.n_entries());
            let (own_two, rest_two) = g_two.split_at(group.n_entries());
            let (mut scale_one, mut scale_two, mut repeated) = (0.0, 0.0, 0.0);
            let mut other = own_two;
            group.each(own_one, |j, factor, first| {
                let (second, rest) = other.split_at(first.len());
                other = rest;
                let candidate = &mut work.candidates[which][j];
                sum += 0.5 * group.others(j) * factor.trace_product(first, second, candidate);
                let x = group.mean_eigenvalue(j, first, &mut work.matrix[0]);
                let y = group.mean_eigenvalue(j, second, &mut work.matrix[0]);
                (scale_one, scale_two, repeated) = (scale_one + x, scale_two + y, repeated + x * y);
            });
            let k = group.factors().len() as f64;
            sum += 0.5 * group.size() as f64 * (scale_one * scale_two / (k * k) - repeated);
            (g_one, g_two) = (rest_one, rest_two);
        }
        sum
    }

    /// Adds `ratio` times the move from `before` in the coordinates (W, P_1, …, P_K), each block with its own metric (mathematics §7.1);
    /// the factors of `before` are first brought to the balance of these.
    pub(super) fn add_last_move(
        &self,
        before: &Self,
        ratio: f64,
        work: &mut TensorWork,
        gradient: &mut TensorGradient,
    ) {
        let TensorGradient { w, g, literal } = gradient;
        let (w, mut g) = match literal {
            Some(both) => (&mut both.0, &mut both.1[..]),
            None => (w, &mut g[..]),
        };
        for ((rows, group), before) in self.parts().zip(before.groups()) {
            // F_W ΔW = ΔW ×_j P_j.
            work.tensors.set(group.w());
            axpy(-1.0, before.w(), work.tensors.values_mut());
            group.whiten(&mut work.tensors);
            group.factor_times(&mut work.tensors);
            axpy(ratio, work.tensors.values(), &mut w[rows]);

            let (own, rest) = g.split_at_mut(group.n_entries());
            let (ours, theirs) = (group.balance(), before.balance());
            let moved = &mut work.directions[..own.len()];
            let mut old = before.factors().iter();
            group.each_mut(moved, |j, factor, moved| {
                moved.copy_from_slice(factor.precision());
                let old = old.next().map(S::precision).unwrap_or_default();
                axpy(-theirs[j] / ours[j], old, moved);
            });
            if self.update() == MatrixUpdate::Joint {
                // What the step will share out again.
                let k = group.factors().len() as f64;
                let scale = group.mean_scale(moved, &mut work.matrix[0]);
                group.each_mut(moved, |_, factor, moved| axpy((k - 1.0) * scale, factor.precision(), moved));
            }
            axpy(ratio, moved, own);
            g = rest;
        }
    }
}
