//! The scalar parts of the family vectors: moments, conditional moments, marginal densities and entropies of the laws.
#![allow(clippy::unwrap_used)]

use elinvar::law::{
    Exponential, Forms, HalfNormal, InverseGamma, InverseGaussian, MixingLaw, PointMass, ReciprocalInverseGaussian,
};
use serde_json::Value;

fn cases(family: &str) -> Vec<Value> {
    let folder = std::env::var("ELINVAR_VECTORS")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors").to_string());
    let text = std::fs::read_to_string(format!("{folder}/family_{family}.json")).expect("the vectors are readable");
    let file: Value = serde_json::from_str(&text).expect("the vectors are JSON");
    file["cases"].as_array().expect("the file has cases").clone()
}

fn vector(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn matrix(value: &Value) -> Vec<Vec<f64>> {
    value.as_array().unwrap().iter().map(vector).collect()
}

/// A⁻¹b and log|A| of a small positive definite matrix by Gaussian elimination.
fn solve(matrix: &[Vec<f64>], right: &[f64]) -> (Vec<f64>, f64) {
    let n = right.len();
    let (mut a, mut b, mut log_det) = (matrix.to_vec(), right.to_vec(), 0.0);
    for k in 0..n {
        log_det += a[k][k].ln();
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            let pivot_row = a[k].clone();
            a[i].iter_mut().zip(&pivot_row).skip(k).for_each(|(x, p)| *x -= factor * p);
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        let sum: f64 = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - sum) / a[k][k];
    }
    (b, log_det)
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| a * b).sum()
}

/// The first four cases of a file at 1e−12, the extreme last one at 1e−9; entropies by quadrature at 1e−10.
#[track_caller]
fn close(what: &str, found: f64, expected: f64, tolerance: f64) {
    let error = (found - expected).abs();
    assert!(
        error <= tolerance * expected.abs().max(1.0),
        "{what}: found {found:e}, expected {expected:e}, error {error:e}"
    );
}

fn check<L: MixingLaw>(law_of: impl Fn(f64) -> L) {
    let all = cases(L::NAME);
    assert!(!all.is_empty());
    for (number, case) in all.iter().enumerate() {
        let law = law_of(case["par"].as_f64().unwrap_or(f64::NAN));
        let name = |what: &str| format!("{} case {number} {what}", L::NAME);
        let b = matrix(&case["B"]);
        let sigma = matrix(&case["Sigma"]);
        let dim = sigma.len();
        let tolerance = if sigma.iter().any(|row| row.iter().all(|x| x.abs() < 1e-2)) { 1e-9 } else { 1e-12 };
        let mu: Vec<f64> = b.iter().map(|row| row[0]).collect();
        let alpha: Vec<f64> = b.iter().map(|row| if L::SHIFTED { row[1] } else { 0.0 }).collect();
        let (p_alpha, log_det) = solve(&sigma, &alpha);
        let kappa = dot(&alpha, &p_alpha);
        let m = law.moments();
        let omega = matrix(&case["Omega"]);
        close(&name("E[1/s]"), m.inv_s, omega[0][0], 1e-13);
        if L::SHIFTED {
            close(&name("E[u/s]"), m.u_inv_s, omega[0][1], 1e-13);
            close(&name("E[u²/s]"), m.uu_inv_s, omega[1][1], 1e-13);
        }
        for point in case["points"].as_array().unwrap() {
            let r: Vec<f64> = vector(&point["z"]).iter().zip(&mu).map(|(z, m)| z - m).collect();
            let (p_r, _) = solve(&sigma, &r);
            let forms = Forms { dim, q: dot(&r, &p_r), l: dot(&r, &p_alpha), kappa };
            let c = law.conditional(forms);
            let expect = |key: &str, found: f64| {
                if let Some(expected) = point[key].as_f64() {
                    close(&name(key), found, expected, tolerance);
                }
            };
            close(
                &name("log q"),
                law.log_marginal(forms) - 0.5 * log_det,
                point["log_density"].as_f64().unwrap(),
                tolerance,
            );
            expect("cond_mean", c.u);
            expect("cond_var", c.var_u_inv_s);
            match law.two_point(forms) {
                Some(two) => {
                    close(&name("u(z)"), two.u, point["cond_u"].as_f64().unwrap(), tolerance);
                    close(&name("v₀"), two.v0, point["cond_v"].as_f64().unwrap(), tolerance);
                }
                None => expect("cond_u", c.s),
            }
            let score = vector(&point["score"]);
            for i in 0..dim {
                close(&name("score"), -c.inv_s * p_r[i] + c.u_inv_s * p_alpha[i], score[i], tolerance);
            }
        }
        match law.entropy(kappa, dim) {
            Some(entropy) => {
                let value = entropy.value + 0.5 * log_det;
                close(&name("entropy"), value, case["entropy"].as_f64().unwrap(), tolerance.max(1e-10));
            }
            None => assert!(case.get("entropy").is_none_or(Value::is_null), "{} has an entropy", L::NAME),
        }
    }
}

#[test]
fn gaussian() {
    check(|_| PointMass);
}

#[test]
fn student_t() {
    check(|a| InverseGamma::new(a).unwrap());
}

#[test]
fn skew() {
    check(|_| HalfNormal);
}

#[test]
fn emg() {
    check(|_| Exponential);
}

#[test]
fn nig() {
    check(|lambda| InverseGaussian::new(lambda).unwrap());
}

#[test]
fn snig() {
    check(|lambda| ReciprocalInverseGaussian::new(lambda).unwrap());
}
