//! Predictions of models whose predictive law is known.

use elinvar::target::Transform;

use super::*;
use crate::response::{Bernoulli, Normal, Poisson};

/// β ~ N(m, L Lᵀ) and σ known: a new response at x is N(xᵀm, |Lᵀx|² + σ²).
const MEAN: [f64; 2] = [1.0, -0.5];
const ROOT: [[f64; 2]; 2] = [[0.3, 0.0], [-0.1, 0.2]];
const SIGMA: f64 = 0.7;
const ROWS: [[f64; 2]; 3] = [[1.0, 0.0], [1.0, 2.0], [1.0, -3.0]];

fn draws(n: usize) -> DrawBuffer {
    let mut stream = Stream::open(9, Purpose::Start, 0, 0);
    let mut draws = DrawBuffer::zeros(3, n);
    for s in 0..n {
        let e = [stream.normal(), stream.normal()];
        let z = draws.get_mut(s);
        (0..2).for_each(|i| z[i] = MEAN[i] + ROOT[i][0] * e[0] + ROOT[i][1] * e[1]);
        z[2] = SIGMA.ln();
    }
    draws
}

fn predicted(response: &dyn crate::response::Response, asked: &Asked, n: usize) -> Predictions {
    let x = DesignMatrix::new(ROWS.concat(), 2, vec!["a".into(), "b".into()]).unwrap();
    let transforms = Transforms::new(vec![Transform::Identity, Transform::Identity, Transform::Log]).unwrap();
    Predictions::of_rows(&Regression::plain(response, &x, &[]), &transforms, &draws(n), asked)
}

#[test]
fn a_conjugate_regression_has_its_exact_predictive_law() {
    const N: usize = 40_000;
    for of in [Of::Response, Of::Expectation, Of::Link] {
        let found = predicted(&Normal, &Asked { of, ..Asked::default() }, N);
        assert_eq!(found.names(), ["mean", "sd", "q2.5", "q50", "q97.5"]);
        for (i, x) in ROWS.iter().enumerate() {
            let mean = x[0] * MEAN[0] + x[1] * MEAN[1];
            let along = |k: usize| x[0] * ROOT[0][k] + x[1] * ROOT[1][k];
            let of_parameters = along(0).powi(2) + along(1).powi(2);
            let sd = (of_parameters + if of == Of::Response { SIGMA * SIGMA } else { 0.0 }).sqrt();
            // 97.5 % quantile of the normal law.
            let truth = [mean, sd, mean - 1.959_964 * sd, mean, mean + 1.959_964 * sd];
            // Standard errors over sd, for 1/√N: 1, 1/√2, and √(p(1 − p))/φ: 2.67 and 1.25. False alarms: 7e-6 each.
            let errors = [1.0, 0.71, 2.67, 1.26, 2.67];
            for ((found, truth), error) in found.row(i).iter().zip(truth).zip(errors) {
                let z = (found - truth) / (error * sd / (N as f64).sqrt());
                assert!(z.abs() < 4.5, "{of:?} row {i}: {found} {truth}");
            }
        }
    }
}

#[test]
fn classes_have_probabilities_and_counts_whole_quantiles() {
    let asked = Asked { quantiles: vec![0.1, 0.9], ..Asked::default() };
    let classes = predicted(&Bernoulli, &asked, 4_000);
    assert_eq!(classes.names(), ["p_0", "p_1", "sd", "q10", "q90"]);
    for i in 0..3 {
        let &[p0, p1, sd, low, high] = classes.row(i) else { panic!("five numbers") };
        assert!((p0 + p1 - 1.0).abs() < 1e-12 && low < p1 && p1 < high && sd < 0.3, "{:?}", classes.row(i));
    }
    let counts = predicted(&Poisson, &asked, 4_000);
    for (i, x) in ROWS.iter().enumerate() {
        let &[mean, sd, low, high] = counts.row(i) else { panic!("four numbers") };
        // E e^η = e^{m + v/2}, and the variance E e^η + Var e^η.
        let along = |k: usize| x[0] * ROOT[0][k] + x[1] * ROOT[1][k];
        let (m, v) = (x[0] * MEAN[0] + x[1] * MEAN[1], along(0).powi(2) + along(1).powi(2));
        let truth = (m + 0.5 * v).exp();
        let variance = truth + truth * truth * v.exp_m1();
        assert!((mean / truth - 1.0).abs() < 0.06, "{mean} {truth}");
        assert!((sd * sd / variance - 1.0).abs() < 0.25, "{sd} {}", variance.sqrt());
        assert!(low.fract() == 0.0 && high.fract() == 0.0 && low <= high, "{low} {high}");
    }
    let link = predicted(&Bernoulli, &Asked { of: Of::Link, ..Asked::default() }, 1_000);
    assert_eq!(link.names(), ["mean", "sd", "q2.5", "q50", "q97.5"]);
}
