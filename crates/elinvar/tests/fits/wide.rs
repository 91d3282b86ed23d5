//! Fewer rows than columns: the fit in the directions of the rows against that of all coefficients and closed forms.

use elinvar::chains::CorrectedNumber;
use elinvar::model::{
    DesignMatrix, LinearRegression, LogisticRegression, NegativeBinomialRegression, NoisePrior, OrdinalRegression,
    PoissonRegression,
};
use elinvar::posterior::{Estimate, Verdict};
use elinvar::run::{Correct, Stop, fit};
use elinvar::target::{ColumnScale, Prior, Target};
use elinvar::{Family, Plan, Posterior};

use crate::subjects::numbers;

const N: usize = 12;
const D: usize = 20;

/// A first column of ones and others that were shifted and scaled.
fn design() -> DesignMatrix {
    let mut rows = numbers(N * D, 31);
    rows.iter_mut().step_by(D).for_each(|x| *x = 1.0);
    let scale = |j: usize| ColumnScale { shift: 0.3 * j as f64, scale: 1.0 + 0.1 * j as f64 };
    let scales = std::iter::once(ColumnScale::NONE).chain((1..D).map(scale)).collect();
    let names = (0..D).map(|j| if j == 0 { "intercept".into() } else { format!("x{j}") }).collect();
    DesignMatrix::new(rows, D, names).and_then(|x| x.with_scales(scales)).unwrap()
}

/// Another mean and another width for each coefficient.
fn prior() -> Prior {
    let sd: Vec<f64> = (0..D).map(|j| 0.4 + 0.05 * j as f64).collect();
    Prior::normal((0..D).map(|j| 0.2 - 0.03 * j as f64).collect(), &sd)
}

fn responses(of: impl Fn(f64) -> f64) -> Vec<f64> {
    numbers(N, 32).into_iter().map(of).collect()
}

fn auto(target: &dyn Target, correct: Correct) -> Posterior {
    fit(target, Family::auto(), &Plan { correct, ..Plan::default() }).unwrap()
}

/// False alarms: 7e-6 each, plus what a fit leaves to gain where chains gave no number.
#[track_caller]
fn agree(what: &str, a: Estimate, b: Estimate, sd: f64) {
    assert!((a.value - b.value).abs() < 4.5 * a.mcse.hypot(b.mcse) + 1e-9 * sd, "{what}: {a:?} and {b:?}");
}

/// Both targets have the same answers, and the second in fewer coordinates.
#[track_caller]
fn assert_same(name: &str, full: &dyn Target, reduced: &dyn Target) {
    let (about, before) = (reduced.about(), full.about());
    assert_eq!(about.parameters, before.parameters);
    assert_eq!(about.dim + D - N, before.dim);
    let answers = [full, reduced].map(|target| {
        let posterior = auto(target, Correct::Always);
        assert_eq!(posterior.verdict(), Some(Verdict::Trust), "{name}: {:?}", posterior.judgement());
        posterior.summary(10_000, 1)
    });
    let evidence = answers.each_ref().map(|answer| answer.log_evidence.unwrap());
    agree(name, evidence[0], evidence[1], 1.0);
    let [full, reduced] = answers.map(|answer| answer.parameters);
    for (a, b) in full.iter().zip(&reduced) {
        let what = format!("{name}, {}", a.name);
        let numbers = |n: &CorrectedNumber| [n.mean, n.sd, n.q5, n.q50, n.q95];
        assert_eq!(a.name, b.name);
        numbers(a).into_iter().zip(numbers(b)).for_each(|(a, b)| agree(&what, a, b, full[1].sd.value));
    }
}

#[test]
fn the_answer_is_that_of_all_coefficients() {
    let x = || design().in_row_space(&prior()).unwrap();
    let labels = || responses(|t| if t > 0.1 { 1.0 } else { -1.0 });
    let logistic = |x, prior| LogisticRegression::new(x, labels(), 1.0).unwrap().with_coefficient_prior(prior).unwrap();
    assert_same("logistic", &logistic(design(), prior()), &logistic(x().0, x().1));
    let counts = || responses(|t| (2.0 + 2.0 * t).floor());
    let poisson = |x, prior| PoissonRegression::new(x, counts(), 1.0).unwrap().with_coefficient_prior(prior).unwrap();
    assert_same("poisson", &poisson(design(), prior()), &poisson(x().0, x().1));
    let negative =
        |x, prior| NegativeBinomialRegression::new(x, counts(), 1.0).unwrap().with_coefficient_prior(prior).unwrap();
    assert_same("negative binomial", &negative(design(), prior()), &negative(x().0, x().1));
}

/// The Gaussian by exact expectations has no noise, so that both are the same to what a fit leaves to gain.
#[test]
fn the_best_gaussian_is_that_of_all_coefficients() {
    let labels = responses(|t| if t > 0.1 { 1.0 } else { -1.0 });
    let (x, of_directions) = design().in_row_space(&prior()).unwrap();
    let stop = Stop { remaining_nats: 1e-9, ..Stop::default() };
    let plan = Plan { stop, ..Plan::default() };
    let numbers = [(design(), prior()), (x, of_directions)].map(|(x, prior)| {
        let model = LogisticRegression::new(x, labels.clone(), 1.0).unwrap().with_coefficient_prior(prior).unwrap();
        fit(&model, Family::gaussian(), &plan).unwrap().summary(10_000, 1).parameters
    });
    for (a, b) in numbers[0].iter().zip(&numbers[1]) {
        assert!((a.mean.value - b.mean.value).abs() < 1e-4 * a.sd.value, "{a:?} {b:?}");
        assert!((a.sd.value / b.sd.value - 1.0).abs() < 1e-4, "{a:?} {b:?}");
    }
}

/// A system of equations by elimination.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> (Vec<f64>, f64) {
    let n = b.len();
    let mut log_determinant = 0.0;
    for k in 0..n {
        log_determinant += a[k][k].ln();
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            (k..n).for_each(|j| a[i][j] -= factor * a[k][j]);
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        b[k] = (b[k] - (k + 1..n).map(|j| a[k][j] * b[j]).sum::<f64>()) / a[k][k];
    }
    (b, log_determinant)
}

/// Fewer rows than columns can be met exactly, so that the density has no maximum where sigma may be 0; its prior keeps
/// it away from there. Given sigma everything is Gaussian: y ~ N(Xm, σ²I + XD²Xᵀ), and sigma is summed over a grid.
#[test]
fn a_linear_model_has_its_closed_form() {
    let y = responses(|t| 1.5 * t + 0.4);
    let (x, of_directions) = design().in_row_space(&prior()).unwrap();
    let model = LinearRegression::new(x, y.clone(), 1.0)
        .and_then(|model| model.with_coefficient_prior(of_directions))
        .and_then(|model| model.with_noise_prior(NoisePrior::Gamma { shape: 15.0, rate: 30.0 }))
        .unwrap();
    let posterior = auto(&model, Correct::Always);
    assert_eq!(posterior.verdict(), Some(Verdict::Trust), "{:?}", posterior.judgement());
    let answer = posterior.summary(10_000, 1);

    let (x, prior) = (design(), prior());
    let variance = |j: usize| 1.0 / prior.precision(j);
    let residual: Vec<f64> = (0..N).map(|i| y[i] - (0..D).map(|j| x.row(i)[j] * prior.mean(j)).sum::<f64>()).collect();
    let kernel = |i: usize, k: usize| (0..D).map(|j| x.row(i)[j] * variance(j) * x.row(k)[j]).sum::<f64>();
    let (mut total, mut first, mut second) = (0.0, [0.0; D], [0.0; D]);
    let step = 0.05;
    for sigma in (-160..60).map(|k| (step * f64::from(k)).exp()) {
        let matrix: Vec<Vec<f64>> =
            (0..N).map(|i| (0..N).map(|k| kernel(i, k) + if i == k { sigma * sigma } else { 0.0 }).collect()).collect();
        let (solved, log_determinant) = solve(matrix.clone(), residual.clone());
        let square: f64 = solved.iter().zip(&residual).map(|(a, b)| a * b).sum();
        let log_density = -0.5 * (N as f64 * std::f64::consts::TAU.ln() + log_determinant + square);
        // 30¹⁵/14! σ¹⁴e^{−30σ}, on the logarithmic scale.
        let log_prior = 15.0 * 30f64.ln() - 87_178_291_200f64.ln() + 15.0 * sigma.ln() - 30.0 * sigma;
        let weight = (log_density + log_prior).exp() * step;
        total += weight;
        for j in 0..D {
            let column: Vec<f64> = (0..N).map(|i| x.row(i)[j] * variance(j)).collect();
            let mean = prior.mean(j) + column.iter().zip(&solved).map(|(a, b)| a * b).sum::<f64>();
            let seen: f64 = solve(matrix.clone(), column.clone()).0.iter().zip(&column).map(|(a, b)| a * b).sum();
            first[j] += weight * mean;
            second[j] += weight * (mean * mean + variance(j) - seen);
        }
    }
    let evidence = answer.log_evidence.unwrap();
    agree("evidence", evidence, Estimate { value: total.ln(), mcse: 0.0 }, 1.0);
    // Columns were scaled; the intercept mixes them all.
    for (j, (number, column)) in answer.parameters.iter().zip(x.scales()).enumerate().take(D).skip(1) {
        let mean = first[j] / total;
        let sd = (second[j] / total - mean * mean).sqrt();
        let exact = |value: f64| Estimate { value: value / column.scale, mcse: 0.0 };
        agree(&number.name, number.mean, exact(mean), number.sd.value);
        agree(&number.name, number.sd, exact(sd), number.sd.value);
    }
}

/// Draws on the natural scale have the moments of the answer, in files too: |z| < 4.5 for 21 means.
#[test]
fn draws_are_those_of_all_coefficients_and_files_keep_them() {
    let (x, of_directions) = design().in_row_space(&prior()).unwrap();
    let classes = responses(|t| {
        if t > 0.3 {
            2.0
        } else if t > -0.4 {
            1.0
        } else {
            0.0
        }
    });
    let model = OrdinalRegression::new(x, classes, 3, 1.0).unwrap().with_coefficient_prior(of_directions).unwrap();
    let posterior = fit(&model, Family::gaussian(), &Plan::default()).unwrap();
    let file = tempfile::tempdir().unwrap();
    posterior.save(file.path().join("fit.json")).unwrap();
    let again = Posterior::load(file.path().join("fit.json")).unwrap();
    let draws = posterior.sample(4_000, 3);
    assert_eq!(draws, again.sample(4_000, 3));
    for (k, number) in posterior.summary(10_000, 1).parameters.iter().enumerate().take(D) {
        let mean = draws.iter().map(|x| x[k]).sum::<f64>() / 4_000.0;
        assert!((mean - number.mean.value).abs() < 4.5 * number.sd.value / 4_000f64.sqrt(), "{mean} {number:?}");
    }
}
