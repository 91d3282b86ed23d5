//! Gaussian and multivariate Student-t targets with a dense covariance.

use elinvar::internals::special::gamma::ln_gamma;
use elinvar::model::Gaussian;
use elinvar::target::{PointwiseHessian, PointwiseSecondOrder, PointwiseTarget, TargetError};

use super::linear_map::{LinearMap, covariance, dot};
use super::{Moments, Problem};

/// A fixed mean that is not zero.
fn location(dim: usize) -> Vec<f64> {
    (0..dim).map(|i| 3.0 * (1.7 * i as f64 + 0.3).sin()).collect()
}

fn sds(cov: &[f64], dim: usize, factor: f64) -> Vec<f64> {
    (0..dim).map(|i| (factor * cov[i * dim + i]).sqrt()).collect()
}

/// A matrix whose two triangles are the same to the last bit.
fn symmetric(dim: usize, matrix: &[f64]) -> Vec<f64> {
    (0..dim * dim).map(|k| 0.5 * (matrix[k] + matrix[k % dim * dim + k / dim])).collect()
}

/// A Gaussian whose covariance has the given condition number.
pub(crate) fn gaussian(dim: usize, condition: f64) -> Problem {
    let cov = covariance(dim, condition, 100 + dim as u64);
    let mean = location(dim);
    let moments = Moments { mean: mean.clone(), sd: sds(&cov.forward, dim, 1.0) };
    let target = Gaussian::new(mean, symmetric(dim, &cov.inverse)).expect("the precision is positive definite");
    Problem::known(format!("Gaussian d = {dim}, condition {condition:.0e}"), target, 0.0, moments)
}

/// A Gaussian with unit variances and the same correlation between any two coordinates.
pub(crate) fn equicorrelated(dim: usize, correlation: f64) -> Problem {
    let d = dim as f64;
    // (1 − ρ)I + ρ11ᵀ has the inverse {I − ρ/(1 + (d − 1)ρ) 11ᵀ}/(1 − ρ).
    let shared = correlation / (1.0 + (d - 1.0) * correlation);
    let prec = (0..dim * dim)
        .map(|k| (f64::from(u8::from(k % (dim + 1) == 0)) - shared) / (1.0 - correlation))
        .collect::<Vec<f64>>();
    let mean = location(dim);
    let moments = Moments { mean: mean.clone(), sd: vec![1.0; dim] };
    let target = Gaussian::new(mean, prec).expect("a correlation below one");
    Problem::known(format!("Gaussian d = {dim}, correlations {correlation}"), target, 0.0, moments)
}

/// The multivariate t law with ν degrees of freedom, location m and scale matrix S.
struct StudentT {
    nu: f64,
    location: Vec<f64>,
    /// S and S⁻¹.
    scale: LinearMap,
    log_peak: f64,
}

impl StudentT {
    /// P(z − m) and (z − m)ᵀP(z − m).
    fn deviation(&self, z: &[f64], out: &mut [f64]) -> f64 {
        let difference: Vec<f64> = z.iter().zip(&self.location).map(|(z, m)| z - m).collect();
        self.scale.solve(&difference, out);
        dot(&difference, out)
    }
}

impl PointwiseTarget for StudentT {
    fn dim(&self) -> usize {
        self.location.len()
    }

    fn gradient(&self, z: &[f64], grad: &mut [f64]) -> Result<f64, TargetError> {
        let half = 0.5 * (self.nu + self.location.len() as f64);
        let square = self.deviation(z, grad);
        grad.iter_mut().for_each(|g| *g *= -2.0 * half / (self.nu + square));
        Ok(self.log_peak - half * (square / self.nu).ln_1p())
    }
}

impl PointwiseHessian for StudentT {
    fn hessian(&self, z: &[f64], hessian: &mut [f64]) -> Result<(), TargetError> {
        let d = self.location.len();
        let mut v = vec![0.0; d];
        let spread = self.nu + self.deviation(z, &mut v);
        let factor = (self.nu + d as f64) / spread;
        for j in 0..d {
            for i in 0..d {
                hessian[j * d + i] = factor * (2.0 * v[i] * v[j] / spread - self.scale.inverse[j * d + i]);
            }
        }
        Ok(())
    }
}

/// A multivariate t target with ν degrees of freedom; with ν ≤ 2 it has no variance.
pub(crate) fn student_t(dim: usize, nu: f64, condition: f64) -> Problem {
    let scale = covariance(dim, condition, 300 + dim as u64);
    let d = dim as f64;
    let log_peak =
        ln_gamma(0.5 * (nu + d)) - ln_gamma(0.5 * nu) - 0.5 * (d * (nu * std::f64::consts::PI).ln() + scale.log_det);
    let mean = location(dim);
    let moments = (nu > 2.0).then(|| Moments { mean: mean.clone(), sd: sds(&scale.forward, dim, nu / (nu - 2.0)) });
    let target = PointwiseSecondOrder(StudentT { nu, location: mean, scale, log_peak });
    let name = if nu == 1.0 { format!("Cauchy d = {dim}") } else { format!("Student-t d = {dim}, ν = {nu}") };
    Problem { name, target: Box::new(target), log_normaliser: Some(0.0), moments }
}
