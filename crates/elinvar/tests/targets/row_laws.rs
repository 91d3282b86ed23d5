//! Laws of rows against 50 digits, which row_laws.py has written.

use elinvar::model::{
    BetaRegression, BinomialRegression, DesignMatrix, GammaRegression, LinearRegression, NegativeBinomialRegression,
    NoisePrior, OrdinalRegression, PoissonRegression, Regression, RowLaw, StudentTRegression,
};
use elinvar::target::{Answer, Ask, Contraction, Covariance, Draws, Prior, Target, Want};
use serde::Deserialize;

/// Of log Γ and its derivatives: relative to the largest number of a case.
const TOLERANCE: f64 = 2e-13;

#[derive(Deserialize)]
struct Case {
    law: String,
    y: f64,
    trials: f64,
    eta: f64,
    auxiliary: Vec<f64>,
    log_p: f64,
    gradient: Vec<f64>,
    hessian: Vec<Vec<f64>>,
}

fn design() -> DesignMatrix {
    DesignMatrix::new(vec![1.0], 1, vec!["one".into()]).unwrap()
}

fn check<L: RowLaw>(case: &Case, model: Regression<L>) {
    let k = case.auxiliary.len();
    // The Jacobian of a flat prior is the logarithm itself.
    let model = model.with_auxiliary_priors(vec![NoisePrior::Flat; k]).unwrap();
    let model = model.with_coefficient_prior(Prior::None).unwrap();
    let z: Vec<f64> = std::iter::once(case.eta).chain(case.auxiliary.iter().copied()).collect();
    let d = k + 1;
    let mut out = Answer::new(d, 1).with_curvature(Covariance::Full, 1);
    model.evaluate(&Ask::all(Draws::new(d, &z), Want::Hessian(Contraction::shared(&[1.0], 1))), &mut out).unwrap();
    let largest = case.hessian.iter().flatten().chain(&case.gradient).chain([&case.log_p, &1.0]);
    let scale = largest.fold(0.0_f64, |most, x| most.max(x.abs())) * (1.0 + case.y.abs() + z[d - 1].exp().min(1e3));
    let near = |found: f64, truth: f64, what: &str| {
        let error = (found - truth).abs() / scale;
        assert!(error < TOLERANCE, "{} y = {} z = {z:?}: {what} {found} {truth}: {error:e}", case.law, case.y);
    };
    near(out.log_p()[0] - case.auxiliary.iter().sum::<f64>(), case.log_p, "log p");
    for i in 0..d {
        let jacobian = if i > 0 { 1.0 } else { 0.0 };
        near(out.grad(0)[i] - jacobian, case.gradient[i], "gradient");
        (0..d).for_each(|j| near(out.curvature()[i * d + j], case.hessian[i][j], "Hessian"));
    }
    let mut values = Answer::new(d, 1);
    model.evaluate(&Ask::all(Draws::new(d, &z), Want::Values), &mut values).unwrap();
    assert_eq!(values.log_p()[0], out.log_p()[0], "{}", case.law);
}

#[test]
fn values_slopes_and_curvatures_have_their_digits() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("row_laws.json")).unwrap();
    assert_eq!(cases.len(), 60);
    for case in &cases {
        let y = || vec![case.y];
        match case.law.as_str() {
            "negative_binomial" => check(case, NegativeBinomialRegression::new(design(), y(), 1.0).unwrap()),
            "student_t" => check(case, StudentTRegression::new(design(), y(), 1.0).unwrap()),
            "binomial" => {
                check(case, BinomialRegression::of_trials(design(), y(), vec![case.trials], 1.0).unwrap());
            }
            "gamma" => check(case, GammaRegression::new(design(), y(), 1.0).unwrap()),
            "beta" => check(case, BetaRegression::new(design(), y(), 1.0).unwrap()),
            other => panic!("{other}"),
        }
    }
}

#[test]
fn far_points_are_never_without_a_sign() {
    let far = [-800.0, -40.0, 40.0, 800.0];
    fn check<L: RowLaw>(model: Regression<L>, far: &[f64]) {
        let d = model.dim();
        for eta in far {
            for a in [-30.0, 0.0, 30.0] {
                let mut z = vec![a; d];
                z[0] = *eta;
                let mut out = Answer::new(d, 1);
                model.evaluate(&Ask::all(Draws::new(d, &z), Want::Gradients), &mut out).unwrap();
                assert!(!out.log_p()[0].is_nan() && out.log_p()[0] < f64::INFINITY, "{z:?}: {}", out.log_p()[0]);
            }
        }
    }
    check(NegativeBinomialRegression::new(design(), vec![3.0], 1.0).unwrap(), &far);
    check(StudentTRegression::new(design(), vec![3.0], 1.0).unwrap(), &far);
    check(BinomialRegression::of_trials(design(), vec![1.0], vec![4.0], 1.0).unwrap(), &far);
    check(GammaRegression::new(design(), vec![3.0], 1.0).unwrap(), &far);
    check(BetaRegression::new(design(), vec![0.3], 1.0).unwrap(), &far);
}

#[test]
fn responses_that_no_row_has_are_named() {
    let message = |error: elinvar::Error| error.to_string();
    let found = message(NegativeBinomialRegression::new(design(), vec![1.5], 1.0).unwrap_err());
    assert!(found.contains("row 1") && found.contains("a whole number"), "{found}");
    assert!(GammaRegression::new(design(), vec![0.0], 1.0).is_err());
    assert!(BetaRegression::new(design(), vec![1.0], 1.0).is_err());
    assert!(BinomialRegression::of_trials(design(), vec![3.0], vec![2.0], 1.0).is_err());
}

/// The log density of a point.
fn log_p(target: &dyn Target, z: &[f64]) -> f64 {
    let mut out = Answer::new(z.len(), 1);
    target.evaluate(&Ask::all(Draws::new(z.len(), z), Want::Values), &mut out).unwrap();
    out.log_p()[0]
}

#[test]
fn an_offset_is_a_column_of_coefficient_one_and_a_weight_of_two_a_row_twice() {
    let (x, offset) = ([0.3, -1.2, 0.8, 2.0], [0.5, -0.7, 1.1, 0.2]);
    let y = [2.0, 0.0, 1.0, 2.0];
    let plain = || DesignMatrix::new(x.to_vec(), 1, vec!["x".into()]).unwrap();
    let wide = || {
        let rows = x.iter().zip(offset).flat_map(|(x, o)| [*x, o]).collect();
        DesignMatrix::new(rows, 2, vec!["x".into(), "o".into()]).unwrap()
    };
    let twice = || {
        let rows = x.iter().flat_map(|x| [*x, *x]).collect();
        DesignMatrix::new(rows, 1, vec!["x".into()]).unwrap()
    };
    let (y, yy) = (y.to_vec(), y.iter().flat_map(|y| [*y, *y]).collect::<Vec<f64>>());
    let shifted = |target: &dyn Target, wider: &dyn Target, rest: &[f64]| {
        let (a, b) = ([&[0.4][..], rest].concat(), [&[0.4, 1.0][..], rest].concat());
        let (found, truth) = (log_p(target, &a), log_p(wider, &b));
        assert!((found - truth).abs() < 1e-12, "{found} {truth}");
    };
    let doubled = |weighed: &dyn Target, repeated: &dyn Target, rest: &[f64]| {
        let z = [&[0.4][..], rest].concat();
        let (found, truth) = (log_p(weighed, &z), log_p(repeated, &z));
        assert!((found - truth).abs() < 1e-12, "{found} {truth}");
    };
    let (o, w) = (|| offset.to_vec(), || vec![2.0; 4]);
    let poisson = |x, y| PoissonRegression::new(x, y, 1.0).unwrap();
    shifted(&poisson(plain(), y.clone()).with_offset(o()).unwrap(), &poisson(wide(), y.clone()), &[]);
    doubled(&poisson(plain(), y.clone()).with_weights(w()).unwrap(), &poisson(twice(), yy.clone()), &[]);
    let counts = |x, y| NegativeBinomialRegression::new(x, y, 1.0).unwrap();
    shifted(&counts(plain(), y.clone()).with_offset(o()).unwrap(), &counts(wide(), y.clone()), &[0.3]);
    doubled(&counts(plain(), y.clone()).with_weights(w()).unwrap(), &counts(twice(), yy.clone()), &[0.3]);
    let ordered = |x, y| OrdinalRegression::new(x, y, 3, 1.0).unwrap();
    shifted(&ordered(plain(), y.clone()).with_offset(o()).unwrap(), &ordered(wide(), y.clone()), &[0.1, -0.4]);
    doubled(&ordered(plain(), y.clone()).with_weights(w()).unwrap(), &ordered(twice(), yy.clone()), &[0.1, -0.4]);
    let linear = |x, y| LinearRegression::new(x, y, 1.0).unwrap();
    doubled(&linear(plain(), y).with_weights(w()).unwrap(), &linear(twice(), yy), &[0.2]);
}
