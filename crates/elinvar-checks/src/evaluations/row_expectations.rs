//! How far a Gaussian is from the best one for a logistic regression, by exact expectations over its rows.
//!
//! Under N(m, V) the predictor of a row is N(x·m, xᵀVx), so that E∇log p and E∇²log p are sums of one-dimensional
//! integrals. Nothing here knows how the Gaussian was found.

use super::dense::{cholesky, congruent, dot};

/// A logistic regression by its rows, labels −1 and 1, and the precision of its prior.
pub(super) struct Rows {
    pub(super) x: Vec<f64>,
    pub(super) y: Vec<f64>,
    pub(super) prior_precision: f64,
}

/// Nodes of the trapezoidal rule on (−8, 8), which is exact to rounding for integrands as smooth as these.
const NODES: i32 = 40;
const SPACING: f64 = 0.2;

/// E σ(−t) and E σ(t)σ(−t) for t ~ N(centre, sd²).
fn expectations(centre: f64, sd: f64) -> (f64, f64) {
    let (mut total, mut slope, mut bend) = (0.0, 0.0, 0.0);
    for k in -NODES..=NODES {
        let u = f64::from(k) * SPACING;
        let weight = (-0.5 * u * u).exp();
        let p = 1.0 / (1.0 + (centre + sd * u).exp());
        total += weight;
        slope += weight * p;
        bend += weight * p * (1.0 - p);
    }
    (slope / total, bend / total)
}

impl Rows {
    /// ½|Cᵀg|² + ¼‖CᵀHC + I‖² with V = CCᵀ, g = E∇log p and H = E∇²log p: the nats to the best Gaussian, to second
    /// order in the distance from it.
    pub(super) fn excess(&self, mean: &[f64], covariance: &[f64]) -> Option<f64> {
        let d = mean.len();
        let factor = cholesky(d, covariance)?;
        let mut g: Vec<f64> = mean.iter().map(|m| -self.prior_precision * m).collect();
        let mut h = vec![0.0; d * d];
        (0..d).for_each(|i| h[i * d + i] = self.prior_precision);
        let mut white = vec![0.0; d];
        for (x, y) in self.x.chunks_exact(d).zip(&self.y) {
            // Cᵀx, row j of the lower factor being contiguous.
            white.fill(0.0);
            for (j, row) in factor.chunks_exact(d).enumerate() {
                (0..=j).for_each(|i| white[i] += row[i] * x[j]);
            }
            let (slope, bend) = expectations(y * dot(x, mean), dot(&white, &white).sqrt());
            for (j, row) in h.chunks_exact_mut(d).enumerate() {
                g[j] += slope * y * x[j];
                let c = bend * x[j];
                row[..=j].iter_mut().zip(x).for_each(|(entry, x)| *entry += c * x);
            }
        }
        for j in 0..d {
            (0..j).for_each(|i| h[i * d + j] = h[j * d + i]);
        }
        let b = congruent(d, &factor, &h);
        let scale: f64 = (0..d * d).map(|at| (b[at] - f64::from(u8::from(at % (d + 1) == 0))).powi(2)).sum();
        let slope: f64 = (0..d).map(|i| (i..d).map(|j| factor[j * d + i] * g[j]).sum::<f64>().powi(2)).sum();
        Some(0.5 * slope + 0.25 * scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expectations_are_those_of_a_sum_over_many_draws() {
        // E σ(−t) = ½ for a centred t, and derivatives by differences elsewhere.
        assert!((expectations(0.0, 3.0).0 - 0.5).abs() < 1e-14);
        let (a, b) = (expectations(0.7 + 1e-5, 1.3).0, expectations(0.7 - 1e-5, 1.3).0);
        assert!(((b - a) / 2e-5 - expectations(0.7, 1.3).1).abs() < 1e-9);
    }

    #[test]
    fn without_rows_the_prior_is_the_best_gaussian_and_others_are_farther() {
        let rows = Rows { x: Vec::new(), y: Vec::new(), prior_precision: 4.0 };
        assert!(rows.excess(&[0.0, 0.0], &[0.25, 0.0, 0.0, 0.25]).unwrap() < 1e-28);
        // KL(N(0.1, ¼) ‖ N(0, ¼)) = 0.02, the second coordinate as it should be.
        assert!((rows.excess(&[0.1, 0.0], &[0.25, 0.0, 0.0, 0.25]).unwrap() - 0.02).abs() < 1e-14);
    }
}
