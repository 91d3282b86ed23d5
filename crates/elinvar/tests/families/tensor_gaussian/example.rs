//! Members of the family with irregular numbers, and dense algebra to compare with.

use crate::state::{BlockState, State, Stated};
use elinvar::Family;
use elinvar::estimate::Curvature;
use elinvar::family::{Approximation, Kind, Layout, MatrixUpdate};
use elinvar::target::Covariance;

use crate::subjects::{numbers, precision};

/// Where the curvature of a step comes from.
pub(crate) const SOURCES: [Curvature; 5] = [
    Curvature::Hessian,
    Curvature::ItemGradients,
    Curvature::GradientOuterProduct,
    Curvature::Stein { control_variate: true },
    Curvature::Stein { control_variate: false },
];

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

pub(crate) fn member(covariance: Covariance, groups: &[&[usize]], update: MatrixUpdate, seed: u64) -> Approximation {
    let family = Family::layers(groups).unwrap().with_covariance(covariance).with_update(update);
    Approximation::from_state(&state(family, seed)).unwrap()
}

/// How z is cut into tensors.
pub(crate) fn layout(q: &Approximation) -> Layout {
    let Kind::Matrix { layout, .. } = q.family().kind else { panic!("`{}` has no layout", q.family()) };
    layout
}

/// KL(q ‖ p) of two Gaussians in closed form, from dense matrices.
pub(crate) fn divergence(q: &Approximation, p: &Approximation) -> f64 {
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
