use super::*;
use crate::problems::grid::moments_2d;
use crate::problems::mixed::{Law, mixed};
use elinvar::model::Parametrisation;
use elinvar::target::{Answer, Ask, Contraction, Covariance, Draws, Want};

/// log p at z, the declared prior included, and its gradient without it.
fn evaluate(problem: &Problem, z: &[f64]) -> (f64, Vec<f64>) {
    let mut out = Answer::new(z.len(), 1);
    problem.target.evaluate(&Ask::all(Draws::new(z.len(), z), Want::Gradients), &mut out).unwrap();
    (out.log_p()[0], out.grad(0).to_vec())
}

/// Gradients and Hessians against differences, at a point one standard deviation from the mean.
fn check_derivatives(problem: &Problem) {
    let moments = problem.moments.as_ref().unwrap();
    let d = moments.mean.len();
    let z: Vec<f64> = (0..d).map(|i| moments.mean[i] + (0.9 + i as f64).cos() * moments.sd[i]).collect();
    let (_, grad) = evaluate(problem, &z);
    let mut out = Answer::new(d, 1).with_curvature(Covariance::Full, 1);
    let want = Want::HessianAlone(Contraction::shared(&[1.0], 1));
    problem.target.evaluate(&Ask::all(Draws::new(d, &z), want), &mut out).unwrap();
    let hessian = out.curvature();
    for i in 0..d {
        let h = 1e-4 * moments.sd[i];
        let at = |step: f64| {
            let mut z = z.clone();
            z[i] += step;
            evaluate(problem, &z)
        };
        let (up, down) = (at(h), at(-h));
        let slope = (up.0 - down.0) / (2.0 * h);
        assert!((slope - grad[i]).abs() < 1e-5 * (1.0 + grad[i].abs()), "{}: {slope} and {}", problem.name, grad[i]);
        for j in 0..d {
            let bend = (up.1[j] - down.1[j]) / (2.0 * h);
            let scale = 1.0 / (moments.sd[i] * moments.sd[j]);
            let error = (bend - hessian[j * d + i]).abs() / (bend.abs() + scale);
            assert!(error < 1e-5, "{}: {bend} and {}", problem.name, hessian[j * d + i]);
        }
    }
}

#[test]
fn derivatives_are_those_of_the_density() {
    let laws = [
        Law::SkewNormal { alpha: -4.0 },
        Law::LogGamma { a: 0.7 },
        Law::Logistic,
        Law::StudentT { nu: 5.0 },
        Law::Quartic,
        Law::Normal,
        Law::ripple(0.8, 3.0, 0.4),
        Law::Contaminated { weight: 0.02, sd: 20.0 },
    ];
    check_derivatives(&mixed("all laws", &laws, 50.0));
    check_derivatives(&elliptical::student_t(4, 3.0, 10.0));
    check_derivatives(&shapes::ring(3.0, 0.5));
}

/// A two-dimensional problem on a grid that reaches `reach` standard deviations.
fn check_on_grid(problem: &Problem, reach: f64, n: usize, tolerance: f64) {
    let moments = problem.moments.as_ref().unwrap();
    let low = [0, 1].map(|i| moments.mean[i] - reach * moments.sd[i]);
    let high = [0, 1].map(|i| moments.mean[i] + reach * moments.sd[i]);
    let (log_normaliser, found) = moments_2d(problem.target.as_ref(), low, high, n);
    let known = problem.log_normaliser.unwrap();
    assert!((log_normaliser - known).abs() < tolerance, "{}: {log_normaliser} and {known}", problem.name);
    for i in 0..2 {
        assert!((found.mean[i] - moments.mean[i]).abs() < tolerance * moments.sd[i], "{}: {found:?}", problem.name);
        assert!((found.sd[i] / moments.sd[i] - 1.0).abs() < tolerance, "{}: {found:?} {moments:?}", problem.name);
    }
}

#[test]
fn closed_forms_agree_with_quadrature() {
    use Law::*;
    for laws in [[SkewNormal { alpha: 5.0 }, LogGamma { a: 2.0 }], [Logistic, Quartic]] {
        check_on_grid(&mixed("pair", &laws, 3.0), 14.0, 401, 1e-6);
    }
    check_on_grid(&mixed("ripples", &[Law::ripple(1.5, 2.5, 0.4), Normal], 2.0), 14.0, 401, 1e-6);
    check_on_grid(&mixed("t", &[StudentT { nu: 30.0 }, Normal], 2.0), 30.0, 401, 1e-6);
    check_on_grid(&elliptical::gaussian(2, 100.0), 10.0, 401, 1e-6);
    check_on_grid(&elliptical::equicorrelated(2, 0.7), 10.0, 401, 1e-6);
    check_on_grid(&elliptical::student_t(2, 12.0, 10.0), 40.0, 801, 1e-3);
    check_on_grid(&shapes::banana(1.0, 0.5), 14.0, 401, 1e-6);
    check_on_grid(&shapes::ring(3.0, 0.5), 5.0, 401, 1e-6);
    // The edge cuts through a cell: an error of the order of the cell.
    check_on_grid(&shapes::cliff(2, -1.0, shapes::Beyond::Nothing), 9.0, 1_001, 1e-2);
    check_on_grid(&mixtures::two_modes(2, 5.0, 0.2), 9.0, 401, 1e-6);
    check_on_grid(&regressions::linear(12, 1), 30.0, 401, 1e-6);
    check_on_grid(&regressions::small_logistic(8, 0.1), 9.0, 301, 1e-6);
    check_on_grid(&regressions::small_poisson(6, -0.5), 14.0, 301, 1e-6);
}

/// The numbers of the references of the project.
#[test]
fn reference_values_are_reproduced() {
    let murphy = regressions::murphy_toy();
    assert!((murphy.log_normaliser.unwrap() + 2.676_179_68).abs() < 1e-6, "{:?}", murphy.log_normaliser);
    let beta = regressions::beta_binomial();
    assert!((beta.log_normaliser.unwrap() + 570.708_610_6).abs() < 1e-5, "{:?}", beta.log_normaliser);
    let moments = beta.moments.unwrap();
    assert!((moments.mean[0] + 6.815).abs() < 1e-3 && (moments.mean[1] - 7.939).abs() < 1e-3, "{moments:?}");
    assert!((moments.sd[0] - 0.294).abs() < 1e-3 && (moments.sd[1] - 1.427).abs() < 1e-3, "{moments:?}");
}

/// The two forms of eight schools have the same evidence, the same μ and the same τ.
#[test]
fn the_forms_of_eight_schools_agree() {
    let [one, two] = [Parametrisation::Centred, Parametrisation::NonCentred].map(hierarchical::eight_schools);
    assert!((one.log_normaliser.unwrap() - two.log_normaliser.unwrap()).abs() < 1e-10);
    let (one, two) = (one.moments.unwrap(), two.moments.unwrap());
    assert_eq!((one.mean[..2].to_vec(), one.sd[..2].to_vec()), (two.mean[..2].to_vec(), two.sd[..2].to_vec()));
    // Published posterior means of this model: μ 4.4, τ about 3.6 (log τ 0.8), θ₁ 6.2.
    assert!((one.mean[0] - 4.4).abs() < 0.1 && (one.mean[2] - 6.2).abs() < 0.2, "{one:?}");
}

/// The hierarchy with data of its own is the model of the library, in both forms.
#[test]
fn hierarchies_are_those_of_the_library() {
    for form in [Parametrisation::Centred, Parametrisation::NonCentred] {
        let library = hierarchical::eight_schools(form);
        let (effects, standard_errors) = elinvar::model::EightSchools::data();
        let own =
            hierarchical::Hierarchy { form, effects: effects.to_vec(), standard_errors: standard_errors.to_vec() };
        let own = own.problem("own".into());
        let z: Vec<f64> = (0..10).map(|i| 2.0 * (0.7 + i as f64).sin()).collect();
        let ((one, grad), (two, of_own)) = (evaluate(&library, &z), evaluate(&own, &z));
        assert!((one - two).abs() < 1e-11, "{one} and {two}");
        grad.iter().zip(&of_own).for_each(|(a, b)| assert!((a - b).abs() < 1e-12, "{a} and {b}"));
    }
}

/// z₁ ~ N(1, ½a⁻¹), z₂ = z₁² + N(0, ½b⁻¹) and so on, by an integral over z₁ that knows nothing of recursions.
#[test]
fn moments_of_rosenbrock_are_those_of_an_integral() {
    let (a, b): (f64, f64) = (2.0, 20.0);
    let v = 0.5 / b;
    let (_, known) = grid::moments_over(3, -4.0, 6.0, 20_001, |t, first, second| {
        let m = t * t;
        first.copy_from_slice(&[t, m, m * m + v]);
        second.copy_from_slice(&[m, m * m + v, m.powi(4) + 6.0 * m * m * v + 3.0 * v * v + v]);
        -a * (t - 1.0).powi(2)
    });
    let found = shapes::rosenbrock(4, a, b).moments.unwrap();
    for i in 0..3 {
        assert!((found.mean[i] - known.mean[i]).abs() < 1e-10, "{found:?} {known:?}");
        assert!((found.sd[i] - known.sd[i]).abs() < 1e-10, "{found:?} {known:?}");
    }
    // E z₄ = E z₃² = m⁴ + 6m²v + 3v² + v with m = z₁², by the same integral.
    let (_, last) = grid::moments_over(1, -4.0, 6.0, 20_001, |t, first, second| {
        let m = t * t;
        first[0] = m.powi(4) + 6.0 * m * m * v + 3.0 * v * v + v;
        second[0] = first[0] * first[0];
        -a * (t - 1.0).powi(2)
    });
    assert!((found.mean[3] - last.mean[0]).abs() < 1e-9 && found.sd[3] > last.sd[0], "{found:?} {last:?}");
}

/// The data are the ones the references were computed for: the reference means are a stationary region of the density.
#[test]
fn data_and_references_belong_together() {
    for (problem, rows) in [(regressions::breast_cancer(), 341), (regressions::sonar(), 100)] {
        assert_eq!(problem.target.about().n_rows, Some(rows));
        let moments = problem.moments.as_ref().unwrap();
        let (_, grad) = evaluate(&problem, &moments.mean);
        let precision = if rows == 341 { 1.0 } else { 0.204 };
        for (i, (grad, (mean, sd))) in grad.iter().zip(moments.mean.iter().zip(&moments.sd)).enumerate() {
            let slope = (grad - precision * mean) * sd;
            assert!(slope.abs() < 1.0, "{}: slope {slope} of coordinate {i}", problem.name);
        }
    }
}
