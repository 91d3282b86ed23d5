use std::ops::ControlFlow;

use super::super::drive::drive;
use super::super::fitting::Fitting;
use super::step::Slope;
use super::*;
use crate::model::{Banana, Gaussian, GaussianMixture};
use crate::run::Stop;
use crate::run::residual::Whitened;

/// Whitened blocks of a mixture in `d` dimensions with these means and precisions c I + ½ 11ᵀ.
fn mixture(means: &[Vec<f64>], scales: &[f64], weights: &[f64]) -> Mixture {
    let blocks = means.iter().zip(scales).map(|(mean, c)| {
        let d = mean.len();
        let precision = (0..d * d).map(|at| 0.5 + if at % (d + 1) == 0 { *c } else { 0.0 }).collect();
        Whitened::of(&Approximation::gaussian(mean.clone(), crate::target::Covariance::Full, precision).unwrap())
    });
    Mixture { log_weights: weights.iter().map(|w| w.ln()).collect(), blocks: blocks.collect() }
}

/// A pool with `n` draws of each component of a mixture.
fn pool_of(target: &dyn Target, from: &Mixture, n: usize) -> Pool {
    let (mut pool, mut evaluator) = (Pool::new(target.dim()), Evaluator::new(target, None));
    for (c, block) in from.blocks.iter().enumerate() {
        let z = mirrored(block, n, (7, Purpose::Draws, 0), c as u32);
        let draws = Draws::new(target.dim(), &z);
        evaluator.evaluate_gradients(draws).unwrap();
        pool.add(block, draws, evaluator.answer(), &mut Whitening::default());
    }
    pool
}

/// The slopes of a mixture by a pool.
fn estimate(pool: &Pool, q: &Mixture) -> (Stepping, f64) {
    let (mut sight, mut stepping) = (Sight::default(), Stepping::new(q.dim(), q.n_components()));
    sight.look(pool, q, &mut Whitening::default());
    sight.slopes(pool, q);
    let left = stepping.estimate(q, &sight);
    (stepping, left)
}

#[test]
fn at_a_target_of_its_own_kind_a_step_changes_nothing() {
    let covariance = [1.0, 0.3, 0.3, 0.7];
    let covariances: Vec<f64> = covariance.iter().chain(&covariance).copied().collect();
    let target = GaussianMixture::new(&[0.3, 0.7], vec![0.0, 0.0, 2.0, -1.0], &covariances).unwrap();
    let det = 1.0 * 0.7 - 0.09;
    let precision = vec![0.7 / det, -0.3 / det, -0.3 / det, 1.0 / det];
    let block = |mean: Vec<f64>| {
        Whitened::of(&Approximation::gaussian(mean, crate::target::Covariance::Full, precision.clone()).unwrap())
    };
    let start = Mixture {
        log_weights: vec![0.3f64.ln(), 0.7f64.ln()],
        blocks: vec![block(vec![0.0, 0.0]), block(vec![2.0, -1.0])],
    };
    // From draws of something else, and few of them.
    let pool = pool_of(&target, &mixture(&[vec![0.5, 0.5], vec![1.0, -2.0]], &[0.2, 0.4], &[0.5, 0.5]), 20);
    let (mut stepping, left) = estimate(&pool, &start);
    assert!(left < 1e-20, "{left}");
    let mut q = start.clone();
    assert!(stepping.advance(&mut q, 1.0));
    for (now, before) in q.blocks.iter().zip(&start.blocks) {
        let pairs = now.mean.iter().zip(&before.mean).chain(now.factor.iter().zip(&before.factor));
        pairs.for_each(|(a, b)| assert!((a - b).abs() < 1e-10, "{a} {b}"));
    }
    q.log_weights.iter().zip(&start.log_weights).for_each(|(a, b)| assert!((a - b).abs() < 1e-10, "{a} {b}"));
}

#[test]
fn the_curvature_of_a_gaussian_target_is_exact_for_any_weights() {
    let precision = [2.0, 0.4, -0.3, 0.4, 1.5, 0.2, -0.3, 0.2, 0.9];
    let target = Gaussian::new(vec![0.5, -1.0, 0.2], precision.to_vec()).unwrap();
    let pool = pool_of(&target, &mixture(&[vec![0.0; 3], vec![1.0; 3]], &[0.5, 0.8], &[0.5, 0.5]), 16);
    let q = mixture(&[vec![0.3, -0.2, 0.1]], &[1.3], &[1.0]);
    let (stepping, _) = estimate(&pool, &q);
    // A = I − L⁻¹PL⁻ᵀ and g = L⁻¹P(m − μ).
    let block = &q.blocks[0];
    let mut half = precision.to_vec();
    crate::linalg::cholesky::solve_factor(3, &block.factor, &mut half);
    let mut whole: Vec<f64> = (0..9).map(|at| half[(at % 3) * 3 + at / 3]).collect();
    crate::linalg::cholesky::solve_factor(3, &block.factor, &mut whole);
    for (at, (a, b)) in stepping.slopes[0].curvature.iter().zip(&whole).enumerate() {
        let expected = if at % 4 == 0 { 1.0 - b } else { -b };
        assert!((a - expected).abs() < 1e-9, "{a} {expected}");
    }
    let offset: Vec<f64> = [0.5, -1.0, 0.2].iter().zip(&block.mean).map(|(m, mu)| m - mu).collect();
    let mut g: Vec<f64> = (0..3).map(|i| (0..3).map(|j| precision[j * 3 + i] * offset[j]).sum()).collect();
    crate::linalg::cholesky::solve_factor(3, &block.factor, &mut g);
    stepping.slopes[0].gradient.iter().zip(&g).for_each(|(a, b)| assert!((a - b).abs() < 1e-9, "{a} {b}"));
}

#[test]
fn expectations_of_many_points_are_those_of_quadrature() {
    let log_p = |z: f64| -0.25 * (z - 0.3).powi(4) + 0.2 * z;
    let target = crate::target::from_fn(1, move |z, grad| {
        grad[0] = -(z[0] - 0.3).powi(3) + 0.2;
        log_p(z[0])
    });
    let q = mixture(&[vec![-0.6], vec![0.9]], &[1.0, 2.5], &[0.4, 0.6]);
    let pool = pool_of(&target, &mixture(&[vec![-0.3], vec![0.6]], &[0.3, 0.9], &[0.5, 0.5]), 8_000);
    let (stepping, _) = estimate(&pool, &q);
    let log_q = |z: f64| {
        let mut whitening = Whitening::default();
        q.log_densities(&[z], &mut whitening)[0]
    };
    let (step, reach) = (1e-3_f64, 6.0_f64);
    for (block, slope) in q.blocks.iter().zip(&stepping.slopes) {
        let (mean, scale) = (block.mean[0], block.factor[0]);
        let (mut height, mut gradient, mut curvature) = (0.0, 0.0, 0.0);
        let mut x = -reach;
        while x < reach {
            let weight = step * (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
            let z = mean + x / scale;
            let h = |z: f64| log_p(z) - log_q(z);
            let d = 1e-4 / scale;
            height += weight * h(z);
            gradient += weight * (h(z + d) - h(z - d)) / 2e-4;
            curvature += weight * (h(z + d) - 2.0 * h(z) + h(z - d)) / 1e-8;
            x += step;
        }
        // The errors of 16 000 weighted points are below 0.01.
        assert!((slope.height - height).abs() < 0.02, "{} {height}", slope.height);
        assert!((slope.gradient[0] - gradient).abs() < 0.02, "{} {gradient}", slope.gradient[0]);
        assert!((slope.curvature[0] - curvature).abs() < 0.03, "{} {curvature}", slope.curvature[0]);
    }
}

#[test]
fn expectations_on_a_banana_are_its_moments() {
    // z₂ − b(z₁² − σ²) = r: the Hessian is {−1/σ² + 2b r − 4b²z₁², 2b z₁, −1}.
    let (b, variance) = (0.3, 1.0);
    let target = Banana::new(1.0, b).unwrap();
    let q = mixture(&[vec![0.4, -0.2]], &[1.0], &[1.0]);
    let (stepping, _) = estimate(&pool_of(&target, &q, 16_000), &q);
    let (block, mut covariance) = (&q.blocks[0], vec![0.0; 4]);
    (0..2).for_each(|i| covariance[3 * i] = 1.0);
    crate::linalg::cholesky::solve_factor_transposed(2, &block.factor, &mut covariance);
    // C = L⁻ᵀ, Σ = CCᵀ.
    let c = covariance.clone();
    let square = block.mean[0].powi(2) + c[0] * c[0] + c[2] * c[2];
    let residual = block.mean[1] - b * (square - variance);
    let hessian = [-1.0 / variance + 2.0 * b * residual - 4.0 * b * b * square, 2.0 * b * block.mean[0], -1.0];
    for (i, j) in [(0, 0), (0, 1), (1, 1)] {
        let (u, v) = (&c[2 * i..2 * i + 2], &c[2 * j..2 * j + 2]);
        let expected = hessian[0] * u[0] * v[0] + hessian[1] * (u[0] * v[1] + u[1] * v[0]) + hessian[2] * u[1] * v[1];
        let expected = expected + if i == j { 1.0 } else { 0.0 };
        let found = stepping.slopes[0].curvature[2 * j + i];
        assert!((found - expected).abs() < 0.02, "{found} {expected}");
    }
}

#[test]
fn a_full_pool_forgets_its_oldest_proposals() {
    let target = Gaussian::new(vec![0.0], vec![1.0]).unwrap();
    let from = mixture(&[vec![0.0], vec![0.5], vec![-0.5], vec![1.0]], &[0.5, 0.6, 0.7, 0.8], &[0.25; 4]);
    let most = crate::tuning::pooled::most_points(1);
    let pool = pool_of(&target, &from, most / 3);
    assert!(pool.len() <= most && pool.len() >= most / 3, "{}", pool.len());
    assert!(pool.is_sound(1));
    let last = Mixture { log_weights: vec![0.0], blocks: from.blocks[2..].to_vec() };
    let fresh = pool_of(&target, &last, most / 3);
    assert_eq!(pool.len(), fresh.len());
    // log m knows of no proposal that is gone: a Gaussian over all points has the sum of weights 1.
    let mut sight = Sight::default();
    sight.look(&pool, &mixture(&[vec![0.1]], &[0.9], &[1.0]), &mut Whitening::default());
    assert!((sight.own[0].total - 1.0).abs() < 0.02, "{}", sight.own[0].total);
}

fn run_to_end(run: &mut PooledRun<'_>) -> StopReason {
    drive(run, &mut Fitting::unkept(&mut |_| ControlFlow::Continue(()))).unwrap()
}

#[test]
fn a_fit_is_confirmed_by_fresh_draws_and_goes_on_from_where_it_was_kept() {
    let target = Banana::new(1.0, 0.3).unwrap();
    let start = mixture(&[vec![-0.8, 0.0], vec![0.1, 0.2], vec![0.8, 0.0]], &[0.8, 0.9, 0.8], &[0.3, 0.4, 0.3]);
    let start = start.approximation().unwrap();
    let plan = Plan { seed: 5, ..Plan::default() };
    let mut straight = PooledRun::new(&target, start.clone(), &plan).unwrap();
    assert_eq!(run_to_end(&mut straight), StopReason::Converged);
    assert!(straight.evaluator.counts().gradient < 8_000, "{:?}", straight.evaluator.counts());
    let posterior = straight.posterior(StopReason::Converged).unwrap();
    // KL of the best Gaussian is 0.077; three components take most of it.
    let elbo = posterior.importance(&target, 100_000, 4).unwrap().diagnostics.elbo.value;
    assert!(elbo > -0.02, "{elbo}");
    for steps in [3, 40] {
        let mut begun = PooledRun::new(&target, start.clone(), &plan).unwrap();
        for _ in 0..steps {
            begun.advance_once().unwrap();
        }
        let text = serde_json::to_string(&begun.content()).unwrap();
        let mut resumed = PooledRun::new(&target, start.clone(), &plan).unwrap();
        resumed.restore_from(serde_json::from_str(&text).unwrap()).unwrap();
        assert_eq!(run_to_end(&mut resumed), StopReason::Converged);
        assert_eq!(resumed.q, straight.q);
    }
}

#[test]
fn what_no_run_has_kept_is_refused() {
    let target = Banana::default();
    let start = mixture(&[vec![0.0, 0.0]], &[1.0], &[1.0]).approximation().unwrap();
    let mut run = PooledRun::new(&target, start, &Plan { stop: Stop::default(), ..Plan::default() }).unwrap();
    run.advance_once().unwrap();
    let mut state = run.state();
    state.pool.log_m.pop();
    assert!(run.restore_from(Content::Pooled(Box::new(state))).is_err());
    let mut state = run.state();
    state.q.blocks[0].factor[0] = -1.0;
    assert!(run.restore_from(Content::Pooled(Box::new(state))).is_err());
}

#[test]
fn points_without_density_are_dropped_and_counted() {
    let target = crate::target::from_fn(1, |z, grad| {
        grad[0] = -z[0];
        if z[0] > 2.0 { f64::NAN } else { -0.5 * z[0] * z[0] }
    });
    let q = mixture(&[vec![0.0]], &[0.5], &[1.0]);
    let pool = pool_of(&target, &q, 1_000);
    assert!(pool.len() < 1_000 && pool.len() > 950, "{}", pool.len());
    let mut sight = Sight::default();
    sight.look(&pool, &q, &mut Whitening::default());
    // The weights sum to what the component has of the density's support: Φ(2).
    assert!((sight.own[0].total - 0.97725).abs() < 0.005, "{}", sight.own[0].total);
}

#[test]
fn directions_add_up_while_they_agree() {
    let q = mixture(&[vec![0.0]], &[1.0], &[1.0]);
    let slope = |g: f64| Slope { gradient: vec![g], curvature: vec![2.0 * g], height: 0.0 };
    let (mut momentum, mut expected) = (Momentum::default(), 0.0);
    for (g, share) in [(1.0, 0.0), (0.5, 0.25), (0.25, 0.4), (-0.1, 0.0), (-0.1, 0.25)] {
        let mut slopes = vec![slope(g)];
        momentum.add_to(&q, &mut slopes);
        expected = g + share * expected;
        assert_eq!((slopes[0].gradient[0], slopes[0].curvature[0]), (expected, 2.0 * expected), "after {g}");
    }
    momentum.forget();
    let mut slopes = vec![slope(-0.2)];
    momentum.add_to(&q, &mut slopes);
    assert_eq!(slopes, [slope(-0.2)]);
    assert!(momentum.is_sound(1, 1) && !momentum.is_sound(2, 1) && !momentum.is_sound(1, 2));
    // It goes on for as long as it is followed, up to a share.
    let mut last = 0.0;
    for _ in 0..400 {
        let mut slopes = vec![slope(1.0)];
        momentum.add_to(&q, &mut slopes);
        last = slopes[0].gradient[0];
    }
    assert!((last - 1.0 / (1.0 - tuned::MOST_MOMENTUM)).abs() < 1e-6, "{last}");
}

#[test]
fn a_bound_that_has_stopped_rising_is_the_end_of_a_pool() {
    let tolerance = 0.01;
    // The step at which a mixture fits whose bound rises by so much in a step, with new points in one of them.
    let ends = |rise: f64, new_at: u32| {
        let mut pace = Pace::new(Until::Judged);
        let fits = |n: &u32| pace.has_fitted(1.0, rise * f64::from(*n), *n == new_at, tolerance);
        (1..2 * tuned::MOST_STEPS).find(fits)
    };
    assert_eq!(ends(0.0, 0), Some(tuned::WINDOW + 1));
    assert_eq!(ends(0.0, 60), Some(tuned::WINDOW + 60));
    assert_eq!(ends(1e-3, 0), Some(tuned::MOST_STEPS + 1));
    let mut quiet = Pace::new(Until::Fitted);
    assert!((1..tuned::FITTED_STEPS).all(|_| !quiet.has_fitted(0.0, 0.0, false, tolerance)));
    assert!(quiet.has_fitted(0.0, 0.0, false, tolerance));
}

#[test]
fn a_mixture_is_believed_after_two_good_looks_in_a_row() {
    let plan = Plan::default();
    let mut pace = Pace::new(Until::Judged);
    for (is_good, ends) in [(true, false), (false, false), (true, false), (true, true)] {
        pace.after_look(is_good, 0.0);
        assert_eq!(pace.reason_to_stop(&plan) == Some(StopReason::Converged), ends);
    }
}
