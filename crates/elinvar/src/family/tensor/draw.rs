//! Draws of a product of tensor-variate Gaussians, by factors.

use super::TensorProduct;
use crate::block::{Scale, Stack, Tensor};
use crate::family::{Approximation, Batch, DrawPlan, NoiseKey};
use crate::linalg::products::GRAM_BLOCK;
use crate::linalg::{axpy, dot};
use crate::random::NoiseSource;

/// Memory for a batch of a product of tensor-variate Gaussians.
#[derive(Debug)]
pub(crate) struct TensorEstimator {
    pub(super) plan: DrawPlan,
    noise: NoiseSource,
    /// Standard normals, D × n.
    pub(super) eps: Vec<f64>,
    /// Weights of the average over draws.
    pub(super) weight: Vec<f64>,
    /// The same times the excess of h over its mean.
    pub(super) excess: Vec<f64>,
    /// Stacks of tensors of the present group: gradients or columns of a Hessian, and normals.
    pub(super) tensors: Stack,
    pub(super) normals: Stack,
    /// How many tensors the stacks hold.
    pub(super) at_once: usize,
    /// Weights one of a Gram product.
    pub(super) ones: Vec<f64>,
    pub(super) gram: Vec<f64>,
    /// Matrices of the factors of the present group, in whitened coordinates.
    pub(super) white: Vec<f64>,
    /// Room for a few matrices of the longest mode.
    pub(super) matrix: [Vec<f64>; 2],
    /// Diagonals of the V_j of the present group.
    pub(super) variances: Vec<f64>,
    /// A mean over draws for the present group.
    pub(super) direction: Vec<f64>,
}

/// Tensors that are handled at once: gradients of items, columns of a Hessian.
const AT_ONCE: usize = 16;

impl TensorEstimator {
    /// Memory for batches drawn as the plan says.
    pub(crate) fn new(q: &Approximation, plan: &DrawPlan) -> Self {
        let groups = q.tensors();
        let n = plan.n_draws;
        let dim: usize = groups.iter().map(Tensor::size).sum();
        let most = |f: &dyn Fn(&Tensor) -> usize| groups.iter().map(f).max().unwrap_or(0);
        let largest = most(&Tensor::size);
        let longest = most(&|g| g.factors().iter().map(Scale::dim).max().unwrap_or(1));
        // Columns of the unfoldings of a stack: at most so many for each of its tensors.
        let columns = most(&|g| g.factors().iter().map(|f| g.size() / f.dim()).max().unwrap_or(1));
        let stack = n.max(AT_ONCE);
        let square = most(&|g| g.factors().iter().map(|f| f.precision().len()).max().unwrap_or(1));
        let entries = most(&Tensor::n_entries);
        Self {
            plan: *plan,
            noise: NoiseSource::new(plan.noise, dim, n),
            eps: vec![0.0; dim * n],
            weight: vec![0.0; n],
            excess: vec![0.0; n],
            tensors: Stack::new(largest * stack),
            normals: Stack::new(largest * n),
            at_once: stack,
            ones: vec![1.0; columns * stack],
            gram: vec![0.0; longest * GRAM_BLOCK.min(columns * stack)],
            white: vec![0.0; entries],
            matrix: [vec![0.0; square], vec![0.0; square]],
            variances: vec![0.0; most(&|g| g.factors().iter().map(Scale::dim).sum())],
            direction: vec![0.0; largest],
        }
    }

    /// Makes the draws from the normals: Z = W + E ×_j L_j⁻ᵀ, with log q of each.
    pub(crate) fn place(&mut self, q: &Approximation, batch: &mut Batch) {
        TensorProduct::of(q).place(self, batch);
    }

    pub(super) fn fill_noise(&mut self, key: NoiseKey) {
        self.noise.begin(key.seed, key.purpose, key.step, 0);
        self.noise.fill_eps(&mut self.eps);
    }
}

impl TensorProduct<'_> {
    /// Makes the draws from the normals: Z = W + E ×_j L_j⁻ᵀ, with log q of each.
    pub(super) fn place(&self, work: &mut TensorEstimator, batch: &mut Batch) {
        let (dim, n) = (self.size(), batch.n);
        let mut constant = -0.5 * dim as f64 * std::f64::consts::TAU.ln();
        for (rows, group) in self.parts() {
            work.tensors.gather(dim, rows.clone(), &work.eps, |_| 1.0);
            group.unwhiten(&mut work.tensors);
            let z = batch.draws.as_mut_slice()[..dim * n].chunks_exact_mut(dim);
            for (z, from) in z.zip(work.tensors.values().chunks_exact(group.size())) {
                let z = &mut z[rows.clone()];
                z.copy_from_slice(from);
                axpy(1.0, group.w(), z);
            }
            constant += 0.5 * group.log_det();
        }
        for (log_q, eps) in batch.log_q.iter_mut().zip(work.eps.chunks_exact(dim)) {
            *log_q = constant - 0.5 * dot(eps, eps);
        }
        batch.kept.fill(true);
        if work.plan.curvature.wants_centre() {
            let centre = batch.draws.get_mut(batch.centre(0));
            self.parts().for_each(|(rows, group)| centre[rows].copy_from_slice(group.w()));
        }
    }
}
