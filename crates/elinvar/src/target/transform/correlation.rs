//! The Cholesky factor of a correlation matrix: rows of length one, by hyperbolic tangents of partial correlations.
//!
//! Row i, counted from zero, has t_k = tanh z_k for k < i and c_k = √(1 − t_k²): x_ij = t_j Π_{k<j} c_k left of the
//! diagonal and x_ii = Π_{k<i} c_k on it. The log-Jacobian of the entries left of the diagonal is
//! Σ_i Σ_{k<i} (i + 1 − k) log c_k.

use super::outside;
use crate::Error;

/// Where row i begins among the coordinates of z.
fn row_of_z(i: usize) -> usize {
    i * i.saturating_sub(1) / 2
}

/// Where row i begins among the entries of the lower triangle.
fn row_of_x(i: usize) -> usize {
    i * (i + 1) / 2
}

/// 1/cosh z.
fn sech(z: f64) -> f64 {
    let e = (-z.abs()).exp();
    2.0 * e / (1.0 + e * e)
}

fn log_sech(z: f64) -> f64 {
    let z = z.abs();
    std::f64::consts::LN_2 - z - (-2.0 * z).exp().ln_1p()
}

/// Every row with its coordinates: its number, its z, and where its x begins.
fn rows(len: usize, z: &[f64]) -> impl Iterator<Item = (usize, &[f64], usize)> {
    (0..len).map(move |i| (i, &z[row_of_z(i)..row_of_z(i + 1)], row_of_x(i)))
}

pub(super) fn constrain(len: usize, z: &[f64], x: &mut [f64]) {
    for (i, z, at) in rows(len, z) {
        let mut rest = 1.0;
        for (x, z) in x[at..].iter_mut().zip(z) {
            *x = z.tanh() * rest;
            rest *= sech(*z);
        }
        x[at + i] = rest;
    }
}

pub(super) fn unconstrain(len: usize, x: &[f64], z: &mut [f64]) -> Result<(), Error> {
    for i in 0..len {
        let (row, z) = (&x[row_of_x(i)..row_of_x(i + 1)], &mut z[row_of_z(i)..row_of_z(i + 1)]);
        if row[i] <= 0.0 {
            return Err(outside("constrained value", row[i], "the diagonal of a Cholesky factor must be positive"));
        }
        let norm = crate::linalg::dot(row, row);
        if (norm - 1.0).abs() > 1e-8 {
            return Err(outside("squared length of a row", norm, "that of a factor of a correlation matrix must be 1"));
        }
        // tanh z = x/√(x² + rest) is sinh z = x/√rest.
        let mut rest = row[i] * row[i];
        for (z, x) in z.iter_mut().zip(row).rev() {
            *z = (x / rest.sqrt()).asinh();
            rest += x * x;
        }
    }
    Ok(())
}

pub(super) fn log_jacobian(len: usize, z: &[f64]) -> f64 {
    let of_row = |(i, z, _): (usize, &[f64], usize)| -> f64 {
        z.iter().enumerate().map(|(k, z)| (i + 1 - k) as f64 * log_sech(*z)).sum()
    };
    rows(len, z).map(of_row).sum()
}

pub(super) fn add_log_jacobian_gradient(len: usize, z: &[f64], grad: &mut [f64]) {
    for (i, z, _) in rows(len, z) {
        for (k, (grad, z)) in grad[row_of_z(i)..].iter_mut().zip(z).enumerate() {
            *grad -= (i + 1 - k) as f64 * z.tanh();
        }
    }
}

/// The row of coordinate `at` and its place there.
fn place(at: usize) -> (usize, usize) {
    let mut i = 1;
    while row_of_z(i + 1) <= at {
        i += 1;
    }
    (i, at - row_of_z(i))
}

pub(super) fn log_jacobian_curvature(z: &[f64], at: usize) -> f64 {
    let (i, k) = place(at);
    -((i + 1 - k) as f64) * sech(z[at]).powi(2)
}

pub(super) fn jacobian(len: usize, z: &[f64], x: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    let n = row_of_x(len);
    for (i, z, at) in rows(len, z) {
        let mut rest = 1.0;
        for (k, z) in z.iter().enumerate() {
            let (t, c) = (z.tanh(), sech(*z));
            let column = &mut out[(row_of_z(i) + k) * n..][at..=at + i];
            column[k] = c * c * rest;
            for (entry, x) in column.iter_mut().zip(&x[at..]).skip(k + 1) {
                *entry = -t * x;
            }
            rest *= c;
        }
    }
}

pub(super) fn second_derivative(z: &[f64], x: &[f64], g: &[f64], first: usize, second: usize) -> f64 {
    let ((i, k), (other, l)) = (place(first), place(second));
    if i != other {
        return 0.0;
    }
    let z = &z[row_of_z(i)..row_of_z(i + 1)];
    let (x, g) = (&x[row_of_x(i)..row_of_x(i + 1)], &g[row_of_x(i)..row_of_x(i + 1)]);
    let (t_k, t_l, c_l) = (z[k].tanh(), z[l].tanh(), sech(z[l]));
    let before: f64 = z[..l].iter().map(|z| sech(*z)).product();
    let beyond = crate::linalg::dot(&g[l + 1..], &x[l + 1..]);
    if k == l {
        beyond * (t_l * t_l - c_l * c_l) - 2.0 * t_l * c_l * c_l * before * g[l]
    } else {
        t_k * (t_l * beyond - c_l * c_l * before * g[l])
    }
}
