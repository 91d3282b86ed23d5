//! The half-Cauchy prior of a scale, on the logarithm of the scale.

use std::f64::consts::PI;

/// log density of ℓ = log τ when τ ~ half-Cauchy(0, scale), with the Jacobian; then its first and second derivative.
///
/// log(2/(π s)) − log(1 + e^{2(ℓ − log s)}) + ℓ.
pub(super) fn log_half_cauchy(log_tau: f64, scale: f64) -> [f64; 3] {
    let t = 2.0 * (log_tau - scale.ln());
    let small = (-t.abs()).exp();
    let softplus = t.max(0.0) + small.ln_1p();
    let upper = 1.0 / (1.0 + small);
    let (p, q) = if t > 0.0 { (upper, small * upper) } else { (small * upper, upper) };
    [(2.0 / (PI * scale)).ln() - softplus + log_tau, 1.0 - 2.0 * p, -4.0 * p * q]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_density_of_the_logarithm_integrates_to_one() {
        let step = 0.01;
        let total: f64 = (-4000..4000).map(|i| log_half_cauchy(f64::from(i) * step, 2.5)[0].exp() * step).sum();
        assert!((total - 1.0).abs() < 1e-12, "{total}");
    }
}
