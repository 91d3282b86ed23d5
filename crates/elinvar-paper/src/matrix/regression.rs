//! Regression of several responses: a matrix of coefficients whose posterior is a known matrix-variate Gaussian.

use elinvar::family::Approximation;
use elinvar::model::Gaussian;
use elinvar::random::{Purpose, Stream};

use crate::Error;

/// Features, rows of the coefficients.
pub(super) const FEATURES: usize = 6;
/// Responses, columns of the coefficients.
pub(super) const RESPONSES: usize = 4;
const N_ROWS: usize = 40;
/// Correlation of neighbouring responses.
const CORRELATION: f64 = 0.8;
/// What the features of the race share.
pub(super) const SHARED: f64 = 0.8;

/// Y = XB + E with rows of E ~ N(0, Σ), Σ known, and B ~ MN(0, I, Σ): then B | Y ~ MN(M, A⁻¹, Σ) with A = XᵀX + I.
pub(super) struct MatrixRegression {
    pub(super) posterior: Gaussian,
    /// log |Σ⁻¹ ⊗ A|.
    log_det: f64,
}

/// The lower Cholesky factor of a positive definite n × n matrix, column by column.
pub(super) fn factor(n: usize, a: &[f64]) -> Vec<f64> {
    let mut l = vec![0.0; n * n];
    for j in 0..n {
        for i in j..n {
            let sum: f64 = (0..j).map(|k| l[k * n + i] * l[k * n + j]).sum();
            let rest = a[j * n + i] - sum;
            l[j * n + i] = if i == j { rest.sqrt() } else { rest / l[j * n + j] };
        }
    }
    l
}

/// Replaces the columns of `b` by A⁻¹b.
pub(super) fn solve(n: usize, l: &[f64], b: &mut [f64]) {
    for column in b.chunks_exact_mut(n) {
        for i in 0..n {
            let sum: f64 = (0..i).map(|k| l[k * n + i] * column[k]).sum();
            column[i] = (column[i] - sum) / l[i * n + i];
        }
        for i in (0..n).rev() {
            let sum: f64 = (i + 1..n).map(|k| l[i * n + k] * column[k]).sum();
            column[i] = (column[i] - sum) / l[i * n + i];
        }
    }
}

fn log_det(n: usize, l: &[f64]) -> f64 {
    2.0 * (0..n).map(|i| l[i * n + i].ln()).sum::<f64>()
}

impl MatrixRegression {
    /// Rows with correlated responses, and features that have `shared` times one standard normal in common: 0 for
    /// independent ones.
    pub(super) fn generated(seed: u64, shared: f64) -> Result<Self, Error> {
        let (n, d, p) = (N_ROWS, FEATURES, RESPONSES);
        let mut stream = Stream::open(seed, Purpose::Sample, 0, 0);
        let mut x = vec![0.0; n * d];
        let own = (1.0 - shared * shared).sqrt();
        for i in 0..n {
            let common = stream.normal();
            (0..d).for_each(|j| x[j * n + i] = shared * common + own * stream.normal());
        }
        let sigma: Vec<f64> = (0..p * p).map(|k| CORRELATION.powi(((k / p).abs_diff(k % p)) as i32)).collect();
        let root = factor(p, &sigma);
        let b: Vec<f64> = (0..d * p).map(|_| stream.normal()).collect();
        let mut y = vec![0.0; n * p];
        for i in 0..n {
            let noise: Vec<f64> = (0..p).map(|_| stream.normal()).collect();
            for k in 0..p {
                let line: f64 = (0..d).map(|j| x[j * n + i] * b[k * d + j]).sum();
                y[k * n + i] = line + (0..=k).map(|m| root[m * p + k] * noise[m]).sum::<f64>();
            }
        }
        let product = |one: &[f64], two: &[f64]| -> f64 { one.iter().zip(two).map(|(a, b)| a * b).sum() };
        let column = |of: &[f64], j: usize| of[j * n..(j + 1) * n].to_vec();
        let mut a: Vec<f64> = (0..d * d).map(|k| product(&column(&x, k / d), &column(&x, k % d))).collect();
        a.iter_mut().step_by(d + 1).for_each(|entry| *entry += 1.0);
        let mut mean: Vec<f64> = (0..d * p).map(|k| product(&column(&x, k % d), &column(&y, k / d))).collect();
        let a_factor = factor(d, &a);
        solve(d, &a_factor, &mut mean);
        let mut inverse = vec![0.0; p * p];
        inverse.iter_mut().step_by(p + 1).for_each(|entry| *entry = 1.0);
        solve(p, &root, &mut inverse);
        let size = d * p;
        let entry = |k: usize| {
            let (row, col) = (k % size, k / size);
            let of_responses = 0.5 * (inverse[col / d * p + row / d] + inverse[row / d * p + col / d]);
            of_responses * a[col % d * d + row % d]
        };
        let precision = (0..size * size).map(entry).collect();
        let log_det = p as f64 * log_det(d, &a_factor) - d as f64 * log_det(p, &root);
        Ok(Self { posterior: Gaussian::new(mean, precision)?, log_det })
    }

    /// KL(q ‖ posterior), exactly, for a Gaussian q.
    pub(super) fn divergence(&self, q: &Approximation) -> f64 {
        let precision = self.posterior.precision();
        let covariance = q.covariance();
        let entropy = q.entropy().unwrap_or(f64::NAN);
        let away: Vec<f64> = q.mean().iter().zip(self.posterior.mean()).map(|(a, b)| a - b).collect();
        let n = away.len();
        let mut square = 0.0;
        for (column, b) in precision.chunks_exact(n).zip(&away) {
            square += b * column.iter().zip(&away).map(|(p, a)| p * a).sum::<f64>();
        }
        let trace: f64 = precision.iter().zip(&covariance).map(|(p, c)| p * c).sum();
        0.5 * (n as f64 * std::f64::consts::TAU.ln() - self.log_det + trace + square) - entropy
    }

    /// The KL divergence of the best Gaussian with a diagonal covariance: ½(Σ log P_ii − log |P|).
    pub(super) fn diagonal_optimum(&self) -> f64 {
        let n = self.posterior.mean().len();
        let diagonal: f64 = self.posterior.precision().iter().step_by(n + 1).map(|p| p.ln()).sum();
        0.5 * (diagonal - self.log_det)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elinvar::{Family, Plan};

    #[test]
    fn the_divergence_of_the_posterior_from_itself_is_zero() {
        let regression = MatrixRegression::generated(1, SHARED).unwrap();
        let plan = Plan::thorough();
        let full = elinvar::run::fit(&regression.posterior, Family::gaussian(), &plan).unwrap();
        let kl = regression.divergence(full.approximation());
        assert!(kl > -1e-9 && kl < 1e-3, "{kl}");
        let diagonal = elinvar::run::fit(&regression.posterior, Family::gaussian().diagonal(), &plan).unwrap();
        let kl = regression.divergence(diagonal.approximation());
        assert!((kl - regression.diagonal_optimum()).abs() < 5e-3, "{kl} {}", regression.diagonal_optimum());
    }
}
