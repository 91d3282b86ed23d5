//! Bent and pinched Gaussians in any number of dimensions.

use elinvar::target::{Pointwise, PointwiseTarget, TargetError};

use crate::problems::{Moments, Problem};

/// z₁ ~ N(0, σ²), z₂ | z₁ ~ N(b(z₁² − σ²), 1), all others standard normal.
struct Bent {
    dim: usize,
    sigma: f64,
    bend: f64,
}

impl PointwiseTarget for Bent {
    fn dim(&self) -> usize {
        self.dim
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        let variance = self.sigma * self.sigma;
        let residual = z[1] - self.bend * (z[0] * z[0] - variance);
        grad.iter_mut().zip(z).for_each(|(g, z)| *g = -z);
        grad[0] = -z[0] / variance + 2.0 * self.bend * z[0] * residual;
        grad[1] = -residual;
        let others: f64 = z[2..].iter().map(|z| z * z).sum();
        Ok(-0.5 * (z[0] * z[0] / variance + residual * residual + others))
    }
}

/// A banana among normal coordinates.
pub(super) fn banana(dim: usize, sigma: f64, bend: f64) -> Problem {
    let mut sd = vec![1.0; dim];
    (sd[0], sd[1]) = (sigma, (1.0 + 2.0 * bend * bend * sigma.powi(4)).sqrt());
    let log_normaliser = 0.5 * dim as f64 * std::f64::consts::TAU.ln() + sigma.ln();
    let name = format!("banana d = {dim}, σ = {sigma:.2}, b = {bend:.2}");
    let moments = Moments { mean: vec![0.0; dim], sd };
    Problem::known(name, Pointwise(Bent { dim, sigma, bend }), log_normaliser, moments)
}

/// z₁ ~ N(0, s²), z_i | z₁ ~ N(0, e^{z₁}).
struct Pinched {
    dim: usize,
    spread: f64,
}

impl PointwiseTarget for Pinched {
    fn dim(&self) -> usize {
        self.dim
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        let n = (self.dim - 1) as f64;
        let (prec, variance) = ((-z[0]).exp(), self.spread * self.spread);
        let square: f64 = z[1..].iter().map(|z| z * z).sum();
        grad[0] = -z[0] / variance - 0.5 * n + 0.5 * prec * square;
        grad[1..].iter_mut().zip(&z[1..]).for_each(|(g, z)| *g = -prec * z);
        Ok(-0.5 * (z[0] * z[0] / variance + n * z[0] + prec * square))
    }
}

/// A funnel whose log variance has the standard deviation `spread`.
pub(super) fn funnel(dim: usize, spread: f64) -> Problem {
    let mut sd = vec![(0.25 * spread * spread).exp(); dim];
    sd[0] = spread;
    let log_normaliser = 0.5 * dim as f64 * std::f64::consts::TAU.ln() + spread.ln();
    let name = format!("funnel d = {dim}, spread {spread:.2}");
    let moments = Moments { mean: vec![0.0; dim], sd };
    Problem::known(name, Pointwise(Pinched { dim, spread }), log_normaliser, moments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problems::grid::moments_2d;

    #[test]
    fn answers_are_those_of_a_grid() {
        for problem in [banana(2, 1.3, 0.4), funnel(2, 0.8)] {
            let known = problem.moments.as_ref().unwrap();
            let (low, high) = ([0, 1].map(|i| -40.0 * known.sd[i]), [0, 1].map(|i| 40.0 * known.sd[i]));
            let (log_normaliser, found) = moments_2d(problem.target.as_ref(), low, high, 1601);
            assert!((log_normaliser - problem.log_normaliser.unwrap()).abs() < 1e-5, "{log_normaliser}");
            for i in 0..2 {
                assert!((found.mean[i] - known.mean[i]).abs() < 1e-4 * known.sd[i], "{found:?} {known:?}");
                assert!((found.sd[i] / known.sd[i] - 1.0).abs() < 1e-4, "{found:?} {known:?}");
            }
        }
    }
}
