//! Unit vectors: x = z/|z|, with a radius that is free and says nothing.
//!
//! The density of z is that of x on the sphere times |z|⁻ⁿ times the density of a normal log |z| of standard deviation
//! [`LOG_RADIUS_SD`]: log |z| is independent of x and integrates to one. A normal z, the usual choice, has its mode
//! at the origin whatever x is; no Gaussian fits that.

use super::outside;
use crate::Error;

/// Wide enough that a direction that varies by half a radian does not feel the bend of the shell, narrow enough that
/// the shell is far from the origin.
const LOG_RADIUS_SD: f64 = 0.3;

fn norm(z: &[f64]) -> f64 {
    crate::linalg::dot(z, z).sqrt()
}

pub(super) fn constrain(z: &[f64], x: &mut [f64]) {
    let r = norm(z);
    if r > 0.0 {
        x.iter_mut().zip(z).for_each(|(x, z)| *x = z / r);
    } else {
        // The origin has no direction, and no density: any will do.
        x.fill(0.0);
        x[0] = 1.0;
    }
}

pub(super) fn unconstrain(x: &[f64], z: &mut [f64]) -> Result<(), Error> {
    let r = norm(x);
    if (r - 1.0).abs() > 1e-8 {
        return Err(outside("length of a unit vector", r, "it must be 1"));
    }
    z.copy_from_slice(x);
    Ok(())
}

pub(super) fn log_jacobian(z: &[f64]) -> f64 {
    let log_radius = norm(z).ln();
    if log_radius == f64::NEG_INFINITY {
        return log_radius;
    }
    let u = log_radius / LOG_RADIUS_SD;
    -(z.len() as f64) * log_radius - 0.5 * u * u - (LOG_RADIUS_SD * std::f64::consts::TAU.sqrt()).ln()
}

/// The derivative of the log-Jacobian by log |z|.
fn slope(z: &[f64]) -> f64 {
    -(z.len() as f64) - norm(z).ln() / (LOG_RADIUS_SD * LOG_RADIUS_SD)
}

pub(super) fn add_log_jacobian_gradient(z: &[f64], grad: &mut [f64]) {
    let factor = slope(z) / crate::linalg::dot(z, z);
    grad.iter_mut().zip(z).for_each(|(grad, z)| *grad += factor * z);
}

pub(super) fn log_jacobian_curvature(z: &[f64], j: usize, l: usize) -> f64 {
    let square = crate::linalg::dot(z, z);
    let outer = z[j] * z[l] / (square * square);
    let own = if j == l { 1.0 / square } else { 0.0 };
    slope(z) * (own - 2.0 * outer) - outer / (LOG_RADIUS_SD * LOG_RADIUS_SD)
}

pub(super) fn jacobian(z: &[f64], x: &[f64], out: &mut [f64]) {
    let r = norm(z);
    for (j, column) in out.chunks_exact_mut(z.len()).enumerate() {
        for (i, entry) in column.iter_mut().enumerate() {
            *entry = (if i == j { 1.0 } else { 0.0 } - x[i] * x[j]) / r;
        }
    }
}

pub(super) fn second_derivative(z: &[f64], x: &[f64], g: &[f64], j: usize, l: usize) -> f64 {
    let along = crate::linalg::dot(g, x);
    let own = if j == l { along } else { 0.0 };
    (3.0 * along * x[j] * x[l] - g[j] * x[l] - g[l] * x[j] - own) / crate::linalg::dot(z, z)
}
