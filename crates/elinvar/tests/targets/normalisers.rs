//! Targets with a known normaliser have it.

use elinvar::model::{Banana, BetaBinomial, Funnel, GaussianMixture};
use elinvar::target::{Answer, Ask, Draws, Target, Want};

use crate::subjects::numbers;

/// log ∫ p over a rectangle by the trapezoidal rule, which is exact to rounding for densities that vanish at the edges.
fn log_mass(target: &dyn Target, low: [f64; 2], high: [f64; 2], n: usize) -> f64 {
    let step = [(high[0] - low[0]) / n as f64, (high[1] - low[1]) / n as f64];
    let (mut z, mut out) = (vec![0.0; 2 * n], Answer::new(2, n));
    let (mut largest, mut total) = (f64::NEG_INFINITY, 0.0);
    for i in 0..n {
        for j in 0..n {
            z[2 * j] = low[0] + step[0] * i as f64;
            z[2 * j + 1] = low[1] + step[1] * j as f64;
        }
        target.evaluate(&Ask::all(Draws::new(2, &z), Want::Gradients), &mut out).unwrap();
        for log_p in out.log_p() {
            let top = largest.max(*log_p);
            total = total * (largest - top).exp() + (log_p - top).exp();
            largest = top;
        }
    }
    largest + total.ln() + (step[0] * step[1]).ln()
}

#[test]
fn normalised_targets_have_mass_one() {
    let banana = Banana::new(1.5, 0.4).unwrap();
    assert!(log_mass(&banana, [-14.0, -10.0], [14.0, 90.0], 1000).abs() < 1e-10);
    let covariances = [2.0, 0.5, 0.5, 1.0, 1.0, -0.3, -0.3, 0.7];
    let mixture = GaussianMixture::new(&[1.0, 3.0], numbers(4, 3), &covariances).unwrap();
    assert!(log_mass(&mixture, [-15.0; 2], [15.0; 2], 400).abs() < 1e-10);
    // The mass of N(0, 3²) within one standard deviation; the density of z₁ is equal at both ends.
    let middle = log_mass(&Funnel::new(2).unwrap(), [-3.0, -60.0], [3.0, 60.0], 1000);
    assert!((middle.exp() - 0.682_689_492_137).abs() < 1e-6, "{}", middle.exp());
}

#[test]
fn the_beta_binomial_posterior_has_the_known_normaliser() {
    // Spec 09 §9.1, by quadrature on [−10, −3.5] × [2, 20].
    let log_z = log_mass(&BetaBinomial::cancer_mortality(), [-10.0, 2.0], [-3.5, 20.0], 300);
    assert!((log_z + 570.7086).abs() < 2e-4, "{log_z}");
}
