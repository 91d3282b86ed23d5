//! A smooth log-concave target in any dimension that no family contains, and its image under an affine map.

use crate::state::State;
use elinvar::internals::special::logistic::{log1p_exp, logistic_variance, sigmoid};
use elinvar::target::{Target, from_fns};

use super::{normals, stream};

/// log p(z) = −Σ_k 2 log(1 + exp(x_kᵀz + o_k)) − 0.05|z|²: its value, gradient and Hessian.
pub(crate) fn bent(z: &[f64]) -> (f64, Vec<f64>, Vec<f64>) {
    let d = z.len();
    let mut source = stream(7);
    let mut out =
        (-0.05 * z.iter().map(|z| z * z).sum::<f64>(), z.iter().map(|z| -0.1 * z).collect(), vec![0.0; d * d]);
    let (value, grad, hessian): (&mut f64, &mut Vec<f64>, &mut Vec<f64>) = (&mut out.0, &mut out.1, &mut out.2);
    (0..d).for_each(|i| hessian[i * d + i] = -0.1);
    for _ in 0..2 * d + 1 {
        let x = normals(&mut source, d);
        let t = x.iter().zip(z).map(|(x, z)| x * z).sum::<f64>() + 0.4 * source.normal();
        *value -= 2.0 * log1p_exp(t);
        for j in 0..d {
            grad[j] -= 2.0 * sigmoid(t) * x[j];
            for i in 0..d {
                hessian[j * d + i] -= 2.0 * logistic_variance(t) * x[i] * x[j];
            }
        }
    }
    out
}

/// [`bent`] as a target.
pub(crate) fn bent_target(dim: usize) -> impl Target {
    from_fns(
        dim,
        |z: &[f64], grad: &mut [f64]| {
            let (value, gradient, _) = bent(z);
            grad.copy_from_slice(&gradient);
            value
        },
        |z: &[f64], out: &mut [f64]| out.copy_from_slice(&bent(z).2),
    )
}

/// z ↦ Az + b with an upper triangular A of positive diagonal: then A⁻ᵀL is again a lower triangular factor with
/// positive diagonal, so that the same noise makes the transformed draws.
pub(crate) struct Affine {
    a: Vec<f64>,
    b: Vec<f64>,
}

impl Affine {
    pub(crate) fn new(dim: usize, seed: u64) -> Self {
        let mut source = stream(seed);
        let mut a = normals(&mut source, dim * dim);
        for j in 0..dim {
            a[j * dim + j] = (0.7 * a[j * dim + j]).exp();
            a[j * dim + j + 1..(j + 1) * dim].fill(0.0);
        }
        Self { a, b: normals(&mut source, dim).iter().map(|b| 20.0 * b).collect() }
    }

    pub(crate) fn log_det(&self) -> f64 {
        let d = self.b.len();
        (0..d).map(|i| self.a[i * d + i].ln()).sum()
    }

    /// A x.
    fn times(&self, x: &[f64]) -> Vec<f64> {
        let d = x.len();
        (0..d).map(|i| (i..d).map(|j| self.a[j * d + i] * x[j]).sum()).collect()
    }

    /// A⁻¹(z − b).
    fn undo(&self, z: &[f64]) -> Vec<f64> {
        let d = z.len();
        let mut x: Vec<f64> = z.iter().zip(&self.b).map(|(z, b)| z - b).collect();
        for i in (0..d).rev() {
            let known: f64 = (i + 1..d).map(|j| self.a[j * d + i] * x[j]).sum();
            x[i] = (x[i] - known) / self.a[i * d + i];
        }
        x
    }

    /// A⁻ᵀ g.
    fn gradient(&self, g: &[f64]) -> Vec<f64> {
        let d = g.len();
        let mut x = g.to_vec();
        for i in 0..d {
            let known: f64 = (0..i).map(|j| self.a[i * d + j] * x[j]).sum();
            x[i] = (x[i] - known) / self.a[i * d + i];
        }
        x
    }

    /// A⁻ᵀ H A⁻¹ for a symmetric H.
    fn form(&self, h: &[f64]) -> Vec<f64> {
        let d = self.b.len();
        let half: Vec<f64> = h.chunks_exact(d).flat_map(|column| self.gradient(column)).collect();
        let transposed: Vec<f64> = (0..d * d).map(|k| half[(k % d) * d + k / d]).collect();
        transposed.chunks_exact(d).flat_map(|column| self.gradient(column)).collect()
    }

    /// [`bent`] in the new coordinates, without the Jacobian: unnormalised densities are known up to a factor.
    pub(crate) fn target(&self) -> impl Target {
        from_fns(
            self.b.len(),
            |z: &[f64], grad: &mut [f64]| {
                let (value, gradient, _) = bent(&self.undo(z));
                grad.copy_from_slice(&self.gradient(&gradient));
                value
            },
            |z: &[f64], out: &mut [f64]| out.copy_from_slice(&self.form(&bent(&self.undo(z)).2)),
        )
    }

    /// The state of Az + b.
    pub(crate) fn move_state(&self, state: &mut State) {
        let d = state.dim;
        for block in &mut state.blocks {
            block.b = block.b.chunks_exact(d).flat_map(|column| self.times(column)).collect();
            block.b.iter_mut().zip(&self.b).for_each(|(mu, b)| *mu += b);
            block.precision = self.form(&block.precision);
        }
    }
}
