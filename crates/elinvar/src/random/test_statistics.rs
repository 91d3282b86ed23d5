//! Statistics that the tests of random numbers share.

/// Fails if a sample is not uniform on (0, 1): Kolmogorov–Smirnov at α = 1e-3, critical value 1.949/√n.
pub(crate) fn ks_uniform(x: &mut [f64]) {
    assert!(x.iter().all(|&u| u > 0.0 && u < 1.0));
    x.sort_unstable_by(f64::total_cmp);
    let n = x.len() as f64;
    let distance =
        x.iter().enumerate().map(|(i, &u)| (u - i as f64 / n).max((i as f64 + 1.0) / n - u)).fold(0.0, f64::max);
    assert!(distance * n.sqrt() < 1.949, "Kolmogorov–Smirnov √n D = {}", distance * n.sqrt());
}

/// Fails if the mean of a sample is further than 4.5 standard errors from what it should be (false alarm 7e-6).
pub(crate) fn mean_is(sample: &[f64], expected: f64, what: &str) {
    let n = sample.len() as f64;
    let mean = sample.iter().sum::<f64>() / n;
    let variance = sample.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let z = (mean - expected) / (variance / n).sqrt();
    assert!(z.abs() < 4.5, "{what}: mean {mean}, expected {expected}, z = {z}");
}
