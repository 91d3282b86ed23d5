//! Entropies of densities that depend on the radius only (mathematics §4.2).

use std::f64::consts::{LN_2, PI};

use super::bessel_k::bessel_k;
use super::gamma::ln_gamma;
use super::normal::HALF_LOG_TWO_PI;

/// −∫ q log q of a density q(z) = exp f(|z|²) on ℝᵈ; `typical` is a radius within its bulk.
pub(crate) fn radial_entropy(dim: usize, typical: f64, log_density: impl Fn(f64) -> f64) -> f64 {
    let [mean] = radial_expectation(dim, typical, |square| {
        let log_q = log_density(square);
        (log_q, [log_q])
    });
    -mean
}

/// E\[g\] of functions g(|z|²) under such a density; `at` gives log q and g.
///
/// The density of the log radius must be unimodal: a trapezoid sum runs outwards from `typical`.
pub(crate) fn radial_expectation<const N: usize>(
    dim: usize,
    typical: f64,
    at: impl Fn(f64) -> (f64, [f64; N]),
) -> [f64; N] {
    let d = dim as f64;
    let log_sphere = LN_2 + 0.5 * d * PI.ln() - ln_gamma(0.5 * d);
    // The log radius has at least the standard deviation (2d)^{−½} of a χ_d variable.
    let step = (0.25 / (2.0 * d).sqrt()).min(0.05);
    let start = typical.ln();
    let term = |tau: f64| {
        let (log_q, g) = at((2.0 * tau).exp());
        let log_mass = log_sphere + d * tau + log_q;
        (log_mass, g.map(|g| log_mass.exp() * g))
    };
    let mut sum = term(start).1;
    for direction in [-step, step] {
        let mut previous = f64::NEG_INFINITY;
        for j in 1..1_000_000 {
            let (log_mass, values) = term(start + direction * j as f64);
            sum.iter_mut().zip(values).filter(|(_, value)| value.is_finite()).for_each(|(sum, value)| *sum += value);
            if !(log_mass > -44.0 || log_mass > previous) {
                break;
            }
            previous = log_mass;
        }
    }
    sum.map(|sum| sum * step)
}

/// log q(z) − ½ log|P| of the symmetric normal inverse-Gaussian law at Q = (z−μ)ᵀP(z−μ).
///
/// Paper: App. H.
pub(crate) fn symmetric_nig_log_density(dim: usize, lambda: f64, q: f64) -> f64 {
    let order = 0.5 * (dim as f64 - 1.0);
    let x = (lambda * (q + lambda)).sqrt();
    // λ − x without cancellation.
    let gap = -q * lambda / (lambda + x);
    0.5 * lambda.ln() - (dim as f64 + 1.0) * HALF_LOG_TWO_PI + LN_2 + gap + bessel_k(order, x).log_scaled
        - 0.5 * order * (q / lambda).ln_1p()
}

/// χ_d(λ): the entropy of the symmetric normal inverse-Gaussian law with Σ = I.
///
/// Paper: App. H.
pub(crate) fn symmetric_nig_entropy(dim: usize, lambda: f64) -> f64 {
    let typical = (dim as f64 * (1.0 + 1.0 / lambda)).sqrt();
    radial_entropy(dim, typical, |q| symmetric_nig_log_density(dim, lambda, q))
}

#[cfg(test)]
mod tests {
    use super::super::gamma::{digamma, ln_gamma_ratio};
    use super::*;

    #[test]
    fn gaussian_and_student_t_are_known() {
        for dim in [1usize, 2, 5, 40, 400] {
            let d = dim as f64;
            let gaussian = radial_entropy(dim, d.sqrt(), |q| -d * HALF_LOG_TWO_PI - 0.5 * q);
            let exact = d * (HALF_LOG_TWO_PI + 0.5);
            assert!((gaussian / exact - 1.0).abs() < 1e-13, "d = {dim}: {:e}", gaussian / exact - 1.0);
            let a = 2.3;
            let constant = ln_gamma_ratio(a, 0.5 * d) - d * HALF_LOG_TWO_PI;
            let student = radial_entropy(dim, d.sqrt(), |q| constant - (a + 0.5 * d) * (0.5 * q / a).ln_1p());
            let exact = -constant + (a + 0.5 * d) * (digamma(a + 0.5 * d) - digamma(a));
            assert!((student / exact - 1.0).abs() < 1e-12, "d = {dim}: {:e}", student / exact - 1.0);
        }
    }

    #[test]
    fn symmetric_nig_tends_to_the_gaussian_and_is_larger() {
        for dim in [1usize, 3, 30, 300] {
            let gaussian = dim as f64 * (HALF_LOG_TWO_PI + 0.5);
            let near = symmetric_nig_entropy(dim, 1e8);
            assert!((near - gaussian).abs() < 1e-6 * dim as f64);
            assert!(symmetric_nig_entropy(dim, 0.5) > symmetric_nig_entropy(dim, 5.0));
        }
        assert!(symmetric_nig_entropy(1, 1e-4).is_finite() && symmetric_nig_entropy(700, 1e-3).is_finite());
    }
}
