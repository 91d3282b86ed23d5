//! Members of the family with irregular numbers, and dense algebra to compare with.

use elinvar::block::{Diagonal, Full, ScaleMatrix};
use elinvar::estimate::Curvature;
use elinvar::family::{AnyApproximation, Approximation, BlockState, Kind, MatrixUpdate, State, TensorGaussian};
use elinvar::run::{Checkpoint, Run};
use elinvar::target::{Covariance, Target};
use elinvar::{Family, Plan};

use crate::subjects::{AnyRun, numbers};

/// Where the curvature of a step comes from.
pub(crate) const SOURCES: [Curvature; 5] = [
    Curvature::Hessian,
    Curvature::ItemGradients,
    Curvature::GradientOuterProduct,
    Curvature::Stein { control_variate: true },
    Curvature::Stein { control_variate: false },
];

/// AAᵀ + ½I, or its diagonal.
pub(crate) fn precision(d: usize, covariance: Covariance, seed: u64) -> Vec<f64> {
    let a = numbers(d * d, seed);
    let entry = |i: usize, j: usize| {
        let product: f64 = (0..d).map(|k| a[i * d + k] * a[j * d + k]).sum();
        product + if i == j { 0.5 } else { 0.0 }
    };
    match covariance {
        Covariance::Full => (0..d * d).map(|at| entry(at % d, at / d)).collect(),
        Covariance::Diagonal => (0..d).map(|i| entry(i, i)).collect(),
    }
}

/// A state of the family away from the origin.
pub(crate) fn state(family: Family, seed: u64) -> State {
    let Kind::Matrix { layout, .. } = family.kind else { panic!("`{family}` has no layout") };
    let block = |(g, dims): (usize, &[u32])| {
        let size = dims.iter().map(|d| *d as usize).product();
        let factor = |(j, d): (usize, &u32)| precision(*d as usize, family.covariance, seed + 10 * g as u64 + j as u64);
        BlockState {
            b: numbers(size, seed + 77 + g as u64).iter().map(|w| 1.0 + w).collect(),
            precision: dims.iter().enumerate().flat_map(factor).collect(),
        }
    };
    let blocks = layout.groups().enumerate().map(block).collect();
    State { family, dim: layout.total(), blocks, log_weights: vec![0.0] }
}

pub(crate) fn member<S: ScaleMatrix>(groups: &[&[usize]], update: MatrixUpdate, seed: u64) -> TensorGaussian<S> {
    let family = Family::layers(groups).unwrap().with_covariance(S::COVARIANCE).with_update(update);
    TensorGaussian::from_state(&state(family, seed)).unwrap()
}

/// KL(q ‖ p) of two Gaussians in closed form, from dense matrices.
pub(crate) fn divergence(q: &AnyApproximation, p: &AnyApproximation) -> f64 {
    let d = q.dim();
    let (mean_q, mean_p, cov_q) = (q.mean(), p.mean(), q.covariance());
    let mut hessian = vec![0.0; d * d];
    p.hessian(&mean_p, &mut hessian);
    let mut kl = p.entropy().unwrap() - q.entropy().unwrap() - 0.5 * d as f64;
    for i in 0..d {
        for j in 0..d {
            let product = cov_q[i * d + j] + (mean_q[i] - mean_p[i]) * (mean_q[j] - mean_p[j]);
            kl -= 0.5 * hessian[i * d + j] * product;
        }
    }
    kl
}

/// A B for column-major matrices, A with `rows` rows and as many columns as B has rows.
pub(crate) fn times(a: &[f64], rows: usize, b: &[f64]) -> Vec<f64> {
    let inner = a.len() / rows;
    let mut out = Vec::with_capacity(rows * (b.len() / inner));
    for column in b.chunks_exact(inner) {
        out.extend((0..rows).map(|i| (0..inner).map(|k| a[k * rows + i] * column[k]).sum::<f64>()));
    }
    out
}

pub(crate) fn transposed(a: &[f64], rows: usize) -> Vec<f64> {
    let cols = a.len() / rows;
    (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j))).map(|(i, j)| a[j * rows + i]).collect()
}

/// A run of this family or of the Gaussian.
pub(crate) fn open<'t>(target: &'t dyn Target, start: AnyApproximation, plan: &Plan) -> Box<dyn AnyRun + 't> {
    match start {
        AnyApproximation::Matrix(q) => Box::new(Run::new(target, q, plan).unwrap()),
        AnyApproximation::MatrixDiagonal(q) => Box::new(Run::new(target, q, plan).unwrap()),
        AnyApproximation::Gaussian(q) => Box::new(Run::new(target, q, plan).unwrap()),
        AnyApproximation::GaussianDiagonal(q) => Box::new(Run::new(target, q, plan).unwrap()),
        other => panic!("`{}` is tested elsewhere", other.state().family),
    }
}

/// The run of a checkpoint.
pub(crate) fn resume<'t>(target: &'t dyn Target, checkpoint: &Checkpoint) -> Box<dyn AnyRun + 't> {
    match checkpoint.state().family.covariance {
        Covariance::Full => Box::new(Run::<TensorGaussian<Full>>::resume(target, checkpoint).unwrap()),
        Covariance::Diagonal => Box::new(Run::<TensorGaussian<Diagonal>>::resume(target, checkpoint).unwrap()),
    }
}
