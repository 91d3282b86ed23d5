//! The gradient of the bound from values of log p alone (mathematics §10.2).

use super::TensorProduct;
use super::draw::TensorEstimator;
use super::gradient::{add_products, unwhiten_matrices};
use crate::estimate::Baseline;
use crate::family::{Gradient, Seen};
use crate::linalg::axpy;

impl TensorProduct<'_> {
    /// ∇_W L = −E[(h − b) E ×_j L_j] and white M_j = E[(h − b)(E_(j)E_(j)ᵀ − D₋ⱼ I)] for h = log q − log p, where E is
    /// the standard normal tensor of a draw: entropy and prior are inside h.
    pub(super) fn accumulate_values(&self, seen: &Seen<'_>, work: &mut TensorEstimator, out: &mut Gradient) {
        let Seen { evaluations, prior, batch, .. } = *seen;
        let dim = self.size();
        let h = |s: usize| batch.log_q[s] - evaluations.log_p()[s] - prior.log_density(batch.draws.get(s));
        let kept = || (0..batch.n).filter(|s| batch.kept[*s]);
        let mean: f64 = kept().map(|s| work.weight[s] * h(s)).sum();
        let (odd, even) = Baseline::stretch(work.plan.noise, kept().count());
        work.excess.fill(0.0);
        kept().for_each(|s| work.excess[s] = work.weight[s] * (h(s) - mean));
        let total = even * work.excess.iter().sum::<f64>();
        for ((rows, group), out) in self.parts().zip(&mut out.blocks) {
            let own = &mut out.g[..];
            let slope = &mut work.direction[..group.size()];
            slope.fill(0.0);
            for (eps, excess) in work.eps.chunks_exact(dim).zip(&work.excess) {
                axpy(-odd * excess, &eps[rows.clone()], slope);
            }
            work.tensors.set(slope);
            group.factor_times(&mut work.tensors);
            out.b.copy_from_slice(work.tensors.values());

            work.tensors.gather(dim, rows.clone(), &work.eps, |_| 1.0);
            work.normals.gather(dim, rows, &work.eps, |s| even * work.excess[s]);
            let n_entries = own.len();
            work.white[..n_entries].fill(0.0);
            add_products(group, work);
            let white = &mut work.white[..n_entries];
            group.each_mut(white, |j, factor, own| {
                let shape = factor.shape();
                shape.complete(own);
                own.iter_mut().step_by(shape.stride()).for_each(|m| *m -= total * group.others(j));
            });
            unwhiten_matrices(group, white, &mut work.matrix, own);
            group.each_mut(own, |j, _, own| own.iter_mut().for_each(|g| *g /= group.others(j)));
        }
    }
}
