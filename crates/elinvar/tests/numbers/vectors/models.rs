//! `models.json`: values, gradients and Hessians of the ready models.

use elinvar::model::{BetaBinomial, DesignMatrix, GaussianMixture, LogisticRegression};
use elinvar::target::{Answer, Ask, Contraction, Covariance, Draws, Target, Want};
use serde_json::Value;

/// Closed forms, relative to max(1, |x|).
const CLOSED: f64 = 1e-12;

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
fn at(target: &dyn Target, z: &[f64]) -> [Vec<f64>; 3] {
    let d = target.dim();
    let mut out = Answer::new(d, 1).with_curvature(Covariance::Full, 1);
    let want = Want::Hessian(Contraction::shared(&[1.0], 1));
    target.evaluate(&Ask::all(Draws::new(d, z), want), &mut out).unwrap();
    [out.log_p().to_vec(), out.grads().to_vec(), out.curvature().to_vec()]
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
        assert_close(&log_p, &[negative(&case["f"]).iter().sum()], CLOSED);
        assert_close(&grad, &negative(&case["grad"]), CLOSED);
        assert_close(&hessian, &negative(&case["hess"]), CLOSED);
    }
}

#[test]
fn beta_binomial() {
    let file = vectors("models.json");
    let whole = |value: &Value| flat(value).into_iter().map(|v| v as u64).collect();
    let model = BetaBinomial::new(whole(&file["cancer_y"]), whole(&file["cancer_n"])).unwrap();
    for case in file["beta_binomial"].as_array().unwrap() {
        let theta = flat(&case["theta"]);
        let [log_p, grad, hessian] = at(&model, &theta);
        assert_close(&log_p, &flat(&case["log_posterior"]), CLOSED);
        // The derivatives are differences of terms as large as K Σ log(1 + n/K), whose rounding remains.
        let k = theta[1].exp();
        let terms: f64 = flat(&file["cancer_n"]).iter().map(|n| k * (n / k).ln_1p()).sum();
        let tolerance = CLOSED + f64::EPSILON * terms;
        assert_close(&grad, &flat(&case["grad"]), tolerance);
        assert_close(&hessian, &flat(&case["hess"]), tolerance);
    }
}

#[test]
fn isotropic_mixture() {
    for case in vectors("models.json")["toy_mog"].as_array().unwrap() {
        let z = flat(&case["z"]);
        let model = GaussianMixture::isotropic(z.len(), flat(&case["centres"])).unwrap();
        let [log_p, grad, hessian] = at(&model, &z);
        assert_close(&log_p, &flat(&case["log_p"]), CLOSED);
        assert_close(&grad, &flat(&case["grad"]), CLOSED);
        assert_close(&hessian, &flat(&case["hess"]), CLOSED);
    }
}
