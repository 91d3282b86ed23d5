//! `family_*.json`: densities, derivatives, moments, entropies and prior terms of every conditionally Gaussian family.

use elinvar::family::Approximation;
use elinvar::internals::family::Stepping;
use elinvar::internals::law::InverseGamma;
use elinvar::internals::special::gamma::{digamma_minus_log, trigamma_minus_inv};
use elinvar::target::Prior;
use serde_json::Value;

use super::compare::{CLOSED_FORM, EXTREME, STEP, close};
use super::dense::Matrix;
use super::json::{given, list, matrix, number, read, vector};
use super::member::{Member, member};

/// E[u], E[u²] and E[s] of mathematics §0.5; for `rank_k` those of each factor.
fn moments(name: &str, par: f64) -> (f64, f64, f64) {
    let c = (2.0 / std::f64::consts::PI).sqrt();
    match name {
        "gaussian" => (0.0, 0.0, 1.0),
        "student_t" => (0.0, 0.0, par / (par - 1.0)),
        "skew" => (c, 1.0, 1.0),
        "emg" => (1.0, 2.0, 1.0),
        "rank_k" => (0.0, 1.0, 1.0),
        "nig" => (1.0, 1.0 + 1.0 / par, 1.0),
        "snig" => (0.0, 0.0, 1.0 + 1.0 / par),
        other => panic!("`{other}` is not a family"),
    }
}

fn check_case(name: &str, label: &str, q: &Approximation, case: &Value, closed: f64, entropies: f64) {
    let (b, sigma) = (matrix(case, "B"), matrix(case, "Sigma"));
    let (d, r) = (b.rows, b.cols);
    let same = |what: &str, found: &[f64], expected: &[f64], floor: f64, tolerance: f64| {
        close(&format!("{label}: {what}"), found, expected, floor, tolerance);
    };

    if given(case, "Omega").is_some() {
        same("Ω", &q.omega_matrix().entries, &matrix(case, "Omega").entries, 0.0, CLOSED_FORM);
    }
    let (eu, euu, es) = moments(name, case["par"].as_f64().unwrap_or(f64::NAN));
    let mut mean = b.column(0).to_vec();
    let mut covariance = sigma.scaled(es);
    for j in 1..r {
        mean.iter_mut().zip(b.column(j)).for_each(|(m, a)| *m += eu * a);
        let column = Matrix::from_columns(d, b.column(j));
        covariance = covariance.plus(euu - eu * eu, &column.times(&column.transposed()));
    }
    same("mean", &q.mean(), &mean, 0.0, closed);
    same("covariance", &q.covariance(), &covariance.entries, 0.0, closed);

    for (i, point) in list(case, "points").iter().enumerate() {
        let z = vector(point, "z");
        let at = |what: &str| format!("{what} at point {i}");
        same(&at("log q"), &[q.log_density(&z)], &[number(point, "log_density")], 1.0, closed);
        let (mut score, mut hessian) = (vec![f64::NAN; d], vec![f64::NAN; d * d]);
        q.score(&z, &mut score);
        q.hessian(&z, &mut hessian);
        same(&at("score"), &score, &vector(point, "score"), 1.0, closed);
        same(&at("hessian"), &hessian, &matrix(point, "hessian").entries, 1.0, closed);
    }

    match given(case, "entropy") {
        Some(entropy) => {
            let found = q.entropy().unwrap_or_else(|| panic!("{label}: the library has no entropy"));
            same("entropy", &[found], &[entropy.as_f64().expect("a number")], 1.0, entropies);
        }
        None => assert!(name != "nig" || q.entropy().is_none(), "{label}: an entropy without a rule"),
    }
    let slopes = q.entropy_gradient();
    if given(case, "entropy_grad_B").is_some() {
        let found = slopes.as_ref().unwrap_or_else(|| panic!("{label}: the library has no gradient of the entropy"));
        same("∇_B H", &found.b, &matrix(case, "entropy_grad_B").entries, 1.0, entropies);
    }
    if given(case, "entropy_grad_Sigma").is_some() {
        let found = slopes.as_ref().unwrap_or_else(|| panic!("{label}: the library has no gradient of the entropy"));
        let found = q.g_matrix(found).scaled(-0.5);
        same("∇_Σ H", &found.entries, &matrix(case, "entropy_grad_Sigma").entries, 0.0, entropies);
    }

    if let Some(precision) = given(case, "prior_precision").and_then(Value::as_f64) {
        let prior = Prior::Gaussian { precision, leading: d };
        same("E[log prior]", &[q.expected_log_prior(&prior)], &[number(case, "prior_expectation")], 1.0, closed);
        let found = q.prior_gradient(&prior).expect("a block of locations");
        same("∇_B of the prior", &found.b, &matrix(case, "prior_grad_B").entries, 0.0, closed);
        let g = q.g_matrix(&found).scaled(-0.5);
        same("∇_Σ of the prior", &g.entries, &matrix(case, "prior_grad_Sigma").entries, 0.0, closed);
    }
}

/// m_a = ψ(a) − log a − 1 and F_a = ψ′(a) − 1/a (mathematics §2.1).
fn check_shape(label: &str, case: &Value) {
    if given(case, "m_a").is_none() && given(case, "fisher_a").is_none() {
        return;
    }
    let a = number(case, "par");
    assert_eq!(InverseGamma::new(a).expect("a > 1").shape(), a);
    if let Some(m_a) = given(case, "m_a").and_then(Value::as_f64) {
        close(&format!("{label}: m_a"), &[digamma_minus_log(a) - 1.0], &[m_a], 0.0, CLOSED_FORM);
    }
    if let Some(fisher) = given(case, "fisher_a").and_then(Value::as_f64) {
        close(&format!("{label}: F_a"), &[trigamma_minus_inv(a)], &[fisher], 0.0, CLOSED_FORM);
    }
}

fn check(name: &str) {
    let file = read(&format!("family_{name}.json"));
    let cases = list(&file, "cases");
    for (i, case) in cases.iter().enumerate() {
        let (closed, entropies) = if i + 1 == cases.len() { (EXTREME, EXTREME) } else { (CLOSED_FORM, STEP) };
        let label = format!("{name} case {i}");
        check_case(name, &label, &member(name, case), case, closed, entropies);
        check_shape(&label, case);
    }
}

#[test]
fn gaussian() {
    check("gaussian");
}

#[test]
fn student_t() {
    check("student_t");
}

#[test]
fn skew() {
    check("skew");
}

#[test]
fn emg() {
    check("emg");
}

#[test]
fn nig() {
    check("nig");
}

#[test]
fn snig() {
    check("snig");
}

#[test]
fn rank_k() {
    check("rank_k");
}
