//! The gradient of the bound in W and the factors, from a batch of evaluations.

use super::TensorProduct;
use super::draw::TensorEstimator;
use crate::block::{BlockGradient, Tensor};
use crate::estimate::Curvature;
use crate::family::{Batch, Gradient, Seen};
use crate::linalg::axpy;
use crate::target::Prior;

impl TensorProduct<'_> {
    /// ∇_W L = E[∇log p] + prior and G_j = A_j/D₋ⱼ − P_j, where A_j[i, i′] = Σ (⊗_{m≠j} V_m)_{ab} E[∇²ℓ]_{(ia),(i′b)}
    /// or what the plan has in its place (mathematics §6.2, §10.5).
    ///
    /// All but a full Hessian is summed in whitened coordinates, where A_j = L_j M_j L_jᵀ and M_j is a partial trace.
    ///
    /// Paper: §5, App. I.
    pub(super) fn accumulate(&self, seen: &Seen<'_>, work: &mut TensorEstimator, out: &mut Gradient) {
        if work.plan.curvature == Curvature::GradientFree {
            return self.accumulate_values(seen, work, out);
        }
        let Seen { evaluations, curvature, prior, batch } = *seen;
        let dim = self.size();
        let grads = &evaluations.grads()[..dim * batch.n];
        let centre = seen.centre(work.plan.curvature, 0);
        let mut items = curvature;
        for ((rows, group), out) in self.parts().zip(&mut out.blocks) {
            out.reset();
            for (grad, weight) in grads.chunks_exact(dim).zip(&work.weight) {
                axpy(*weight, &grad[rows.clone()], &mut out.b);
            }
            let own = &mut out.g[..];
            let n_entries = own.len();
            let white = &mut work.white[..n_entries];
            white.fill(0.0);
            match work.plan.curvature {
                // With full factors this comes after the others, without whitening.
                Curvature::Auto | Curvature::Hessian | Curvature::GaussNewton => {
                    if !self.is_full() {
                        self.trace_out_diagonal(group, &curvature[rows.clone()], work);
                    }
                }
                Curvature::ItemGradients | Curvature::SquaredMean => {
                    axpy(-1.0, &items[..n_entries], white);
                    items = &items[n_entries..];
                }
                // It does without all this.
                Curvature::GradientFree | Curvature::LeastChange | Curvature::Pooled => {}
                Curvature::GradientOuterProduct => {
                    // Weights are not negative.
                    let root = |s: usize| work.weight[s].sqrt();
                    work.tensors.gather(dim, rows.clone(), grads, root);
                    group.whiten_gradient(&mut work.tensors);
                    add_grams(group, work);
                }
                Curvature::Stein { .. } => {
                    work.tensors.gather(dim, rows.clone(), grads, |_| -1.0);
                    if let Some(centre) = centre {
                        let columns = work.tensors.values_mut().chunks_exact_mut(group.size());
                        columns.for_each(|column| axpy(1.0, &centre[rows.clone()], column));
                    }
                    group.whiten_gradient(&mut work.tensors);
                    work.normals.gather(dim, rows.clone(), &work.eps, |s| work.weight[s]);
                    add_products(group, work);
                }
            }
            let n_entries = own.len();
            group.each_mut(&mut work.white[..n_entries], |_, factor, own| factor.shape().complete(own));
            unwhiten_matrices(group, &work.white[..n_entries], &mut work.matrix, own);
            let contracted = matches!(work.plan.curvature, Curvature::Hessian | Curvature::GaussNewton);
            if contracted && self.is_full() {
                self.trace_out(group, rows.clone(), curvature, work, own);
            }
            group.each_mut(own, |j, factor, own| {
                factor.shape().complete(own);
                let others = group.others(j);
                own.iter_mut().zip(factor.precision()).for_each(|(g, p)| *g = *g / others - p);
            });
        }
        self.add_prior(prior, work, out);
        self.accumulate_literal(grads, prior, work, batch, &mut out.literal);
    }

    /// White M_j = −Σ_a h_{ia}/Π p of the contracted diagonal of the Hessian of log p.
    fn trace_out_diagonal(&self, group: &Tensor, diagonal: &[f64], work: &mut TensorEstimator) {
        work.tensors.set(diagonal);
        group.solve(&mut work.tensors);
        let (h, mut inner) = (work.tensors.values(), 1);
        group.each_mut(&mut work.white[..group.n_entries()], |_, factor, own| {
            let d = factor.dim();
            h.iter().enumerate().for_each(|(entry, h)| own[entry / inner % d] -= h);
            inner *= d;
        });
    }

    /// A_j −= Σ_ab (⊗_{m≠j} V_m)_{ab} H_{(ia),(i′b)} of the contracted Hessian of log p, a few of its columns at a
    /// time.
    fn trace_out(
        &self,
        group: &Tensor,
        rows: std::ops::Range<usize>,
        curvature: &[f64],
        work: &mut TensorEstimator,
        out: &mut [f64],
    ) {
        let (dim, size) = (self.size(), group.size());
        let columns = &curvature[dim * rows.start..dim * rows.end];
        let at_once = work.at_once;
        for (chunk, columns) in columns.chunks(dim * at_once).enumerate() {
            let mut inner = 1;
            group.each_mut(out, |j, factor, own| {
                let d = factor.dim();
                work.tensors.gather(dim, rows.clone(), columns, |_| 1.0);
                group.solve_others(j, &mut work.tensors);
                for (k, column) in work.tensors.values().chunks_exact(size).enumerate() {
                    // Column (i′, b) is read at the rows (i, b).
                    let entry = chunk * at_once + k;
                    let last = entry / inner % d;
                    let along = column[entry - inner * last..].iter().step_by(inner);
                    own[last * d..(last + 1) * d].iter_mut().zip(along).for_each(|(a, h)| *a -= h);
                }
                inner *= d;
            });
        }
    }

    /// −Σ_n weight g_n(⊗V)g_nᵀ of each factor, in whitened coordinates, for the gradients of single items at a draw.
    pub(super) fn add_items(&self, weight: f64, items: &[f64], work: &mut TensorEstimator, curvature: &mut [f64]) {
        let dim = self.size();
        let mut out = curvature;
        for (rows, group) in self.parts() {
            let (own, rest) = out.split_at_mut(group.n_entries());
            let n_entries = own.len();
            work.white[..n_entries].fill(0.0);
            let at_once = work.at_once;
            for items in items.chunks(dim * at_once) {
                work.tensors.gather(dim, rows.clone(), items, |_| 1.0);
                group.whiten_gradient(&mut work.tensors);
                add_grams(group, work);
            }
            axpy(-weight, &work.white[..n_entries], own);
            out = rest;
        }
    }

    /// ∇_W = −δ(W − m) and A_j = Σ δ Π_{m≠j} V_m, over the entries that share an index of mode j (mathematics §6.3).
    pub(super) fn add_prior(&self, prior: &Prior, work: &mut TensorEstimator, out: &mut Gradient) {
        for ((rows, group), out) in self.parts().zip(&mut out.blocks) {
            let BlockGradient { b: w, g: own } = out;
            if rows.clone().all(|i| prior.precision(i) == 0.0) {
                continue;
            }
            let means = w.iter_mut().zip(rows.clone()).zip(group.w());
            means.for_each(|((slope, i), w)| *slope += prior.slope(i, *w));
            group.variances(&mut work.matrix[0], &mut work.variances);
            let variances = &work.variances;
            group.entries(|entry, index| {
                let precision = prior.precision(rows.start + entry);
                if precision == 0.0 {
                    return;
                }
                let (mut product, mut start) = (1.0, 0);
                for (i, factor) in index.iter().zip(group.factors()) {
                    product *= variances[start + i];
                    start += factor.dim();
                }
                let (mut first, mut index) = (0, index.iter());
                group.each_mut(own, |j, factor, own| {
                    let (d, i) = (factor.dim(), *index.next().expect("an index for each mode"));
                    own[i * factor.shape().stride()] += precision * (product / variances[first + i]) / group.others(j);
                    first += d;
                });
            });
        }
    }

    /// −E[∇h] and Σ_s weight ∇h(⊗V)∇hᵀ with the sampled h = log q − log p.
    fn accumulate_literal(
        &self,
        grads: &[f64],
        prior: &Prior,
        work: &mut TensorEstimator,
        batch: &Batch,
        out: &mut [BlockGradient],
    ) {
        let dim = self.size();
        // There is nothing to write where the rule of the paper is not asked for.
        for ((rows, group), out) in self.parts().zip(out) {
            let own = &mut out.g[..];
            work.tensors.gather(dim, rows.clone(), grads, |_| -1.0);
            for (s, column) in work.tensors.values_mut().chunks_exact_mut(group.size()).enumerate() {
                let entries = column.iter_mut().zip(rows.clone()).zip(&batch.draws.get(s)[rows.clone()]);
                entries.for_each(|((entry, i), z)| *entry -= prior.slope(i, *z));
            }
            group.whiten_gradient(&mut work.tensors);
            work.normals.gather(dim, rows.clone(), &work.eps, |_| 1.0);
            axpy(-1.0, work.normals.values(), work.tensors.values_mut());
            let n_entries = own.len();
            let (white, mean) = (&mut work.white[..n_entries], &mut work.direction[..group.size()]);
            white.fill(0.0);
            mean.fill(0.0);
            for (column, weight) in work.tensors.values_mut().chunks_exact_mut(group.size()).zip(&work.weight) {
                axpy(-weight, column, mean);
                column.iter_mut().for_each(|v| *v *= weight.sqrt());
            }
            add_grams(group, work);
            group.each_mut(&mut work.white[..n_entries], |_, factor, own| factor.shape().complete(own));
            unwhiten_matrices(group, &work.white[..n_entries], &mut work.matrix, own);
            work.tensors.set(&work.direction[..group.size()]);
            group.factor_times(&mut work.tensors);
            out.b.copy_from_slice(work.tensors.values());
        }
    }
}

/// White M_j += X_(j) X_(j)ᵀ of the stack of tensors for every mode j.
fn add_grams(group: &Tensor, work: &mut TensorEstimator) {
    let TensorEstimator { tensors, white, ones, gram, .. } = work;
    group.each_mut(&mut white[..group.n_entries()], |_, factor, own| {
        let d = factor.dim();
        factor.shape().add_weighted_gram(tensors.values(), &ones[..tensors.values().len() / d], gram, own);
        tensors.turn(d, group.size());
    });
}

/// White M_j += ½(E_(j) X_(j)ᵀ + X_(j) E_(j)ᵀ) of two stacks of tensors for every mode j.
pub(super) fn add_products(group: &Tensor, work: &mut TensorEstimator) {
    let TensorEstimator { tensors, normals, white, ones, gram, .. } = work;
    group.each_mut(&mut white[..group.n_entries()], |_, factor, own| {
        let d = factor.dim();
        let (x, e) = (tensors.values(), normals.values());
        factor.shape().add_symmetrised(e, x, &ones[..x.len() / d], gram, own);
        tensors.turn(d, group.size());
        normals.turn(d, group.size());
    });
}

/// A_j = L_j M_j L_jᵀ for every factor.
pub(super) fn unwhiten_matrices(group: &Tensor, white: &[f64], scratch: &mut [Vec<f64>; 2], out: &mut [f64]) {
    let mut white = white;
    group.each_mut(out, |_, factor, own| {
        let (m, rest) = white.split_at(own.len());
        white = rest;
        factor.congruent(m, scratch, own);
    });
}
