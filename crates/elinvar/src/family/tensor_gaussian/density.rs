//! Density, derivatives and moments at a point, by factors.

use super::TensorGaussian;
use super::group::Group;
use super::tensors::Tensors;
use crate::block::ScaleMatrix;
use crate::linalg::{axpy, dot};
use crate::target::Covariance;

impl<S: ScaleMatrix> Group<S> {
    /// (Z − W) ×_j L_jᵀ.
    fn whitened(&self, z: &[f64]) -> Tensors {
        let mut tensors = Tensors::new(self.size());
        tensors.set(z);
        axpy(-1.0, self.w(), tensors.values_mut());
        self.whiten(&mut tensors);
        tensors
    }

    /// The variance of every entry.
    fn entry_variances(&self) -> Vec<f64> {
        let longest = self.factors().iter().map(S::dim).max().unwrap_or(1);
        let mut diagonals = vec![0.0; self.factors().iter().map(S::dim).sum()];
        let square = if S::COVARIANCE == Covariance::Full { longest * longest } else { 0 };
        self.variances(&mut vec![0.0; square], &mut diagonals);
        let mut out = vec![0.0; self.size()];
        self.entries(|entry, index| {
            let mut start = 0;
            let factor = |(i, factor): (&usize, &S)| {
                start += factor.dim();
                diagonals[start - factor.dim() + i]
            };
            out[entry] = index.iter().zip(self.factors()).map(factor).product();
        });
        out
    }

    /// P_j or V_j with all entries.
    fn matrix(&self, j: usize, precision: bool) -> Vec<f64> {
        let factor = &self.factors()[j];
        let d = factor.dim();
        let mut out = vec![0.0; d * d];
        match (precision, S::COVARIANCE) {
            (false, _) => factor.covariance_into(&mut out),
            (true, Covariance::Full) => out.copy_from_slice(factor.precision()),
            (true, Covariance::Diagonal) => {
                out.iter_mut().step_by(d + 1).zip(factor.precision()).for_each(|(to, p)| *to = *p);
            }
        }
        out
    }
}

impl<S: ScaleMatrix> TensorGaussian<S> {
    /// −½D log 2π + ½Σ_j D₋ⱼ log |P_j| − ½‖(Z − W) ×_j L_jᵀ‖², summed over the groups.
    pub(super) fn log_density_at(&self, z: &[f64]) -> f64 {
        assert_eq!(z.len(), self.size(), "a point has {} coordinates", self.size());
        let of_group = |(rows, group): (std::ops::Range<usize>, &Group<S>)| {
            let white = group.whitened(&z[rows]);
            0.5 * (group.log_det() - dot(white.values(), white.values()))
        };
        self.parts().map(of_group).sum::<f64>() - 0.5 * z.len() as f64 * std::f64::consts::TAU.ln()
    }

    /// ∇log q = −(Z − W) ×_j P_j.
    pub(super) fn score_at(&self, z: &[f64], out: &mut [f64]) {
        for (rows, group) in self.parts() {
            let mut white = group.whitened(&z[rows.clone()]);
            group.factor_times(&mut white);
            out[rows].iter_mut().zip(white.values()).for_each(|(to, v)| *to = -v);
        }
    }

    /// −P_K ⊗ … ⊗ P_1, or V_K ⊗ … ⊗ V_1, of every group on the diagonal of a full matrix.
    pub(super) fn write_kronecker(&self, out: &mut [f64], precision: bool) {
        let dim = self.size();
        out.fill(0.0);
        for (rows, group) in self.parts() {
            let mut product = vec![if precision { -1.0 } else { 1.0 }];
            let mut n = 1;
            for j in 0..group.factors().len() {
                let (matrix, d) = (group.matrix(j, precision), group.factors()[j].dim());
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

    pub(super) fn marginal_variances(&self) -> Vec<f64> {
        self.groups().iter().flat_map(Group::entry_variances).collect()
    }
}
