use super::*;
use crate::random::{Purpose, Stream};
use crate::special::gamma::{digamma, trigamma};

/// Algebra.
const EXACT: f64 = 1e-12;

/// Any numbers at all, as those of 8 chains over 6 steps.
fn any(n: usize) -> Vec<f64> {
    (0..n).map(|k| 2.0 + (1.7 * k as f64).sin() * (1.0 + 0.3 * (k % 7) as f64)).collect()
}

#[test]
fn a_gaussian_leaves_no_error_whatever_the_states() {
    let (mean, variance) = (1.3, 0.49);
    for wrong in [1.0, 2.5] {
        // Also with a covariance that is not that of the target: the coefficients are fitted.
        let z = any(48);
        let scores = z.iter().map(|z| wrong * variance * (mean - z) / variance).collect();
        let controls = Controls::new(8, &z, scores, wrong * variance);
        let found = controls.moments(&z);
        assert!((found.mean - mean).abs() < EXACT && (found.sd - 0.7).abs() < EXACT, "{found:?}");
        assert!(found.mean_error < EXACT && found.log_sd_error < EXACT, "{found:?}");
    }
}

#[test]
fn the_control_variates_have_mean_zero_by_quadrature() {
    // log p = 2z − eᶻ, the logarithm of a Gamma(2) variable, with C = 0.8 and c anywhere.
    let (step, c) = (1e-3, 0.37);
    let (mut total, mut first, mut second) = (0.0, 0.0, 0.0);
    for k in -20_000..6_000 {
        let z = f64::from(k) * step;
        let (p, s) = ((2.0 * z - z.exp()).exp(), 0.8 * (2.0 - z.exp()));
        total += p;
        first += p * s;
        second += p * ((z - c) * s + 0.8);
    }
    assert!((first / total).abs() < 1e-10 && (second / total).abs() < 1e-10, "{first} {second}");
}

#[test]
fn independent_states_of_a_skewed_law_give_its_moments_and_quantiles_within_their_errors() {
    // 64 chains of 400 independent draws of log Gamma(3); |z| < 4.5 on four numbers: a false alarm in 3e−5.
    let mut stream = Stream::open(5, Purpose::Sample, 0, 0);
    let z: Vec<f64> = (0..25_600).map(|_| stream.gamma(3.0).ln()).collect();
    let scores: Vec<f64> = z.iter().map(|z| 0.4 * (3.0 - z.exp())).collect();
    let controls = Controls::new(64, &z, scores, 0.4);
    let found = controls.moments(&z);
    let sd = trigamma(3.0).sqrt();
    assert!((found.mean - digamma(3.0)).abs() < 4.5 * found.mean_error * sd, "{found:?}");
    assert!((found.sd / sd).ln().abs() < 4.5 * found.log_sd_error, "{found:?}");
    // Errors are smaller than those of plain averages, and not by chance.
    assert!(found.mean_error < 0.5 / 160.0 && found.mean_error > 1e-5, "{found:?}");
    let mut sorted = z.clone();
    sorted.sort_by(f64::total_cmp);
    // Quantiles of Gamma(3, 1): P(3, x) = 1 − e⁻ˣ(1 + x + x²/2).
    for p in [0.05, 0.5] {
        let (value, error) = controls.quantile(&z, &sorted, p);
        let x = value.exp();
        let below = 1.0 - (-x).exp() * (1.0 + x + 0.5 * x * x);
        let slope = (-x).exp() * 0.5 * x * x * x;
        assert!((below - p).abs() / slope < 4.5 * error && error < 0.02, "{p}: {value} ± {error}");
    }
}

#[test]
fn skewed_pairs_make_an_error_larger() {
    let even: Vec<f64> = (0..16).map(|k| f64::from(k) - 7.5).collect();
    let mut odd = vec![0.0; 16];
    odd[3] = 1.0;
    let plain = |values: &[f64]| {
        let m = mean(values);
        (values.iter().map(|v| (v - m) * (v - m)).sum::<f64>() / 240.0).sqrt()
    };
    assert!((error(&even) / plain(&even) - 1.0).abs() < EXACT);
    // One of 16 has skewness 14/√15.
    assert!((error(&odd) / plain(&odd) - 1.0 - SKEWED * (14.0 / 15f64.sqrt() - SKEWNESS)).abs() < 1e-10);
    assert_eq!(error(&[2.0; 16]), 0.0);
}

#[test]
fn halves_of_a_run_that_are_not_independent_do_not_count_as_such() {
    let runs: Vec<f64> = (0..16).map(|k| (1.7 * f64::from(k)).sin()).collect();
    let centre = mean(&runs);
    let whole = (runs.iter().map(|v| (v - centre).powi(2)).sum::<f64>() / 240.0).sqrt();
    // Both halves of a run the same: 16 numbers, not 32.
    let same: Vec<f64> = runs.iter().chain(&runs).copied().collect();
    assert!((error(&same) / (FEWER * whole) - 1.0).abs() < EXACT);
    // Opposite halves: whole runs say that there is no error, halves do.
    let opposite: Vec<f64> = runs.iter().copied().chain(runs.iter().map(|v| 2.0 * centre - v)).collect();
    assert!((error(&opposite) / (whole * (15.0 / 31f64).sqrt()) - 1.0).abs() < EXACT);
}

#[test]
fn pairs_are_averaged_by_halves_of_the_steps() {
    // 4 chains, 5 steps: two steps are early, three late.
    let values: Vec<f64> = (0..20).map(f64::from).collect();
    let controls = Controls::new(4, &values, vec![0.0; 20], 1.0);
    assert_eq!(controls.plain_pairs(&values), [3.0, 4.0, 13.0, 14.0]);
    assert_eq!(Controls::new(4, &values[..4], vec![0.0; 4], 1.0).plain_pairs(&values[..4]), [1.0, 2.0]);
}
