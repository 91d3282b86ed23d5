//! Normal laws on the positive orthant against product rules of 30 digits (`orthant.py`), and against themselves.

use elinvar::internals::special::normal::TruncatedNormal;
use elinvar::internals::special::orthant::OrthantNormal;
use serde_json::Value;

/// Rounding of sums over some forty nodes of each variable, and of the logarithm at a mass far from one.
const TOLERANCE: f64 = 2e-12;
/// Central differences of step 1e−4 of values that are good to 1e−13.
const DIFFERENCES: f64 = 1e-7;

fn matrix(rows: &[Vec<f64>]) -> [[f64; 3]; 3] {
    let mut out = [[0.0; 3]; 3];
    for (to, from) in out.iter_mut().zip(rows) {
        to[..from.len()].copy_from_slice(from);
    }
    out
}

fn vector(values: &[f64]) -> [f64; 3] {
    let mut out = [0.0; 3];
    out[..values.len()].copy_from_slice(values);
    out
}

fn read<T: serde::de::DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap()
}

#[test]
fn mass_mean_and_covariance() {
    let file: Value = serde_json::from_str(include_str!("orthant.json")).unwrap();
    for case in file["cases"].as_array().unwrap() {
        let c: Vec<f64> = read(&case["c"]);
        let k = c.len();
        let found = OrthantNormal::new(k, &matrix(&read::<Vec<Vec<f64>>>(&case["precision"])), vector(&c));
        let (log_mass, mean): (f64, Vec<f64>) = (read(&case["log_mass"]), read(&case["mean"]));
        let covariance: Vec<Vec<f64>> = read(&case["covariance"]);
        let what = format!("{} {c:?}", case["precision"]);
        let off = found.log_mass - log_mass;
        assert!(off.abs() < TOLERANCE * log_mass.abs().max(1.0), "{what}: log mass off by {off:e}");
        for i in 0..k {
            let off = found.mean[i] / mean[i] - 1.0;
            assert!(off.abs() < TOLERANCE, "{what}: mean {i} off by {off:e}");
            for j in 0..k {
                let size = (covariance[i][i] * covariance[j][j]).sqrt();
                let off = (found.covariance[i][j] - covariance[i][j]) / size;
                assert!(off.abs() < TOLERANCE, "{what}: covariance {i} {j} off by {off:e}");
            }
        }
    }
}

/// ∂ log mass/∂c = E[w] and ∂E[w]/∂c = Cov[w], also where nothing else is known: strong correlations and far tails.
#[test]
fn moments_are_slopes_of_the_mass() {
    let h = 1e-4;
    for rho in [-0.98, -0.5, 0.0, 0.5, 0.9] {
        for c in [[0.3, -0.2, 0.5], [-20.0, -5.0, -9.0], [4.0, -12.0, 7.0]] {
            for k in [2, 3] {
                let weak = 0.1 * rho;
                let precision = [[2.0, 2.0 * rho, weak], [2.0 * rho, 2.0, weak], [weak, weak, 1.0]];
                let at = |j: usize, by: f64| {
                    let mut c = c;
                    c[j] += by;
                    OrthantNormal::new(k, &precision, c)
                };
                let centre = at(0, 0.0);
                for j in 0..k {
                    let (above, below) = (at(j, h), at(j, -h));
                    let slope = (above.log_mass - below.log_mass) / (2.0 * h);
                    assert!((slope / centre.mean[j] - 1.0).abs() < DIFFERENCES, "ρ {rho}, {c:?}, {j}: {slope}");
                    for i in 0..k {
                        let slope = (above.mean[i] - below.mean[i]) / (2.0 * h);
                        let size = (centre.covariance[i][i] * centre.covariance[j][j]).sqrt();
                        let off = (slope - centre.covariance[i][j]) / size;
                        assert!(off.abs() < DIFFERENCES, "ρ {rho}, {c:?}, {i} {j}: {off:e}");
                    }
                }
            }
        }
    }
}

/// Independent variables have the moments of one each, and a precision of zero leaves an exponential law.
#[test]
fn products_and_limits() {
    let c = [0.7, -3.0, 1.5];
    let law = OrthantNormal::new(3, &[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], c);
    for (i, centre) in c.into_iter().enumerate() {
        let alone = TruncatedNormal::new(centre);
        assert!((law.mean[i] / alone.mean - 1.0).abs() < TOLERANCE, "{i}");
        assert!((law.covariance[i][i] / alone.variance - 1.0).abs() < TOLERANCE, "{i}");
    }
    for k in 1..=3 {
        let law = OrthantNormal::new(k, &[[0.0; 3]; 3], [-1.0, -2.0, -0.5]);
        let logs = [0.0, -(2f64.ln()), 2f64.ln()];
        assert!((law.log_mass - logs[..k].iter().sum::<f64>()).abs() < TOLERANCE, "{k}: {}", law.log_mass);
        for (i, mean) in [1.0, 0.5, 2.0].into_iter().take(k).enumerate() {
            assert!((law.mean[i] / mean - 1.0).abs() < TOLERANCE, "{k} {i}: {}", law.mean[i]);
            assert!((law.covariance[i][i] / (mean * mean) - 1.0).abs() < TOLERANCE, "{k} {i}");
        }
    }
    // Equal directions of a mean mixture over exponentials: only their sum is seen.
    for k in [2, 3] {
        let law = OrthantNormal::new(k, &[[4.0; 3]; 3], [3.0; 3]);
        for i in 1..k {
            assert!((law.mean[i] / law.mean[0] - 1.0).abs() < 1e-6, "{:?}", law.mean);
        }
    }
}
