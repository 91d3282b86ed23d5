//! Softmax regressions against 50 digits, which categorical.py has written.

use elinvar::model::{CategoricalRegression, DesignMatrix};
use elinvar::target::{Answer, Ask, Concavity, Contraction, Covariance, Draws, Prior, Target, Want};
use serde::Deserialize;

/// Sums of up to 300 terms, relative to the largest number of a case.
const TOLERANCE: f64 = 1e-13;

#[derive(Deserialize)]
struct Case {
    columns: usize,
    classes: usize,
    x: Vec<f64>,
    y: Vec<f64>,
    offset: Vec<f64>,
    weights: Vec<f64>,
    z: Vec<f64>,
    log_p: f64,
    gradient: Vec<f64>,
    hessian: Vec<Vec<f64>>,
}

#[test]
fn value_gradient_and_hessian_have_their_digits() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("categorical.json")).unwrap();
    assert_eq!(cases.len(), 5);
    for case in cases {
        let names = |n: usize| (0..n).map(|k| format!("n{k}")).collect::<Vec<_>>();
        let x = DesignMatrix::new(case.x, case.columns, names(case.columns)).unwrap();
        let model = CategoricalRegression::new(x, case.y, names(case.classes), 1.0)
            .and_then(|model| model.with_offset(case.offset))
            .and_then(|model| model.with_weights(case.weights))
            .and_then(|model| model.with_coefficient_prior(Prior::None))
            .unwrap();
        let (d, about) = (case.z.len(), model.about());
        assert_eq!((about.dim, about.concavity, about.names.len()), (d, Concavity::Concave, d));
        let mut out = Answer::new(d, 1).with_curvature(Covariance::Full, 1);
        let want = Want::Hessian(Contraction::shared(&[1.0], 1));
        model.evaluate(&Ask::all(Draws::new(d, &case.z), want), &mut out).unwrap();
        let largest = case.gradient.iter().chain([&case.log_p]).fold(1.0_f64, |most, v| most.max(v.abs()));
        let near = |found: f64, truth: f64| {
            assert!((found - truth).abs() < TOLERANCE * largest, "{}: {found} {truth}", case.classes);
        };
        near(out.log_p()[0], case.log_p);
        for i in 0..d {
            near(out.grad(0)[i], case.gradient[i]);
            (0..d).for_each(|j| near(out.curvature()[i * d + j], case.hessian[i][j]));
        }
        let mut values = Answer::new(d, 1);
        model.evaluate(&Ask::all(Draws::new(d, &case.z), Want::Values), &mut values).unwrap();
        assert_eq!(values.log_p()[0], out.log_p()[0]);
    }
}
