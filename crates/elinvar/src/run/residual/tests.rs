use std::ops::ControlFlow;

use super::super::drive::drive;
use super::super::fitting::Fitting;
use super::*;
use crate::model::{Banana, DesignMatrix, EightSchools, Gaussian, LogisticRegression, Parametrisation};
use crate::random::{Purpose, Stream};
use crate::target::{About, Answer, Ask, Covariance, Offers, TargetError};

/// Another target with its Hessian hidden.
pub(super) struct GradientsOnly<T>(pub(super) T);

impl<T: Target> Target for GradientsOnly<T> {
    fn about(&self) -> About {
        let about = self.0.about();
        About { offers: Offers { hessian: false, gauss_newton: false, ..about.offers }, ..about }
    }

    fn evaluate(&self, ask: &Ask<'_>, answer: &mut Answer) -> Result<(), TargetError> {
        self.0.evaluate(ask, answer)
    }
}

/// A correlated Gaussian with its mean and precision.
pub(super) fn gaussian(d: usize) -> (GradientsOnly<Gaussian>, Vec<f64>, Vec<f64>) {
    let mut stream = Stream::open(5, Purpose::Sample, d as u64, 0);
    let root: Vec<f64> = (0..d * d).map(|_| stream.normal()).collect();
    let mean: Vec<f64> = (0..d).map(|_| stream.normal()).collect();
    let mut precision = vec![0.0; d * d];
    for j in 0..d {
        for i in 0..d {
            let dot: f64 = (0..d).map(|k| root[i * d + k] * root[j * d + k]).sum();
            precision[j * d + i] = dot / d as f64 + if i == j { 0.5 } else { 0.0 };
        }
    }
    (GradientsOnly(Gaussian::new(mean.clone(), precision.clone()).unwrap()), mean, precision)
}

pub(super) fn run_to_end(run: &mut ResidualRun<'_>) -> StopReason {
    drive(run, &mut Fitting::unkept(&mut |_| ControlFlow::Continue(()))).unwrap()
}

#[test]
fn at_a_gaussian_optimum_there_is_no_noise_for_any_number_of_draws() {
    for (d, hessians) in [3, 20, 120].into_iter().flat_map(|d| [(d, false), (d, true)]) {
        let (stripped, mean, precision) = gaussian(d);
        let start = Approximation::gaussian(mean, Covariance::Full, precision).unwrap();
        let target: &dyn Target = if hessians { &stripped.0 } else { &stripped };
        let mut run = ResidualRun::new(target, start, &Plan::default()).unwrap();
        assert_eq!(run.pace.source() == Source::Hessians, hessians);
        let n_pairs = run.pace.n_pairs();
        let step = run.advance_once().unwrap();
        let (left, error) = step.remaining.unwrap();
        assert!(left < 1e-18 && error < 1e-18, "d {d}: {left} ± {error} from {n_pairs} pairs");
        assert!(run.gradient.iter().all(|v| v.abs() < 1e-9));
    }
}

#[test]
fn one_step_finds_a_gaussian_from_a_pair_for_each_coordinate() {
    let (target, mean, precision) = gaussian(12);
    finds_the_gaussian(&target, &mean, &precision);
    finds_the_gaussian(&target.0, &mean, &precision);
}

fn finds_the_gaussian(target: &dyn Target, mean: &[f64], precision: &[f64]) {
    let d = mean.len();
    let unit = (0..d * d).map(|at| f64::from(u8::from(at % (d + 1) == 0))).collect();
    let start = Approximation::gaussian(vec![0.0; d], Covariance::Full, unit).unwrap();
    let mut run = ResidualRun::new(target, start, &Plan::default()).unwrap();
    assert_eq!(run_to_end(&mut run), StopReason::Converged);
    let q = run.posterior(StopReason::Converged).unwrap();
    let q = q.approximation();
    q.mean().iter().zip(mean).for_each(|(a, b)| assert!((a - b).abs() < 1e-8, "{a} {b}"));
    let found = q.locations()[0].scale().precision();
    found.iter().zip(precision).for_each(|(a, b)| assert!((a - b).abs() < 1e-8, "{a} {b}"));
}

#[test]
fn what_is_left_is_the_divergence_from_a_gaussian_target() {
    // a = −0.01/√1.02 and B = 1/1.02 − 1; KL(N(0.01, 1/1.02) ‖ N(0, 1)) differs in the third order.
    let target = GradientsOnly(Gaussian::new(vec![0.0], vec![1.0]).unwrap());
    let start = Approximation::gaussian(vec![0.01], Covariance::Full, vec![1.02]).unwrap();
    let mut run = ResidualRun::new(&target, start, &Plan::default()).unwrap();
    let (left, _) = run.advance_once().unwrap().remaining.unwrap();
    let expected = 0.5 * 1e-4 / 1.02 + 0.25 * (0.02f64 / 1.02).powi(2);
    assert!((left - expected).abs() < 1e-14, "{left} instead of {expected}");
    let divergence = 0.5 * (1e-4 + 1.0 / 1.02 - 1.0 + 1.02f64.ln());
    assert!((left / divergence - 1.0).abs() < 0.03, "{left} against {divergence}");
}

#[test]
fn fits_by_gradients_are_near_the_best_gaussian() {
    // The bounds of the best Gaussians by long fits with Hessians and 256 draws; eight schools is far from Gaussian,
    // and its widths are found from the few draws in a tail.
    let plan = Plan::default();
    let thorough = |target: &dyn Target| {
        let stop = crate::run::Stop { remaining_nats: 5e-4, ..crate::run::Stop::default() };
        let plan = Plan { n_draws: 256, seed: 3, curvature: Curvature::Hessian, stop, ..Plan::default() };
        crate::run::fit(target, crate::Family::gaussian(), &plan).unwrap()
    };
    let bound = |posterior: &Posterior, target: &dyn Target| {
        posterior.importance(target, 200_000, 4).unwrap().diagnostics.elbo.value
    };
    let check = |stripped: &dyn Target, target: &dyn Target, within: f64, most: u64| {
        let fitted = crate::run::fit(stripped, crate::Family::gaussian(), &plan).unwrap();
        assert_eq!(fitted.stop_reason(), StopReason::Converged);
        assert!(fitted.counts().gradient < most, "{:?}", fitted.counts());
        let short = bound(&thorough(target), target) - bound(&fitted, target);
        assert!(short < within, "{short} nats below the best");
    };
    let schools = || EightSchools::new(Parametrisation::NonCentred);
    check(&GradientsOnly(Banana::default()), &Banana::default(), 0.01, 500);
    check(&GradientsOnly(schools()), &schools(), 0.02, 20_000);
    check(&Banana::default(), &Banana::default(), 0.01, 300);
    check(&schools(), &schools(), 0.01, 10_000);
}

#[test]
fn a_gaussian_that_loses_many_draws_is_not_believed() {
    // Below −0.5 there is no density, and a third of the mass of the Gaussian that the rest suggests lies there.
    let target = crate::target::from_fn(1, |z, grad| {
        grad[0] = -z[0];
        if z[0] < -0.5 { f64::NAN } else { -0.5 * z[0] * z[0] }
    });
    let start = Approximation::gaussian(vec![0.8], Covariance::Full, vec![2.0]).unwrap();
    let mut run = ResidualRun::new(&target, start, &Plan { n_draws: 64, ..Plan::default() }).unwrap();
    assert_ne!(run_to_end(&mut run), StopReason::Converged);
}

#[test]
fn draws_without_density_are_dropped_in_pairs() {
    // No density beyond 2.3 to one side: about one draw in 90 is lost, and its mirror image with it.
    let target = crate::target::from_fn(2, |z, grad| {
        grad.iter_mut().zip(z).for_each(|(g, z)| *g = -z);
        if z[0] > 2.3 { f64::NAN } else { -0.5 * (z[0] * z[0] + z[1] * z[1]) }
    });
    let start = Approximation::gaussian(vec![0.3, -0.2], Covariance::Full, vec![1.5, 0.2, 0.2, 0.8]).unwrap();
    let mut run = ResidualRun::new(&target, start, &Plan { n_draws: 256, ..Plan::default() }).unwrap();
    assert_eq!(run_to_end(&mut run), StopReason::Converged);
    assert!(run.evaluator.counts().dropped > 0);
    let variances = run.posterior(StopReason::Converged).unwrap().approximation().variances();
    assert!(variances.iter().all(|v| (v - 1.0).abs() < 1e-6), "{variances:?}");
}

#[test]
fn hessians_of_a_quartic_are_averaged_without_noise_from_matched_draws() {
    let start = Approximation::gaussian(vec![0.3, 1.0], Covariance::Full, vec![1.5, 0.2, 0.2, 0.8]).unwrap();
    let banana = Banana::default();
    let gradient = |seed: u64| {
        let mut run = ResidualRun::new(&banana, start.clone(), &Plan { seed, ..Plan::default() }).unwrap();
        let (_, error) = run.advance_once().unwrap().remaining.unwrap();
        assert!(error < 1e-20, "{error}");
        run.gradient.clone()
    };
    gradient(1).iter().zip(gradient(2)).for_each(|(a, b)| assert!((a - b).abs() < 1e-10, "{a} {b}"));
}

#[test]
fn the_noise_of_hessians_is_that_of_their_mean() {
    // The banana in the first of many coordinates: too many to match, so that the two halves differ.
    let d = 8;
    let target = crate::target::from_fns(
        d,
        |z, grad| {
            let curve = |x: f64| x + 0.2 * x * x * x;
            grad.iter_mut().zip(z).for_each(|(g, x)| *g = -curve(*x));
            z.iter().map(|x| -0.5 * x * x - 0.05 * x.powi(4)).sum()
        },
        |z, hessian| {
            hessian.fill(0.0);
            (0..z.len()).for_each(|i| hessian[i * z.len() + i] = -1.0 - 0.6 * z[i] * z[i]);
        },
    );
    // E[−H] = 1 + 0.6/p = p at the optimum.
    let p = 0.5 * (1.0 + 3.4f64.sqrt());
    let unit: Vec<f64> = (0..d * d).map(|at| if at % (d + 1) == 0 { p } else { 0.0 }).collect();
    let start = Approximation::gaussian(vec![0.0; d], Covariance::Full, unit).unwrap();
    let (n, mut signal, mut noise, mut raw) = (400, 0.0, 0.0, 0.0);
    for seed in 0..n {
        let mut run = ResidualRun::new(&target, start.clone(), &Plan { seed, ..Plan::default() }).unwrap();
        let Looking::ByDraws(batch) = &mut run.looking else { panic!("there are no expectations") };
        let look = batch.look(&run.q, &mut run.evaluator, (seed, 0), &mut run.gradient).unwrap();
        let Look::Good { found, .. } = look else { panic!("all draws are good") };
        (signal, noise, raw) = (signal + found.scale.signal, noise + found.scale.noise(), raw + found.scale.raw);
    }
    // At the optimum all of ‖B‖² is noise.
    assert!(signal.abs() < 0.15 * raw && (noise / raw - 1.0).abs() < 0.15, "{signal} {noise} {raw}");
}

#[test]
fn expectations_of_a_regression_end_at_its_best_gaussian() {
    let d = 4;
    let mut stream = Stream::open(3, Purpose::Sample, 1, 0);
    let rows: Vec<f64> = (0..30 * d).map(|_| stream.normal()).collect();
    let labels = (0..30).map(|i| if rows[i * d] + 0.5 * stream.normal() > 0.0 { 1.0 } else { -1.0 }).collect();
    let names = (0..d).map(|j| format!("x{j}")).collect();
    let model = LogisticRegression::new(DesignMatrix::new(rows, d, names).unwrap(), labels, 0.1).unwrap();
    let fit = |seed: u64, tolerance: f64| {
        let stop = crate::run::Stop { remaining_nats: tolerance, ..crate::run::Stop::default() };
        let posterior =
            crate::run::fit(&model, crate::Family::gaussian(), &Plan { seed, stop, ..Plan::default() }).unwrap();
        assert_eq!(posterior.stop_reason(), StopReason::Converged);
        posterior
    };
    let best = fit(1, 1e-12);
    let step = best.trace().last().unwrap();
    assert!(step.n_draws == 0 && step.elbo_se == Some(0.0), "{step:?}");
    // The default tolerance with its factor of two, by the bounds themselves.
    let short = step.elbo.unwrap() - fit(2, 1e-2).trace().last().unwrap().elbo.unwrap();
    assert!((0.0..0.01).contains(&short), "{short}");
    // The bound of draws agrees: |z| < 4.5.
    let by_draws = best.importance(&model, 100_000, 4).unwrap().diagnostics.elbo;
    assert!((by_draws.value - step.elbo.unwrap()).abs() < 4.5 * by_draws.mcse, "{by_draws:?}");
}

#[test]
fn draws_without_density_are_no_part_of_a_sum_of_hessians() {
    let target = crate::target::from_fns(
        2,
        |z, grad| {
            grad.iter_mut().zip(z).for_each(|(g, z)| *g = -z);
            if z[0] > 2.3 { f64::NAN } else { -0.5 * (z[0] * z[0] + z[1] * z[1]) }
        },
        |z, hessian| hessian.copy_from_slice(&[if z[0] > 2.3 { f64::NAN } else { -1.0 }, 0.0, 0.0, -1.0]),
    );
    let start = Approximation::gaussian(vec![0.3, -0.2], Covariance::Full, vec![1.5, 0.2, 0.2, 0.8]).unwrap();
    let mut run = ResidualRun::new(&target, start, &Plan { n_draws: 256, ..Plan::default() }).unwrap();
    assert_eq!(run_to_end(&mut run), StopReason::Converged);
    assert!(run.evaluator.counts().dropped > 0 && run.evaluator.counts().hessian > 0);
    let variances = run.posterior(StopReason::Converged).unwrap().approximation().variances();
    assert!(variances.iter().all(|v| (v - 1.0).abs() < 1e-6), "{variances:?}");
}
