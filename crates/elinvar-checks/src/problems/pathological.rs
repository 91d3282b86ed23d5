//! Functions that are no densities: the only right answer is not to be trusted.

use elinvar::target::{from_fn, from_fns};

use super::Problem;

/// The same everywhere.
pub(crate) fn constant(dim: usize) -> Problem {
    let target = from_fns(
        dim,
        |_, grad| {
            grad.fill(0.0);
            0.0
        },
        |_, hessian| hessian.fill(0.0),
    );
    Problem::without_moments(format!("constant d = {dim}"), target, None)
}

/// Rises without end along the first coordinate.
pub(crate) fn unbounded(dim: usize) -> Problem {
    let target = from_fn(dim, |z, grad| {
        grad.iter_mut().zip(z).for_each(|(g, z)| *g = -z);
        grad[0] = 1.0;
        z[0] - 0.5 * z[1..].iter().map(|z| z * z).sum::<f64>()
    });
    Problem::without_moments(format!("unbounded d = {dim}"), target, None)
}

/// Infinite at a point: the improper density ∝ 1/|z|ᵈ⁺¹ with no mass to spare elsewhere.
pub(crate) fn spike(dim: usize) -> Problem {
    let power = (dim + 1) as f64;
    let target = from_fn(dim, move |z, grad| {
        let square: f64 = z.iter().map(|z| z * z).sum();
        grad.iter_mut().zip(z).for_each(|(g, z)| *g = -power * z / square);
        -0.5 * power * square.ln()
    });
    Problem::without_moments(format!("spike without mass elsewhere d = {dim}"), target, None)
}
