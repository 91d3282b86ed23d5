//! The scalar parts of the family vectors: moments, conditional moments, marginal densities and entropies of the laws.

use elinvar::internals::law::{
    Exponential, Forms, HalfNormal, InverseGamma, InverseGaussian, MixingLaw, PointMass, ReciprocalInverseGaussian,
};
use serde_json::Value;

use super::compare::{CLOSED_FORM, EXTREME, STEP};
use super::dense::{Matrix, difference, dot};
use super::json::{given, list, matrix, number, read, vector};

#[track_caller]
fn close(what: &str, found: f64, expected: f64, tolerance: f64) {
    super::compare::close(what, &[found], &[expected], 1.0, tolerance);
}

fn check<L: MixingLaw>(law_of: impl Fn(f64) -> L) {
    let file = read(&format!("family_{}.json", L::NAME));
    let cases = list(&file, "cases");
    for (index, case) in cases.iter().enumerate() {
        let law = law_of(case["par"].as_f64().unwrap_or(f64::NAN));
        let name = |what: &str| format!("{} case {index} {what}", L::NAME);
        let tolerance = if index + 1 == cases.len() { EXTREME } else { CLOSED_FORM };
        let (b, sigma) = (matrix(case, "B"), matrix(case, "Sigma"));
        let dim = sigma.rows;
        let mu = b.column(0);
        let alpha = if L::SHIFTED { b.column(1).to_vec() } else { vec![0.0; dim] };
        let solve = |x: &[f64]| sigma.solve(&Matrix::from_columns(dim, x)).entries;
        let (p_alpha, log_det) = (solve(&alpha), sigma.log_det());
        let kappa = dot(&alpha, &p_alpha);
        if let Some(expected) = given(case, "kappa").and_then(Value::as_f64) {
            close(&name("κ"), kappa, expected, tolerance);
        }
        let m = law.moments();
        let omega = matrix(case, "Omega");
        close(&name("E[1/s]"), m.inv_s, omega.at(0, 0), 1e-13);
        if L::SHIFTED {
            close(&name("E[u/s]"), m.u_inv_s, omega.at(0, 1), 1e-13);
            close(&name("E[u²/s]"), m.uu_inv_s, omega.at(1, 1), 1e-13);
        }
        for point in list(case, "points") {
            let r = difference(&vector(point, "z"), mu);
            let p_r = solve(&r);
            let forms = Forms { dim, q: dot(&r, &p_r), l: dot(&r, &p_alpha), kappa };
            let c = law.conditional(forms);
            let expect = |key: &str, found: f64| {
                if let Some(expected) = point[key].as_f64() {
                    close(&name(key), found, expected, tolerance);
                }
            };
            let log_q = law.log_marginal(forms) - 0.5 * log_det;
            close(&name("log q"), log_q, number(point, "log_density"), tolerance);
            expect("cond_mean", c.u);
            expect("cond_var", c.var_u_inv_s);
            match law.two_point(forms) {
                Some(two) => {
                    expect("cond_u", two.u);
                    expect("cond_v", two.v0);
                }
                None => expect("cond_u", c.s),
            }
            let score = vector(point, "score");
            for i in 0..dim {
                close(&name("score"), -c.inv_s * p_r[i] + c.u_inv_s * p_alpha[i], score[i], tolerance);
            }
        }
        match (law.entropy(kappa, dim), given(case, "entropy").and_then(Value::as_f64)) {
            (Some(entropy), Some(expected)) => {
                close(&name("entropy"), entropy.value + 0.5 * log_det, expected, tolerance.max(STEP));
            }
            (None, Some(_)) => panic!("{}", name("has no entropy")),
            (_, None) => {}
        }
    }
}

#[test]
fn gaussian() {
    check(|_| PointMass);
}

#[test]
fn student_t() {
    check(|a| InverseGamma::new(a).expect("a constant in its domain"));
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
    check(|lambda| InverseGaussian::new(lambda).expect("a constant in its domain"));
}

#[test]
fn snig() {
    check(|lambda| ReciprocalInverseGaussian::new(lambda).expect("a constant in its domain"));
}
