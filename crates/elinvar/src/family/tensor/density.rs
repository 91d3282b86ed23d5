//! Density, derivatives and moments at a point, by factors.

use super::TensorProduct;
use crate::block::{Stack, Tensor};
use crate::family::Density;
use crate::linalg::{axpy, dot};
use crate::rule::MatrixUpdate;

/// (Z − W) ×_j L_jᵀ.
fn whitened(tensor: &Tensor, z: &[f64]) -> Stack {
    let mut stack = Stack::new(tensor.size());
    stack.set(z);
    axpy(-1.0, tensor.w(), stack.values_mut());
    tensor.whiten(&mut stack);
    stack
}

/// P_j or V_j with all entries.
fn matrix(tensor: &Tensor, j: usize, precision: bool) -> Vec<f64> {
    let factor = &tensor.factors()[j];
    let mut out = vec![0.0; factor.dim() * factor.dim()];
    if precision {
        factor.shape().add_to_full(1.0, factor.precision(), &mut out);
    } else {
        factor.covariance_into(&mut out);
    }
    out
}

impl TensorProduct<'_> {
    /// −P_K ⊗ … ⊗ P_1, or V_K ⊗ … ⊗ V_1, of every group on the diagonal of a full matrix.
    pub(super) fn write_kronecker(&self, out: &mut [f64], precision: bool) {
        let dim = self.size();
        out.fill(0.0);
        for (rows, group) in self.parts() {
            let mut product = vec![if precision { -1.0 } else { 1.0 }];
            let mut n = 1;
            for j in 0..group.factors().len() {
                let (matrix, d) = (matrix(group, j, precision), group.factors()[j].dim());
                let mut next = vec![0.0; n * n * d * d];
                for (column, to) in next.chunks_exact_mut(n * d).enumerate() {
                    let (small, large) = (column % n, column / n);
                    for (i, to) in to.chunks_exact_mut(n).enumerate() {
                        axpy(matrix[large * d + i], &product[small * n..(small + 1) * n], to);
                    }
                }
                (product, n) = (next, n * d);
            }
            for (k, column) in product.chunks_exact(n).enumerate() {
                let start = (rows.start + k) * dim + rows.start;
                out[start..start + n].copy_from_slice(column);
            }
        }
    }
}

impl Density for TensorProduct<'_> {
    /// −½D log 2π + ½Σ_j D₋ⱼ log |P_j| − ½‖(Z − W) ×_j L_jᵀ‖², summed over the groups.
    fn log_density(&self, z: &[f64]) -> f64 {
        assert_eq!(z.len(), self.size(), "a point has {} coordinates", self.size());
        let of_group = |(rows, group): (std::ops::Range<usize>, &Tensor)| {
            let white = whitened(group, &z[rows]);
            0.5 * (group.log_det() - dot(white.values(), white.values()))
        };
        self.parts().map(of_group).sum::<f64>() - 0.5 * z.len() as f64 * std::f64::consts::TAU.ln()
    }

    /// ∇log q = −(Z − W) ×_j P_j.
    fn score(&self, z: &[f64], out: &mut [f64]) {
        for (rows, group) in self.parts() {
            let mut white = whitened(group, &z[rows.clone()]);
            group.factor_times(&mut white);
            out[rows].iter_mut().zip(white.values()).for_each(|(to, v)| *to = -v);
        }
    }

    fn hessian(&self, _z: &[f64], out: &mut [f64]) {
        self.write_kronecker(out, true);
    }

    fn mean(&self) -> Vec<f64> {
        self.groups.iter().flat_map(|group| group.w().iter().copied()).collect()
    }

    fn covariance(&self) -> Vec<f64> {
        let mut out = vec![0.0; self.size() * self.size()];
        self.write_kronecker(&mut out, false);
        out
    }

    fn variances(&self) -> Vec<f64> {
        self.groups.iter().flat_map(Tensor::entry_variances).collect()
    }

    fn entropy(&self) -> Option<f64> {
        let log_det: f64 = self.groups.iter().map(Tensor::log_det).sum();
        Some(0.5 * (self.size() as f64 * (1.0 + std::f64::consts::TAU.ln()) - log_det))
    }

    /// But for the rule of the paper, which moves by squared gradients.
    fn takes_values_alone(&self) -> bool {
        self.update != MatrixUpdate::PaperLiteral
    }
}
