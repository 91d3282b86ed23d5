use elinvar::model::{Banana, BetaBinomial, DesignMatrix, Funnel, GaussianMixture, LogisticRegression};
use elinvar::target::{Contraction, Covariance, CurvatureMut, Draws, Evaluations, Rows, SecondOrder};
use serde_json::Value;

use crate::registered::numbers;
use crate::tolerance::EXACT;

fn vectors(file: &str) -> Value {
    let folder = std::env::var("ELINVAR_VECTORS")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors").to_owned());
    serde_json::from_str(&std::fs::read_to_string(format!("{folder}/{file}")).unwrap()).unwrap()
}

/// The numbers of a scalar, a list or a list of rows.
fn flat(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(flat).collect(),
        _ => vec![value.as_f64().unwrap()],
    }
}

/// log p, gradient and Hessian at one point.
fn at(target: &dyn SecondOrder, z: &[f64]) -> [Vec<f64>; 3] {
    let d = target.dim();
    let mut out = Evaluations::new(d, 1);
    let mut entries = vec![0.0; d * d];
    let view = CurvatureMut::new(Covariance::Full, d, &mut entries);
    let contraction = Contraction::shared(&[1.0], 1);
    target.evaluate_and_contract(Draws::new(d, z), Rows::All, contraction, &mut out, view).unwrap();
    [out.log_p().to_vec(), out.grads().to_vec(), entries]
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{a} and {b}");
    }
}

#[test]
fn logistic_regression() {
    for case in vectors("models.json")["logistic"].as_array().unwrap() {
        let (z, y) = (flat(&case["z"]), flat(&case["y"]));
        let names = (0..z.len()).map(|i| i.to_string()).collect();
        let x = DesignMatrix::new(flat(&case["X"]), z.len(), names).unwrap();
        let model = LogisticRegression::new(x, y, 1.0).unwrap();
        let [log_p, grad, hessian] = at(&model, &z);
        let negative = |value: &Value| flat(value).into_iter().map(|v| -v).collect::<Vec<_>>();
        assert_close(&log_p, &[negative(&case["f"]).iter().sum()], EXACT);
        assert_close(&grad, &negative(&case["grad"]), EXACT);
        assert_close(&hessian, &negative(&case["hess"]), EXACT);
    }
}

#[test]
fn beta_binomial() {
    let file = vectors("models.json");
    let model = BetaBinomial::cancer_mortality();
    let whole = |value: &Value| flat(value).into_iter().map(|v| v as u64).collect();
    assert_eq!(model, BetaBinomial::new(whole(&file["cancer_y"]), whole(&file["cancer_n"])).unwrap());
    for case in file["beta_binomial"].as_array().unwrap() {
        let [log_p, grad, hessian] = at(&model, &flat(&case["theta"]));
        assert_close(&log_p, &flat(&case["log_posterior"]), EXACT);
        assert_close(&grad, &flat(&case["grad"]), 1e-11);
        assert_close(&hessian, &flat(&case["hess"]), 1e-11);
    }
}

#[test]
fn isotropic_mixture() {
    for case in vectors("models.json")["toy_mog"].as_array().unwrap() {
        let z = flat(&case["z"]);
        let model = GaussianMixture::isotropic(z.len(), flat(&case["centres"])).unwrap();
        let [log_p, grad, hessian] = at(&model, &z);
        assert_close(&log_p, &flat(&case["log_p"]), EXACT);
        assert_close(&grad, &flat(&case["grad"]), EXACT);
        assert_close(&hessian, &flat(&case["hess"]), EXACT);
    }
}

/// log ∫ p over a rectangle by the trapezoidal rule, which is exact to rounding for densities that vanish at the edges.
fn log_mass(target: &dyn SecondOrder, low: [f64; 2], high: [f64; 2], n: usize) -> f64 {
    let step = [(high[0] - low[0]) / n as f64, (high[1] - low[1]) / n as f64];
    let (mut z, mut out) = (vec![0.0; 2 * n], Evaluations::new(2, n));
    let (mut largest, mut total) = (f64::NEG_INFINITY, 0.0);
    for i in 0..n {
        for j in 0..n {
            z[2 * j] = low[0] + step[0] * i as f64;
            z[2 * j + 1] = low[1] + step[1] * j as f64;
        }
        target.evaluate(Draws::new(2, &z), Rows::All, &mut out).unwrap();
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
