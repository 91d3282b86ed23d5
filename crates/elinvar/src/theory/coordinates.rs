//! The coordinates of one block: η = (PB, −½P), m = (BΩ, BΩBᵀ + Σ) and the metric (mathematics §0.5).

use super::check_length;
use crate::Error;
use crate::block::{BlockGradient, Location, Scale};
use crate::linalg::{axpy, dot};
use crate::target::Shape;

/// How often an entry occurs in its symmetric matrix.
pub(super) fn multiplicity(i: usize, j: usize) -> f64 {
    if i == j { 1.0 } else { 2.0 }
}

/// Number of coordinates of a block with r columns of B.
pub(super) fn count(shape: Shape, r: usize) -> usize {
    shape.dim() * r + shape.positions().len()
}

/// X Ω for the d × r matrix X.
fn times(x: &[f64], omega: &[f64], dim: usize) -> Vec<f64> {
    let r = x.len() / dim;
    let mut out = vec![0.0; x.len()];
    for (j, column) in out.chunks_exact_mut(dim).enumerate() {
        for (k, from) in x.chunks_exact(dim).enumerate() {
            axpy(omega[j * r + k], from, column);
        }
    }
    out
}

pub(super) fn covariance(scale: &Scale) -> Vec<f64> {
    let mut out = vec![0.0; scale.dim() * scale.dim()];
    scale.covariance_into(&mut out);
    out
}

/// (X Yᵀ)_ij for d × r matrices.
fn product_entry(x: &[f64], y: &[f64], dim: usize, i: usize, j: usize) -> f64 {
    x.chunks_exact(dim).zip(y.chunks_exact(dim)).map(|(x, y)| x[i] * y[j]).sum()
}

/// η_B = PB, then η_S = −½P.
pub(super) fn natural(block: &Location) -> Vec<f64> {
    let (mut white, mut out) = (vec![0.0; block.b().len()], vec![0.0; block.b().len()]);
    block.scale().whiten(block.b(), &mut white);
    block.scale().factor_times(&white, &mut out);
    let precision = block.scale().precision();
    out.extend(
        block.scale().shape().positions().iter().map(|&(i, j)| -0.5 * precision[block.scale().shape().index(i, j)]),
    );
    out
}

/// P = −2η_S, B = Ση_B.
pub(super) fn from_natural(shape: Shape, r: usize, eta: &[f64]) -> Result<Location, Error> {
    let dim = shape.dim();
    let mut precision = vec![0.0; shape.n_entries()];
    for (&(i, j), value) in shape.positions().iter().zip(&eta[dim * r..]) {
        precision[shape.index(i, j)] = -2.0 * value;
        precision[shape.index(j, i)] = -2.0 * value;
    }
    let scale = Scale::from_precision(shape, precision)?;
    let mut b = eta[..dim * r].to_vec();
    scale.solve(&mut b);
    Location::new(b, scale)
}

/// The block of the same shape with these natural coordinates.
pub(super) fn with_natural(block: &Location, eta: &[f64]) -> Result<Location, Error> {
    let (shape, r) = (block.scale().shape(), block.n_columns());
    check_length(count(shape, r), eta)?;
    from_natural(shape, r, eta)
}

/// m_B = BΩ, then m_M = BΩBᵀ + Σ in dual coordinates.
pub(super) fn expectation(block: &Location, omega: &[f64]) -> Vec<f64> {
    let d = block.dim();
    let mut out = times(block.b(), omega, d);
    let sigma = covariance(block.scale());
    let second: Vec<f64> = block
        .scale()
        .shape()
        .positions()
        .iter()
        .map(|&(i, j)| multiplicity(i, j) * (product_entry(&out, block.b(), d, i, j) + sigma[j * d + i]))
        .collect();
    out.extend(second);
    out
}

/// B = m_BΩ⁻¹, Σ = m_M − m_BΩ⁻¹m_Bᵀ.
pub(super) fn from_expectation(shape: Shape, r: usize, omega_inv: &[f64], m: &[f64]) -> Result<Location, Error> {
    let dim = shape.dim();
    let outside = |pivot| Error::NotPositiveDefinite { what: "the scale matrix m_M − m_B Ω⁻¹ m_Bᵀ", pivot };
    let (first, second) = m.split_at(dim * r);
    let b = times(first, omega_inv, dim);
    let mut sigma = vec![0.0; dim * dim];
    for (&(i, j), value) in shape.positions().iter().zip(second) {
        let value = value / multiplicity(i, j) - product_entry(&b, first, dim, i, j);
        (sigma[j * dim + i], sigma[i * dim + j]) = (value, value);
    }
    // Σ takes the place of the precision: the inverse of the one is the other.
    let inverse = Scale::from_precision(Shape::Full(dim), sigma).map_err(|error| match error {
        Error::NotPositiveDefinite { pivot, .. } => outside(pivot),
        other => other,
    })?;
    let full = covariance(&inverse);
    let mut precision = vec![0.0; shape.n_entries()];
    for (i, j) in shape.positions() {
        precision[shape.index(i, j)] = full[j * dim + i];
        precision[shape.index(j, i)] = full[j * dim + i];
    }
    Location::new(b, Scale::from_precision(shape, precision)?)
}

/// The block of the same shape with these expectation coordinates.
pub(super) fn with_expectation(block: &Location, omega_inv: &[f64], m: &[f64]) -> Result<Location, Error> {
    let (shape, r) = (block.scale().shape(), block.n_columns());
    check_length(count(shape, r), m)?;
    from_expectation(shape, r, omega_inv, m)
}

/// t = (zũᵀ/s, zzᵀ/s) in dual coordinates.
pub(super) fn statistics(shape: Shape, z: &[f64], u: &[f64], s: f64) -> Vec<f64> {
    let first = u.iter().flat_map(|u| z.iter().map(move |z| z * u / s));
    let positions = shape.positions();
    let second = positions.iter().map(|&(i, j)| multiplicity(i, j) * z[i] * z[j] / s);
    first.chain(second).collect()
}

/// log N(z | Bũ, sΣ).
pub(super) fn log_conditional(block: &Location, z: &[f64], u: &[f64], s: f64) -> f64 {
    let d = block.dim();
    let mut difference = z.to_vec();
    for (column, u) in block.b().chunks_exact(d).zip(u) {
        axpy(-u, column, &mut difference);
    }
    let mut white = vec![0.0; d];
    block.scale().whiten(&difference, &mut white);
    0.5 * (block.scale().log_det_precision() - d as f64 * (std::f64::consts::TAU * s).ln() - dot(&white, &white) / s)
}

/// z = Bũ + √s L⁻ᵀε.
pub(super) fn place(block: &Location, eps: Vec<f64>, u: &[f64], s: f64) -> Vec<f64> {
    let mut z = eps;
    block.scale().unwhiten(&mut z);
    z.iter_mut().for_each(|v| *v *= s.sqrt());
    for (column, u) in block.b().chunks_exact(block.dim()).zip(u) {
        axpy(*u, column, &mut z);
    }
    z
}

/// Ā = ½tr(BᵀPBΩ) + ½log|Σ|.
pub(super) fn log_partition(block: &Location, omega: &[f64]) -> f64 {
    let mut white = vec![0.0; block.b().len()];
    block.scale().whiten(block.b(), &mut white);
    0.5 * (dot(&times(&white, omega, block.dim()), &white) - block.scale().log_det_precision())
}

/// F = tr(XᵀΣX′Ω) + 2tr(Σ dη_S Σ dη_S′) with X = dη_B + 2dη_S B, over all pairs of basis directions.
pub(super) fn fisher(block: &Location, omega: &[f64]) -> Vec<f64> {
    let (d, n_b) = (block.dim(), block.b().len());
    let n = count(block.scale().shape(), block.n_columns());
    // For each direction L⁻¹X and L⁻¹ dη_S L⁻ᵀ, which turn both traces into plain products.
    let mut directions = Vec::with_capacity(n);
    for k in 0..n_b {
        let mut x = vec![0.0; n_b];
        x[k] = 1.0;
        block.scale().whiten_gradient(&mut x);
        directions.push((x, vec![0.0; d * d]));
    }
    for (i, j) in block.scale().shape().positions() {
        let mut x = vec![0.0; n_b];
        for (x, b) in x.chunks_exact_mut(d).zip(block.b().chunks_exact(d)) {
            x[i] = 2.0 * b[j];
            x[j] = 2.0 * b[i];
        }
        block.scale().whiten_gradient(&mut x);
        let mut second = vec![0.0; d * d];
        (second[j * d + i], second[i * d + j]) = (1.0, 1.0);
        block.scale().whiten_gradient(&mut second);
        let mut both: Vec<f64> = (0..d * d).map(|k| second[(k % d) * d + k / d]).collect();
        block.scale().whiten_gradient(&mut both);
        directions.push((x, both));
    }
    let mut out = Vec::with_capacity(n * n);
    for (x, second) in &directions {
        let weighted = times(x, omega, d);
        out.extend(directions.iter().map(|(y, other)| dot(&weighted, y) + 2.0 * dot(second, other)));
    }
    out
}

/// ∇_{m_B} = (∇_B L)Ω⁻¹ − 2(∇_Σ L)B and ∇_{m_M} = ∇_Σ L = −½G.
pub(super) fn natural_gradient(block: &Location, gradient: &BlockGradient, omega_inv: &[f64]) -> Vec<f64> {
    let d = block.dim();
    let mut out = times(&gradient.b, omega_inv, d);
    for (column, b) in out.chunks_exact_mut(d).zip(block.b().chunks_exact(d)) {
        for (i, value) in column.iter_mut().enumerate() {
            *value += block.scale().shape().row_times(&gradient.g, i, b);
        }
    }
    out.extend(
        block.scale().shape().positions().iter().map(|&(i, j)| -0.5 * gradient.g[block.scale().shape().index(i, j)]),
    );
    out
}

/// What the exact view of a family with one block of locations says without knowing its law: methods of [`Exact`] for
/// a type with `block` and `omega`, Ω and its inverse. Names are those of the file that asks for it.
///
/// [`Exact`]: super::Exact
macro_rules! of_one_block {
    () => {
        fn natural(&self) -> Vec<f64> {
            coordinates::natural(self.block)
        }

        fn with_natural(&self, q: &Approximation, natural: &[f64]) -> Result<Approximation, Error> {
            Approximation::single(q.family(), coordinates::with_natural(self.block, natural)?)
        }

        fn expectation(&self) -> Vec<f64> {
            coordinates::expectation(self.block, &self.omega().0)
        }

        fn with_expectation(&self, q: &Approximation, expectation: &[f64]) -> Result<Approximation, Error> {
            let block = coordinates::with_expectation(self.block, &self.omega().1, expectation)?;
            Approximation::single(q.family(), block)
        }

        fn log_partition(&self) -> f64 {
            coordinates::log_partition(self.block, &self.omega().0)
        }

        fn fisher(&self) -> Vec<f64> {
            coordinates::fisher(self.block, &self.omega().0)
        }

        fn natural_gradient(&self, gradient: &Gradient) -> Vec<f64> {
            coordinates::natural_gradient(self.block, &gradient.blocks[0], &self.omega().1)
        }
    };
}

pub(super) use of_one_block;
